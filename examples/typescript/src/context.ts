// The part of ctx that this plugin uses. Types are for the editor; nothing of them runs.

export interface Context {
  fs: {
    read(path: string): Promise<Buffer>;
    list(path: string): Promise<string[]>;
    stat(path: string): Promise<{ size: number; isDirectory(): boolean; isFile(): boolean }>;
  };
  progress(message: string): void;
  signal: AbortSignal;
}
