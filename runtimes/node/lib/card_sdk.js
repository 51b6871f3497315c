'use strict';
// @neurosquad/card-sdk, the module through which a card reaches its host. Every request has
// a method of the card protocol; what a host without a screen can only note goes to the log,
// and what would need an answer from a screen is UNAVAILABLE.

const { CardSdkError, isCardSdkError, invalid, said, jsonOf, bytesOf } = require('internal/card_error');
const { createTranslator } = require('internal/card_translator');
const files = require('internal/card_files');
const net = require('internal/card_net');

const about = host.card === null ? null : { tools: [], permissions: [], settings: [], ...JSON.parse(host.card) };
const nothing = () => {};

// --- permissions

const implied = {
  'agents.output': ['agents.read'], 'agents.prompt': ['agents.read'], 'terminals.write': ['agents.read'], 'fs.write': ['fs.read'],
};
const granted = new Set();
for (const one of about?.permissions ?? []) {
  granted.add(one.id);
  for (const id of implied[one.id] ?? []) granted.add(id);
}
const permissions = () => (about?.permissions ?? []).map((one) => ({
  id: one.id, ...(one.hosts ? { hosts: one.hosts } : {}), optional: one.optional, granted: true, ...(one.reason ? { reason: one.reason.en } : {}),
}));

// need refuses a request for which the card has none of the permissions.
function need(method, ...ids) {
  if (ids.some((id) => granted.has(id))) return;
  throw new CardSdkError('PERMISSION_DENIED', `the card has no permission ${ids.map((id) => `"${id}"`).join(' or ')}`, method, { permission: ids[0] });
}

// --- values

const maxValue = 1 << 20, maxKeyBytes = 512; // what the store takes

// stored gives a value that can be kept.
function stored(method, value) {
  const bytes = Buffer.byteLength(jsonOf(method, 'the value', value));
  if (bytes > maxValue) throw new CardSdkError('TOO_LARGE', `the value has ${bytes} bytes as JSON; ${maxValue} are the most`, method);
  return value;
}

function storageKey(method, scope, key) {
  if (scope !== 'instance' && scope !== 'package') throw invalid(method, '"scope" must be "instance" or "package"');
  if (typeof key !== 'string' || key.length > 256) throw invalid(method, 'the key must be a string of at most 256 characters');
  const before = scope === 'package' ? 'package/' : `instance/${about.id}/`;
  if (Buffer.byteLength(before + key) > maxKeyBytes) throw invalid(method, `the key has ${Buffer.byteLength(key)} bytes as UTF-8; ${maxKeyBytes - Buffer.byteLength(before)} are the most`);
  return before + key;
}

function fullKey(method, scope, key) {
  if (key === '') throw invalid(method, 'the key must not be empty');
  return storageKey(method, scope, key);
}

async function storageKeys(method, scope, prefix = '') {
  const full = storageKey(method, scope, prefix), base = full.length - prefix.length;
  return (await host.store.list(full)).map((key) => key.slice(base));
}

const settingOf = (key) => about.settings.find((one) => one.key === key);
function settings() {
  const values = {}, secrets = {};
  for (const one of about.settings) {
    const value = host.setting(one.key);
    if (one.secret) secrets[one.key] = value === true;
    else if (value !== undefined) values[one.key] = value;
  }
  return { values, secrets };
}

const workspace = () => { const folder = host.folder(); return { name: folder.split(/[\\/]/).filter(Boolean).pop() ?? '', folder }; };

// --- what a request does, by its method

const noted = (result) => (params, method) => {
  host.log('info', `${method} ${jsonOf(method, 'what is to be shown', params)}`.slice(0, 2000));
  return result;
};
const screen = (...ids) => (params, method) => {
  if (ids.length) need(method, ...ids);
  throw new CardSdkError('UNAVAILABLE', 'this host has no screen that could answer', method);
};

