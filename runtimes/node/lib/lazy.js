'use strict';
// Objects whose members are made when they are touched. To code they are like any other.
const { get, getOwnPropertyDescriptor, getPrototypeOf, defineProperty } = Reflect;

const waiting = Symbol('waiting'); // holds the place of a member that is not made yet
const members = Symbol('members'); // gives the names of an object that is not plain yet

// lazy gives an object with those members. put makes one of them: (object, name). A member that
// is read is made alone. Whatever else needs to know members makes all, and from then on the object
// is plain: the engine asks for a trap each time, and finds none.
function lazy(names, put) {
  const object = {};
  for (let i = 0; i < names.length; i++) object[names[i]] = waiting;
  const all = () => {
    for (const name of names) if (getOwnPropertyDescriptor(object, name)?.value === waiting) put(object, name);
    for (const trap of ['get', 'set', 'getOwnPropertyDescriptor', 'defineProperty', 'deleteProperty']) delete traps[trap];
  };
  const traps = {
    __proto__: null,
    get(of, name, self) {
      if (name === members) return names;
      const value = get(object, name, self);
      if (value !== waiting) return value;
      put(object, name);
      return get(object, name, self);
    },
    get set() { all(); return undefined; },
    get getOwnPropertyDescriptor() { all(); return undefined; },
    get defineProperty() { all(); return undefined; },
    get deleteProperty() { all(); return undefined; },
  };
  return host.own(new Proxy(object, traps));
}

// namespace gives what import makes of such an object, the way the bundler's helper does it: a default,
// and an accessor for each member. The helper looks at all members, and so makes them; this one does
// not. It gives undefined where something has touched them all: the helper does as well then.
function namespace(module) {
  const names = module[members];
  if (names === undefined || module.__esModule || getPrototypeOf(module) !== Object.prototype) return undefined;
  return lazy(['default', ...names], (object, name) => {
    defineProperty(object, name, { value: module, writable: false }); // the engine would remember of an accessor that its place was writable
    defineProperty(object, name, name === 'default' ? { configurable: false } : { get: () => module[name], configurable: false });
  });
}

module.exports = { lazy, namespace };
