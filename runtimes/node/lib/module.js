'use strict';
const { nodeError } = require('internal/errors');
const builtinModules = host.names;
const bare = (name) => name.startsWith('node:') ? name.slice(5) : name;
const isBuiltin = (name) => builtinModules.includes(bare(`${name}`));

// createRequire gives built-in modules and those of the plugin's folder.
function createRequire(from) {
  const absolute = typeof from === 'string' ? /^(?:file:\/\/|\/|[A-Za-z]:[\\/])/.test(from) : from instanceof URL && from.protocol === 'file:';
  if (!absolute) throw nodeError('TypeError', 'ERR_INVALID_ARG_VALUE', `The argument 'filename' must be a file URL object, file URL string, or absolute path string. Received ${require('internal/inspect').inspect(from)}`);
  return host.createRequire(`${from}`);
}

function Module(id = '') { this.id = id; this.exports = {}; this.children = []; this.loaded = false; }
module.exports = Object.assign(Module, { Module, createRequire, builtinModules: builtinModules.filter((name) => name !== 'test' && name !== 'sqlite' && name !== 'sea'), isBuiltin, _load: host.require, _extensions: {}, _cache: {} });