const methods = {
  'host.capabilities': () => ({ methods: Object.keys(methods).filter((name) => !unavailable.has(name)) }),
  'host.log': ({ level, message }) => host.log(level, String(message).slice(0, 2000)),
  'card.getInfo': () => ({ ...instance }),
  'storage.get': async ({ scope, key }) => {
    const value = await host.store.get(fullKey('storage.get', scope, key));
    return value === undefined ? { exists: false } : { exists: true, value };
  },
  'storage.set': ({ scope, key, value }) => host.store.set(fullKey('storage.set', scope, key), stored('storage.set', value)),
  'storage.delete': async ({ scope, key }) => { await host.store.delete(fullKey('storage.delete', scope, key)); },
  'storage.keys': async ({ scope, prefix }) => ({ keys: await storageKeys('storage.keys', scope, prefix) }),
  'storage.clear': async ({ scope }) => {
    for (const key of await storageKeys('storage.clear', scope)) await host.store.delete(storageKey('storage.clear', scope, key));
  },
  'storage.usage': async ({ scope }) => {
    const keys = await storageKeys('storage.usage', scope);
    let bytes = 0;
    for (const key of keys) bytes += Buffer.byteLength(key + JSON.stringify(await host.store.get(storageKey('storage.usage', scope, key))));
    return { keys: keys.length, bytes };
  },
  'settings.get': settings,
  'settings.set': (params, method) => {
    throw new CardSdkError('UNAVAILABLE', 'only the user changes settings', method, undefined, `The user runs: toolhost settings set ${about.name}.KEY VALUE`);
  },
  'theme.get': () => ({ scheme: 'dark', tokens: {}, fontSans: 'sans-serif', fontMono: 'monospace' }),
  'i18n.get': () => ({ language: 'en', locale: 'en-US' }),
  'workspace.get': workspace,
  'permissions.list': permissions,
  'permissions.request': ({ ids }) => ({ granted: ids.filter((id) => granted.has(id)) }),
  'fs.stat': (params, method) => { need(method, 'fs.read'); return files.stat(params); },
  'fs.list': (params, method) => { need(method, 'fs.read'); return files.list(params); },
  'fs.read': (params, method) => { need(method, 'fs.read'); return files.read(params); },
  'fs.write': (params, method) => { need(method, 'fs.write'); return files.write(params); },
  'fs.mkdir': (params, method) => { need(method, 'fs.write'); return files.mkdir(params); },
  'tools.setEnabled': ({ tool, enabled }, method) => {
    if (!about.tools.includes(tool)) throw invalid(method, `the card's manifest has no tool "${tool}"; it has ${about.tools.join(', ')}`);
    if (typeof enabled !== 'boolean') throw invalid(method, '"enabled" must be true or false');
    return host.setEnabled(tool, enabled);
  },
  'ports.describe': () => ports,
  'ports.peers': () => [],
  'ports.emit': noted({ delivered: 0 }),
  'card.setTitle': noted(), 'card.setStatus': noted(), 'card.setBadge': noted(), 'card.setOverview': noted(), 'card.attention': noted(),
  'card.requestResize': noted(), 'ui.toast': noted(), 'ui.setMenu': noted(),
};
const unavailable = new Set();
for (const [names, ...ids] of [
  [['card.openLink', 'card.focus', 'ui.confirm', 'settings.open', 'ports.send', 'ports.request', 'ports.read']],
  [['card.spawn'], 'canvas.spawn'],
  [['agents.list', 'agents.get'], 'agents.read'],
  [['agents.readScreen', 'agents.lastReply'], 'agents.output'],
  [['agents.prompt'], 'agents.prompt'],
  [['terminals.run', 'terminals.write'], 'terminals.write'],
  [['clipboard.writeText'], 'clipboard.write'],
  [['usage.summary'], 'usage.read'],
  [['fs.watch'], 'fs.read'],
  [['fs.trash'], 'fs.write'],
]) {
  for (const name of names) {
    unavailable.add(name);
    methods[name] = screen(...ids);
  }
}

