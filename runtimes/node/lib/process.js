'use strict';
const EventEmitter = require('events');
const { nodeError, invalidArgType, check } = require('internal/errors');

// What was given to nextTick runs when the running callback has ended, before promise
// jobs; what a promise job gives to it, when no job is left.
let ticks = [];

function runTicks() {
  while (ticks.length > 0) {
    const now = ticks;
    ticks = [];
    for (let i = 0; i < now.length; i++) {
      try { now[i](); } catch (error) {
        ticks = now.slice(i + 1).concat(ticks);
        throw error;
      }
    }
  }
}

const process = Object.create(Object.create(EventEmitter.prototype, { constructor: { value: { process: function () {} }.process, writable: true, configurable: true } }));
EventEmitter.call(process);
for (const name of ['_events', '_eventsCount', '_maxListeners']) Object.defineProperty(process, name, { enumerable: false, writable: true, value: process[name] });

class Output extends EventEmitter {
  constructor(name) {
    super();
    Object.defineProperty(this, 'name', { value: name });
    this.isTTY = false;
    this.writable = true;
    this.fd = name === 'stdout' ? 1 : 2;
  }
  write(chunk, encoding, done) {
    if (typeof encoding === 'function') { done = encoding; encoding = undefined; }
    if (typeof chunk !== 'string') {
      if (!(chunk instanceof Uint8Array)) throw invalidArgType('chunk', ['string', 'Buffer', 'Uint8Array'], chunk);
      chunk = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString();
    }
    host.write(this.name, chunk);
    if (done) process.nextTick(done);
    return true;
  }
  end(chunk, encoding, done) {
    if (typeof chunk === 'function') { done = chunk; chunk = undefined; }
    if (chunk != null) this.write(chunk, encoding);
    if (typeof done === 'function') process.nextTick(done);
    return this;
  }
  cork() {} uncork() {} getColorDepth() { return 1; } hasColors() { return false; } getWindowSize() { return [80, 24]; }
}

const once = (name, make) => Object.defineProperty(process, name, {
  enumerable: true, configurable: true,
  get() { const value = make(); Object.defineProperty(process, name, { value, enumerable: true, configurable: true, writable: true }); return value; },
});

Object.assign(process, {
  title: 'node', version: host.version, versions: { node: host.node, v8: '11.3.244.8-node.33', uv: '1.46.0', modules: '115' }, arch: host.arch, platform: host.platform,
  release: { name: 'node', lts: 'Iron' }, argv: ['node', host.dir], execArgv: [], execPath: 'node', argv0: 'node', pid: 1, ppid: 0, exitCode: undefined, debugPort: 9229,
  env: host.env, features: { inspector: false, debug: false, uv: false, ipv6: true, tls_alpn: false, tls_sni: false, tls_ocsp: false, tls: false, cached_builtins: true },
  config: { target_defaults: {}, variables: {} }, allowedNodeEnvironmentFlags: new Set(), noDeprecation: false,
  cwd: () => host.cwd(),
  chdir() { throw nodeError('Error', 'ERR_UNSUPPORTED_IN_HOST', 'process.chdir() is not available: relative paths always start at the agent\'s folder'); },
  umask: () => 0o22,
  uptime: () => host.now() / 1000,
  hrtime: Object.assign((before) => {
    const total = host.nanoseconds() + 1e9;
    let seconds = Math.floor(total / 1e9), rest = total % 1e9;
    if (before !== undefined) {
      if (!Array.isArray(before)) throw invalidArgType('time', 'Array', before);
      seconds -= before[0];
      rest -= before[1];
      if (rest < 0) { seconds--; rest += 1e9; }
    }
    return [seconds, rest];
  }, { bigint: () => BigInt(host.nanoseconds()) + 1000000000n }),
  nextTick(f, ...args) {
    check.function(f, 'callback');
    ticks.push(host.capture(args.length === 0 ? f : () => f(...args)));
    host.ticksWait();
  },
  exit(code) { host.exit(code ?? process.exitCode ?? 0); },
  reallyExit(code) { host.exit(code ?? 0); },
  abort() { host.exit(134); },
  kill() { throw nodeError('Error', 'ERR_UNSUPPORTED_IN_HOST', 'process.kill is not available to handlers of runtime "node"'); },
  memoryUsage: Object.assign(() => { const [rss, heapTotal, heapUsed] = host.memory(); return { rss, heapTotal, heapUsed, external: 0, arrayBuffers: 0 }; }, { rss: () => host.memory()[0] }),
  constrainedMemory: () => 0, availableMemory: () => 2147483648,
  resourceUsage: () => ({ userCPUTime: Math.round(host.now() * 1000), systemCPUTime: 0, maxRSS: Math.round(host.memory()[0] / 1024), sharedMemorySize: 0, unsharedDataSize: 0, unsharedStackSize: 0, minorPageFault: 0, majorPageFault: 0, swappedOut: 0, fsRead: 0, fsWrite: 0, ipcSent: 0, ipcReceived: 0, signalsCount: 0, voluntaryContextSwitches: 0, involuntaryContextSwitches: 0 }),
  cpuUsage: () => ({ user: Math.round(host.now() * 1000), system: 0 }),
  emitWarning(warning, type, code) {
    if (type !== null && typeof type === 'object') ({ type, code } = type);
    let text = warning instanceof Error ? `${warning.name}: ${warning.message}` : `${type ?? 'Warning'}: ${warning}`;
    if (code) text = `[${code}] ${text}`;
    require('console').warn(text);
  },
  binding() { throw nodeError('Error', 'ERR_UNSUPPORTED_IN_HOST', 'process.binding is not available to handlers of runtime "node"'); },
  getuid: () => 1000, geteuid: () => 1000, getgid: () => 1000, getegid: () => 1000, getgroups: () => [1000],
  setUncaughtExceptionCaptureCallback() {}, hasUncaughtExceptionCaptureCallback: () => false, getActiveResourcesInfo: () => [],
});
process.off = process.removeListener;
once('stdout', () => new Output('stdout'));
once('stderr', () => new Output('stderr'));
once('stdin', () => { const { Readable } = require('stream'); const stdin = new Readable({ read() { this.push(null); } }); stdin.fd = 0; stdin.isTTY = false; return stdin; });
Object.defineProperty(process, Symbol.toStringTag, { value: 'process', configurable: true });

module.exports = { process, runTicks };
