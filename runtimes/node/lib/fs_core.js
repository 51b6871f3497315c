'use strict';
// The heart of node:fs, small enough to be loaded for a call that reads one file. Each
// function is written once, as a generator that yields operations of the host; from it
// come its three forms: sync, with a callback, with a promise. The rest is in fs.js, and is loaded when it is touched.

const { sync, start, later, flags: system } = host;
const { nodeError, invalidArgType, invalidArgValue, check, AbortError } = require('internal/errors');

const more = () => require('internal/fs');
const statistics = () => require('internal/fs_stats');

function parseFlags(flags, otherwise) {
  if (flags == null) return otherwise;
  if (typeof flags === 'number') return flags;
  if (flags === 'r') return system.O_RDONLY;
  if (flags === 'w') return system.O_TRUNC | system.O_CREAT | system.O_WRONLY;
  if (flags === 'a') return system.O_APPEND | system.O_CREAT | system.O_WRONLY;
  const found = require('internal/fs_constants').openFlags[flags];
  if (found === undefined) throw invalidArgValue('flags', flags);
  return found;
}

function parseMode(mode, otherwise, name = 'mode') {
  if (mode == null) return otherwise;
  if (typeof mode === 'string') {
    if (!/^[0-7]+$/.test(mode)) throw invalidArgValue(name, mode, 'must be a 32-bit unsigned integer or an octal string');
    return parseInt(mode, 8);
  }
  check.integer(mode, name, 0, 2 ** 32 - 1);
  return mode;
}

// toPath turns a path into a string, once: what is checked is what is used.
function toPath(path, name = 'path') {
  if (typeof path !== 'string') {
    if (path instanceof Uint8Array) path = Buffer.from(path.buffer, path.byteOffset, path.length).toString();
    else if (path !== null && typeof path === 'object' && path.href && path.protocol) path = require('url').fileURLToPath(path);
    else throw invalidArgType(name, ['string', 'Buffer', 'URL'], path);
  }
  if (path.includes('\0')) throw invalidArgValue(name, path, 'must be a string, Uint8Array, or URL without null bytes');
  return path;
}

const isFD = (value) => typeof value === 'number';
function checkFD(fd) { check.integer(fd, 'fd', 0, 2147483647); return fd; }

function options(value, defaults) {
  if (value == null || typeof value === 'function') return defaults;
  if (typeof value === 'string') return { ...defaults, encoding: value };
  if (typeof value !== 'object') throw invalidArgType('options', ['string', 'Object'], value);
  if (value.signal !== undefined) check.signal(value.signal, 'options.signal');
  return { ...defaults, ...value };
}

function encodingOf(name) {
  if (name == null || name === 'buffer') return undefined;
  if (name === 'utf8' || name === 'utf-8') return 'utf8';
  try { return require('internal/buffer').encodingOf(name); } catch { throw invalidArgValue('encoding', name, 'is invalid encoding'); }
}

const checkAborted = (signal) => { if (signal?.aborted) throw new AbortError(undefined, { cause: signal.reason }); };

function data(value, encoding, name = 'data') {
  if (typeof value === 'string') {
    encoding = encodingOf(encoding ?? 'utf8');
    return encoding === undefined || encoding === 'utf8' ? value : new Uint8Array(require('internal/buffer').encode(value, encoding));
  }
  if (ArrayBuffer.isView(value)) return value instanceof Uint8Array ? value : new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  throw invalidArgType(name, ['string', 'Buffer', 'TypedArray', 'DataView'], value);
}

const joinPath = (dir, name) => dir.endsWith('/') ? `${dir}${name}` : `${dir}/${name}`;

function namesAs(names, encoding) {
  if (encoding == null || encoding === 'utf8' || encoding === 'utf-8') return names;
  if (encoding === 'buffer') return names.map((name) => Buffer.from(name));
  return names.map((name) => Buffer.from(name).toString(encoding));
}
const nameAs = (name, encoding) => namesAs([name], encoding)[0];

const isMissing = (error) => error.code === 'ENOENT';

