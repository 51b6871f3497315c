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

module.exports = { CardSdkError, isCardSdkError, invalid };
