import crypto from 'node:crypto';
import { promisify } from 'node:util';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

// Keys that only this test knows, and what Node has signed and encrypted with them.
const rsa = { privateKey: `-----BEGIN PRIVATE KEY-----
MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC/diK/QVZUc2SJ
+rFRcpUSpl85d90BLk+zDH+aW4uUR14heSFDV4ufCJjFYjD2K27wRQdNvOByh/sz
zvF/SiQd1mf4CRctcIMaVgkwLhFiqWHcvBnczf+tbzPx0WE4i8Rheg9iphmp2bcn
8QHBsOOajipKaFPbtllnYBFBtDEx08myoZxFlAYmMc45XeA6bwocexm7bQ+AHNH5
m8/b2Nt9otaAsWXolSgmn7k2yZasDWbp3KQeOGu7ZFq2ayLNnlxUQT1g7JFxpa14
qFPm4S6ffq11ThLg54zOKFUKzV6wQcns7Efva4PYcnn0vwFPZRcoQGB3D+WyaQCN
f0R7+DPBAgMBAAECggEABcAWPROeSdJevlIm3zZcydRGCeN9YhqyTsNdAGrSygpM
BnStOL45YEu8IuQsakhVqvu3w3BHzB4kv6KYguUxfn/rsXm8a3ifR2bhccQAcQEm
AkuCpKy/NXCgk8O2csyn15xN4qhFybcolsIt9lOfZ7Xws+QRmLNlA1jRoTKN7lwg
/IRvA95oKHKw/+Va6qlwY5DLJ3Kmskj13h1sIOXyuXT3o+5KDSqIREROjxTsJ+3P
IbsUYMa07tlINY3h/gprGT/12VusJyyxU9k+KefTBBzAOnnpwSJSvpvgIdVLwpVR
g2WBjCFRCKfrBSVCfMUMF/0//P6dJFxsqMkCICl67QKBgQD3n4iy7CYr3or0h7sP
p4Xqn35r01yZ99dcNbXVNC5pfQ9d3gMWjWc36LZQUKgK9o5GwiHsl3sZs6hX53/i
DoaDJVf/6bm9cagzZtfUuOrNW6Q9bjHTeqyWZwZEpYhp6ZxcTpU6ZIM2C4keW0+R
xv393udsQHOzjRP/z1ASretfbwKBgQDF8Drq9Rk5VCgzfQvA69MuAstWK/sGH4gS
6Q6+Irw5zqxi+OBBSzx9/T21+TsBphFCz5CmdsZJ+yJRFPcwzW7XA/DFSvQ0AOuu
HA7sdBDg/dMyWaLfUp/nf4wCYxbhoS3N8VvUO9lefrV2g2s8HLsXaubDzKngsEqu
pfMpgJYHzwKBgExq5mPZLtqA/j8CmD73gwNqHzilbMFzU/n39VqLlPsnBhQAzNEr
6Du/zGuyyHlBp5y8kn2SLgI7iGtAXR3lP6u/XY3zkkediLv8NAVI3+VqL6BpnmTW
SebMeom60ANnfcKa2cDAfiGyo6lDoqWpVH8BSEgHB+3UTuS2FM7+71FvAoGALvGd
l5HPjKgn7KYwfm2vpQ7mmKZPn5Ek3Y9GftOQHomkmsh5ryKf0yWXWCwm0WpIV7cQ
kFpFBtC3v9EgGwPt0LLPjIsNRbQeMSnYZD3WrvWj/CIEHcDjyayXUQ2dJJ/sVBZ0
9+3FzMJyWQwsB5Ks0I368t78PxywaaFT/TjQ3EMCgYEAm2vsJRG7wrwRh8H0MMyj
9oXPp20T9ZX9b/xDscFeKvELubw75X60/spo9q3WgnY1BnaTdrGqWTWuz0dZ/1m8
LDZSdiZpI6+mkzTL9+cuYKxgN1iOaXPiuaChOMkmPAFj2buAVqW1yvDxFParwu9b
L5CPVi1Y3i2Z6gq0MIJwmKU=
-----END PRIVATE KEY-----
`, publicKey: `-----BEGIN PUBLIC KEY-----
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAv3Yiv0FWVHNkifqxUXKV
EqZfOXfdAS5Pswx/mluLlEdeIXkhQ1eLnwiYxWIw9itu8EUHTbzgcof7M87xf0ok
HdZn+AkXLXCDGlYJMC4RYqlh3LwZ3M3/rW8z8dFhOIvEYXoPYqYZqdm3J/EBwbDj
mo4qSmhT27ZZZ2ARQbQxMdPJsqGcRZQGJjHOOV3gOm8KHHsZu20PgBzR+ZvP29jb
faLWgLFl6JUoJp+5NsmWrA1m6dykHjhru2RatmsizZ5cVEE9YOyRcaWteKhT5uEu
n36tdU4S4OeMzihVCs1esEHJ7OxH72uD2HJ59L8BT2UXKEBgdw/lsmkAjX9Ee/gz
wQIDAQAB
-----END PUBLIC KEY-----
` };
const ec = { privateKey: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQguMFAZC4s/lfPw3zS
ZWvKgkf6P+TmCMIHvnKpc4cSrKWhRANCAAQN5NJdTUU7OnQTnGKMsLsK0UUCvon4
ElmjY7fWT4I8CBkyMW9iNiMX4YPskUJ67RrdECpmEIshfAPJd9VHPjny
-----END PRIVATE KEY-----
`, publicKey: `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEDeTSXU1FOzp0E5xijLC7CtFFAr6J
+BJZo2O31k+CPAgZMjFvYjYjF+GD7JFCeu0a3RAqZhCLIXwDyXfVRz458g==
-----END PUBLIC KEY-----
` };
const ed = { privateKey: `-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIL4LHwKHOrMEg9bkviQhfZKB2XyVoYqGvTEasQGGdwf+
-----END PRIVATE KEY-----
`, publicKey: `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAnPJX9v2iYQN1sgTzLbB3enTHWVS1DAAESzcfD9mTTtU=
-----END PUBLIC KEY-----
` };
const x = { privateKey: `-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VuBCIEIECksz3un8rU9kLUTfK12ndifRUq78WKuyAZhVjD68R0
-----END PRIVATE KEY-----
`, publicKey: `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VuAyEAyXemp9g7xiHkGGWw21vINFugHe8eGQHRnif5PaqJ1FE=
-----END PUBLIC KEY-----
` };
const encrypted = `-----BEGIN ENCRYPTED PRIVATE KEY-----
MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAhiXgMP59KOywICCAAw
DAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEEMS9mEonccS9dkm6mC0pXH8EgZB3
f95J4aLSQprQ6mqEbNR5XvRwcYvdvVuTXg+JaZxr4bb0oOFR9NERJXe7+AarWtFJ
kbj95dYD9JxJTPMlDy5KNUJkUPOc6Y/6Sw3y8J8WU+Z7z/r/62Wg3O6FMjbW2q0w
7ESDToaDRoIHKYapK1VI/J6Gur7zFd5SR4Bc5d16ok2a5Gw8cpypOgrwAT6mNiI=
-----END ENCRYPTED PRIVATE KEY-----
`;
const rsaSig = 'bg1nR6E3TbrzQfPKbOjG//0ES7upCYeMcI0xmM9aT1eXM5kygBTWO+M+eoWtdYLy0e4jz9+gLjCoSm7g+8eLl2wLWGMoEwEQ0h2w/V5lLXY0TafFL11NQPdkULSywdmyXfxXk4E3/O84JW5O1/7Mxgj9kF/QYwLezGL2n51vVgNVzbL4nrB9x63g1JKN0+hWgew6/lUJ+zgGUrBNVTYgX+qwMvPdJxHXe95S9zo5I2M+Z2FoZS1WxoEjX9Ra9xaoeP9nkQ2scVsdes3yEg7iYp2gd1VBIlIb3LsJXLq8yiW0xJZuxWrih7SnzdQvIgaZvDMmFxBhtnj/CoeELU+GHA==';
const pssSig = 'gFPSa1cDu8laQXH7hb5k+A3/7hXDyZLTdCOJihkRL6+IVT9xlIT5jq8t7bs7NdZbh1TF5UJ5V2bE5d8FmB/pYEtRsfYUaQZd+bZB/2/ovSinJQEJE23TOkrfKpubg3ZFzRh1JUWkkltmHHolIowg5MXw+88l4OvEwB6LqWwuPTxATxcN6rxsrmMQZWneOH9wkigdYBuoec3O9ILJhjxAY3cavDr90Fojc01uc+0xrehl6wuQnnXPcivuXqU3MBACj++dDeoLQURhhnfD5xP3TGIG/05Ve76VrRpe65lffeSZyIHEvNMJrNBYNyoQgB0KnkA1yTytCtM3Qx39pdsKrQ==';
const ecSig = 'MEQCICLo7Ff+LTSUpRrB1S5CynNzrfDNcrrgDjgS4uRxMgAGAiBlBZr9sOU7PTuySeEKKftcXyGzxbx9jdyniH0F3d0lqw==';
const ecIEEE = '6Y70GU0CwyHOt8GTy7FTSU0bxUw5T7t3LkpMrXJdN/ar6HZp8t9SxiFTRsd5OaT3qq3yEF3e6VbGtV0lXMd2WA==';
const oaep = 'pxBC1yx/o6ycOiqXo62AQBlDwt2dhYxtOjGgIOnCPd1r/yirAr0uIQFKm35exFp+FMQGRPUtEjEdi1jTq8ZExkxnx8AeysVLcae6Dsye8uxiKRxQbl5PX4wxiVExJ4l6x3Yu2X15uBzb+Ndy+3SoFkUbZDMhTyA0q9gW48aI7JnKdnPG3kQsSN6At0MQfzxV9pBewFCmv8148C0xoQ0RVw3SFJYVFnLPvMkr+iJt9dZ3P2ATIOS/OZnke2R/xUJFGMtA6mG5Kt+f3JDvCCJrCbAgLb5vE88m2Il3TPb4G4l43J2Twz+vqN5OBfoM6kPJI5w9WMSdSoyuahwuidTLHA==';
const oaep256 = 'HA8mufKqar9OBsldhbpVOj8sZ9C5lvOBoY0uT4l0X/XgeWS4Bh2MNch+6yfUDHkpjl4YFA4ZfrCYZT1BAG01Uz4K5WA/frLYEgAv8PlFiwJCxACnrQa6UlcvkwhmkE9z8cwrywp8Ot1WGNIu5XlP5+i1dQPDaFeksUuj1Y4CUwrtwc0Q6H4A+dh1Roq9svl18Xqn63FSmsj/1EH00q1zMtOSKAGZdfd7r7Clq1LQO+Ral7jm8CAY51mF0Ttu5j5XPrml0ChAt8x1SFnB8S6EEPT5c7Rn3H1OWHw/ysZVTVA4Bj6m8ksi84bT3PBDRms1vgoAIszf0LRAK+xHwNaZqA==';

const attempt = async (name, f) => { try { console.log(name, await f()); } catch (e) { console.log(name, 'threw', e?.name, e?.code, e?.message ?? e, e?.reason ?? ''); } };
const hex = (b) => Buffer.from(b).toString('hex');
const data = Buffer.from('some data');
const key = Buffer.alloc(32, 1), iv = Buffer.alloc(16, 2);

async function hashes() {
  for (const name of ['md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512', 'sha512-224', 'sha512-256', 'sha3-224', 'sha3-256', 'sha3-384', 'sha3-512', 'shake128', 'shake256', 'ripemd160', 'blake2b512', 'blake2s256', 'RSA-SHA256', 'SHA512/256', 'Sha256', 'RSA-SHA1-2']) {
    await attempt(name, () => crypto.createHash(name).update('zażółć').update(Buffer.from([0, 255])).digest('hex'));
    await attempt(`hmac ${name}`, () => name.startsWith('shake') ? '' : crypto.createHmac(name, 'key').update('data').digest('base64'));
  }
  const h = crypto.createHash('sha256').update('a'), other = h.copy();
  console.log(h.update('b').digest('hex'), other.update('c').digest('base64url'));
  for (const name of ['ripemd160', 'blake2s256', 'shake256', 'sha3-256']) console.log(name, crypto.createHash(name).update('a').copy().update('b').digest('hex') === crypto.createHash(name).update('ab').digest('hex'));
  await attempt('update after digest', () => h.update('x'));
  await attempt('digest twice', () => h.digest());
  await attempt('copy after digest', () => h.copy());
  const m = crypto.createHmac('sha1', key);
  console.log(m.digest('hex'), m.digest('hex') === '', crypto.createHash('sha1').digest().length);
  await attempt('xof', () => crypto.createHash('shake256', { outputLength: 8 }).update('a').digest('hex'));
  await attempt('no xof', () => crypto.createHash('sha256', { outputLength: 8 }));
  await attempt('unknown', () => crypto.createHash('nope'));
  await attempt('no text', () => crypto.createHash(5));
  await attempt('unknown hmac', () => crypto.createHmac('nope', 'k'));
  await attempt('no key', () => crypto.createHmac('sha1'));
  await attempt('no data', () => crypto.createHash('md5').update(5));
  await attempt('one shot', () => crypto.hash('sha1', 'abc'));
  console.log(crypto.getHashes().includes('sha256'), crypto.getCiphers().includes('aes-256-gcm'), crypto.getCurves().includes('prime256v1'), crypto.Hash('md5').update('a').digest('hex'));
  await pipeline(Readable.from(['a', 'b']), crypto.createHash('sha256'), async (source) => { for await (const c of source) console.log('piped', hex(c)); });
  const stream = crypto.createHash('md5');
  stream.write('abc'); stream.end();
  console.log('read', hex(await new Promise((resolve) => stream.on('readable', () => { const c = stream.read(); if (c) resolve(c); }))), stream instanceof Transform, stream.writableEnded);
}

async function random() {
  console.log(crypto.randomBytes(8).length, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()), crypto.randomUUID({ disableEntropyCache: true }).length);
  console.log((await promisify(crypto.randomBytes)(4)).length, [1, 2].includes(await promisify(crypto.randomInt)(1, 3)), crypto.randomInt(5) < 5, crypto.randomInt(-3, -2));
  const b = Buffer.alloc(8);
  console.log(crypto.randomFillSync(b, 4) === b, hex(b.subarray(0, 4)), (await promisify(crypto.randomFill)(new Uint16Array(4))).length);
  await attempt('fill no buffer', () => crypto.randomFillSync(5));
  await attempt('fill offset', () => crypto.randomFillSync(Buffer.alloc(4), 5));
  await attempt('fill size', () => crypto.randomFillSync(Buffer.alloc(4), 1, 5));
  await attempt('size', () => crypto.randomBytes(-1));
  await attempt('size', () => crypto.randomBytes('x'));
  await attempt('int', () => crypto.randomInt(5, 1));
  await attempt('int', () => crypto.randomInt(1.5));
  await attempt('int', () => crypto.randomInt(0, 2 ** 48));
  console.log(crypto.timingSafeEqual(Buffer.from('abc'), Buffer.from('abc')), crypto.timingSafeEqual(new Uint8Array(2), new Uint8Array([0, 1])));
  await attempt('equal length', () => crypto.timingSafeEqual(Buffer.alloc(1), Buffer.alloc(2)));
  await attempt('equal kind', () => crypto.timingSafeEqual('a', 'b'));
}

async function derived() {
  for (const args of [['password', 'salt', 1, 20, 'sha1'], ['password', 'salt', 4096, 25, 'sha256'], ['', '', 2, 100, 'sha512'], ['p', Buffer.from('s'), 3, 0, 'md5']]) {
    console.log(hex(crypto.pbkdf2Sync(...args)), hex(await promisify(crypto.pbkdf2)(...args)));
  }
  for (const args of [['password', 'salt', 32], ['', '', 64, { N: 16, r: 1, p: 1 }], ['password', 'NaCl', 64, { N: 1024, r: 8, p: 16 }], ['a', 'b', 7, { cost: 2, blockSize: 3, parallelization: 2 }]]) {
    console.log(hex(crypto.scryptSync(...args)), hex(await promisify(crypto.scrypt)(...args)));
  }
  console.log(hex(crypto.hkdfSync('sha256', 'key', 'salt', 'info', 42)), hex(await promisify(crypto.hkdf)('sha512', key, Buffer.alloc(0), '', 100)), crypto.hkdfSync('sha1', 'k', 's', 'i', 4) instanceof ArrayBuffer);
  await attempt('digest', () => crypto.pbkdf2Sync('a', 'b', 1, 10, 'nope'));
  await attempt('iterations', () => crypto.pbkdf2Sync('a', 'b', 0, 10, 'sha1'));
  await attempt('no digest', () => crypto.pbkdf2Sync('a', 'b', 1, 10));
  await attempt('length', () => crypto.pbkdf2Sync('a', 'b', 1, -1, 'sha1'));
  await attempt('password', () => crypto.pbkdf2Sync(5, 'b', 1, 1, 'sha1'));
  await attempt('scrypt twice', () => crypto.scryptSync('a', 'b', 10, { cost: 16, N: 16 }));
  await attempt('hkdf digest', () => crypto.hkdfSync('nope', 'a', 'b', 'c', 10));
  await attempt('hkdf length', () => crypto.hkdfSync('sha256', 'a', 'b', 'c', 255 * 32 + 1));
}

async function ciphers() {
  for (const [name, size, ivSize] of [['aes-128-cbc', 16, 16], ['aes-192-cbc', 24, 16], ['aes-256-cbc', 32, 16], ['aes-128-ctr', 16, 16], ['aes-256-ctr', 32, 16], ['aes-256-ecb', 32, 0], ['des-ede3-cbc', 24, 8], ['aes256', 32, 16]]) {
    const k = Buffer.from(Array.from({ length: size }, (_, i) => i)), v = ivSize ? iv.subarray(0, ivSize) : null;
    const c = crypto.createCipheriv(name, k, v);
    const out = c.update('zażółć gęślą jaźń', 'utf8', 'hex') + c.update(Buffer.alloc(20, 7)).toString('hex') + c.final('hex');
    const d = crypto.createDecipheriv(name, k, v);
    console.log(name, out, d.update(out.slice(0, 30), 'hex', 'utf8') + d.update(out.slice(30), 'hex', 'utf8') + d.final('utf8') === 'zażółć gęślą jaźń' + '\x07'.repeat(20));
  }
  for (const [name, size, ivs] of [['aes-128-gcm', 16, [12, 16, 1, 60]], ['aes-256-gcm', 32, [12, 8]], ['chacha20-poly1305', 32, [12]]]) {
    for (const n of ivs) {
      const k = Buffer.alloc(size, 3), v = Buffer.alloc(n, 9);
      const c = crypto.createCipheriv(name, k, v, { authTagLength: 16 });
      c.setAAD(Buffer.from('header'));
      const out = Buffer.concat([c.update('first '), c.update('second'), c.update(Buffer.alloc(40)), c.final()]);
      console.log(name, n, hex(out), hex(c.getAuthTag()));
      const d = crypto.createDecipheriv(name, k, v, { authTagLength: 16 });
      d.setAAD(Buffer.from('header')).setAuthTag(c.getAuthTag());
      console.log(Buffer.concat([d.update(out), d.final()]).subarray(0, 12).toString());
    }
  }
  const short = crypto.createCipheriv('aes-128-gcm', key.subarray(16), iv.subarray(4), { authTagLength: 4 });
  short.final();
  console.log(hex(short.getAuthTag()));
  await attempt('unknown', () => crypto.createCipheriv('nope', key, iv));
  await attempt('key length', () => crypto.createCipheriv('aes-256-cbc', key.subarray(1), iv));
  await attempt('iv length', () => crypto.createCipheriv('aes-256-cbc', key, iv.subarray(1)));
  await attempt('no iv', () => crypto.createCipheriv('aes-256-cbc', key, null));
  await attempt('iv of ecb', () => crypto.createCipheriv('aes-256-ecb', key, iv));
  await attempt('empty iv', () => crypto.createCipheriv('aes-256-gcm', key, Buffer.alloc(0)));
  await attempt('iv kind', () => crypto.createCipheriv('aes-256-cbc', key, 5));
  await attempt('key kind', () => crypto.createCipheriv('aes-256-cbc', 5, iv));
  const from = (act) => () => { const d = crypto.createDecipheriv('aes-256-cbc', key, iv); return act(d); };
  await attempt('bad decrypt', from((d) => { d.update(Buffer.alloc(32)); return d.final(); }));
  await attempt('wrong final', from((d) => { d.update(Buffer.alloc(31)); return d.final(); }));
  await attempt('nothing', from((d) => d.final()));
  await attempt('no padding', () => { const c = crypto.createCipheriv('aes-256-cbc', key, iv).setAutoPadding(false); c.update('abc'); return c.final(); });
  await attempt('whole blocks', () => { const c = crypto.createCipheriv('aes-256-cbc', key, iv).setAutoPadding(false); return c.update(Buffer.alloc(16), undefined, 'hex') + c.final('hex'); });
  await attempt('final twice', () => { const c = crypto.createCipheriv('aes-256-cbc', key, iv); c.final(); return c.final(); });
  await attempt('update after', () => { const c = crypto.createCipheriv('aes-256-cbc', key, iv); c.final(); return c.update('x'); });
  await attempt('tag early', () => crypto.createCipheriv('aes-256-gcm', key, iv).getAuthTag());
  await attempt('no tag', () => { const d = crypto.createDecipheriv('aes-256-gcm', key, iv); d.update('abc'); return d.final(); });
  await attempt('wrong tag', () => { const d = crypto.createDecipheriv('aes-256-gcm', key, iv); d.setAuthTag(Buffer.alloc(16)); d.update('abc'); return d.final(); });
  await attempt('tag length', () => crypto.createDecipheriv('aes-256-gcm', key, iv).setAuthTag(Buffer.alloc(3)));
  await attempt('tag twice', () => crypto.createDecipheriv('aes-256-gcm', key, iv).setAuthTag(Buffer.alloc(16)).setAuthTag(Buffer.alloc(16)));
  await attempt('tag option', () => crypto.createCipheriv('aes-256-gcm', key, iv, { authTagLength: 3 }));
  await attempt('aad of cbc', () => crypto.createCipheriv('aes-256-cbc', key, iv).setAAD(Buffer.alloc(3)));
  await attempt('methods', () => ['getAuthTag', 'setAuthTag'].map((n) => [n in crypto.createCipheriv('aes-256-gcm', key, iv), n in crypto.createDecipheriv('aes-256-gcm', key, iv)]));
  for (const name of ['aes-256-gcm', 'aes-128-cbc', 'AES-192-ECB', 'aes-256-ctr', 'chacha20-poly1305', 'nope', 427]) console.log(name, crypto.getCipherInfo(name));
  console.log(crypto.getCipherInfo('aes-128-gcm', { ivLength: 16 }));
  const out = [];
  for await (const c of Readable.from([data, data]).pipe(crypto.createCipheriv('aes-256-cbc', key, iv)).pipe(crypto.createDecipheriv('aes-256-cbc', key, iv))) out.push(c);
  console.log(Buffer.concat(out).toString());
}

async function keys() {
  for (const [name, pair] of Object.entries({ rsa, ec, ed, x })) {
    const privateKey = crypto.createPrivateKey(pair.privateKey), publicKey = crypto.createPublicKey(pair.publicKey);
    console.log(name, privateKey.type, publicKey.type, privateKey.asymmetricKeyType, privateKey.asymmetricKeyDetails, privateKey instanceof crypto.KeyObject, String(publicKey));
    console.log(privateKey.export({ type: 'pkcs8', format: 'pem' }) === pair.privateKey, publicKey.export({ type: 'spki', format: 'pem' }) === pair.publicKey, crypto.createPublicKey(privateKey).equals(publicKey), crypto.createPublicKey(pair.privateKey).equals(publicKey));
    const jwk = privateKey.export({ format: 'jwk' }), publicJWK = publicKey.export({ format: 'jwk' });
    console.log(jwk, publicJWK);
    console.log(crypto.createPrivateKey({ key: jwk, format: 'jwk' }).equals(privateKey), crypto.createPublicKey({ key: publicJWK, format: 'jwk' }).equals(publicKey));
    for (const type of ['pkcs1', 'sec1', 'pkcs8']) await attempt(`${name} ${type}`, () => { const der = privateKey.export({ type, format: 'der' }); return [hex(der).length, privateKey.export({ type, format: 'pem' }).split('\n')[0], crypto.createPrivateKey({ key: der, type, format: 'der' }).equals(privateKey)]; });
    const locked = privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-128-cbc', passphrase: 'passphrase' });
    console.log(locked.split('\n')[0], crypto.createPrivateKey({ key: locked, passphrase: 'passphrase' }).equals(privateKey));
  }
  console.log(crypto.createPrivateKey({ key: encrypted, passphrase: 'secret' }).equals(crypto.createPrivateKey(ec.privateKey)));
  await attempt('no passphrase', () => crypto.createPrivateKey(encrypted));
  await attempt('wrong passphrase', () => crypto.createPrivateKey({ key: encrypted, passphrase: 'x' }));
  await attempt('garbage', () => crypto.createPrivateKey('garbage'));
  await attempt('number', () => crypto.createPrivateKey(5));
  await attempt('garbage public', () => crypto.createPublicKey('garbage'));
  const secret = crypto.createSecretKey(Buffer.from('abc'));
  console.log(secret.type, secret.symmetricKeySize, secret.export(), secret.export({ format: 'jwk' }), secret.equals(crypto.createSecretKey('abc', 'utf8')), crypto.createHmac('sha1', secret).digest('hex'));
  const p = crypto.createPrivateKey(rsa.privateKey), q = crypto.createPublicKey(rsa.publicKey);
  await attempt('export type', () => p.export({ type: 'nope', format: 'pem' }));
  await attempt('export format', () => p.export({ type: 'pkcs8' }));
  await attempt('export public', () => q.export({ type: 'pkcs8', format: 'pem' }));
  await attempt('export nothing', () => p.export());
  await attempt('KeyObject', () => new crypto.KeyObject('x'));

  // Signatures.
  console.log(crypto.sign('sha256', data, rsa.privateKey).toString('base64') === rsaSig, crypto.createSign('SHA256').update(data).sign(rsa.privateKey, 'base64') === rsaSig, crypto.sign(null, data, ed.privateKey).toString('hex'));
  console.log(crypto.verify('sha256', data, rsa.publicKey, Buffer.from(rsaSig, 'base64')), crypto.verify('sha256', data, { key: rsa.publicKey, padding: 6 }, Buffer.from(pssSig, 'base64')), crypto.verify('sha256', data, ec.publicKey, Buffer.from(ecSig, 'base64')), crypto.verify('sha256', data, { key: ec.publicKey, dsaEncoding: 'ieee-p1363' }, Buffer.from(ecIEEE, 'base64')));
  console.log(crypto.verify('sha256', Buffer.from('other'), rsa.publicKey, Buffer.from(rsaSig, 'base64')), crypto.createVerify('sha256').update('some ').update('data').verify(rsa.privateKey, rsaSig, 'base64'), crypto.verify('sha256', data, ec.publicKey, Buffer.alloc(10)));
  for (const [alg, k] of [['sha512', rsa], ['sha1', ec], [null, ed]]) {
    const sig = crypto.sign(alg, data, k.privateKey);
    console.log(crypto.verify(alg, data, k.publicKey, sig), await new Promise((resolve, reject) => crypto.verify(alg, data, k.publicKey, sig, (e, r) => e ? reject(e) : resolve(r))));
  }
  console.log(crypto.verify('sha256', data, { key: rsa.publicKey, padding: 6, saltLength: -1 }, crypto.sign('sha256', data, { key: rsa.privateKey, padding: 6, saltLength: -1 })));
  await attempt('algorithm', () => crypto.sign('nope', data, rsa.privateKey));
  await attempt('algorithm', () => crypto.createSign('nope'));
  await attempt('public', () => crypto.sign('sha256', data, q));
  await attempt('no key', () => crypto.createSign('sha256').sign());
  await attempt('no data', () => crypto.sign('sha256', 'text', p));

  // Encryption.
  console.log(crypto.privateDecrypt(rsa.privateKey, Buffer.from(oaep, 'base64')).toString(), crypto.privateDecrypt({ key: rsa.privateKey, oaepHash: 'sha256', oaepLabel: Buffer.from('label') }, Buffer.from(oaep256, 'base64')).toString());
  console.log(crypto.privateDecrypt(p, crypto.publicEncrypt(q, data)).toString(), crypto.publicDecrypt(q, crypto.privateEncrypt(p, data)).toString(), hex(crypto.privateEncrypt(p, data)).slice(0, 32), crypto.publicEncrypt({ key: q, padding: 1 }, data).length);
  await attempt('decrypt', () => crypto.privateDecrypt(p, Buffer.alloc(256)));
  await attempt('decrypt pkcs1', () => crypto.privateDecrypt({ key: p, padding: crypto.constants.RSA_PKCS1_PADDING }, Buffer.alloc(256)));
  await attempt('too long', () => crypto.publicEncrypt(q, Buffer.alloc(256)));

  // Making keys, and agreeing.
  for (const [type, options] of [['rsa', { modulusLength: 1024 }], ['ec', { namedCurve: 'P-256' }], ['ec', { namedCurve: 'secp384r1' }], ['ed25519'], ['x25519']]) {
    const pair = crypto.generateKeyPairSync(type, options), later = await promisify(crypto.generateKeyPair)(type, { ...options, publicKeyEncoding: { type: 'spki', format: 'pem' }, privateKeyEncoding: { type: 'pkcs8', format: 'der' } });
    console.log(type, pair.publicKey.asymmetricKeyDetails, later.publicKey.split('\n')[0], Buffer.isBuffer(later.privateKey));
  }
  await attempt('type', () => crypto.generateKeyPairSync('nope'));
  await attempt('no bits', () => crypto.generateKeyPairSync('rsa', {}));
  await attempt('curve', () => crypto.generateKeyPairSync('ec', { namedCurve: 'nope' }));
  await attempt('no curve', () => crypto.generateKeyPairSync('ec', {}));
  console.log(crypto.generateKeySync('aes', { length: 128 }).symmetricKeySize, (await promisify(crypto.generateKey)('hmac', { length: 70 })).symmetricKeySize);
  await attempt('aes length', () => crypto.generateKeySync('aes', { length: 5 }));
  const a = crypto.generateKeyPairSync('x25519'), b = crypto.generateKeyPairSync('x25519');
  console.log(crypto.diffieHellman({ privateKey: a.privateKey, publicKey: b.publicKey }).equals(crypto.diffieHellman({ privateKey: b.privateKey, publicKey: a.publicKey })));
  const alice = crypto.createECDH('prime256v1'), bob = crypto.createECDH('prime256v1');
  alice.setPrivateKey(Buffer.alloc(32, 5));
  console.log(alice.getPublicKey('hex'), alice.getPublicKey('hex', 'compressed'), alice.getPublicKey('hex', 'hybrid'), alice.getPrivateKey('hex'));
  bob.generateKeys();
  console.log(alice.computeSecret(bob.getPublicKey()).equals(bob.computeSecret(alice.getPublicKey(null, 'compressed'))), crypto.ECDH.convertKey(alice.getPublicKey(), 'prime256v1', undefined, 'hex', 'compressed'));
  await attempt('ecdh curve', () => crypto.createECDH('nope'));
  await attempt('ecdh point', () => alice.computeSecret(Buffer.alloc(5)));
  await attempt('ecdh key', () => crypto.createECDH('prime256v1').getPublicKey());
}

export default async function () {
  await hashes(); await random(); await derived(); await ciphers(); await keys();
}
