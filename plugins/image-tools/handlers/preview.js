import { scaleBmp } from '../lib/bmp.js';
import { thumbnail } from '../lib/exif.js';
import { describe, inspect } from '../lib/image.js';
import { writePng } from '../lib/png.js';

const MAX_BYTES = 256 * 1024;
const SIDE = 256;

export default async function preview({ path }, ctx) {
  const bytes = await ctx.fs.read(path);
  const picture = inspect(bytes);
  if (picture === null) throw new Error(`${path} is no PNG, JPEG, GIF, WebP or BMP picture`);
  const caption = describe(path, picture, bytes.length);

  if (picture.type === 'BMP') {
    // Models do not take BMP, so that it becomes a PNG whatever its size.
    const small = scaleBmp(bytes, SIDE);
    if (small === null) throw new Error(`${caption}; this kind of BMP (compressed, or damaged) cannot be shown`);
    return image(`${caption}; shown as PNG at ${small.width}×${small.height}`, writePng(small), 'image/png');
  }
  if (bytes.length <= MAX_BYTES) return image(caption, bytes, picture.mimeType);

  const small = picture.type === 'JPEG' ? thumbnail(bytes) : null;
  if (small !== null) return image(`${caption}; shown is its embedded thumbnail`, small, 'image/jpeg');
  throw new Error(`${caption}; too large for a preview: at most ${MAX_BYTES} bytes, or a JPEG with an embedded thumbnail`);
}

function image(caption, bytes, mimeType) {
  return {
    content: [
      { type: 'text', text: caption },
      { type: 'image', data: bytes.toString('base64'), mimeType },
    ],
  };
}
