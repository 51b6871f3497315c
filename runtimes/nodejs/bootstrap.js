'use strict';
// The side of the plugin: runs handlers on Node.js for the host, one JSON message a line.
// It is given to node by --eval; its argument is what the host knows when it starts.
const { writeSync, promises: fsp, statSync, existsSync } = require('node:fs');
const { resolve } = require('node:path');
const { pathToFileURL } = require('node:url');
const { format } = require('node:util');
const { Writable } = require('node:stream');

const { dir, handlers, policy, load } = JSON.parse(process.argv[1]);
process.argv.splice(1); // the handlers' business is none of it
const exit = process.exit.bind(process);
const reallyExit = process.reallyExit.bind(process);
const { stringify, parse } = JSON;

// Descriptor 1 is the host's, whatever a handler prints.
function send(message) { sendText(stringify(message)); }
function sendText(text) {
  const bytes = Buffer.from(text + '\n');
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(1, bytes, at);
    } catch (e) {
      if (e.code !== 'EAGAIN') return; // the host is gone
    }
  }
}

function log(level, text) { send({ method: 'log', params: { level, message: text.slice(0, 8192) } }); }

for (const [method, level] of Object.entries({ log: 'info', info: 'info', debug: 'debug', warn: 'warn', error: 'error' })) {
  console[method] = (...args) => log(level, format(...args));
}
Object.defineProperty(process, 'stdout', {
  configurable: true,
  value: new Writable({ decodeStrings: false, write(chunk, _, done) { log('info', String(chunk).replace(/\n$/, '')); done(); } }),
});

// Requests to the host.
const asked = new Map();
let asking = 0;
function ask(method, params) {
  return new Promise((fulfil, reject) => {
    const id = 'n' + ++asking;
    asked.set(id, { fulfil, reject });
    send({ id, method, params });
  });
}
function answered({ id, result, error, code }) {
  const waiting = asked.get(id);
  asked.delete(id);
  if (!waiting) return;
  if (error === undefined) return waiting.fulfil(result);
  waiting.reject(code === 'EACCES' ? permissionError(error) : new Error(error));
}

class PluginPermissionError extends Error {}
Object.defineProperty(PluginPermissionError.prototype, 'name', { value: 'PluginPermissionError', configurable: true, writable: true });
function permissionError(message) { return Object.assign(new PluginPermissionError(message), { code: 'EACCES' }); }

// quiet is for what there is nothing to show for here.
function quiet(name, rule) {
  return async () => {
    if (!policy[name]) throw permissionError(`${name} is not allowed: the plugin's manifest declares no permission for it. "permissions": {${rule}} in the plugin's manifest would allow it; only the user can grant that, by changing the manifest and agreeing to it (toolhost consent approve)`);
  };
}

// missing is for what the host has nothing behind.
function missing(name, rule, hint = '') {
  return async () => {
    await quiet(name, rule)();
    const text = `ctx.${name} is not available: this host has nothing that could do it${hint}`;
    throw Object.assign(new Error(text), { code: 'ERR_UNSUPPORTED_IN_HOST' });
  };
}

async function hostFetch(input, init) {
  const request = new Request(input, init);
  const body = request.body ? Buffer.from(await request.arrayBuffer()) : undefined;
  if (request.signal.aborted) throw request.signal.reason;
  const answer = ask('fetch', {
    url: request.url, method: request.method, headers: [...request.headers], redirect: request.redirect,
    body: body && body.toString('base64'),
  });
  const aborted = new Promise((_, reject) => request.signal.addEventListener('abort', () => reject(request.signal.reason)));
  let r;
  try {
    r = await Promise.race([answer, aborted]);
  } catch (e) {
    if (e === request.signal.reason || e instanceof PluginPermissionError) throw e;
    throw new TypeError(e.message);
  }
  const bytes = r.body ? Buffer.from(r.body, 'base64') : null;
  const empty = [101, 204, 205, 304].includes(r.status);
  const response = new Response(empty ? null : bytes, { status: r.status, statusText: r.statusText, headers: r.headers });
  Object.defineProperties(response, { url: { value: r.url }, redirected: { value: r.redirected } });
  return response;
}
globalThis.fetch = hostFetch;

const byteOrder = (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b));
const contextFS = {
  read: (path) => fsp.readFile(path),
  list: async (path) => (await fsp.readdir(path)).sort(byteOrder),
  write: (path, data) => fsp.writeFile(path, data),
  stat: (path) => fsp.stat(path),
  exists: async (path) => existsSync(path),
  mkdir: (path, options) => fsp.mkdir(path, { recursive: true, ...options }),
};

