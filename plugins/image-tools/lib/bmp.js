import { le16, le32 } from './image.js';

/**
 * Scales an uncompressed BMP file (8, 24 or 32 bits a pixel) down to at most side pixels
 * by taking the nearest ones: {width, height, rgb}. null where it is of another kind.
 */
export function scaleBmp(b, side) {
  const header = le32(b, 14);
  const bits = le16(b, 28);
  const compression = header >= 40 ? le32(b, 30) : -1;
  if (header < 40 || ![8, 24, 32].includes(bits) || !(compression === 0 || (compression === 3 && bits === 32))) return null;
  const width = le32(b, 18) | 0;
  const signed = le32(b, 22) | 0;
  const height = Math.abs(signed);
  const start = le32(b, 10);
  const stride = Math.ceil((width * bits) / 32) * 4;
  if (width <= 0 || height === 0 || start + stride * height > b.length) return null;

  const scale = Math.max(1, Math.max(width, height) / side);
  const w = Math.max(1, Math.floor(width / scale));
  const h = Math.max(1, Math.floor(height / scale));
  const rgb = new Uint8Array(w * h * 3);
  const palette = 14 + header;
  let to = 0;
  for (let y = 0; y < h; y++) {
    const line = Math.floor((y * height) / h);
    const row = start + (signed > 0 ? height - 1 - line : line) * stride;
    for (let x = 0; x < w; x++) {
      const column = Math.floor((x * width) / w);
      const from = bits === 8 ? palette + b[row + column] * 4 : row + column * (bits / 8);
      rgb[to] = b[from + 2];
      rgb[to + 1] = b[from + 1];
      rgb[to + 2] = b[from];
      to += 3;
    }
  }
  return { width: w, height: h, rgb };
}