// call makes a request; what is wrong with it is a rejection.
async function call(method, params = {}) {
  if (typeof method !== 'string') throw new CardSdkError('BAD_REQUEST', 'the name of a method is a string');
  if (!Object.hasOwn(methods, method)) throw new CardSdkError('METHOD_NOT_FOUND', `there is no method "${method}"`, method);
  if (params === null || typeof params !== 'object') throw invalid(method, 'the parameters must be an object');
  if (closed) throw new CardSdkError('UNAVAILABLE', 'the card has closed its connection', method, undefined, '');
  try {
    return await methods[method](params, method);
  } catch (error) {
    if (error instanceof CardSdkError || error?.name === 'AbortError') throw error;
    throw new CardSdkError('INTERNAL', said(error), method);
  }
}

// --- tools

const handlers = new Map(), waiting = new Map();

function handle(tool, handler) {
  if (typeof tool !== 'string') throw new TypeError('card.tools.handle takes the name of a tool, which is a string');
  if (typeof handler !== 'function') throw new TypeError(`the handler of the tool "${tool}" is no function`);
  if (handlers.has(tool)) throw new Error(`a handler of the tool "${tool}" is registered already; take that one away first: handle() gives the function that does it`);
  if (!about.tools.includes(tool)) host.log('warn', `a handler is registered for "${tool}", which is no tool of the manifest: it has ${about.tools.join(', ') || 'none'}`);
  handlers.set(tool, handler);
  for (const go of waiting.get(tool) ?? []) go();
  waiting.delete(tool);
  return () => { if (handlers.get(tool) === handler) handlers.delete(tool); };
}

// answerBefore is how long before its deadline a call is told that nobody handles it: at the
// deadline itself the host says only that it is over.
const answerBefore = 150;

// registered waits until a tool has a handler.
function registered(tool, deadline) {
  return new Promise((resolve, reject) => {
    const list = waiting.get(tool) ?? new Set();
    waiting.set(tool, list);
    let timer;
    const go = () => { clearTimeout(timer); resolve(); };
    list.add(go);
    if (!(deadline > 0)) return;
    timer = setTimeout(() => {
      list.delete(go);
      const names = [...handlers.keys()].map((name) => `"${name}"`).join(', ');
      reject(new Error(`the card has registered no handler of the tool "${tool}" in time; it has ${names ? `handlers of ${names}` : 'none at all'}. Its code has to call card.tools.handle("${tool}", …)`));
    }, Math.max(deadline - Date.now() - answerBefore, 0));
  });
}

// The host has run called with a call of a tool.
host.serve(async (tool, args, ctx) => {
  while (!closed && !handlers.has(tool)) await registered(tool, ctx.deadline);
  if (closed) throw new Error('the card has closed its connection with card.close(): it takes no calls until it is loaded anew');
  const call = {
    callId: ctx.callId, tool, agent: ctx.agent, deadline: ctx.deadline,
    progress(message) { try { ctx.progress(String(message).slice(0, 200) || '…'); } catch { /* the call is over */ } },
  };
  Object.defineProperty(call, 'signal', { get: () => ctx.signal, enumerable: true });
  return handlers.get(tool)(args, call);
}, () => [...handlers.keys()]);

// --- the card

const never = () => nothing;
let closed = false;
const size = { w: 420, h: 320 };
const instance = { instanceId: about?.id, packageName: about?.name, title: about?.title, size };
const ports = { inputs: about?.ports?.inputs ?? [], outputs: about?.ports?.outputs ?? [] };

function storageOf(scope) {
  return {
    get: async (key, otherwise) => { const found = await call('storage.get', { scope, key }); return found.exists ? found.value : otherwise; },
    set: async (key, value) => { await call('storage.set', { scope, key, value }); },
    delete: async (key) => { await call('storage.delete', { scope, key }); },
    keys: async (prefix) => (await call('storage.keys', { scope, prefix })).keys,
    clear: async () => { await call('storage.clear', { scope }); },
    usage: () => call('storage.usage', { scope }),
  };
}

