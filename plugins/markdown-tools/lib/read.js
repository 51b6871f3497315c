/** Reads a text file; a binary one is an error. */
export async function readText(path, ctx) {
  const bytes = await ctx.fs.read(path);
  if (bytes.includes(0)) throw new Error(`${path} is not a text file: it contains NUL bytes`);
  return bytes.toString('utf8');
}
