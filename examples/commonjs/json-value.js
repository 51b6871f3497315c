const { lookUp } = require('./lib/pointer');
const { maxBytes } = require('./limits.json');

// The function that a module exports is the handler: its arguments are checked against
// the schema already, and what it returns is the answer.
module.exports = async function jsonValue({ path, pointer = '' }, ctx) {
  const bytes = await ctx.fs.read(path); // the manifest grants what the argument names
  if (bytes.length > maxBytes) throw new Error(`${path} has ${bytes.length} bytes; at most ${maxBytes} are read`);
  let document;
  try {
    document = JSON.parse(bytes.toString('utf8'));
  } catch (err) {
    // What is thrown reaches the model as a failed result with this text.
    throw new Error(`${path} is no valid JSON: ${err.message}`);
  }
  const value = lookUp(document, pointer);
  // A string would be the answer as it is; JSON text tells "1" from 1.
  return JSON.stringify(value, null, 2);
};
