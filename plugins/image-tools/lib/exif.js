import { be16, be32, le16, le32, segments } from './image.js';

/** Gives the thumbnail that a camera put into a JPEG file, itself a JPEG file, or null. */
export function thumbnail(b) {
  const exif = segments(b).find(({ marker, start, end }) => marker === 0xe1 && end - start > 14 && b.subarray(start, start + 6).toString('latin1') === 'Exif\0\0');
  if (exif === undefined) return null;
  const tiff = b.subarray(exif.start + 6, exif.end);
  const little = tiff[0] === 0x49;
  const u16 = little ? le16 : be16;
  const u32 = little ? le32 : be32;
  // The first directory is about the picture; the one it names as next is the thumbnail's.
  const first = u32(tiff, 4);
  if (first + 2 > tiff.length) return null;
  const next = first + 2 + u16(tiff, first) * 12;
  if (next + 4 > tiff.length) return null;
  const directory = u32(tiff, next);
  if (directory === 0 || directory + 2 > tiff.length) return null;
  let at = 0;
  let size = 0;
  for (let i = 0; i < u16(tiff, directory); i++) {
    const entry = directory + 2 + i * 12;
    if (entry + 12 > tiff.length) return null;
    if (u16(tiff, entry) === 0x0201) at = u32(tiff, entry + 8);
    if (u16(tiff, entry) === 0x0202) size = u32(tiff, entry + 8);
  }
  if (at === 0 || size === 0 || at + size > tiff.length || tiff[at] !== 0xff || tiff[at + 1] !== 0xd8) return null;
  return tiff.subarray(at, at + size);
}
