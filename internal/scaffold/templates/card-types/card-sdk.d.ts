// What a card gets from toolhost. For the editor only: nothing of it runs.
declare module '@neurosquad/card-sdk' {
  export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };
  type Dispose = () => void;

  /** The host's answer to what a card asks for, where that is refused. */
  export class CardSdkError extends Error {
    readonly code: ErrorCode;
    readonly method?: string;
    readonly data?: unknown;
    /** What happened, without the method and the code. */
    readonly hostMessage: string;
    /** What to do about it. */
    readonly hint?: string;
    readonly permission?: string;
    readonly retryAfterMs?: number;
  }
  export type ErrorCode =
    | 'BAD_REQUEST' | 'INVALID_PARAMS' | 'METHOD_NOT_FOUND' | 'PROTOCOL_MISMATCH' | 'TOO_LARGE' | 'PERMISSION_DENIED' | 'NOT_CONNECTED'
    | 'NOT_VISIBLE' | 'NOT_READY' | 'HOST_NOT_ALLOWED' | 'BUDGET_PAUSED' | 'FS_DENIED' | 'RATE_LIMITED' | 'UNAVAILABLE' | 'TIMEOUT'
    | 'USER_CANCELLED' | 'NETWORK_ERROR' | 'INTERNAL';
  export function isCardSdkError(error: unknown, code?: ErrorCode): error is CardSdkError;

  export interface ToolCall {
    callId: string;
    tool: string;
    agent: { id: string; name: string };
    /** Milliseconds since 1970. */
    deadline: number;
    /** Aborts at the deadline, or when the caller cancels. */
    signal: AbortSignal;
    /** Says how far the call is: at most 200 characters, of which four a second arrive. */
    progress(message: string): void;
  }
  export interface ToolContent {
    content: ({ type: 'text'; text: string } | { type: 'image'; data: string; mimeType: string })[];
    isError?: boolean;
  }
  export function toolText(text: string): ToolContent;
  export function toolImage(data: string | Uint8Array, mimeType: 'image/png' | 'image/jpeg' | 'image/webp' | 'image/gif', caption?: string): ToolContent;
  export function toolError(message: string): ToolContent;

  export interface Storage {
    get<T = JsonValue>(key: string): Promise<T | undefined>;
    get<T = JsonValue>(key: string, otherwise: T): Promise<T>;
    set(key: string, value: unknown): Promise<void>;
    delete(key: string): Promise<void>;
    keys(prefix?: string): Promise<string[]>;
    clear(): Promise<void>;
    usage(): Promise<{ keys: number; bytes: number }>;
  }
  export interface FileInfo {
    path: string;
    type: 'file' | 'directory' | 'other';
    size: number;
    mtimeMs: number;
  }
  export interface NetResponse {
    readonly status: number;
    readonly statusText: string;
    readonly ok: boolean;
    readonly url: string;
    readonly headers: Headers;
    text(): Promise<string>;
    json(): Promise<any>;
    bytes(): Promise<Uint8Array>;
    arrayBuffer(): Promise<ArrayBuffer>;
    lines(): AsyncIterable<string>;
  }

  export interface Card {
    readonly instanceId: string;
    readonly instance: { instanceId: string; packageName: string; title: string };
    readonly workspace: { readonly name: string; readonly folder: string; get(): Promise<{ name: string; folder: string }> };
    readonly language: 'en' | 'ru' | 'zh';
    tools: {
      /** Has a function run the calls of a tool; what it gives takes it away again. */
      handle<Args = any>(tool: string, handler: (args: Args, call: ToolCall) => unknown): Dispose;
      /** Hides a tool from agents, or shows it again, for every copy of the card. */
      setEnabled(tool: string, enabled: boolean): Promise<void>;
    };
    /** Values of this copy of the card; those in package are shared by all copies. */
    storage: Storage & { package: Storage };
    settings: {
      /** What the user set, or the default; never a secret. */
      value<T = string | number | boolean>(key: string): T;
      readonly values: Record<string, string | number | boolean>;
      hasSecret(key: string): boolean;
    };
    /** Files of the workspace, with the permissions fs.read and fs.write, while a call runs. */
    fs: {
      stat(path: string): Promise<FileInfo>;
      list(path?: string, options?: { recursive?: boolean; maxEntries?: number }): Promise<{ entries: (FileInfo & { name: string })[]; truncated: boolean }>;
      readText(path: string, options?: { maxBytes?: number }): Promise<string>;
      readBytes(path: string, options?: { maxBytes?: number }): Promise<Uint8Array>;
      writeText(path: string, text: string, options?: { createDirs?: boolean; ifMtimeMs?: number }): Promise<FileInfo>;
      writeBytes(path: string, data: Uint8Array | ArrayBuffer, options?: { createDirs?: boolean; ifMtimeMs?: number }): Promise<FileInfo>;
      mkdir(path: string): Promise<{ path: string }>;
    };
    /** Requests to the hosts of the permission network, while a call runs. `{{secret:key}}` is filled in by the host. */
    net: {
      fetch(url: string | URL, options?: {
        method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
        headers?: Record<string, string> | Iterable<[string, string]>;
        body?: string | Uint8Array | ArrayBuffer | JsonValue;
        timeoutMs?: number;
        signal?: AbortSignal;
      }): Promise<NetResponse>;
    };
    permissions: { has(id: string): boolean; request(...ids: string[]): Promise<string[]> };
    log: Record<'debug' | 'info' | 'warn' | 'error', (...args: unknown[]) => void>;
    /** What a card shows; without a screen it goes to the log. */
    setTitle(title: string | null): Promise<void>;
    setStatus(text: string | null, options?: { tone?: Tone; busy?: boolean }): Promise<void>;
    setBadge(value: number | string | null, options?: { tone?: Tone }): Promise<void>;
    setOverview(overview: { primary?: string | null; secondary?: string | null; progress?: number | null; tone?: Tone; icon?: string | null }): Promise<void>;
    attention(level: 'none' | 'info' | 'needs-input', message?: string): Promise<void>;
    ui: {
      toast(message: string, options?: { tone?: Tone; durationMs?: number }): Promise<void>;
      setMenu(items: { id: string; label: string; icon?: string; onSelect?: () => void }[]): Promise<void>;
      /** Without a screen it rejects with UNAVAILABLE. */
      confirm(options: { title: string; message: string }): Promise<boolean>;
    };
    ports: { emit(port: string, data: unknown): Promise<number> };
  }
  export type Tone = 'default' | 'accent' | 'success' | 'warning' | 'danger';
  export function connect(): Promise<Card>;

  export interface Translator {
    (key: string, values?: Record<string, string | number>): string;
    readonly language: string;
    setLanguage(language: string): void;
    onChange(listener: (language: string) => void): Dispose;
    dispose(): void;
  }
  export type Catalog = { en: object; ru?: object; zh?: object };
  export function createTranslator(catalog: Catalog, card?: Card): Translator;
}
