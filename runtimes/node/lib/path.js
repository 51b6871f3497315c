'use strict';
const { check } = require('internal/errors');

// One implementation for both flavours: `isSep` tells separators, `sep` is written.
function make(windows) {
  const sep = windows ? '\\' : '/';
  const isSep = windows ? (c) => c === '/' || c === '\\' : (c) => c === '/';
  const cwd = () => host.cwd();

  // rootLength measures the root of a path: "/", and on Windows also "C:", "C:\" and "\\host\share\".
  function rootOf(path) {
    if (path === '') return { length: 0, device: '', absolute: false };
    if (!windows) return isSep(path[0]) ? { length: 1, device: '', absolute: true } : { length: 0, device: '', absolute: false };
    if (isSep(path[0])) {
      if (path.length > 1 && isSep(path[1])) {
        const unc = /^[\\/]{2}([^\\/]+)[\\/]+([^\\/]+)/.exec(path);
        if (unc) {
          const length = unc[0].length;
          const more = length < path.length ? 1 : 0;
          return { length: length + more, device: `\\\\${unc[1]}\\${unc[2]}`, absolute: true };
        }
      }
      return { length: 1, device: '', absolute: true };
    }
    if (/^[A-Za-z]:/.test(path)) {
      const absolute = path.length > 2 && isSep(path[2]);
      return { length: absolute ? 3 : 2, device: path.slice(0, 2), absolute };
    }
    return { length: 0, device: '', absolute: false };
  }

  // squeeze resolves "." and ".." and doubled separators in what follows the root.
  function squeeze(path, aboveRoot) {
    const out = [];
    for (const part of windows ? path.split(/[\\/]/) : path.split('/')) {
      if (part === '' || part === '.') continue;
      if (part !== '..') out.push(part);
      else if (out.length > 0 && out[out.length - 1] !== '..') out.pop();
      else if (aboveRoot) out.push('..');
    }
    return out.join(sep);
  }

  const path = {
    sep, delimiter: windows ? ';' : ':',

    resolve(...args) {
      let tail = '', device = '', absolute = false;
      for (let i = args.length - 1; i >= -1; i--) {
        let part;
        if (i >= 0) { part = args[i]; check.string(part, `paths[${i}]`); if (part === '') continue; }
        else part = windows && device !== '' ? `${device}\\` : cwd();
        const root = rootOf(part);
        if (windows && root.device !== '') {
          if (device !== '') { if (root.device.toLowerCase() !== device.toLowerCase()) continue; } else device = root.device;
        }
        if (absolute) { if (!windows || device !== '') break; continue; }
        tail = `${part.slice(root.length)}${sep}${tail}`;
        absolute = root.absolute;
        if (absolute && (!windows || device !== '')) break;
      }
      tail = squeeze(tail, !absolute);
      return `${device}${absolute ? sep : ''}${tail}` || '.';
    },

    normalize(p) {
      check.string(p, 'path');
      if (p === '') return '.';
      const root = rootOf(p);
      let tail = squeeze(p.slice(root.length), !root.absolute);
      if (tail === '' && !root.absolute) tail = '.';
      if (tail !== '' && isSep(p[p.length - 1]) && p.length > root.length) tail += sep;
      if (!windows) return (root.absolute ? '/' : '') + tail;
      if (root.device === '') return (root.absolute ? sep : '') + tail;
      return root.absolute ? `${root.device}\\${tail}` : root.device + tail;
    },

    isAbsolute(p) { check.string(p, 'path'); return rootOf(p).absolute; },

    join(...args) {
      let joined;
      args.forEach((part) => {
        check.string(part, 'path');
        if (part !== '') joined = joined === undefined ? part : `${joined}${sep}${part}`;
      });
      if (joined === undefined) return '.';
      // Joined parts must not turn into the name of a network share.
      if (windows && !/^[\\/]{2}[^\\/]/.test(args.find((part) => part !== ''))) joined = joined.replace(/^[\\/]{2,}/, '\\');
      return path.normalize(joined);
    },

    relative(from, to) {
      check.string(from, 'from');
      check.string(to, 'to');
      if (from === to) return '';
      from = path.resolve(from);
      to = path.resolve(to);
      const same = windows ? (a, b) => a.toLowerCase() === b.toLowerCase() : (a, b) => a === b;
      if (same(from, to)) return '';
      const a = from.split(sep).filter(Boolean), b = to.split(sep).filter(Boolean);
      let i = 0;
      while (i < a.length && i < b.length && same(a[i], b[i])) i++;
      if (windows && i === 0) return to;
      return [...Array(a.length - i).fill('..'), ...b.slice(i)].join(sep);
    },

    toNamespacedPath(p) {
      if (!windows || typeof p !== 'string' || p === '') return p;
      const full = path.resolve(p);
      if (/^[A-Za-z]:\\/.test(full)) return `\\\\?\\${full}`;
      if (/^\\\\[^?.]/.test(full)) return `\\\\?\\UNC\\${full.slice(2)}`;
      return p;
    },

    dirname(p) {
      check.string(p, 'path');
      if (p === '') return '.';
      const root = rootOf(p).length;
      let end = p.length;
      while (end > root && isSep(p[end - 1])) end--;
      while (end > root && !isSep(p[end - 1])) end--;
      end--; // one separator goes, whatever more there are stay
      // "//a" keeps both slashes, as POSIX allows.
      if (!windows && root === 1 && end === 1) return '//';
      if (end > root) return p.slice(0, end);
      if (root === 0) return end > 0 ? p.slice(0, end) : '.';
      return p.slice(0, root);
    },

    basename(p, suffix) {
      if (suffix !== undefined) check.string(suffix, 'suffix');
      check.string(p, 'path');
      let start = windows && /^[A-Za-z]:/.test(p) ? 2 : 0;
      let end = p.length;
      while (end > start && isSep(p[end - 1])) end--;
      let i = end;
      while (i > start && !isSep(p[i - 1])) i--;
      const base = p.slice(i, end);
      if (suffix === undefined || suffix === '' || suffix.length > p.length) return base;
      if (suffix === p) return '';
      if (base === '') return p.slice(start);
      return base.endsWith(suffix) && base !== suffix ? base.slice(0, -suffix.length) : base;
    },

    extname(p) {
      check.string(p, 'path');
      const base = path.basename(p);
      const dot = base.lastIndexOf('.');
      if (dot <= 0 || base === '..') return '';
      return base.slice(dot);
    },

    format(parts) {
      check.object(parts, 'pathObject');
      const dir = parts.dir || parts.root;
      const ext = parts.ext ? `${parts.ext[0] === '.' ? '' : '.'}${parts.ext}` : '';
      const base = parts.base || `${parts.name || ''}${ext}`;
      if (!dir) return base;
      return dir === parts.root ? `${dir}${base}` : `${dir}${sep}${base}`;
    },

    parse(p) {
      check.string(p, 'path');
      const root = p.slice(0, rootOf(p).length);
      let end = p.length;
      while (end > root.length && isSep(p[end - 1])) end--;
      let start = end;
      while (start > root.length && !isSep(p[start - 1])) start--;
      const base = p.slice(start, end);
      const dot = base.lastIndexOf('.');
      const split = dot > 0 && (base !== '..' || !windows && start === 1); // Node takes "/.." apart, too
      return {
        root, dir: start > root.length ? p.slice(0, start - 1) : root, base,
        ext: split ? base.slice(dot) : '', name: split ? base.slice(0, dot) : base,
      };
    },
  };
  path._makeLong = path.toNamespacedPath;
  return path;
}

const posix = make(false);
let win32;
Object.defineProperty(posix, 'win32', { enumerable: true, configurable: true, get() { if (!win32) { win32 = make(true); win32.win32 = win32; win32.posix = posix; } return win32; } });
posix.posix = posix;
module.exports = posix;
