import fs from 'node:fs';
import fsp, { constants } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import assert, { AssertionError, strict } from 'node:assert';

const attempt = async (name, f) => { try { console.log(name, await f()); } catch (e) { console.log(name, 'threw', e?.name, e?.code, e?.syscall, e?.message ?? e); } };

export default async function () {
  fs.mkdirSync('d/e/f', { recursive: true });
  for (const name of ['d/a.txt', 'd/e/b.txt', 'd/e/f/c.txt']) fs.writeFileSync(name, name);
  console.log(fs.readdirSync('d', { recursive: true }).sort(), (await fsp.readdir('d', { withFileTypes: true })).map((e) => [e.name, e.isDirectory(), e.parentPath ?? e.path]).sort());
  const dir = await fsp.opendir('d');
  const names = [];
  for await (const entry of dir) names.push(entry.name);
  console.log(names.sort(), dir.path);
  const sync = fs.opendirSync('d');
  console.log([sync.readSync().name, sync.readSync().name].sort(), sync.readSync());
  sync.closeSync();
  await attempt('closed dir', () => sync.readSync());
  const h = await fsp.open('d/new.txt', 'w+');
  console.log((await h.write('hello ')).bytesWritten, (await h.write(Buffer.from('world'), 0, 3)).bytesWritten, (await h.writev([Buffer.from('12'), Buffer.from('3')])).bytesWritten);
  const b = Buffer.alloc(5);
  console.log((await h.read(b, 0, 5, 0)).bytesRead, b.toString(), (await h.stat()).size, (await h.readv([Buffer.alloc(2), Buffer.alloc(2)], 1)).bytesRead);
  await h.truncate(4); await h.sync(); await h.datasync();
  await h.close();
  console.log(await fsp.readFile('d/new.txt', 'utf8'), h.fd);
  await attempt('closed handle', () => h.stat());
  const r = await fsp.open('d/a.txt');
  console.log(await r.readFile({ encoding: 'utf8' }), (await r.stat({ bigint: true })).size);
  await r.close();
  const stream = await fsp.open('d/a.txt'); let text = '';
  for await (const chunk of stream.createReadStream({ encoding: 'utf8', start: 2 })) text += chunk;
  console.log(text);
  const fd = fs.openSync('d/v.txt', 'w+');
  console.log(fs.writevSync(fd, [Buffer.from('ab'), Buffer.from('cd')]), fs.readvSync(fd, [b.subarray(0, 2), b.subarray(2, 4)], 0), b.toString('latin1', 0, 4), (await promisify(fs.read)(fd, b, 0, 2, 1)).bytesRead);
  fs.closeSync(fd);
  fs.cpSync('d', 'copy', { recursive: true });
  console.log(fs.readdirSync('copy', { recursive: true }).sort().join());
  await attempt('cp without recursive', () => fsp.cp('d', 'x'));
  await attempt('cp to itself', () => fsp.cp('d', 'd/e/z', { recursive: true }));
  await attempt('cp over', () => fsp.cp('d/a.txt', 'copy/a.txt', { errorOnExist: true, force: false }));
  await fsp.cp('d', 'filtered', { recursive: true, filter: async (from) => !from.endsWith('f') });
  console.log(fs.existsSync('filtered/e/f'), fs.existsSync('filtered/e/b.txt'));
  const temp = fs.mkdtempSync('tmp-');
  console.log(temp.length, fs.statSync(temp).isDirectory(), path.basename(await fsp.mkdtemp(path.join(temp, 'x'))).length);
  await attempt('rm', () => fsp.rm('d'));
  await attempt('rm missing', () => fsp.rm('nope'));
  console.log(await fsp.rm('nope', { force: true }), await fsp.rm('copy', { recursive: true }), fs.existsSync('copy'));
  await attempt('rmdir full', () => fsp.rmdir('d'));
  await attempt('access', () => fsp.access('nope', constants.R_OK));
  await attempt('access', () => fs.accessSync('d/a.txt', fs.constants.R_OK | fs.constants.W_OK));
  for (const [name, f] of Object.entries({ stat: () => fs.statSync('nope'), lstat: () => fs.lstatSync('nope/x'), open: () => fs.openSync('nope'), read: () => fs.readFileSync('d'), readdir: () => fs.readdirSync('d/a.txt'), mkdir: () => fs.mkdirSync('d'), unlink: () => fs.unlinkSync('nope'), rename: () => fs.renameSync('nope', 'x'), copy: () => fs.copyFileSync('nope', 'x'), excl: () => fs.copyFileSync('d/a.txt', 'd/v.txt', fs.constants.COPYFILE_EXCL), link: () => fs.readlinkSync('d/a.txt'), flags: () => fs.openSync('x', 'zz'), wx: () => fs.writeFileSync('d/a.txt', '', { flag: 'wx' }), fd: () => fs.closeSync(99), path: () => fs.statSync(5), nul: () => fs.statSync('a\0b'), enc: () => fs.readFileSync('d/a.txt', 'nope'), truncate: () => fs.truncateSync('nope'), utimes: () => fs.utimesSync('nope', 1, 1), chmod: () => fs.chmodSync('nope', 0o644), cb: () => fs.stat('x') })) await attempt(name, f);
  console.log(fs.statSync('nope', { throwIfNoEntry: false }), typeof fs.statSync('d/a.txt', { bigint: true }).mtimeNs, fs.statSync('d/a.txt').mtime instanceof Date);
  fs.utimesSync('d/a.txt', 1000, new Date(2000000)); fs.chmodSync('d/a.txt', 0o600);
  console.log(fs.statSync('d/a.txt').mtimeMs, (fs.statSync('d/a.txt').mode & 0o777).toString(8), fs.appendFileSync('d/a.txt', '!'), fs.readFileSync('d/a.txt', 'latin1'));

  // assert
  for (const [name, f] of Object.entries({
    list: () => assert.deepStrictEqual([1, 2, 3], [1, 2, 4]), strict: () => assert.strictEqual(1, 2), text: () => assert.strictEqual('a\nb', 'a\nc'), ref: () => assert.strictEqual([], []),
    equal: () => assert.equal(1, 2), notEqual: () => assert.notStrictEqual(1, 1), notDeep: () => assert.notDeepStrictEqual({ a: 1 }, { a: 1 }), ok: () => assert.ok(0, 'zero'), fail: () => assert.fail('boom'), fail0: () => assert.fail(), message: () => strict.equal(1, 2, 'own'), error: () => assert(false, new TypeError('mine')),
    throws0: () => assert.throws(() => {}), throws: () => assert.throws(() => { throw new Error('x'); }, /y/), throwsClass: () => assert.throws(() => { throw new TypeError('x'); }, RangeError), throwsObject: () => assert.throws(() => { throw new Error('x'); }, { message: 'y' }), ok2: () => assert.throws(() => { throw new Error('x'); }, { name: 'Error', message: 'x' }),
    rejects: () => assert.rejects(Promise.resolve(1)), rejects2: () => assert.rejects(async () => { throw new Error('q'); }, /q/), not: () => assert.doesNotThrow(() => { throw new Error('z'); }), ifError: () => assert.ifError(new Error('w')), match: () => assert.match('abc', /x/), noMatch: () => assert.doesNotMatch('abc', /b/), args: () => assert.strictEqual(1), maps: () => assert.deepStrictEqual(new Map([[1, 2]]), new Map([[1, 3]])), loose: () => assert.deepEqual({ a: 1 }, { a: '1' }),
  })) await attempt(name, f);
  const e = new AssertionError({ actual: 1, expected: 2, operator: 'strictEqual' });
  console.log(e.name, e.code, e.generatedMessage, e.operator, e instanceof Error);
}
