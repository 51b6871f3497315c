// Made from the schemas of the tools; do not edit.

/** All that schemas are made of. * / end of comment */
export interface Everything {
  /** A text, over two lines. */
  text: string;
  n?: number;
  filled: number;
  flag?: boolean | null;
  choice?: "a" | "b\"c" | 3 | null | true;
  constant?: "x";
  list?: (string | number)[];
  anything?: unknown;
  many?: unknown[];
  pair?: [string?, number?];
  "old-pair"?: [string?, ...(1 | 2)[]];
  nested?: {
    deep?: {
      er: string;
    };
  };
  map?: Record<string, number>;
  closed?: Record<string, never>;
  open?: {
    a?: string;
    [name: string]: unknown;
  };
  either?: string | {
    k?: string;
  };
  eithers?: (string | null)[];
  both?: EverythingPoint & {
    z?: number;
  };
  tree?: EverythingTreeNode;
  self?: Everything;
  elsewhere?: unknown;
  never?: never;
  class?: string;
  "with space": string;
  "line\u2028break"?: string;
}

export interface EverythingPoint {
  x: number;
  y: number;
}

export interface EverythingTreeNode {
  children?: EverythingTreeNode[];
}
