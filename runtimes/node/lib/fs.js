'use strict';
// What node:fs has beyond fs_core.js; it is loaded when some of it is touched.
require('internal/symbols');
const { start, later, flags: system } = host;
const { nodeError, invalidArgType, invalidArgValue, outOfRange, check } = require('internal/errors');
const core = require('internal/fs_core');
const { runSync, drive, promised, callbackOf, attempt, isMissing, toPath, parseFlags, parseMode, options, data, nameAs, joinPath, checkFD, named } = core;

const timeOf = (value, name = 'time') => {
  if (typeof value === 'string' && +value == value) return +value;
  if (Number.isFinite(value)) return value < 0 ? Date.now() / 1000 : value;
  if (Object.prototype.toString.call(value) === '[object Date]') return value.getTime() / 1000;
  throw nodeError('TypeError', 'ERR_INVALID_ARG_TYPE', invalidArgType(name, 'Date', value).message.replace('Date.', 'Date or an Time in seconds.'));
};

const parentOf = (path) => require('path').dirname(path);
function fsError(code, message, fields) {
  const error = nodeError('Error', code, message);
  Object.defineProperty(error, 'name', { value: 'SystemError', writable: true, configurable: true, enumerable: false });
  return Object.assign(error, fields);
}

const ops = {
  __proto__: core.ops,
  *fstat(fd, opts) { return require('internal/fs_stats').makeStats(yield ['fstat', checkFD(fd)], !!opts?.bigint); },
  *mkdtemp(prefix, opts) {
    opts = options(opts, {});
    return nameAs(yield ['mkdtemp', toPath(prefix, 'prefix')], opts.encoding);
  },
  *cp(from, to, opts) {
    opts = { force: true, errorOnExist: false, recursive: false, preserveTimestamps: false, dereference: false, ...opts };
    for (const name of ['force', 'errorOnExist', 'recursive', 'preserveTimestamps', 'dereference']) check.boolean(opts[name], `options.${name}`);
    if (opts.filter !== undefined) check.function(opts.filter, 'options.filter');
    yield* copyTree(toPath(from, 'src'), toPath(to, 'dest'), opts, true);
  },
  *truncate(path, length = 0) {
    length = length ?? 0;
    check.integer(length, 'len');
    yield ['truncate', toPath(path), Math.max(0, length)];
  },
  *ftruncate(fd, length = 0) {
    check.integer(length ?? 0, 'len');
    yield ['ftruncate', checkFD(fd), Math.max(0, length ?? 0)];
  },
  *chmod(path, mode) { path = toPath(path); yield ['chmod', path, requiredMode(mode)]; },
  *utimes(path, atime, mtime) { yield ['utimes', toPath(path), timeOf(atime), timeOf(mtime)]; },
  *realpath(path, opts) { return nameAs(yield ['realpath', toPath(path)], options(opts, {}).encoding); },
  *readlink(path, opts) { return nameAs(yield ['readlink', toPath(path)], options(opts, {}).encoding); },
  *link(from, to) { yield ['link', toPath(from, 'existingPath'), toPath(to, 'newPath')]; },
  *symlink(target, path) { yield ['symlink', toPath(target, 'target'), toPath(path)]; },
  *open(path, flags, mode) { path = toPath(path); return yield ['open', path, parseFlags(flags, system.O_RDONLY), parseMode(mode, 0o666)]; },
  *close(fd) { yield ['close', checkFD(fd)]; },
  *fsync(fd) { yield ['fsync', checkFD(fd)]; },
  *fdatasync(fd) { yield ['fsync', checkFD(fd)]; },
  *opendir(path, opts) {
    path = toPath(path);
    if (!opts?.recursive) yield ['opendir', path];
    return new Dir(path, yield* ops.readdir(path, { ...opts, withFileTypes: true }));
  },
};

const requiredMode = (mode) => { if (mode == null) throw invalidArgType('mode', ['number', 'string'], mode); return parseMode(mode, 0); };

