// Blob, File, FormData, Headers, Request, Response, and what fetch does without a network.
import { Blob as BlobOfBuffer, resolveObjectURL } from 'node:buffer';
import { Readable } from 'node:stream';

const bytes = (...list) => new Uint8Array(list);
async function show(name, f) {
  try { console.log(name, await f()); } catch (e) {
    console.log(name, `${e.name}: ${e.message}`, e.code ?? '', e.cause instanceof Error ? `<- ${e.cause.name}: ${e.cause.message}` : '');
  }
}

export default async function () {
  // Blob and File
  console.log(BlobOfBuffer === Blob, typeof File, new Blob(['x']) instanceof Blob, Object.prototype.toString.call(new Blob()));
  const blob = new Blob(['héllo ', bytes(119, 111), new Blob(['rld']), bytes(33).buffer, 7], { type: 'Text/Plain' });
  console.log(blob.size, blob.type, await blob.text(), blob);
  console.log(await blob.slice(1, -2).text(), blob.slice(-3, undefined, 'a/B').type, blob.slice(5, 2).size);
  console.log(new Uint8Array(await blob.slice(0, 3).arrayBuffer()), (await blob.arrayBuffer()).byteLength);
  const chunks = [];
  for await (const chunk of blob.stream()) chunks.push(chunk);
  console.log(Buffer.concat(chunks).toString());
  console.log(await new Blob(['a\r\nb\nc\rd'], { endings: 'native' }).text() === 'a\nb\nc\rd');
  const file = new File(['abc'], 'n/ä.txt', { type: 'text/x', lastModified: 5.7 });
  console.log(file.name, file.lastModified, file.size, file.type, file instanceof Blob, await file.text(), file);
  await show('Blob()', () => new Blob('x'));
  await show('File()', () => new File(['x']));
  const url = URL.createObjectURL(blob);
  console.log(/^blob:nodedata:[0-9a-f-]{36}$/.test(url), resolveObjectURL(url).size);
  const fromURL = await fetch(url);
  console.log(fromURL.status, fromURL.statusText, [...fromURL.headers], await fromURL.text(), fromURL.url === url);
  URL.revokeObjectURL(url);
  await show('revoked', () => fetch(url));
  await show('no blob', () => URL.createObjectURL(7));

  // Headers
  const headers = new Headers({ 'X-B': ' 1 ', a: 'é' });
  headers.append('x-b', '2'); headers.append('Set-Cookie', 'a=1'); headers.append('set-cookie', 'b=2');
  console.log([...headers], headers.get('X-B'), headers.get('nope'), headers.has('A'), headers.getSetCookie());
  headers.set('x-b', '3'); headers.delete('A');
  console.log([...headers.keys()], [...headers.values()], headers);
  headers.forEach(function (value, name, all) { console.log(this.me, name, value, all === headers); }, { me: 1 });
  console.log([...new Headers([['b', '1'], ['a', '2'], ['b', '3']])], [...new Headers(headers)], [...new Headers(new Map([['q', 'r']]))], new Headers().toString());
  for (const [name, f] of Object.entries({
    pair: () => new Headers([['a']]), number: () => new Headers(7), nothing: () => new Headers(null), name: () => new Headers({ 'a b': 'c' }), empty: () => new Headers({ '': 'c' }),
    value: () => new Headers().append('a', 'c\0d'), wide: () => new Headers({ a: 'ü€' }), get: () => new Headers().get(), set: () => new Headers().set('a'),
  })) await show(name, f);

  // FormData
  const form = new FormData();
  form.append('a', 'b\nc'); form.append('a', 7); form.set('n"\r\nm', 'x'); form.append('f', new Blob(['x'], { type: 'text/plain' }), 'q"\n.txt'); form.append('g', new Blob(['y']));
  console.log([...form.keys()], form.getAll('a'), form.get('f').name, form.get('f').type, form.get('g').name, form.has('z'), form.get('z'));
  const encoded = await new Response(form).text();
  const boundary = encoded.slice(2, encoded.indexOf('\r\n'));
  console.log(JSON.stringify(encoded.replaceAll(boundary, '(boundary)')));
  const type = new Response(form).headers.get('content-type');
  console.log(/^multipart\/form-data; boundary=----formdata-\S+$/.test(type));
  const parsed = await new Response(encoded, { headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` } }).formData();
  console.log([...parsed].map(([name, value]) => [name, typeof value === 'string' ? value : [value.name, value.type, value.size]]));
  form.set('a', 'only'); form.delete('g');
  console.log([...form].length, form.getAll('a'));
  console.log(new FormData(), Object.prototype.toString.call(form));
  const small = new FormData(); small.append('a', '1'); small.append('a', '2'); small.append('b', '3');
  console.log(small);
  for (const [name, f] of Object.entries({ one: () => new FormData().append('a'), filename: () => new FormData().append('a', 'b', 'c'), argument: () => new FormData(1), get: () => new FormData().get() })) await show(name, f);
  console.log(await new Response('a=1&b=%C3%BC+x', { headers: { 'content-type': 'application/x-www-form-urlencoded;charset=UTF-8' } }).formData());
  await show('no form', () => new Response('a=1').formData());
  await show('broken form', () => new Response('--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--x', { headers: { 'content-type': 'multipart/form-data; boundary=x' } }).formData());

  // Response
  const response = new Response('{"a":[1]}', { status: 201, statusText: 'Made', headers: { 'X-Y': 'z' } });
  console.log(response.status, response.ok, response.statusText, response.type, response.url, response.redirected, response.bodyUsed, [...response.headers]);
  const copy = response.clone();
  console.log(await response.json(), response.bodyUsed, copy.bodyUsed, await copy.text());
  await show('twice', () => response.text());
  await show('clone after', () => response.clone());
  for (const [name, body] of Object.entries({ text: 'x€', search: new URLSearchParams({ a: '1 2' }), blob: new Blob(['b'], { type: 'a/b' }), buffer: bytes(1, 2), view: new DataView(bytes(65, 66).buffer, 1), array: bytes(67).buffer, none: null, number: 7, object: {} })) {
    const r = new Response(body);
    console.log(name, r.headers.get('content-type'), r.body === null, JSON.stringify(await r.text()), r.bodyUsed);
  }
  console.log(await new Response('\ufeffx').text(), (await new Response(bytes(0xef, 0xbb, 0xbf, 120)).text()).length, JSON.stringify(await new Response(bytes(0xff, 65)).text()));
  console.log(await new Response(bytes(1, 2)).arrayBuffer(), await (await new Response('q', { headers: { 'content-type': 'm/n' } }).blob()).text());
  const json = Response.json({ b: [1] }, { status: 202, headers: { a: 'b' } });
  console.log(json.status, [...json.headers], await json.text());
  console.log(Response.error().type, Response.error().status, Response.redirect('http://a/b', 307).headers.get('location'));
  console.log(new Response('x'), new Response());
  const r2 = new Response('streamed');
  console.log(r2.body === r2.body, r2.body.locked, r2.bodyUsed);
  const reader = r2.body.getReader();
  console.log(r2.body.locked, Buffer.from((await reader.read()).value).toString(), r2.bodyUsed, (await reader.read()).done);
  await show('locked', () => r2.text());
  const stream = new ReadableStream({ start(c) { c.enqueue(new TextEncoder().encode('one ')); c.enqueue(new TextEncoder().encode('two')); c.close(); } });
  console.log(await new Response(stream).text());
  const teed = new Response(new ReadableStream({ start(c) { c.enqueue(bytes(65)); c.close(); } }));
  console.log(await teed.clone().text(), await teed.text());
  for (const [name, f] of Object.entries({
    status: () => new Response('x', { status: 99 }), empty: () => new Response('x', { status: 204 }), statusText: () => new Response('x', { statusText: 'a\nb' }),
    json: () => Response.json(undefined), redirect: () => Response.redirect('http://a/', 200), relative: () => Response.redirect('/a'), notJSON: async () => await new Response('').json(),
  })) await show(name, f);

  // Request
  const request = new Request('http://a.example/p?q#h', { method: 'post', body: new URLSearchParams({ a: '1' }), headers: { b: 'c' }, redirect: 'manual', cache: 'no-store', credentials: 'include', mode: 'no-cors', keepalive: true });
  console.log(request.method, request.url, request.redirect, request.cache, request.credentials, request.mode, request.keepalive, [...request.headers], request.signal.aborted, request.duplex);
  const second = new Request(request.clone(), { method: 'PATCH' });
  console.log(second.method, await second.text(), request.bodyUsed, await request.text(), request.bodyUsed);
  console.log(new Request('http://a/'));
  const controller = new AbortController();
  const withSignal = new Request('http://a/', { signal: controller.signal });
  controller.abort();
  console.log(withSignal.signal.aborted);
  for (const [name, f] of Object.entries({
    relative: () => new Request('/x'), get: () => new Request('http://a/', { body: 'x' }), trace: () => new Request('http://a/', { method: 'TRACE' }), method: () => new Request('http://a/', { method: 'a b' }),
    stream: () => new Request('http://a', { method: 'POST', body: new ReadableStream() }), redirect: () => new Request('http://a/', { redirect: 'x' }), user: () => new Request('http://u:p@a/'),
    signal: () => new Request('http://a/', { signal: 7 }),
  })) await show(name, f);

  // fetch
  const data = await fetch('data:text/plain;charset=utf-8;base64,aMOpbGxv');
  console.log(data.status, data.ok, [...data.headers], await data.text(), data.redirected);
  console.log(await (await fetch('data:,a%20b%')).text(), (await fetch('data:,x')).headers.get('content-type'), await (await fetch('data:application/json,{"a":1}')).json());
  await show('data', () => fetch('data:text/plain'));
  await show('fetch()', () => fetch());
  await show('relative', () => fetch('foo'));
  await show('ftp', () => fetch('ftp://x'));
  await show('about', () => fetch('about:blank'));
  await show('user', () => fetch('http://u:p@x/'));
  await show('port', () => fetch('http://127.0.0.1:25/'));
  await show('aborted', () => fetch('http://127.0.0.1/', { signal: AbortSignal.abort() }));
  await show('reason', async () => { try { await fetch('http://127.0.0.1/', { signal: AbortSignal.abort(7) }); } catch (e) { return e; } });
  console.log(await new Response(Readable.from([Buffer.from('a'), Buffer.from('b')])).text());
}
