'use strict';
// node:fs as a whole: fs_core.js has its heart.
require('internal/symbols');
const { sync, start, later, flags: system } = host;
const { nodeError, invalidArgType, invalidArgValue, outOfRange, check } = require('internal/errors');
const core = require('internal/fs_core');
const { promises, runSync, drive, promised, callbackOf, attempt, isMissing, toPath, parseFlags, parseMode, options, data, nameAs, joinPath, checkFD } = core;

const constants = {
  __proto__: null, UV_FS_SYMLINK_DIR: 1, UV_FS_SYMLINK_JUNCTION: 2, O_RDONLY: system.O_RDONLY, O_WRONLY: system.O_WRONLY, O_RDWR: system.O_RDWR,
  UV_DIRENT_UNKNOWN: 0, UV_DIRENT_FILE: 1, UV_DIRENT_DIR: 2, UV_DIRENT_LINK: 3, UV_DIRENT_FIFO: 4, UV_DIRENT_SOCKET: 5, UV_DIRENT_CHAR: 6, UV_DIRENT_BLOCK: 7,
  S_IFMT: 0o170000, S_IFREG: 0o100000, S_IFDIR: 0o040000, S_IFCHR: 0o020000, S_IFBLK: 0o060000, S_IFIFO: 0o010000, S_IFLNK: 0o120000, S_IFSOCK: 0o140000,
  O_CREAT: system.O_CREAT, O_EXCL: system.O_EXCL, UV_FS_O_FILEMAP: 0, O_TRUNC: system.O_TRUNC, O_APPEND: system.O_APPEND, O_SYNC: system.O_SYNC,
  S_IRWXU: 0o700, S_IRUSR: 0o400, S_IWUSR: 0o200, S_IXUSR: 0o100, S_IRWXG: 0o070, S_IRGRP: 0o040, S_IWGRP: 0o020, S_IXGRP: 0o010,
  S_IRWXO: 0o007, S_IROTH: 0o004, S_IWOTH: 0o002, S_IXOTH: 0o001, F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1,
  UV_FS_COPYFILE_EXCL: 1, COPYFILE_EXCL: 1, UV_FS_COPYFILE_FICLONE: 2, COPYFILE_FICLONE: 2, UV_FS_COPYFILE_FICLONE_FORCE: 4, COPYFILE_FICLONE_FORCE: 4,
};

const { O_RDONLY, O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC, O_APPEND, O_SYNC } = constants;
const openFlags = {
  __proto__: null, r: O_RDONLY, rs: O_RDONLY | O_SYNC, sr: O_RDONLY | O_SYNC, 'r+': O_RDWR, 'rs+': O_RDWR | O_SYNC, 'sr+': O_RDWR | O_SYNC,
  w: O_TRUNC | O_CREAT | O_WRONLY, wx: O_TRUNC | O_CREAT | O_WRONLY | O_EXCL, xw: O_TRUNC | O_CREAT | O_WRONLY | O_EXCL,
  'w+': O_TRUNC | O_CREAT | O_RDWR, 'wx+': O_TRUNC | O_CREAT | O_RDWR | O_EXCL, 'xw+': O_TRUNC | O_CREAT | O_RDWR | O_EXCL,
  a: O_APPEND | O_CREAT | O_WRONLY, ax: O_APPEND | O_CREAT | O_WRONLY | O_EXCL, xa: O_APPEND | O_CREAT | O_WRONLY | O_EXCL,
  as: O_APPEND | O_CREAT | O_WRONLY | O_SYNC, sa: O_APPEND | O_CREAT | O_WRONLY | O_SYNC, 'a+': O_APPEND | O_CREAT | O_RDWR,
  'ax+': O_APPEND | O_CREAT | O_RDWR | O_EXCL, 'xa+': O_APPEND | O_CREAT | O_RDWR | O_EXCL, 'as+': O_APPEND | O_CREAT | O_RDWR | O_SYNC, 'sa+': O_APPEND | O_CREAT | O_RDWR | O_SYNC,
};

class Kinds {
  isDirectory() { return this._is(0o040000); }
  isFile() { return this._is(0o100000); }
  isBlockDevice() { return this._is(0o060000); }
  isCharacterDevice() { return this._is(0o020000); }
  isSymbolicLink() { return this._is(0o120000); }
  isFIFO() { return this._is(0o010000); }
  isSocket() { return this._is(0o140000); }
}
Object.defineProperty(Kinds.prototype, '_is', { writable: true, value() { return false; } });

class Stats extends Kinds {}
class BigIntStats extends Kinds {}
for (const [kind, is] of [[Stats, function (type) { return (this.mode & 0o170000) === type; }], [BigIntStats, function (type) { return Number(this.mode & 0o170000n) === type; }]]) {
  Object.defineProperty(kind.prototype, '_is', { value: is });
}

