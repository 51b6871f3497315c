'use strict';
// node:punycode (RFC 3492), which old packages still ask for.
const base = 36, tMin = 1, tMax = 26, skew = 38, damp = 700, firstBias = 72, firstCode = 128, most = 2147483647;
const overflow = () => new RangeError('Overflow: input needs wider integers to process');
const dots = /[\x2e\u3002\uff0e\uff61]/g;

function adapt(delta, points, first) {
  let k = 0;
  delta = first ? Math.floor(delta / damp) : delta >> 1;
  delta += Math.floor(delta / points);
  for (; delta > (base - tMin) * tMax >> 1; k += base) delta = Math.floor(delta / (base - tMin));
  return Math.floor(k + (base - tMin + 1) * delta / (delta + skew));
}
const threshold = (k, bias) => k <= bias ? tMin : k >= bias + tMax ? tMax : k - bias;
const digit = (n) => String.fromCharCode(n + 22 + 75 * (n < 26));
function valueOf(code) {
  if (code >= 0x30 && code < 0x3a) return 26 + code - 0x30;
  if (code >= 0x41 && code < 0x5b) return code - 0x41;
  if (code >= 0x61 && code < 0x7b) return code - 0x61;
  return base;
}

const ucs2 = {
  decode: (text) => Array.from(text, (char) => char.codePointAt(0)),
  encode: (points) => points.map((point) => String.fromCodePoint(point)).join(''),
};

function decode(input) {
  const out = [];
  let n = firstCode, i = 0, bias = firstBias;
  const basic = Math.max(input.lastIndexOf('-'), 0);
  for (let j = 0; j < basic; j++) {
    if (input.charCodeAt(j) >= 0x80) throw new RangeError('Illegal input >= 0x80 (not a basic code point)');
    out.push(input.charCodeAt(j));
  }
  for (let at = basic > 0 ? basic + 1 : 0; at < input.length;) {
    const before = i;
    for (let w = 1, k = base; ; k += base) {
      if (at >= input.length) throw new RangeError('Invalid input');
      const d = valueOf(input.charCodeAt(at++));
      if (d >= base) throw new RangeError('Invalid input');
      if (d > Math.floor((most - i) / w)) throw overflow();
      i += d * w;
      const t = threshold(k, bias);
      if (d < t) break;
      if (w > Math.floor(most / (base - t))) throw overflow();
      w *= base - t;
    }
    const length = out.length + 1;
    bias = adapt(i - before, length, before === 0);
    if (Math.floor(i / length) > most - n) throw overflow();
    n += Math.floor(i / length);
    i %= length;
    out.splice(i++, 0, n);
  }
  return ucs2.encode(out);
}

function encode(text) {
  const points = ucs2.decode(text);
  let out = points.filter((point) => point < 0x80).map((point) => String.fromCharCode(point)).join('');
  const basic = out.length;
  let handled = basic, n = firstCode, delta = 0, bias = firstBias;
  if (basic > 0) out += '-';
  while (handled < points.length) {
    let next = most;
    for (const point of points) if (point >= n && point < next) next = point;
    if (next - n > Math.floor((most - delta) / (handled + 1))) throw overflow();
    delta += (next - n) * (handled + 1);
    n = next;
    for (const point of points) {
      if (point < n && ++delta > most) throw overflow();
      if (point !== n) continue;
      let q = delta;
      for (let k = base; ; k += base) {
        const t = threshold(k, bias);
        if (q < t) break;
        out += digit(t + (q - t) % (base - t));
        q = Math.floor((q - t) / (base - t));
      }
      out += digit(q);
      bias = adapt(delta, handled + 1, handled === basic);
      delta = 0;
      handled++;
    }
    delta++;
    n++;
  }
  return out;
}

function eachLabel(domain, f) {
  const parts = domain.split('@');
  const before = parts.length > 1 ? `${parts[0]}@` : '';
  const name = parts.length > 1 ? parts[1] : domain;
  return before + name.replace(dots, '.').split('.').map(f).join('.');
}

module.exports = {
  version: '2.1.0', ucs2, decode, encode,
  toASCII: (domain) => eachLabel(domain, (label) => /[^\0-\x7f]/.test(label) ? `xn--${encode(label)}` : label),
  toUnicode: (domain) => eachLabel(domain, (label) => label.startsWith('xn--') ? decode(label.slice(4).toLowerCase()) : label),
};
