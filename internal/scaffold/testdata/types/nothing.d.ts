// Made from the schemas of the tools; do not edit.

export type Nothing = Record<string, unknown>;