// attempt yields an operation and gives [error, result].
function* attempt(...op) {
  try { return [null, yield op]; } catch (error) { return [error, undefined]; }
}

const ops = {
  __proto__: null,
  *readFile(path, opts) {
    opts = options(opts, { flag: 'r' });
    const encoding = encodingOf(opts.encoding);
    checkAborted(opts.signal);
    if (isFD(path)) return yield* more().readAll(checkFD(path), encoding);
    return yield ['readFile', toPath(path), encoding, parseFlags(opts.flag, system.O_RDONLY)];
  },
  *writeFile(path, value, opts) {
    opts = options(opts, { encoding: 'utf8', mode: 0o666, flag: 'w' });
    checkAborted(opts.signal);
    const bytes = data(value, opts.encoding);
    if (isFD(path)) { yield* more().writeAll(checkFD(path), bytes, -1); return; }
    yield ['writeFile', toPath(path), bytes, parseFlags(opts.flag ?? 'w'), parseMode(opts.mode, 0o666)];
  },
  *appendFile(path, value, opts) {
    yield* ops.writeFile(path, value, options(opts, { encoding: 'utf8', mode: 0o666, flag: 'a' }));
  },
  *stat(path, opts) { return yield* statOf('stat', path, opts); },
  *lstat(path, opts) { return yield* statOf('lstat', path, opts); },
  *access(path, mode = 0) {
    path = toPath(path);
    check.integer(mode, 'mode', 0, 7);
    yield ['access', path, mode];
  },
  *readdir(path, opts) {
    opts = options(opts, {});
    path = toPath(path);
    if (opts.recursive !== undefined) check.boolean(opts.recursive, 'options.recursive');
    const out = [], folders = [''];
    while (folders.length > 0) {
      const below = folders.shift();
      const here = below === '' ? path : joinPath(path, below);
      const entries = yield ['readdir', here];
      for (let i = 0; i < entries.length; i += 2) {
        const name = below === '' ? entries[i] : joinPath(below, entries[i]);
        if (opts.withFileTypes) out.push(new (statistics().Dirent)(nameAs(entries[i], opts.encoding), here, entries[i + 1]));
        else out.push(name);
        if (opts.recursive && entries[i + 1] === 0o040000) folders.push(name);
      }
      if (!opts.recursive) break;
    }
    return opts.withFileTypes ? out : namesAs(out, opts.encoding);
  },
  *mkdir(path, opts) {
    let mode = 0o777, recursive = false;
    if (typeof opts === 'number' || typeof opts === 'string') mode = parseMode(opts, mode);
    else if (opts) {
      if (opts.recursive !== undefined) { check.boolean(opts.recursive, 'options.recursive'); recursive = opts.recursive; }
      mode = parseMode(opts.mode, mode, 'options.mode');
    }
    return yield [recursive ? 'mkdirp' : 'mkdir', toPath(path), mode];
  },
  *rmdir(path, opts) {
    path = toPath(path);
    if (opts?.recursive) { yield* ops.rm(path, { recursive: true }); return; }
    yield ['rmdir', path];
  },
  *rm(path, opts) {
    path = toPath(path);
    if (opts !== undefined) check.object(opts, 'options');
    for (const name of ['force', 'recursive']) if (opts?.[name] !== undefined) check.boolean(opts[name], `options.${name}`);
    const [error, stats] = yield* attempt('lstat', path);
    if (error) {
      if (opts?.force && isMissing(error)) return;
      if (isMissing(error) || !opts?.recursive) throw error;
    }
    if (stats && (stats[2] & 0o170000) === 0o040000 && !opts?.recursive) {
      throw more().fsError('ERR_FS_EISDIR', `Path is a directory: rm returned EISDIR (is a directory) ${path}`, { errno: 21, syscall: 'rm', path });
    }
    const [failed] = yield* attempt(opts?.recursive ? 'rmtree' : 'unlink', path);
    if (failed && !(opts?.force && isMissing(failed))) throw failed;
  },
  *unlink(path) { yield ['unlink', toPath(path)]; },
  *rename(from, to) { yield ['rename', toPath(from, 'oldPath'), toPath(to, 'newPath')]; },
  *copyFile(from, to, mode = 0) {
    from = toPath(from, 'src');
    to = toPath(to, 'dest');
    check.integer(mode, 'mode', 0, 7);
    yield ['copyFile', from, to, mode];
  },
};

