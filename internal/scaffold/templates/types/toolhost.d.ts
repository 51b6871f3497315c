// What a handler gets from toolhost. For the editor only: nothing of it runs.

/** A handler: the default export of its module. What it returns is the result. */
export type Handler<Params = Record<string, unknown>> = (params: Params, ctx: Context) => unknown;

/** The bytes of a file: Node's Buffer. */
export interface Bytes extends Uint8Array {
  toString(encoding?: 'utf8' | 'utf16le' | 'latin1' | 'ascii' | 'base64' | 'base64url' | 'hex'): string;
}

export interface Stats {
  size: number;
  mtimeMs: number;
  mtime: Date;
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

/** The second argument of a handler. What the manifest does not declare throws `PluginPermissionError`. */
export interface Context {
  /** Files, as far as this call's grant reaches. Relative paths start at the agent's folder. */
  fs: {
    read(path: string): Promise<Bytes>;
    /** Names in byte order. */
    list(path: string): Promise<string[]>;
    write(path: string, data: string | Uint8Array): Promise<void>;
    stat(path: string): Promise<Stats>;
    exists(path: string): Promise<boolean>;
    mkdir(path: string): Promise<void>;
  };
  /** A request to a host that the manifest names. `{{secret:key}}` in a header, the URL or the body is filled in by the host. */
  fetch: typeof fetch;
  settings: {
    /** The full key, or its part after the plugin's name; `undefined` where it is not set and has no default. */
    get(key: string): Promise<any>;
    getAll(): Promise<Record<string, any>>;
  };
  /** JSON values that outlive the call. */
  store: {
    get(key: string): Promise<any>;
    set(key: string, value: unknown): Promise<void>;
    delete(key: string): Promise<boolean>;
    list(prefix?: string): Promise<string[]>;
  };
  log: Record<'debug' | 'info' | 'warn' | 'error', (message: unknown, ...more: unknown[]) => void>;
  /** A line to the agent: at most 200 characters, at most four a second. */
  progress(message: string): void;
  /** Aborts at the deadline and when the agent cancels; 250 ms are left then. */
  signal: AbortSignal;
  /** Milliseconds since 1970. */
  deadline: number;
  callId: string;
  tool: string;
  agent: { id: string; name: string };
  /** The agent's folder, absolute. */
  folder: string;
  /** Runs a command of an installed plugin. */
  execute(command: string, args?: unknown): Promise<any>;
  /** A text of the user's model. `imageUrls` are images that it is to see, as `data:` URLs. */
  ai: { complete(prompt: string, options?: { imageUrls?: string[] }): Promise<string> };
  toast(message: { type?: string; message: string }): Promise<void>;
}

/** One block of a content envelope. */
export type Content =
  | { type: 'text'; text: string }
  | { type: 'image' | 'audio'; data: string; mimeType: string }
  | { type: 'resource_link'; uri: string; name: string; description?: string; mimeType?: string }
  | { type: 'resource'; resource: { uri: string; text?: string; blob?: string; mimeType?: string } };

/** What a handler returns that wants more than a text: 1 to 16 blocks. */
export interface Envelope {
  content: Content[];
  isError?: boolean;
  structuredContent?: Record<string, unknown>;
  _meta?: Record<string, unknown>;
}