const statNames = ['dev', 'ino', 'mode', 'nlink', 'uid', 'gid', 'rdev', 'size', 'blksize', 'blocks'];
const statOrder = ['dev', 'mode', 'nlink', 'uid', 'gid', 'rdev', 'blksize', 'ino', 'size', 'blocks'];
const timeNames = ['atime', 'mtime', 'ctime', 'birthtime'];

function makeStats(numbers, bigint) {
  const stats = bigint ? new BigIntStats() : new Stats();
  for (const name of statOrder) { const n = numbers[statNames.indexOf(name)]; stats[name] = bigint ? BigInt(n) : n; }
  timeNames.forEach((name, i) => { const ms = numbers[10 + i]; stats[`${name}Ms`] = bigint ? BigInt(Math.floor(ms)) : ms; });
  if (bigint) timeNames.forEach((name, i) => { stats[`${name}Ns`] = BigInt(Math.round(numbers[10 + i] * 1e6)); });
  timeNames.forEach((name, i) => { stats[name] = new Date(Math.round(numbers[10 + i])); });
  return stats;
}

const typeOf = Symbol('type');
class Dirent extends Kinds {
  constructor(name, parent, type) {
    super();
    this.name = name;
    this.parentPath = parent;
    this.path = parent;
    this[typeOf] = { 0o100000: 1, 0o040000: 2, 0o120000: 3, 0o010000: 4, 0o140000: 5, 0o020000: 6, 0o060000: 7 }[type] ?? 0;
  }
}
Object.defineProperty(Dirent.prototype, '_is', { value(type) { return this[typeOf] === { 0o100000: 1, 0o040000: 2, 0o120000: 3, 0o010000: 4, 0o140000: 5, 0o020000: 6, 0o060000: 7 }[type]; } });

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

const ops = Object.assign({ __proto__: null }, core.ops, {
  *fstat(fd, opts) { return makeStats(yield ['fstat', checkFD(fd)], !!opts?.bigint); },
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
  *open(path, flags, mode) { path = toPath(path); return yield ['open', path, parseFlags(flags, O_RDONLY), parseMode(mode, 0o666)]; },
  *close(fd) { yield ['close', checkFD(fd)]; },
  *fsync(fd) { yield ['fsync', checkFD(fd)]; },
  *fdatasync(fd) { yield ['fsync', checkFD(fd)]; },
  *opendir(path, opts) {
    path = toPath(path);
    if (!opts?.recursive) yield ['opendir', path];
    return new Dir(path, yield* ops.readdir(path, { ...opts, withFileTypes: true }));
  },
});

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

const kPromisify = Symbol.for('nodejs.util.promisify.custom');
const fs = {};
for (const name of Object.keys(ops)) {
  fs[name] = core.callbackForm(name, ops[name]);
  fs[`${name}Sync`] = core.syncForm(name, ops[name]);
}

// promiseMember gives what fs/promises has beyond the heart.
function promiseMember(name) {
  if (name === 'open') return async (path, flags, mode) => new FileHandle(await promised(ops.open(path, flags, mode)));
  if (name === 'constants') return constants;
  return ops[name] ? core.promiseForm(name, ops[name]) : unsupported.member('fs/promises', name, withoutIt);
}

fs.exists = function exists(path, done) {
  check.function(done, 'cb');
  try { path = toPath(path); } catch { later(() => done(false)); return; }
  start((error, found) => done(!error && found), 'exists', path);
};
Object.defineProperty(fs.exists, kPromisify, { value: (path) => new Promise((resolve) => fs.exists(path, resolve)) });
fs.existsSync = function existsSync(path) {
  try { return sync('exists', toPath(path)); } catch { return false; }
};
fs.realpath.native = fs.realpath;
fs.realpathSync.native = fs.realpathSync;

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

fs.read = function read(fd, ...args) {
  const done = callbackOf(args);
  const a = readArgs(...args);
  drive(readInto(fd, a), (error, n) => error ? done(error) : done(null, n, a.buffer));
};
fs.readSync = (fd, ...args) => runSync(readInto(fd, readArgs(...args)));
fs.write = function write(fd, value, ...args) {
  const done = callbackOf(args);
  drive(writeFrom(fd, writeArgs(value, ...args)), (error, n) => error ? done(error) : done(null, n, value));
};
fs.writeSync = (fd, value, ...args) => runSync(writeFrom(fd, writeArgs(value, ...args)));
fs.readv = (fd, buffers, ...args) => { const done = callbackOf(args); drive(readvInto(fd, buffers, args[0]), (error, n) => error ? done(error) : done(null, n, buffers)); };
fs.readvSync = (fd, buffers, position) => runSync(readvInto(fd, buffers, position));
fs.writev = (fd, buffers, ...args) => { const done = callbackOf(args); drive(writevFrom(fd, buffers, args[0]), (error, n) => error ? done(error) : done(null, n, buffers)); };
fs.writevSync = (fd, buffers, position) => runSync(writevFrom(fd, buffers, position));
const pair = (f, names) => Object.defineProperty(f, kPromisify, { value: (...args) => new Promise((resolve, reject) => f(...args, (error, n, buffer) => error ? reject(error) : resolve({ [names[0]]: n, [names[1]]: buffer }))) });
pair(fs.read, ['bytesRead', 'buffer']); pair(fs.write, ['bytesWritten', 'buffer']); pair(fs.readv, ['bytesRead', 'buffers']); pair(fs.writev, ['bytesWritten', 'buffers']);

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

