'use strict';
// Errors of a card's requests: a code, what happened, and what to do about it.

const hints = {
  PERMISSION_DENIED: 'Declare the permission in neurosquad-card.json ("permissions"); the user agrees to it when the card is installed or changes.',
  HOST_NOT_ALLOWED: 'Add the host to the hosts of the permission "network" in neurosquad-card.json (or use "network.local" for this computer).',
  FS_DENIED: 'Use a path relative to the workspace folder; agent, editor and version control settings cannot be changed.',
  UNAVAILABLE: 'This card runs without a screen: do without, or catch this error.',
};

class CardSdkError extends Error {
  constructor(code, message, method, data, hint = hints[code]) {
    super(`${method ? `${method}: ` : ''}${message} [${code}]${hint ? ` — ${hint}` : ''}`);
    this.name = 'CardSdkError';
    this.code = code;
    this.method = method;
    this.data = data;
    this.hostMessage = message;
    this.hint = hint;
  }

  get permission() { return typeof this.data?.permission === 'string' ? this.data.permission : undefined; }

  get retryAfterMs() { return typeof this.data?.retryAfterMs === 'number' ? this.data.retryAfterMs : undefined; }

  get issues() { return Array.isArray(this.data) ? this.data : undefined; }

  toJSON() { return { code: this.code, message: this.hostMessage, ...(this.data === undefined ? {} : { data: this.data }) }; }
}

const isCardSdkError = (error, code) => error instanceof CardSdkError && (code === undefined || error.code === code);

// invalid says that a request has a wrong parameter.
const invalid = (method, message, data) => new CardSdkError('INVALID_PARAMS', message, method, data);

// said gives what an error says. What cards throw may be anything, also what throws itself when it is looked at.
function said(error) {
  try { return String(error?.message ?? error); } catch { return 'a value that cannot be described was thrown'; }
}

// jsonOf gives a value as JSON, which it must be.
function jsonOf(method, what, value) {
  let text;
  try { text = JSON.stringify(value); } catch (error) { throw invalid(method, `${what} is no JSON: ${said(error)}`); }
  if (typeof text !== 'string') throw invalid(method, `${what} is no JSON`);
  return text;
}

// bytesOf gives what a card hands over as bytes.
function bytesOf(method, data) {
  if (data instanceof ArrayBuffer) return Buffer.from(data);
  if (ArrayBuffer.isView(data)) return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  throw invalid(method, 'the data must be an ArrayBuffer or a view of one, such as a Uint8Array');
}

module.exports = { CardSdkError, isCardSdkError, invalid, said, jsonOf, bytesOf };