function* readAll(fd, encoding) {
  const parts = [];
  for (;;) {
    const part = yield ['read', fd, 65536, -1];
    if (part.length === 0) break;
    parts.push(part);
  }
  const all = Buffer.concat(parts);
  return encoding === undefined ? all : all.toString(encoding);
}

function* writeAll(fd, bytes, position) {
  if (typeof bytes === 'string') bytes = Buffer.from(bytes);
  let done = 0;
  while (done < bytes.length) {
    const n = yield ['write', fd, done === 0 ? bytes : bytes.subarray(done), position < 0 ? -1 : position + done];
    if (n === 0) break;
    done += n;
  }
}

function* copyTree(from, to, opts, top) {
  if (opts.filter) {
    const wanted = opts.filter(from, to);
    if (!(typeof wanted?.then === 'function' ? yield ['await', wanted] : wanted)) return;
  }
  const source = yield [opts.dereference ? 'stat' : 'lstat', from];
  const kind = source[2] & 0o170000;
  const [missing, target] = yield* attempt(opts.dereference ? 'stat' : 'lstat', to);
  if (missing && !isMissing(missing) && missing.code !== 'ENOTDIR') throw missing;
  if (top) {
    const path = require('path');
    const a = path.resolve(from), b = path.resolve(to);
    if (a === b) throw fsError('ERR_FS_CP_EINVAL', `Invalid src or dest: cp returned EINVAL (src and dest cannot be the same) ${to}`, { errno: 22, syscall: 'cp', path: to });
    if (kind === 0o040000 && b.startsWith(`${a}/`)) throw fsError('ERR_FS_CP_EINVAL', `Invalid src or dest: cp returned EINVAL (cannot copy ${from} to a subdirectory of self ${to}) ${to}`, { errno: 22, syscall: 'cp', path: to });
    const parent = parentOf(to);
    const [none] = yield* attempt('stat', parent);
    if (none && isMissing(none)) yield ['mkdirp', parent, 0o777];
  }
  if (kind === 0o040000) {
    if (!opts.recursive) throw fsError('ERR_FS_EISDIR', `Path is a directory: cp returned EISDIR (${from} is a directory (not copied)) ${from}`, { errno: 22, syscall: 'cp', path: from });
    if (target && (target[2] & 0o170000) !== 0o040000) throw fsError('ERR_FS_CP_DIR_TO_NON_DIR', `Cannot overwrite non-directory with directory: cp returned EISDIR (cannot overwrite non-directory ${to} with directory ${from}) ${to}`, { errno: 21, syscall: 'cp', path: to });
    if (!target) yield ['mkdir', to, source[2] & 0o777];
    const entries = yield ['readdir', from];
    for (let i = 0; i < entries.length; i += 2) yield* copyTree(joinPath(from, entries[i]), joinPath(to, entries[i]), opts, false);
    return;
  }
  if (target) {
    if ((target[2] & 0o170000) === 0o040000) throw fsError('ERR_FS_CP_NON_DIR_TO_DIR', `Cannot overwrite directory with non-directory: cp returned ENOTDIR (cannot overwrite directory ${to} with non-directory ${from}) ${to}`, { errno: 20, syscall: 'cp', path: to });
    if (!opts.force) {
      if (opts.errorOnExist) throw fsError('ERR_FS_CP_EEXIST', `Target already exists: cp returned EEXIST (${to} already exists) ${to}`, { errno: 17, syscall: 'cp', path: to });
      return;
    }
  }
  if (kind === 0o120000) {
    const link = yield ['readlink', from];
    if (target) yield ['unlink', to];
    yield ['symlink', link, to];
    return;
  }
  yield ['copyFile', from, to, opts.mode ?? 0];
  if (opts.preserveTimestamps) yield ['utimes', to, source[10] / 1000, source[11] / 1000];
}

