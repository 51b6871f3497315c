import { webcrypto, createHash, KeyObject } from 'node:crypto';

const { subtle } = globalThis.crypto;
const attempt = async (name, f) => { try { console.log(name, await f()); } catch (e) { console.log(name, 'threw', e?.name, e?.code, e instanceof DOMException ? '' : e.message); } };
const kind = async (name, f) => { try { console.log(name, await f()); } catch (e) { console.log(name, 'threw', e instanceof DOMException ? 'DOMException' : e.code); } };
const hex = (b) => Buffer.from(b).toString('hex');
const data = new TextEncoder().encode('some data'), iv = new Uint8Array(12).fill(7), secret = new Uint8Array(32).map((_, i) => i);

export default async function () {
  console.log(webcrypto === globalThis.crypto, String(crypto), String(subtle), crypto instanceof Crypto, subtle instanceof SubtleCrypto, Object.keys(SubtleCrypto.prototype).sort().join());
  for (const name of ['SHA-1', 'sha-256', { name: 'SHA-384' }, 'SHA-512']) console.log(name, hex(await subtle.digest(name, data)));
  await attempt('md5', () => subtle.digest('MD5', data));
  await kind('text', () => subtle.digest('SHA-256', 'text'));
  await attempt('no algorithm', () => subtle.digest(undefined, data));
  await attempt('missing', () => subtle.digest('SHA-1'));
  console.log(crypto.getRandomValues(new Uint16Array(3)).length, crypto.randomUUID().length);
  await attempt('floats', () => crypto.getRandomValues(new Float32Array(1)));
  await attempt('too many', () => crypto.getRandomValues(new Uint8Array(65537)));
  await attempt('this', () => (0, crypto.getRandomValues)(new Uint8Array(1)));
  await attempt('constructor', () => new CryptoKey());

  const hmac = await subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, true, ['sign', 'verify']);
  console.log(hmac, String(hmac), hex(await subtle.sign('HMAC', hmac, data)));
  console.log(await subtle.verify('HMAC', hmac, await subtle.sign('HMAC', hmac, data), data), await subtle.verify('HMAC', hmac, new Uint8Array(32), data), await subtle.verify('HMAC', hmac, new Uint8Array(3), data));
  console.log(await subtle.exportKey('jwk', hmac), hex(await subtle.exportKey('raw', hmac)), KeyObject.from(hmac).export().length);
  const made = await subtle.generateKey({ name: 'HMAC', hash: 'SHA-512' }, true, ['sign']);
  console.log(made.algorithm, made.usages, made.extractable, (await subtle.exportKey('raw', made)).byteLength);
  await attempt('usage', () => subtle.verify('HMAC', made, new Uint8Array(64), data));
  await attempt('mismatch', () => subtle.sign({ name: 'ECDSA', hash: 'SHA-1' }, hmac, data));
  await attempt('no usages', () => subtle.generateKey({ name: 'HMAC', hash: 'SHA-1' }, true, []));
  await attempt('wrong usages', () => subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-1' }, true, ['encrypt']));
  const locked = await subtle.importKey('raw', secret, 'AES-GCM', false, ['encrypt', 'decrypt', 'wrapKey', 'unwrapKey']);
  await kind('not extractable', () => subtle.exportKey('raw', locked));
  await attempt('key length', () => subtle.importKey('raw', new Uint8Array(5), 'AES-GCM', false, ['encrypt']));
  await attempt('algorithm', () => subtle.importKey('raw', secret, 'NOPE', false, ['encrypt']));
  await kind('format', () => subtle.importKey('nope', secret, 'AES-GCM', false, ['encrypt']));

  for (const extra of [{}, { additionalData: data }, { tagLength: 96 }]) {
    const out = await subtle.encrypt({ name: 'AES-GCM', iv, ...extra }, locked, data);
    console.log(hex(out), Buffer.from(await subtle.decrypt({ name: 'AES-GCM', iv, ...extra }, locked, out)).toString());
  }
  await attempt('changed', async () => { const out = new Uint8Array(await subtle.encrypt({ name: 'AES-GCM', iv }, locked, data)); out[0] ^= 1; return subtle.decrypt({ name: 'AES-GCM', iv }, locked, out); });
  await attempt('short', () => subtle.decrypt({ name: 'AES-GCM', iv }, locked, new Uint8Array(3)));
  for (const [name, more] of [['AES-CBC', { iv: new Uint8Array(16) }], ['AES-CTR', { counter: new Uint8Array(16), length: 64 }]]) {
    const key = await subtle.importKey('raw', secret.slice(16), name, true, ['encrypt', 'decrypt']);
    const out = await subtle.encrypt({ name, ...more }, key, data);
    console.log(name, hex(out), Buffer.from(await subtle.decrypt({ name, ...more }, key, out)).toString(), await subtle.exportKey('jwk', key));
  }
  await attempt('iv', async () => subtle.encrypt({ name: 'AES-CBC', iv: new Uint8Array(5) }, await subtle.generateKey({ name: 'AES-CBC', length: 256 }, false, ['encrypt']), data));

  const password = await subtle.importKey('raw', data, 'PBKDF2', false, ['deriveBits', 'deriveKey']);
  console.log(hex(await subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-256', salt: iv, iterations: 1000 }, password, 256)));
  const hk = await subtle.importKey('raw', data, 'HKDF', false, ['deriveBits', 'deriveKey']);
  console.log(hex(await subtle.deriveBits({ name: 'HKDF', hash: 'SHA-512', salt: iv, info: data }, hk, 128)));
  const derived = await subtle.deriveKey({ name: 'PBKDF2', hash: 'SHA-1', salt: iv, iterations: 10 }, password, { name: 'AES-GCM', length: 128 }, true, ['encrypt']);
  console.log(derived.algorithm, hex(await subtle.exportKey('raw', derived)), (await subtle.deriveKey({ name: 'HKDF', hash: 'SHA-1', salt: iv, info: iv }, hk, { name: 'HMAC', hash: 'SHA-256' }, true, ['sign'])).algorithm);
  await attempt('odd bits', () => subtle.deriveBits({ name: 'PBKDF2', hash: 'SHA-1', salt: iv, iterations: 1 }, password, 7));

  for (const [name, how] of [['RSASSA-PKCS1-v1_5', {}], ['RSA-PSS', { saltLength: 32 }]]) {
    const pair = await subtle.generateKey({ name, modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' }, true, ['sign', 'verify']);
    const sig = await subtle.sign({ name, ...how }, pair.privateKey, data);
    console.log(name, pair.publicKey.algorithm, pair.privateKey.usages, await subtle.verify({ name, ...how }, pair.publicKey, sig, data), await subtle.verify({ name, ...how }, pair.publicKey, sig, iv));
    const jwk = await subtle.exportKey('jwk', pair.privateKey);
    console.log(Object.keys(jwk).sort().join(), jwk.alg, jwk.kty);
    const again = await subtle.importKey('jwk', jwk, { name, hash: 'SHA-256' }, false, ['sign']);
    const spki = await subtle.importKey('spki', await subtle.exportKey('spki', pair.publicKey), { name, hash: 'SHA-256' }, true, ['verify']);
    console.log(await subtle.verify({ name, ...how }, spki, await subtle.sign({ name, ...how }, again, data), data), spki.algorithm.modulusLength);
  }
  const oaep = await subtle.generateKey({ name: 'RSA-OAEP', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-1' }, true, ['encrypt', 'decrypt']);
  console.log(Buffer.from(await subtle.decrypt('RSA-OAEP', oaep.privateKey, await subtle.encrypt('RSA-OAEP', oaep.publicKey, data))).toString());
  for (const namedCurve of ['P-256', 'P-384', 'P-521']) {
    const pair = await subtle.generateKey({ name: 'ECDSA', namedCurve }, true, ['sign', 'verify']);
    const sig = await subtle.sign({ name: 'ECDSA', hash: 'SHA-384' }, pair.privateKey, data);
    const raw = await subtle.exportKey('raw', pair.publicKey);
    const again = await subtle.importKey('raw', raw, { name: 'ECDSA', namedCurve }, true, ['verify']);
    console.log(namedCurve, sig.byteLength, raw.byteLength, await subtle.verify({ name: 'ECDSA', hash: 'SHA-384' }, again, sig, data), Object.keys(await subtle.exportKey('jwk', pair.privateKey)).sort().join());
    const a = await subtle.generateKey({ name: 'ECDH', namedCurve }, false, ['deriveBits']), b = await subtle.generateKey({ name: 'ECDH', namedCurve }, false, ['deriveBits', 'deriveKey']);
    console.log(hex(await subtle.deriveBits({ name: 'ECDH', public: b.publicKey }, a.privateKey, 128)) === hex(await subtle.deriveBits({ name: 'ECDH', public: a.publicKey }, b.privateKey, 128)));
    console.log((await subtle.deriveKey({ name: 'ECDH', public: a.publicKey }, b.privateKey, { name: 'AES-GCM', length: 256 }, false, ['encrypt'])).algorithm);
  }
  await attempt('curve', () => subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-1' }, true, ['sign']));
  const ed = await subtle.importKey('pkcs8', Buffer.from('302e020100300506032b657004220420be0b1f02873ab30483d6e4be24217d9281d97c95a18a86bd311ab101867707fe', 'hex'), 'Ed25519', true, ['sign']);
  console.log(hex(await subtle.sign('Ed25519', ed, data)), ed.algorithm, await subtle.exportKey('jwk', ed));
  const x = await subtle.generateKey('X25519', false, ['deriveBits']), y = await subtle.generateKey('X25519', false, ['deriveBits']);
  console.log(hex(await subtle.deriveBits({ name: 'X25519', public: y.publicKey }, x.privateKey, 256)) === hex(await subtle.deriveBits({ name: 'X25519', public: x.publicKey }, y.privateKey, 256)));

  const kw = await subtle.importKey('raw', secret.slice(0, 16), 'AES-KW', false, ['wrapKey', 'unwrapKey']);
  const wrapped = await subtle.wrapKey('raw', hmac, kw, 'AES-KW');
  console.log(hex(wrapped), hex(await subtle.exportKey('raw', await subtle.unwrapKey('raw', wrapped, kw, 'AES-KW', { name: 'HMAC', hash: 'SHA-256' }, true, ['sign']))));
  const sealed = await subtle.wrapKey('jwk', hmac, locked, { name: 'AES-GCM', iv });
  console.log((await subtle.unwrapKey('jwk', sealed, locked, { name: 'AES-GCM', iv }, { name: 'HMAC', hash: 'SHA-256' }, true, ['sign'])).usages);
  await attempt('wrapped wrong', () => subtle.unwrapKey('raw', new Uint8Array(40), kw, 'AES-KW', 'AES-GCM', true, ['encrypt']));
  await attempt('jwk', () => subtle.importKey('jwk', { kty: 'oct', k: 'AAAA', ext: false }, { name: 'HMAC', hash: 'SHA-1' }, true, ['sign']));
  await attempt('jwk kty', () => subtle.importKey('jwk', { kty: 'RSA' }, { name: 'HMAC', hash: 'SHA-1' }, true, ['sign']));
  console.log(createHash('sha1').update(data).digest('hex') === hex(await subtle.digest('SHA-1', data)));
}
