// Made from the schemas of the tools; do not edit.

export interface RootChoice {
  a?: string;
}
