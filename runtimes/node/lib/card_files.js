'use strict';
// The workspace's files for a card: below the agent's folder, as the call's grant has it.

const { CardSdkError, invalid, said } = require('internal/card_error');
const files = () => require('fs/promises');

const maxBytes = 10 << 20, maxEntries = 5000;

// place gives a path below the agent's folder; anything else is refused.
function place(method, path) {
  if (typeof path !== 'string') throw invalid(method, 'the path must be a string');
  if (path.length > 1024) throw invalid(method, 'the path is too long');
  const refuse = (why) => { throw new CardSdkError('FS_DENIED', why, method, { path }); };
  let plain = path.replace(/\\/g, '/').trim();
  if (plain.startsWith('/') || /^[A-Za-z]:/.test(plain)) refuse('absolute paths are not allowed');
  if (plain.includes('\0')) refuse('the path has a NUL character');
  const parts = plain.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..')) refuse('".." is not allowed');
  return parts.join('/');
}

// told runs work, and says of its error what a card knows.
async function told(method, path, work) {
  try {
    return await work();
  } catch (error) {
    if (error instanceof CardSdkError) throw error;
    const data = { path, ...(typeof error?.code === 'string' ? { code: error.code } : {}) };
    if (error?.name === 'PluginPermissionError') {
      if (!host.inCall()) throw new CardSdkError('UNAVAILABLE', 'no call is running', method, data, 'Files of the workspace can be reached while a tool call runs: do it in the handler.');
      throw new CardSdkError('FS_DENIED', `${path || 'the workspace folder'} cannot be used`, method, data);
    }
    if (error?.name === 'AbortError') throw error;
    if (typeof error?.code === 'string' && error.code.startsWith('E') && !error.code.startsWith('ERR_')) throw invalid(method, error.message, data);
    throw new CardSdkError('INTERNAL', said(error), method, data);
  }
}

const kindOf = (entry) => entry.isDirectory() ? 'directory' : entry.isFile() ? 'file' : 'other';
const described = (path, stat) => ({ path, type: kindOf(stat), size: stat.size, mtimeMs: stat.mtimeMs });

async function stat({ path }) {
  const at = place('fs.stat', path);
  return told('fs.stat', at, async () => described(at, await files().stat(at || '.')));
}

async function list({ path = '', recursive = false, maxEntries: most = maxEntries }) {
  const method = 'fs.list', top = place(method, path);
  if (!Number.isInteger(most) || most < 1 || most > maxEntries) throw invalid(method, `"maxEntries" must be from 1 to ${maxEntries}`);
  return told(method, top, async () => {
    const entries = [], folders = [top];
    for (let folder; (folder = folders.shift()) !== undefined;) {
      for (const name of (await files().readdir(folder || '.')).sort()) {
        if (entries.length === most) return { entries, truncated: true };
        const at = folder ? `${folder}/${name}` : name;
        let stat;
        try { stat = await files().lstat(at); } catch { continue; } // it is gone, or closed
        entries.push({ name, ...described(at, stat) });
        if (recursive && stat.isDirectory()) folders.push(at);
      }
    }
    return { entries, truncated: false };
  });
}

async function read({ path, encoding = 'utf8', maxBytes: most = maxBytes }) {
  const method = 'fs.read', at = place(method, path);
  if (encoding !== 'utf8' && encoding !== 'base64') throw invalid(method, '"encoding" must be "utf8" or "base64"');
  if (!Number.isInteger(most) || most < 1 || most > maxBytes) throw invalid(method, `"maxBytes" must be from 1 to ${maxBytes}`);
  return told(method, at, async () => {
    const { size, mtimeMs } = await files().stat(at || '.');
    if (size > most) throw new CardSdkError('TOO_LARGE', `${at} has ${size} bytes; ${most} are the most`, method, { path: at, size });
    const data = await files().readFile(at || '.');
    return { data: data.toString(encoding), encoding, size: data.length, mtimeMs };
  });
}

async function write({ path, data, encoding = 'utf8', createDirs = false, ifMtimeMs }) {
  const method = 'fs.write', at = place(method, path);
  if (typeof data !== 'string') throw invalid(method, '"data" must be a string');
  if (encoding !== 'utf8' && encoding !== 'base64') throw invalid(method, '"encoding" must be "utf8" or "base64"');
  const bytes = Buffer.from(data, encoding);
  if (bytes.length > maxBytes) throw new CardSdkError('TOO_LARGE', `${bytes.length} bytes are more than ${maxBytes}`, method);
  return told(method, at, async () => {
    if (ifMtimeMs !== undefined) {
      const now = await files().stat(at).then((stat) => stat.mtimeMs, () => null);
      if (now !== ifMtimeMs) throw invalid(method, `${at} was changed since it was read`, { path: at, mtimeMs: now });
    }
    const folder = at.slice(0, Math.max(at.lastIndexOf('/'), 0));
    if (createDirs && folder) await files().mkdir(folder, { recursive: true });
    await files().writeFile(at, bytes);
    const stat = await files().stat(at);
    return { path: at, size: stat.size, mtimeMs: stat.mtimeMs };
  });
}

async function mkdir({ path }) {
  const at = place('fs.mkdir', path);
  return told('fs.mkdir', at, async () => { await files().mkdir(at, { recursive: true }); return { path: at }; });
}

module.exports = { stat, list, read, write, mkdir };
