'use strict';
// Modules that can be imported, and throw when they are used.
const { nodeError } = require('internal/errors');

// What to do instead, by module.
const program = 'handlers start no programs: a program can be a plugin of its own, with "runtime": "process" in its manifest';
const network = 'handlers listen on no port and look no names up; as clients they have fetch, node:http, node:net and node:tls, for the hosts that the manifest names';
const development = 'it serves development: leave it out of the handler';
const engine = 'write "engine": "node" in the manifest, which runs the handlers in Node.js';
const threads = `a handler has one thread: split the work over several calls, or ${engine}`;
const ways = {
  __proto__: null,
  child_process: program, cluster: program,
  dgram: network, dns: network, 'dns/promises': network, http: network, http2: 'use fetch, which speaks HTTP/2 where the server does', https: network, net: network, tls: network,
  inspector: development, 'inspector/promises': development, repl: development, test: development, 'test/reporters': development, trace_events: development, sea: development,
  crypto: 'use createHash, createHmac, randomBytes or timingSafeEqual, or a package in plain JavaScript', 'crypto.subtle': 'use subtle.digest, or a package in plain JavaScript',
  domain: `use try and catch around await, or ${engine}`,
  sqlite: 'keep the data in ctx.store, or in a JSON file of the folder', tty: 'there is no terminal: write with console, which goes to the log',
  v8: `use structuredClone, or JSON, or ${engine}`, vm: `use new Function, or ${engine}`, wasi: `use a package in plain JavaScript, or ${engine}`, worker_threads: threads,
};

function unsupported(module, name, way = ways[module]) {
  return nodeError('Error', 'ERR_UNSUPPORTED_IN_HOST', `${module}.${name} is not available to handlers of this host; ${way}`);
}

// member is a function that may also be a class to extend; it throws when it is called.
function member(module, name, way) {
  const f = function () { throw unsupported(module, name, way); };
  Object.defineProperty(f, 'name', { value: name });
  return f;
}

// What code asks for without meaning to use the module.
const harmless = {
  __proto__: null,
  tty: { isatty: () => false },
  get worker_threads() {
    const { MessageChannel, MessagePort, BroadcastChannel, receiveMessageOnPort } = require('internal/message_channel');
    return {
      isMainThread: true, parentPort: null, workerData: null, threadId: 0, resourceLimits: {}, SHARE_ENV: Symbol.for('nodejs.worker_threads.SHARE_ENV'),
      MessageChannel, MessagePort, BroadcastChannel, receiveMessageOnPort,
    };
  },
  cluster: { isMaster: true, isPrimary: true, isWorker: false, workers: {} },
  test: {},
};

function isIP(text) {
  text = `${text}`;
  if (/^(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(\.(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/.test(text)) return 4;
  const [address, zone, ...more] = text.split('%');
  if (more.length > 0 || zone === '' || !address.includes(':')) return 0;
  const halves = address.split('::');
  if (halves.length > 2) return 0;
  const groups = halves.flatMap((half) => half === '' ? [] : half.split(':'));
  let count = groups.length;
  const last = groups[groups.length - 1];
  if (last?.includes('.')) { if (isIP(last) !== 4) return 0; groups.pop(); count++; }
  if (!groups.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group))) return 0;
  return halves.length === 2 ? count < 8 ? 6 : 0 : count === 8 ? 6 : 0;
}

// A bundle copies the own members of a module and keeps its prototype, so what is
// unknown is answered by the prototype.
function makeModule(name, own) {
  const members = { ...harmless[name], ...own };
  const anything = new Proxy({}, {
    get(target, key) {
      if (typeof key !== 'string' || key === 'then' || key === '__esModule' || key === 'default' || key in target) return target[key];
      return members[key] ??= member(name, key);
    },
  });
  return Object.assign(Object.create(anything), members);
}

module.exports = { member, module: makeModule, unsupported, isIP, ways };
