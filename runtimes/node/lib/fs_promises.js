'use strict';
// node:fs/promises.
const { lazy } = require('internal/lazy');
const { ops, promiseForm } = require('internal/fs_core');

module.exports = lazy(['access', 'appendFile', 'chmod', 'chown', 'constants', 'copyFile', 'cp', 'lchmod', 'lchown', 'link', 'lstat', 'lutimes', 'mkdir', 'mkdtemp', 'open', 'opendir',
  'readFile', 'readdir', 'readlink', 'realpath', 'rename', 'rm', 'rmdir', 'stat', 'statfs', 'symlink', 'truncate', 'unlink', 'utimes', 'watch', 'writeFile'],
(object, name) => { object[name] = ops[name] ? promiseForm(name, ops[name]) : require('internal/fs').givePromised(name); });
