/** Writes pixels (three bytes each) as a PNG file, without compression. */
export function writePng({ width, height, rgb }) {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8; // bits
  header[9] = 2; // red, green, blue

  const line = width * 3;
  const raw = Buffer.alloc((line + 1) * height); // a zero before each row: no filter
  for (let y = 0; y < height; y++) raw.set(rgb.subarray(y * line, (y + 1) * line), y * (line + 1) + 1);

  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', store(raw)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Wraps bytes as a zlib stream of stored blocks. */
function store(raw) {
  const parts = [Buffer.from([0x78, 0x01])];
  for (let at = 0; at < raw.length; at += 65535) {
    const size = Math.min(65535, raw.length - at);
    const last = at + size === raw.length ? 1 : 0;
    parts.push(Buffer.from([last, size & 255, size >> 8, ~size & 255, (~size >> 8) & 255]), raw.subarray(at, at + size));
  }
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(adler32(raw), 0);
  return Buffer.concat([...parts, sum]);
}

function chunk(name, data) {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length, 0);
  out.set(body, 4);
  out.writeUInt32BE(crc32(body), body.length + 4);
  return out;
}

function adler32(bytes) {
  let a = 1;
  let b = 0;
  for (let at = 0; at < bytes.length; ) {
    // 3800 sums stay below 2^32, so the remainder is taken that seldom.
    for (const end = Math.min(at + 3800, bytes.length); at < end; at++) {
      a += bytes[at];
      b += a;
    }
    a %= 65521;
    b %= 65521;
  }
  return b * 65536 + a;
}

const TABLE = Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n >>> 0;
});

function crc32(bytes) {
  let c = -1;
  for (let i = 0; i < bytes.length; i++) c = TABLE[(c ^ bytes[i]) & 255] ^ (c >>> 8);
  return (c ^ -1) >>> 0;
}
