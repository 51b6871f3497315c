/** Gives the value at a JSON Pointer, or throws with the names that there are. */
exports.lookUp = function lookUp(document, pointer) {
  if (pointer === '') return document;
  if (!pointer.startsWith('/')) throw new Error(`a JSON Pointer begins with a slash, unlike ${JSON.stringify(pointer)}`);
  let value = document;
  for (const [i, token] of pointer.slice(1).split('/').entries()) {
    const name = token.replace(/~1/g, '/').replace(/~0/g, '~');
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, name)) {
      const at = pointer.split('/').slice(0, i + 1).join('/');
      throw new Error(`there is no ${JSON.stringify(name)} at ${at || 'the top'}; there is ${members(value)}`);
    }
    value = value[name];
  }
  return value;
};

function members(value) {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  return Object.keys(value).slice(0, 20).map((k) => JSON.stringify(k)).join(', ') || 'nothing';
}