function contextOf(id, tool, call, controller) {
  const levels = {};
  for (const level of ['debug', 'info', 'warn', 'error']) levels[level] = (...args) => log(level, format(...args));
  const nothing = async () => undefined;
  return {
    callId: call.callId, tool, agent: call.agent, folder: call.folder, deadline: call.deadline, signal: controller.signal,
    progress(message) {
      if (message && typeof message === 'object' && message.message != null) message = message.message;
      if (message != null) send({ method: 'progress', params: { id, message: String(message) } });
    },
    fs: contextFS, fetch: hostFetch,
    settings: {
      get: async (key) => (await ask('settings.get', { key })) ?? undefined,
      getAll: async () => (await ask('settings.getAll', {})) ?? {},
      set: missing('settings.set', '"settings": true', "; settings are the user's to set: toolhost settings set KEY"),
    },
    store: {
      get: async (key) => (await ask('store.get', { key })) ?? undefined,
      set: async (key, value) => { await ask('store.set', { key, value }); },
      delete: (key) => ask('store.delete', { key }),
      list: (prefix = '') => ask('store.list', { prefix }),
    },
    log: levels,
    toast: quiet('toast', '"toast": true'),
    viewData: { set: nothing, get: nothing },
    session: {
      getActive: quiet('session.getActive', '"session": {"getActive": true}'),
      sendMessage: missing('session.sendMessage', ''),
    },
    channels: {
      getIntegrationConfig: quiet('channels.getIntegrationConfig', '"channels": {"getIntegrationConfig": true}'),
      setIntegrationConfig: quiet('channels.setIntegrationConfig', '"channels": {"getIntegrationConfig": true}'),
    },
    execute: async (command, args) => (await ask('execute', { command, args })) ?? undefined,
    ai: {
      async complete(prompt, options) {
        if (prompt && typeof prompt === 'object' && prompt.prompt != null) [prompt, options] = [prompt.prompt, prompt];
        if (typeof prompt !== 'string') throw new TypeError('ai.complete takes a prompt, which is a string');
        const { imageUrls } = options ?? {};
        if (imageUrls != null && !(Array.isArray(imageUrls) && imageUrls.every((url) => typeof url === 'string'))) {
          throw new TypeError('imageUrls of ai.complete is a list of data: URLs');
        }
        return ask('ai.complete', { prompt, imageUrls });
      },
    },
    renderHtmlToPdf: missing('renderHtmlToPdf', '"renderHtmlToPdf": true'),
    triggerInbound: missing('triggerInbound', '"hostTrigger": true'),
    respondToHitl: missing('respondToHitl', '"hostTrigger": true'),
    listChannels: async () => (await quiet('listChannels', '"hostTrigger": true')()) ?? [],
    getSessionHistory: missing('getSessionHistory', '"hostTrigger": true'),
  };
}

// Modules, evaluated once in this process.
const modules = new Map();
function handlerOf(tool) {
  const file = handlers[tool];
  if (!modules.has(file)) modules.set(file, import(pathToFileURL(resolve(dir, file)).href));
  return modules.get(file).then((m) => {
    for (const f of [m.default, m.default?.default, m.handler, m.default?.handler]) {
      if (typeof f === 'function') return f;
    }
    throw Object.assign(new Error('the module exports no function: not as its default, not as module.exports, not as handler'), { noHandler: true });
  });
}

function describe(thrown) {
  try {
    if (typeof thrown === 'string') return thrown;
    if (thrown !== null && typeof thrown === 'object' && typeof thrown.message === 'string') {
      return thrown.message.trim() || String(thrown.name || 'Error');
    }
    if (thrown !== null && typeof thrown === 'object') return stringify(thrown) ?? String(thrown);
    return String(thrown);
  } catch {
    return 'the handler threw a value that cannot be described';
  }
}

function stackOf(thrown) {
  try {
    return thrown && typeof thrown.stack === 'string' ? thrown.stack.replaceAll(pathToFileURL(dir).href + '/', '').replaceAll(dir + '/', '') : '';
  } catch {
    return '';
  }
}

let running; // { id, controller } of the call that runs
function fail(id, thrown) {
  const text = describe(thrown);
  log('error', 'the handler failed: ' + (stackOf(thrown) || text));
  send({ id, error: text.slice(0, 65536) || 'the tool failed without a message' });
}

async function run({ id, method, params, context }) {
  const controller = new AbortController();
  running = { id, controller };
  try {
    if (context?.folder) {
      try { process.chdir(context.folder); } catch { /* it is not there, or may not be entered */ }
    }
    const handler = await handlerOf(method);
    const value = await handler(params, contextOf(id, method, context ?? {}, controller));
    const text = value === undefined ? undefined : stringify(value);
    if (running?.id !== id) return;
    running = undefined;
    sendText(text === undefined ? `{"id":${stringify(id)}}` : `{"id":${stringify(id)},"result":${text}}`);
  } catch (e) {
    if (running?.id !== id) return;
    running = undefined;
    fail(id, e);
  }
}

// Node.js's exit ends with a call of process.reallyExit, whichever that is by then: each of the
// two goes on to its own, or they would call each other without end.
for (const [name, end] of Object.entries({ exit, reallyExit })) {
  process[name] = (code = process.exitCode ?? 0) => {
    const call = running;
    running = undefined;
    if (call) send({ id: call.id, error: `the handler called process.exit(${code})` });
    end(code);
  };
}
for (const event of ['uncaughtException', 'unhandledRejection']) {
  if (load) break; // the place of a mistake is in what Node.js prints
  process.on(event, (thrown) => {
    const call = running;
    running = undefined;
    if (call) fail(call.id, thrown);
    else log('error', 'outside of a call: ' + (stackOf(thrown) || describe(thrown)));
  });
}

// tryAll imports every handler module, and says which do not load.
async function tryAll(id) {
  const problems = [];
  const seen = new Set();
  for (const [tool, file] of Object.entries(handlers)) {
    if (seen.has(file)) continue;
    seen.add(file);
    try {
      await handlerOf(tool);
    } catch (e) {
      if (e instanceof SyntaxError) {
        setImmediate(() => { throw e; });
        return;
      }
      problems.push({ file, message: describe(e), stack: e?.noHandler ? '' : stackOf(e) });
    }
  }
  send({ id, result: problems });
}

let rest = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (chunk) => {
  rest += chunk;
  for (let end; (end = rest.indexOf('\n')) >= 0;) {
    const line = rest.slice(0, end);
    rest = rest.slice(end + 1);
    let m;
    try { m = parse(line); } catch { continue; }
    if (m.method === undefined) answered(m);
    else if (m.method === 'cancel') { if (running?.id === m.params?.id) running.controller.abort(new DOMException('This operation was aborted', 'AbortError')); }
    else if (load) tryAll(m.id);
    else run(m);
  }
});
process.stdin.on('end', () => {
  running = undefined; // nobody waits for it any more
  exit(0);
});
