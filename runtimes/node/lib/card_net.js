'use strict';
// Requests of a card: those of fetch, with the options and errors that cards know.

const { CardSdkError, invalid, said, jsonOf } = require('internal/card_error');

const method = 'net.fetch';
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
// The host sets these itself, or they say who asks.
const own = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'keep-alive', 'upgrade', 'te', 'trailer', 'expect', 'cookie', 'cookie2',
  'origin', 'referer', 'user-agent', 'via', 'forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'cf-connecting-ip', 'dnt']);

function headersOf(given) {
  const headers = {}, wrong = '"headers" must be an object or a list of pairs';
  if (given == null) return headers;
  if (typeof given !== 'object') throw invalid(method, wrong);
  for (const pair of typeof given[Symbol.iterator] === 'function' ? given : Object.entries(given)) {
    if (!Array.isArray(pair)) throw invalid(method, wrong);
    const [name, value] = pair;
    const lower = String(name).toLowerCase();
    if (own.has(lower) || lower.startsWith('sec-') || lower.startsWith('proxy-')) throw invalid(method, `the header "${name}" cannot be set by a card`);
    headers[lower] = String(value);
  }
  return headers;
}

function bodyOf(body, headers) {
  if (typeof body === 'string' || ArrayBuffer.isView(body) || body instanceof ArrayBuffer) return body;
  if (!('content-type' in headers)) headers['content-type'] = 'application/json';
  return jsonOf(method, 'the body', body);
}

// each gives the items of a list that is loaded when the first is asked for.
function each(load) {
  let list, i = 0;
  return {
    async next() {
      list ??= await load();
      return i < list.length ? { value: list[i++], done: false } : { value: undefined, done: true };
    },
    [Symbol.asyncIterator]() { return this; },
  };
}

// lines gives the lines of a text.
function lines(text) {
  const all = text.split('\n');
  if (all[all.length - 1] === '') all.pop();
  return all.map((line) => line.replace(/\r$/, ''));
}

// answer is a response as cards know it.
function answer(response) {
  const o = {
    status: response.status, statusText: response.statusText, ok: response.ok, url: response.url, headers: response.headers, truncated: false,
    text: () => response.text(), json: () => response.json(), arrayBuffer: () => response.arrayBuffer(),
    bytes: async () => new Uint8Array(await response.arrayBuffer()),
    lines: () => each(async () => lines(await response.text())),
    chunks: () => each(async () => [await response.text()]),
  };
  Object.defineProperty(o, 'bodyUsed', { get: () => response.bodyUsed, enumerable: true });
  return o;
}

// address gives what a request goes to.
function address(url) {
  let parsed;
  try { parsed = new URL(String(url)); } catch { throw invalid(method, `${JSON.stringify(said(url).slice(0, 200))} is no URL`); }
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') throw invalid(method, `URLs of requests begin with http:// or https://, not with ${parsed.protocol}`);
  return parsed.href;
}

async function request(url, given, granted) {
  const to = address(url), options = given ?? {};
  if (typeof options !== 'object') throw invalid(method, 'the options must be an object');
  const headers = headersOf(options.headers);
  const hasBody = options.body !== undefined && options.body !== null;
  const verb = options.method ?? (hasBody ? 'POST' : 'GET');
  if (!methods.includes(verb)) throw invalid(method, `"method" must be one of ${methods.join(', ')}`);
  const timeout = options.timeoutMs ?? 30000;
  if (!Number.isInteger(timeout) || timeout < 1000 || timeout > 120000) throw invalid(method, '"timeoutMs" must be from 1000 to 120000');
  if (options.signal != null && !(options.signal instanceof AbortSignal)) throw invalid(method, '"signal" must be an AbortSignal');
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new CardSdkError('TIMEOUT', `no answer in ${timeout} ms`, method)), timeout);
  const signals = [late.signal];
  if (options.signal) signals.push(options.signal);
  try {
    const init = { method: verb, headers, signal: AbortSignal.any(signals) };
    if (hasBody) init.body = bodyOf(options.body, headers);
    return answer(await fetch(to, init));
  } catch (error) {
    if (options.signal?.aborted) throw options.signal.reason;
    if (late.signal.aborted) throw late.signal.reason;
    if (error instanceof CardSdkError) throw error;
    const cause = error?.name === 'PluginPermissionError' ? error : error?.cause;
    if (cause?.name === 'PluginPermissionError') {
      if (!host.inCall()) throw new CardSdkError('UNAVAILABLE', 'no call is running', method, undefined, 'Hosts can be reached while a tool call runs: do it in the handler.');
      if (granted) throw new CardSdkError('HOST_NOT_ALLOWED', `${cause.target ?? to} is not among the hosts of the card`, method, { host: cause.target });
    }
    throw new CardSdkError('NETWORK_ERROR', said(cause ?? error), method, cause?.code ? { code: cause.code } : undefined);
  } finally {
    clearTimeout(timer);
  }
}

module.exports = { request };
