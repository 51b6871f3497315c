'use strict';
// node:fs: all its members, in their order.
const { sync, start, later } = host;
const { lazy } = require('internal/lazy');
const { check } = require('internal/errors');
const { ops, syncForm, callbackForm, toPath } = require('internal/fs_core');

const given = { __proto__: null, F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, get promises() { return require('internal/fs_promises'); } };

module.exports = lazy(['readFile', 'readFileSync', 'writeFile', 'writeFileSync', 'appendFile', 'appendFileSync', 'stat', 'statSync', 'lstat', 'lstatSync', 'access', 'accessSync', 'readdir', 'readdirSync',
  'mkdir', 'mkdirSync', 'rmdir', 'rmdirSync', 'rm', 'rmSync', 'unlink', 'unlinkSync', 'rename', 'renameSync', 'copyFile', 'copyFileSync', 'fstat', 'fstatSync', 'mkdtemp', 'mkdtempSync', 'cp', 'cpSync',
  'truncate', 'truncateSync', 'ftruncate', 'ftruncateSync', 'chmod', 'chmodSync', 'utimes', 'utimesSync', 'realpath', 'realpathSync', 'readlink', 'readlinkSync', 'link', 'linkSync', 'symlink', 'symlinkSync',
  'open', 'openSync', 'close', 'closeSync', 'fsync', 'fsyncSync', 'fdatasync', 'fdatasyncSync', 'opendir', 'opendirSync', 'exists', 'existsSync', 'read', 'readSync', 'write', 'writeSync', 'readv', 'readvSync',
  'writev', 'writevSync', 'watch', 'watchFile', 'unwatchFile', 'chown', 'chownSync', 'lchown', 'lchownSync', 'fchown', 'fchownSync', 'fchmod', 'fchmodSync', 'lchmod', 'lchmodSync', 'lutimes', 'lutimesSync',
  'futimes', 'futimesSync', 'statfs', 'statfsSync', 'openAsBlob', 'createReadStream', 'createWriteStream', 'ReadStream', 'FileReadStream', 'WriteStream', 'FileWriteStream', 'constants', 'Stats', 'Dirent', 'Dir',
  'F_OK', 'R_OK', 'W_OK', 'X_OK', 'promises'],
(object, name) => {
  const isSync = name.endsWith('Sync'), op = isSync ? name.slice(0, -4) : name;
  if (name === 'exists') object.exists = makeExists();
  else if (name === 'existsSync') object.existsSync = function existsSync(path) { try { return sync('exists', toPath(path)); } catch { return false; } };
  else if (name.endsWith('Stream') && name[0] !== 'c') Object.defineProperty(object, name, { enumerable: true, configurable: true, get: () => require('internal/fs_streams')[name.replace('File', '')] });
  else if (ops[op]) object[name] = isSync ? syncForm(op, ops[op]) : callbackForm(op, ops[op]);
  else object[name] = name in given ? given[name] : require('internal/fs').give(name);
});

function makeExists() {
  function exists(path, done) {
    check.function(done, 'cb');
    try { path = toPath(path); } catch { later(() => done(false)); return; }
    start((error, found) => done(!error && found), 'exists', path);
  }
  return Object.defineProperty(exists, Symbol.for('nodejs.util.promisify.custom'), { value: (path) => new Promise((resolve) => module.exports.exists(path, resolve)) });
}