// wordOf gives a value for the log, which takes everything: a line of it makes no call fail.
function wordOf(value) {
  if (typeof value === 'string') return value;
  try {
    return String(value instanceof Error ? value.stack ?? `${value.name}: ${value.message}` : JSON.stringify(value) ?? String(value));
  } catch {
    return said(value);
  }
}

const lineOf = (args) => args.map(wordOf).join(' ').slice(0, 2000);

const shown = (method, make = (value) => value) => async (...args) => { await call(method, make(...args)); };

function waitFor(event, test, { timeoutMs, signal } = {}) {
  return new Promise((resolve, reject) => {
    if (timeoutMs !== undefined) setTimeout(() => reject(new CardSdkError('TIMEOUT', `no ${event} in ${timeoutMs} ms`)), timeoutMs);
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

const card = {
  call, callUnchecked: call, on: never, once: never, waitFor,
  subscribe: async () => [], unsubscribe: async () => {}, onContextChange: never,
  get instanceId() { return instance.instanceId; },
  get instance() { return { ...instance }; },
  workspace: { get name() { return workspace().name; }, get folder() { return workspace().folder; }, get: () => call('workspace.get') },
  get visibility() { return 'hidden'; },
  get expanded() { return false; },
  get size() { return { ...size }; },
  get theme() { return methods['theme.get'](); },
  get i18n() { return methods['i18n.get'](); },
  get language() { return 'en'; },
  get launch() { return 'restored'; },
  get spawnInit() { return undefined; },
  get limits() { return {}; },
  get appVersion() { return '0.0.0'; },
  get context() { return { instance: { ...instance }, workspace: workspace(), settings: settings(), permissions: permissions(), ports, peers: [], visibility: 'hidden', expanded: false, i18n: card.i18n, theme: card.theme }; },
  getInfo: () => call('card.getInfo'),
  getWorkspace: () => call('workspace.get'), getTheme: () => call('theme.get'), getI18n: () => call('i18n.get'),
  setTitle: shown('card.setTitle', (title) => ({ title })),
  setStatus: shown('card.setStatus', (text, options) => ({ text, ...options })),
  setBadge: shown('card.setBadge', (value, options) => ({ ...(typeof value === 'number' ? { count: value } : { text: value }), ...options })),
  setOverview: shown('card.setOverview'),
  attention: shown('card.attention', (level, message) => ({ level, ...(message ? { message } : {}) })),
  requestResize: shown('card.requestResize'),
  openLink: async (url) => (await call('card.openLink', { url })).opened,
  focusCard: (cardId) => call('card.focus', { cardId }),
  spawn: (kind, options) => call('card.spawn', { kind, ...options }),
  usage: (period = 'today') => call('usage.summary', { period }),
  copyText: (text) => call('clipboard.writeText', { text }),
  host: { capabilities: () => call('host.capabilities'), supports: async (name) => Object.hasOwn(methods, name) && !unavailable.has(name) },
  storage: { ...storageOf('instance'), package: storageOf('package'), onChange: never },
  settings: {
    get values() { return settings().values; },
    get secrets() { return settings().secrets; },
    value: (key) => { const one = settingOf(key); return one && !one.secret ? host.setting(key) : undefined; },
    hasSecret: (key) => settingOf(key)?.secret === true && host.setting(key) === true,
    get: () => call('settings.get'), set: (values) => call('settings.set', { values }), open: () => call('settings.open'), onChange: never,
  },
  ui: {
    toast: shown('ui.toast', (message, options) => ({ message, ...options })),
    confirm: async (options) => (await call('ui.confirm', options)).confirmed,
    setMenu: shown('ui.setMenu', (items) => {
      if (!Array.isArray(items)) throw invalid('ui.setMenu', 'the items must be a list');
      return { items: items.map((item) => ({ ...item, onSelect: undefined })) };
    }),
    onMenu: never,
  },
  agents: {
    list: () => call('agents.list'), get: (agentId) => call('agents.get', { agentId }),
    readScreen: (agentId, lines) => call('agents.readScreen', { agentId, lines }), lastReply: (agentId) => call('agents.lastReply', { agentId }),
    prompt: (agentId, text, options) => call('agents.prompt', { agentId, text, ...options }),
    onStatus: never, onTurn: never, onChanged: never, onOutput: never,
  },
  terminals: {
    run: (agentId, command, options) => call('terminals.run', { agentId, command, ...options }),
    write: (agentId, text, options) => call('terminals.write', { agentId, text, ...options }),
  },
  ports: {
    get inputs() { return ports.inputs; }, get outputs() { return ports.outputs; }, get peers() { return []; },
    refreshPeers: () => call('ports.peers'), describe: () => call('ports.describe'),
    emit: async (port, data) => (await call('ports.emit', { port, data })).delivered,
    send: (to, port, data, options) => call('ports.send', { to, port, data, ...options }),
    request: (to, input, data, options) => call('ports.request', { to, input, data, ...options }),
    read: (from, port) => call('ports.read', { from, port }),
    onMessage: never, onRequest: never, onPeersChanged: never,
  },
  tools: { handle, setEnabled: async (tool, enabled) => { await call('tools.setEnabled', { tool, enabled }); } },
  net: {
    fetch: async (url, options) => {
      need('net.fetch', 'network', 'network.local');
      return net.request(url, options, true);
    },
  },
  fs: {
    stat: (path) => call('fs.stat', { path }), list: (path, options) => call('fs.list', { path, ...options }),
    read: (path, options) => call('fs.read', { path, ...options }),
    readText: async (path, options) => (await call('fs.read', { path, ...options, encoding: 'utf8' })).data,
    readBytes: async (path, options) => new Uint8Array(Buffer.from((await call('fs.read', { path, ...options, encoding: 'base64' })).data, 'base64')),
    writeText: (path, data, options) => call('fs.write', { path, data, ...options, encoding: 'utf8' }),
    writeBytes: async (path, data, options) => call('fs.write', { path, data: bytesOf('fs.write', data).toString('base64'), ...options, encoding: 'base64' }),
    mkdir: (path) => call('fs.mkdir', { path }), trash: (path) => call('fs.trash', { path }),
    watch: (path) => call('fs.watch', { path }),
  },
  permissions: {
    get all() { return permissions(); },
    has: (id) => granted.has(id), list: () => call('permissions.list'),
    request: async (...ids) => (await call('permissions.request', { ids: ids.flat() })).granted,
    onChange: never,
  },
  lifecycle: { onVisibility: never, onSuspend: never, onExpanded: never, onResized: never },
  log: Object.fromEntries(['debug', 'info', 'warn', 'error'].map((level) => [level, (...args) => host.log(level, lineOf(args))])),
  close() {
    closed = true;
    handlers.clear();
    for (const list of waiting.values()) for (const go of list) go();
    waiting.clear();
  },
  get closed() { return closed; },
};

async function connect() {
  if (about === null) throw new CardSdkError('UNAVAILABLE', 'this plugin is no card', 'connect', undefined, 'Cards have a neurosquad-card.json.');
  return card;
}

const toolText = (text) => ({ content: [{ type: 'text', text: String(text) }] });
const toolError = (message) => ({ content: [{ type: 'text', text: said(message) }], isError: true });
function toolImage(data, mimeType, caption) {
  if (typeof mimeType !== 'string') throw invalid('toolImage', 'the type of the image must be a string, such as "image/png"');
  const image = { type: 'image', data: typeof data === 'string' ? data : bytesOf('toolImage', data).toString('base64'), mimeType };
  return { content: caption === undefined ? [image] : [image, { type: 'text', text: String(caption) }] };
}

module.exports = { connect, isCardSdkError, CardSdkError, createTranslator, toolText, toolImage, toolError, SDK_VERSION: '1.0.0', PROTOCOL_VERSION: 1 };
