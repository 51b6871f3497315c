'use strict';
// Harmless values: nothing of the machine that a plugin could know it by.
const windows = host.platform === 'win32';
module.exports = {
  EOL: windows ? '\r\n' : '\n', devNull: windows ? '\\\\.\\nul' : '/dev/null',
  platform: () => host.platform, arch: () => host.arch, machine: () => host.arch === 'x64' ? 'x86_64' : host.arch,
  type: () => ({ linux: 'Linux', darwin: 'Darwin', win32: 'Windows_NT' })[host.platform] ?? host.platform,
  release: () => '', version: () => '', hostname: () => 'localhost', homedir: () => windows ? 'C:\\Users\\user' : '/home/user', tmpdir: () => host.tmpdir,
  endianness: () => 'LE', uptime: () => 0, loadavg: () => [0, 0, 0], totalmem: () => 4294967296, freemem: () => 2147483648, availableParallelism: () => host.cpus,
  cpus: () => Array.from({ length: host.cpus }, () => ({ model: '', speed: 0, times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 } })),
  networkInterfaces: () => ({}), userInfo: () => ({ uid: 1000, gid: 1000, username: 'user', homedir: windows ? 'C:\\Users\\user' : '/home/user', shell: null }),
  getPriority: () => 0, setPriority() {},
  constants: {
    signals: { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGABRT: 6, SIGKILL: 9, SIGTERM: 15 },
    errno: { EACCES: 13, EEXIST: 17, EINVAL: 22, EISDIR: 21, EMFILE: 24, ENOENT: 2, ENOTDIR: 20, ENOTEMPTY: 39, EPERM: 1 }, priorities: { PRIORITY_NORMAL: 0 },
  },
};
