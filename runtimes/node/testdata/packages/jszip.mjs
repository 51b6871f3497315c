import JSZip from 'jszip';
import { createHash } from 'node:crypto';
import { createWriteStream, readFileSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';

export default async function () {
  const show = (name, value) => console.log(name, JSON.stringify(value));
  const hash = (b) => createHash('sha256').update(b).digest('hex');
  const date = new Date(Date.UTC(2024, 1, 29, 10, 20, 30));
  const zip = new JSZip();
  zip.file('hello.txt', 'Hello wörld 😀\n'.repeat(200), { date, comment: 'a file' });
  zip.file('bytes.bin', Uint8Array.from({ length: 5000 }, (_, i) => (i * i) % 251), { date, binary: true });
  zip.file('base64.txt', 'aGVsbG8=', { base64: true, date });
  zip.file('later.txt', Promise.resolve('from a promise'), { date, compression: 'STORE' });
  const docs = zip.folder('docs');
  docs.file('näme.md', '# Title', { date, unixPermissions: 0o644 });
  zip.files['docs/'].date = date;
  for (const type of ['nodebuffer', 'uint8array', 'arraybuffer', 'base64', 'binarystring', 'array']) {
    const out = await zip.generateAsync({ type, compression: 'DEFLATE', compressionOptions: { level: 6 }, comment: 'whole' });
    const bytes = type === 'base64' ? Buffer.from(out, 'base64') : type === 'binarystring' ? Buffer.from(out, 'latin1') : Buffer.from(out);
    show(type, [bytes.length, hash(bytes)]);
  }
  const stored = await zip.generateAsync({ type: 'nodebuffer', platform: 'UNIX', streamFiles: true });
  show('stored', [stored.length, hash(stored)]);
  const back = await JSZip.loadAsync(await zip.generateAsync({ type: 'nodebuffer', compression: 'DEFLATE' }), { checkCRC32: true });
  const names = [];
  back.forEach((path, file) => names.push([path, file.dir, file.date.toISOString(), file.comment]));
  show('names', names);
  show('read', [(await back.file('hello.txt').async('string')).length, await back.file('base64.txt').async('text'), hash(await back.file('bytes.bin').async('nodebuffer')), await back.folder('docs').file('näme.md').async('string'), await back.file('later.txt').async('base64')]);
  show('find', [back.file(/\.txt$/).map((f) => f.name), back.file('none'), back.folder(/docs/).length, back.filter((p, f) => !f.dir).length]);
  back.remove('docs');
  show('removed', Object.keys(back.files));
  const percents = [];
  await zip.generateAsync({ type: 'nodebuffer' }, (m) => percents.push(m.currentFile));
  show('progress', [...new Set(percents)]);
  await pipeline(zip.generateNodeStream({ streamFiles: false, compression: 'DEFLATE' }), createWriteStream('out.zip'));
  const written = readFileSync('out.zip');
  show('written', [written.length, hash(written)]);
  const text = await new Promise((done, fail) => {
    const parts = [];
    zip.file('hello.txt').nodeStream().on('data', (c) => parts.push(c)).on('end', () => done(Buffer.concat(parts).toString())).on('error', fail);
  });
  show('nodeStream', text.length);
  for (const bad of [Buffer.from('not a zip'), stored.subarray(0, 60), 'PK']) {
    try {
      await JSZip.loadAsync(bad);
    } catch (err) {
      console.log(err.message.split('\n')[0]);
    }
  }
  const broken = Buffer.from(stored);
  broken[60] ^= 1;
  try {
    await JSZip.loadAsync(broken, { checkCRC32: true });
  } catch (err) {
    console.log(err.message);
  }
  show('support', JSZip.support);
}
