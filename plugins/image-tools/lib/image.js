// Reads what a picture is from its first bytes.

/** Gives {type, mimeType, width, height} of a picture, or null where the bytes are none that is known. */
export function inspect(b) {
  if (starts(b, 0, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return png(b);
  if (starts(b, 0, [0xff, 0xd8, 0xff])) return jpeg(b);
  if (ascii(b, 0, 6) === 'GIF87a' || ascii(b, 0, 6) === 'GIF89a') return gif(b);
  if (ascii(b, 0, 4) === 'RIFF' && ascii(b, 8, 4) === 'WEBP') return webp(b);
  if (ascii(b, 0, 2) === 'BM' && b.length >= 26) return bmp(b);
  return null;
}

export function describe(path, picture, bytes) {
  const size = picture.width === null ? 'size unknown (the file is damaged)' : `${picture.width}×${picture.height} pixels`;
  return `${path}: ${picture.type}, ${size}, ${bytes} byte${bytes === 1 ? '' : 's'}`;
}

function starts(b, at, bytes) {
  return bytes.every((v, i) => b[at + i] === v);
}

function ascii(b, at, n) {
  return String.fromCharCode(...b.subarray(at, at + n));
}

export const be16 = (b, at) => (b[at] << 8) | b[at + 1];
export const be32 = (b, at) => be16(b, at) * 0x10000 + be16(b, at + 2);
export const le16 = (b, at) => b[at] | (b[at + 1] << 8);
export const le24 = (b, at) => le16(b, at) | (b[at + 2] << 16);
export const le32 = (b, at) => le16(b, at) + le16(b, at + 2) * 0x10000;

function picture(type, mimeType, width, height) {
  const known = width > 0 && height > 0;
  return { type, mimeType, width: known ? width : null, height: known ? height : null };
}

function png(b) {
  const ok = b.length >= 24 && ascii(b, 12, 4) === 'IHDR';
  return picture('PNG', 'image/png', ok ? be32(b, 16) : 0, ok ? be32(b, 20) : 0);
}

function gif(b) {
  return picture('GIF', 'image/gif', b.length >= 10 ? le16(b, 6) : 0, b.length >= 10 ? le16(b, 8) : 0);
}

function bmp(b) {
  if (le32(b, 14) === 12) return picture('BMP', 'image/bmp', le16(b, 18), le16(b, 20));
  // A height below zero says that the rows go from top to bottom.
  return picture('BMP', 'image/bmp', le32(b, 18) | 0, Math.abs(le32(b, 22) | 0));
}

function webp(b) {
  const kind = ascii(b, 12, 4);
  let width = 0;
  let height = 0;
  if (kind === 'VP8 ' && b.length >= 30 && starts(b, 23, [0x9d, 0x01, 0x2a])) {
    width = le16(b, 26) & 0x3fff;
    height = le16(b, 28) & 0x3fff;
  } else if (kind === 'VP8L' && b.length >= 25 && b[20] === 0x2f) {
    width = 1 + (le16(b, 21) & 0x3fff);
    height = 1 + ((le24(b, 22) >> 6) & 0x3fff);
  } else if (kind === 'VP8X' && b.length >= 30) {
    width = 1 + le24(b, 24);
    height = 1 + le24(b, 27);
  }
  return picture('WebP', 'image/webp', width, height);
}

function jpeg(b) {
  for (const { marker, start, end } of segments(b)) {
    // Start of frame; C4, C8 and CC among these numbers are something else.
    if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc && end - start >= 5) {
      return picture('JPEG', 'image/jpeg', be16(b, start + 3), be16(b, start + 1));
    }
  }
  return picture('JPEG', 'image/jpeg', 0, 0);
}

/** Gives the segments of a JPEG file before its pixels. */
export function segments(b) {
  const found = [];
  for (let at = 2; at + 4 <= b.length && b[at] === 0xff; ) {
    const marker = b[at + 1];
    if (marker === 0xff) {
      at++; // a fill byte
      continue;
    }
    const size = be16(b, at + 2);
    if (marker === 0xda || marker === 0xd9 || size < 2) break;
    found.push({ marker, start: at + 4, end: Math.min(at + 2 + size, b.length) });
    at += 2 + size;
  }
  return found;
}