class FileHandle extends require('events') {
  #fd;
  constructor(fd) { super(); this.#fd = fd; }
  get fd() { return this.#fd; }
  appendFile(value, opts) { return this.writeFile(value, opts); }
  writeFile(value, opts) { return this.#run(ops.writeFile(this.#fd, value, opts)); }
  readFile(opts) { return this.#run(ops.readFile(this.#fd, opts)); }
  stat(opts) { return this.#run(ops.fstat(this.#fd, opts)); }
  truncate(length) { return this.#run(ops.ftruncate(this.#fd, length)); }
  sync() { return this.#run(ops.fsync(this.#fd)); }
  datasync() { return this.#run(ops.fsync(this.#fd)); }
  async read(...args) { const a = readArgs(...args); return { bytesRead: await this.#run(readInto(this.#fd, a)), buffer: a.buffer }; }
  async write(value, ...args) { return { bytesWritten: await this.#run(writeFrom(this.#fd, writeArgs(value, ...args))), buffer: value }; }
  async readv(buffers, position) { return { bytesRead: await this.#run(readvInto(this.#fd, buffers, position)), buffers }; }
  async writev(buffers, position) { return { bytesWritten: await this.#run(writevFrom(this.#fd, buffers, position)), buffers }; }
  async close() {
    if (this.#fd === -1) return;
    const fd = this.#fd;
    this.#fd = -1;
    await promised(ops.close(fd));
    this.emit('close');
  }
  createReadStream(opts) { return fs.createReadStream(null, { ...opts, fd: this.#fd }); }
  createWriteStream(opts) { return fs.createWriteStream(null, { ...opts, fd: this.#fd }); }
  readLines(opts) { return lines(this.createReadStream({ encoding: 'utf8', ...opts })); }
  #run(steps) {
    if (this.#fd === -1) return Promise.reject(Object.assign(new Error('file closed'), { code: 'EBADF', syscall: 'fstat', errno: -9 }));
    return promised(steps);
  }
}
Object.defineProperty(FileHandle.prototype, Symbol.asyncDispose, { configurable: true, writable: true, value() { return this.close(); } });

// lines gives an async iterator over the lines of a stream of text.
function lines(stream) {
  const parts = stream[Symbol.asyncIterator]();
  let kept = '', ended = false;
  const ready = [];
  return {
    async next() {
      while (ready.length === 0 && !ended) {
        const { value, done } = await parts.next();
        if (done) { ended = true; if (kept !== '') ready.push(kept); break; }
        const found = (kept + value).split(/\r?\n/);
        kept = found.pop();
        ready.push(...found);
      }
      return ready.length > 0 ? { value: ready.shift(), done: false } : { value: undefined, done: true };
    },
    async return(value) { await parts.return?.(); return { value, done: true }; },
    [Symbol.asyncIterator]() { return this; },
  };
}


// What this host does not offer is there, and says so when it is used.
const unsupported = require('internal/unsupported');
const withoutIt = 'files can be read, written, listed, moved and removed, but neither watched nor given to other users';
for (const name of ['watch', 'watchFile', 'unwatchFile', 'chown', 'chownSync', 'lchown', 'lchownSync', 'fchown', 'fchownSync', 'fchmod', 'fchmodSync', 'lchmod', 'lchmodSync', 'lutimes', 'lutimesSync', 'futimes', 'futimesSync', 'statfs', 'statfsSync', 'openAsBlob']) {
  fs[name] = unsupported.member('fs', name, withoutIt);
}

fs.createReadStream = (path, opts) => new (streams().ReadStream)(path, opts);
fs.createWriteStream = (path, opts) => new (streams().WriteStream)(path, opts);
const streams = () => require('internal/fs_streams');
for (const name of ['ReadStream', 'WriteStream']) {
  for (const alias of [name, `File${name}`]) {
    Object.defineProperty(fs, alias, { enumerable: true, configurable: true, get: () => streams()[name] });
  }
}

Object.defineProperty(FileHandle.prototype, core.handle, { value: true });
Object.assign(fs, { constants, Stats, Dirent, Dir, F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, promises });

module.exports = { fs, promises, constants, openFlags, fsError, Stats, Dirent, makeStats, readAll, writeAll, promiseMember, FileHandle, toPath, parseFlags };