function readArgs(buffer, offset, length, position) {
  if (buffer !== undefined && buffer !== null && !ArrayBuffer.isView(buffer)) { ({ buffer, offset, length, position } = buffer); }
  else if (offset !== null && typeof offset === 'object') { ({ offset, length, position } = offset); }
  buffer ??= Buffer.alloc(16384);
  if (!ArrayBuffer.isView(buffer)) throw invalidArgType('buffer', ['Buffer', 'TypedArray', 'DataView'], buffer);
  offset ??= 0;
  check.integer(offset, 'offset', 0);
  length ??= buffer.byteLength - offset;
  if (length === 0) return { buffer, offset, length, position: -1 };
  if (buffer.byteLength === 0) throw invalidArgValue('buffer', buffer, 'is empty and cannot be written');
  check.integer(length, 'length', 0);
  if (length > buffer.byteLength - offset) throw outOfRange('length', `<= ${buffer.byteLength - offset}`, length);
  if (typeof position === 'bigint') position = Number(position);
  if (position == null || position < 0) position = -1;
  return { buffer, offset, length, position };
}

function* readInto(fd, { buffer, offset, length, position }) {
  const part = yield ['read', checkFD(fd), length, position];
  new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength).set(part, offset);
  return part.length;
}

function writeArgs(value, offset, length, position) {
  if (typeof value === 'string') {
    // (text, position, encoding)
    return { bytes: data(value, length), position: typeof offset === 'number' ? offset : -1 };
  }
  if (!ArrayBuffer.isView(value)) throw invalidArgType('buffer', ['string', 'Buffer', 'TypedArray', 'DataView'], value);
  if (offset !== null && typeof offset === 'object') ({ offset, length, position } = offset);
  offset ??= 0;
  check.integer(offset, 'offset', 0);
  if (offset > value.byteLength) throw outOfRange('offset', `<= ${value.byteLength}`, offset);
  length ??= value.byteLength - offset;
  check.integer(length, 'length', 0);
  if (length > value.byteLength - offset) throw outOfRange('length', `<= ${value.byteLength - offset}`, length);
  return { bytes: new Uint8Array(value.buffer, value.byteOffset + offset, length), position: typeof position === 'number' ? position : -1 };
}
function* writeFrom(fd, { bytes, position }) { return yield ['write', checkFD(fd), bytes, position]; }

function* readvInto(fd, buffers, position) {
  if (!Array.isArray(buffers)) throw invalidArgType('buffers', 'ArrayBufferView[]', buffers);
  position = typeof position === 'number' ? position : -1;
  let total = 0;
  for (const buffer of buffers) {
    const n = yield* readInto(fd, { buffer, offset: 0, length: buffer.byteLength, position: position < 0 ? -1 : position + total });
    total += n;
    if (n < buffer.byteLength) break;
  }
  return total;
}
function* writevFrom(fd, buffers, position) {
  if (!Array.isArray(buffers)) throw invalidArgType('buffers', 'ArrayBufferView[]', buffers);
  position = typeof position === 'number' ? position : -1;
  let total = 0;
  for (const buffer of buffers) total += yield* writeFrom(fd, { bytes: data(buffer), position: position < 0 ? -1 : position + total });
  return total;
}

