'use strict';
// node:dns. The host resolves a name when it connects, and looks at the address then; a
// script that looks a name up first is given the name itself, which connect takes.
const { check, invalidArgValue } = require('internal/errors');
const unsupported = require('internal/unsupported');
const { isIP } = unsupported;

function answer(name, options) {
  if (typeof options === 'number') options = { family: options };
  const { family = 0, all = false } = options ?? {};
  if (![0, 4, 6, 'IPv4', 'IPv6'].includes(family)) throw invalidArgValue('family', family, 'must be one of: 0, 4, 6');
  const wanted = family === 6 || family === 'IPv6' ? 6 : 4;
  const found = name ? { address: name, family: isIP(name) || wanted } : { address: null, family: wanted };
  return all ? name ? [found] : [] : found;
}

function lookup(name, options, callback) {
  if (typeof options === 'function') { callback = options; options = {}; }
  if (name) check.string(name, 'hostname');
  check.function(callback, 'callback');
  const found = answer(name, options);
  process.nextTick(() => { if (Array.isArray(found)) callback(null, found); else callback(null, found.address, found.family); });
  return {};
}

const kinds = { resolve: 'A', resolve4: 'A', resolve6: 'AAAA', resolveAny: 'ANY', resolveCaa: 'CAA', resolveCname: 'CNAME', resolveMx: 'MX', resolveNaptr: 'NAPTR', resolveNs: 'NS', resolvePtr: 'PTR', resolveSoa: 'SOA', resolveSrv: 'SRV', resolveTxt: 'TXT', reverse: 'PTR' };
function refusal(method, name) {
  const syscall = `query${kinds[method].charAt(0)}${kinds[method].slice(1).toLowerCase()}`;
  return Object.assign(new Error(`${syscall} ENOTIMP ${name}: handlers ask no name server; connect to the name, and the host resolves it`), { code: 'ENOTIMP', syscall, hostname: name });
}

const queries = {}, promised = {};
for (const method of Object.keys(kinds)) {
  queries[method] = (name, ...rest) => {
    const callback = rest[rest.length - 1];
    check.function(callback, 'callback');
    process.nextTick(callback, refusal(method, name));
    return {};
  };
  promised[method] = async (name) => { throw refusal(method, name); };
}

const codes = {};
for (const name of ['NODATA', 'FORMERR', 'SERVFAIL', 'NOTFOUND', 'NOTIMP', 'REFUSED', 'BADQUERY', 'BADNAME', 'BADFAMILY', 'BADRESP', 'CONNREFUSED', 'TIMEOUT', 'EOF', 'FILE', 'NOMEM', 'DESTRUCTION', 'BADSTR', 'BADFLAGS', 'NONAME', 'BADHINTS', 'NOTINITIALIZED', 'LOADIPHLPAPI', 'ADDRGETNETWORKPARAMS', 'CANCELLED']) codes[name] = name === 'EOF' ? 'EOF' : `E${name}`;

const servers = { getServers: () => [], setServers() {}, getDefaultResultOrder: () => 'verbatim', setDefaultResultOrder() {} };
class Resolver { constructor() { Object.assign(this, queries, servers, { cancel() {}, setLocalAddress() {} }); } }
class PromiseResolver { constructor() { Object.assign(this, promised, servers, { cancel() {}, setLocalAddress() {} }); } }

const promises = unsupported.module('dns/promises', { lookup: async (name, options) => answer(name, options), ...promised, ...servers, ...codes, Resolver: PromiseResolver });
module.exports = unsupported.module('dns', { lookup, ...queries, ...servers, ...codes, promises, Resolver, ADDRCONFIG: 1024, V4MAPPED: 2048, ALL: 256 });
