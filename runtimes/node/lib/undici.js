'use strict';
// undici, of which Node's own fetch is made. Packages import it for fetch and its family;
// its own client is WebAssembly over sockets, which handlers do not have.
const { member } = require('internal/unsupported');

const members = Object.create(new Proxy({}, {
  get(target, key) {
    if (typeof key !== 'string' || key === 'then' || key === '__esModule' || key === 'default' || key in target) return target[key];
    return target[key] = member('undici', key, 'use fetch');
  },
}));
for (const name of ['fetch', 'Headers', 'Request', 'Response', 'FormData', 'File', 'WebSocket', 'CloseEvent', 'ErrorEvent', 'MessageEvent', 'EventSource']) {
  if (name in globalThis) Object.defineProperty(members, name, { get: () => globalThis[name], enumerable: true });
}
module.exports = members;