// descriptors are the functions that take a file descriptor and a place for what is read or written.
function descriptors() {
  const io = {
    read: function read(fd, ...args) {
      const done = callbackOf(args);
      const a = readArgs(...args);
      drive(readInto(fd, a), (error, n) => error ? done(error) : done(null, n, a.buffer));
    },
    readSync: (fd, ...args) => runSync(readInto(fd, readArgs(...args))),
    write: function write(fd, value, ...args) {
      const done = callbackOf(args);
      drive(writeFrom(fd, writeArgs(value, ...args)), (error, n) => error ? done(error) : done(null, n, value));
    },
    writeSync: (fd, value, ...args) => runSync(writeFrom(fd, writeArgs(value, ...args))),
    readv: (fd, buffers, ...args) => { const done = callbackOf(args); drive(readvInto(fd, buffers, args[0]), (error, n) => error ? done(error) : done(null, n, buffers)); },
    readvSync: (fd, buffers, position) => runSync(readvInto(fd, buffers, position)),
    writev: (fd, buffers, ...args) => { const done = callbackOf(args); drive(writevFrom(fd, buffers, args[0]), (error, n) => error ? done(error) : done(null, n, buffers)); },
    writevSync: (fd, buffers, position) => runSync(writevFrom(fd, buffers, position)),
  };
  const pair = (f, names) => Object.defineProperty(f, Symbol.for('nodejs.util.promisify.custom'), { value: (...args) => new Promise((resolve, reject) => f(...args, (error, n, buffer) => error ? reject(error) : resolve({ [names[0]]: n, [names[1]]: buffer }))) });
  pair(io.read, ['bytesRead', 'buffer']); pair(io.write, ['bytesWritten', 'buffer']); pair(io.readv, ['bytesRead', 'buffers']); pair(io.writev, ['bytesWritten', 'buffers']);
  return io;
}
let io;

class Dir {
  #entries; #closed = false;
  constructor(path, entries) { this.path = path; this.#entries = entries; }
  readSync() { this.#check(); return this.#entries.shift() ?? null; }
  read(done) {
    if (done === undefined) return new Promise((resolve) => later(() => resolve(this.readSync())));
    check.function(done, 'cb');
    this.#check();
    later(() => done(null, this.#entries.shift() ?? null));
  }
  closeSync() { this.#check(); this.#closed = true; }
  close(done) {
    if (done === undefined) { try { this.closeSync(); } catch (error) { return Promise.reject(error); } return Promise.resolve(); }
    this.closeSync();
    later(() => done(null));
  }
  #check() { if (this.#closed) throw nodeError('Error', 'ERR_DIR_CLOSED', 'Directory handle was closed'); }
  [Symbol.asyncIterator]() {
    const dir = this;
    return {
      next: async () => { const value = await dir.read(); if (value === null) { await dir.close(); return { value: undefined, done: true }; } return { value, done: false }; },
      return: async (value) => { if (!dir.#closed) await dir.close(); return { value, done: true }; },
      [Symbol.asyncIterator]() { return this; },
    };
  }
  entries() { return this[Symbol.asyncIterator](); }
}

const streams = () => require('internal/fs_streams');

// give gives a member of node:fs that the heart lacks.
function give(name) {
  const isSync = name.endsWith('Sync'), op = isSync ? name.slice(0, -4) : name;
  if (ops[op]) {
    const made = isSync ? core.syncForm(op, ops[op]) : core.callbackForm(op, ops[op]);
    return op === 'realpath' ? Object.assign(made, { native: made }) : made;
  }
  switch (name) {
    case 'Stats': case 'Dirent': return require('internal/fs_stats')[name];
    case 'Dir': return Dir;
    case 'constants': return require('internal/fs_constants').constants;
    case 'createReadStream': return named(name, (path, opts) => new (streams().ReadStream)(path, opts));
    case 'createWriteStream': return named(name, (path, opts) => new (streams().WriteStream)(path, opts));
    default: return (io ??= descriptors())[name] ?? unsupported('fs', name);
  }
}

// givePromised gives a member of fs/promises that the heart lacks.
function givePromised(name) {
  if (name === 'open') return named(name, async (path, flags, mode) => new (require('internal/fs_handle').FileHandle)(await promised(ops.open(path, flags, mode))));
  if (name === 'constants') return give(name);
  return ops[name] ? core.promiseForm(name, ops[name]) : unsupported('fs/promises', name);
}

// unsupported gives what this host does not offer: it is there, and says so when it is used.
function unsupported(module, name) {
  return require('internal/unsupported').member(module, name, 'files can be read, written, listed, moved and removed, but neither watched nor given to other users');
}

module.exports = { ops, give, givePromised, fsError, readAll, writeAll, readArgs, readInto, readvInto, writeArgs, writeFrom, writevFrom };
