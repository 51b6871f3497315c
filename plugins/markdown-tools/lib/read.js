const MAX_BYTES = 8 * 1024 * 1024;

/** Reads a text file; a binary or a very large one is an error. */
export async function readText(path, ctx) {
  const bytes = await ctx.fs.read(path);
  if (bytes.length > MAX_BYTES) throw new Error(`${path} has ${bytes.length} bytes; Markdown files of up to ${MAX_BYTES} bytes are read`);
  if (bytes.includes(0)) throw new Error(`${path} is not a text file: it contains NUL bytes`);
  return bytes.toString('utf8');
}