function* statOf(op, path, opts) {
  path = toPath(path);
  if (opts?.throwIfNoEntry === false) {
    const [error, numbers] = yield* attempt(op, path);
    if (error) { if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined; throw error; }
    return statistics().makeStats(numbers, !!opts.bigint);
  }
  return statistics().makeStats(yield [op, path], !!opts?.bigint);
}

// runSync runs a generator of operations to its end at once.
function runSync(steps) {
  let step = steps.next();
  while (!step.done) {
    let result;
    try {
      if (step.value[0] === 'await') throw nodeError('TypeError', 'ERR_INVALID_RETURN_VALUE', 'Expected boolean to be returned from the "filter" function but got an instance of Promise.');
      result = sync(...step.value);
    } catch (error) { step = steps.throw(error); continue; }
    step = steps.next(result);
  }
  return step.value;
}

// drive runs one by turns; done(error, result) is called in a turn of its own.
function drive(steps, done) {
  let step = steps.next(); // what is wrong with the arguments is thrown here
  if (step.done) { later(() => done(null, step.value)); return; }
  const go = () => {
    if (step.value[0] === 'await') { step.value[1].then((value) => advance(null, value), (error) => advance(error)); return; }
    start(advance, ...step.value);
  };
  function advance(error, result) {
    try {
      step = error ? steps.throw(error) : steps.next(result);
    } catch (thrown) { done(thrown); return; }
    if (step.done) done(null, step.value); else go();
  }
  go();
}

function promised(steps) {
  return new Promise((resolve, reject) => drive(steps, (error, result) => error ? reject(error) : resolve(result)));
}

function callbackOf(args) {
  const done = args.pop();
  if (typeof done !== 'function') throw invalidArgType('cb', 'function', undefined);
  return done;
}

// What gives no result gives its callback none.
const quiet = ['writeFile', 'appendFile', 'access', 'rmdir', 'rm', 'unlink', 'rename', 'copyFile', 'cp', 'truncate', 'ftruncate', 'chmod', 'utimes', 'link', 'symlink', 'close', 'fsync', 'fdatasync'];

const named = (name, f) => Object.defineProperty(f, 'name', { value: name, configurable: true });

function callbackForm(name, make) {
  return named(name, (...args) => {
    const done = callbackOf(args);
    while (args.length > 0 && args[args.length - 1] === undefined) args.pop();
    drive(make(...args), (error, result) => error ? done(error) : quiet.includes(name) ? done(null) : done(null, result));
  });
}
const syncForm = (name, make) => named(`${name}Sync`, (...args) => runSync(make(...args)));

// The promise forms take a FileHandle where the others take a descriptor.
const handle = Symbol('handle');
function promiseForm(name, make) {
  return named(name, (...args) => {
    if (args[0]?.[handle]) args[0] = args[0].fd;
    try { return promised(make(...args)); } catch (error) { return Promise.reject(error); }
  });
}

// ctx.fs: promises only, and few.
const promises = () => require('internal/fs_promises');
const context = {
  read: promiseForm('read', ops.readFile),
  write: (path, value, opts) => promises().writeFile(path, value, opts),
  list: (path) => promises().readdir(path ?? '.'),
  stat: (path) => promises().stat(path),
  exists: (path) => new Promise((resolve) => start((error, found) => resolve(!error && found), 'exists', toPath(path))),
  mkdir: (path, opts) => promises().mkdir(path, opts ?? { recursive: true }).then(() => undefined),
};

module.exports = {
  ops, context, handle, named, drive, promised, runSync, callbackOf, callbackForm, syncForm, promiseForm, attempt, isMissing, toPath, parseFlags, parseMode, options, data,
  nameAs, namesAs, joinPath, checkFD,
};
