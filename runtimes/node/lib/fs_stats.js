'use strict';
// What node:fs tells of files: Stats and Dirent.

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

module.exports = { Stats, Dirent, makeStats };
