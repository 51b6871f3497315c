import { describe, inspect } from '../lib/image.js';

export default async function info({ path }, ctx) {
  const bytes = await ctx.fs.read(path);
  const picture = inspect(bytes);
  if (picture === null) throw new Error(`${path} is no PNG, JPEG, GIF, WebP or BMP picture`);
  return describe(path, picture, bytes.length);
}
