'use strict';
// Objects whose members are made when they are touched. To code they are like any other.
const { get, getOwnPropertyDescriptor } = Reflect;

const waiting = Symbol('waiting'); // holds the place of a member that is not made yet

// lazy gives an object with those members. put makes one of them: (object, name). A member that
// is read is made alone. Whatever else needs to know members makes all, and from then on the object
// is plain: the engine asks for a trap each time, and finds none.
function lazy(names, put) {
  const object = {};
  for (let i = 0; i < names.length; i++) object[names[i]] = waiting;
  const all = () => {
    for (const name of names) if (getOwnPropertyDescriptor(object, name)?.value === waiting) put(object, name);
    for (const trap of ['get', 'getOwnPropertyDescriptor', 'defineProperty']) delete traps[trap];
  };
  const traps = {
    __proto__: null,
    get(of, name, self) {
      const value = get(object, name, self);
      if (value !== waiting) return value;
      put(object, name);
      return get(object, name, self);
    },
    get getOwnPropertyDescriptor() { all(); return undefined; },
    get defineProperty() { all(); return undefined; },
  };
  return host.own(new Proxy(object, traps));
}

module.exports = { lazy };
