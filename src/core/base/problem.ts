// What is wrong with an input, said so that its author can mend it: where, what was found, what was expected.
// Problems are data (they are accumulated, stored beside the object and shown as status), never exceptions.

/** Where a document stands in a file. Lines and columns count from 1. */
export interface Origin {
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
}

export interface Problem {
  /** Path inside the object, e.g. `spec.http[0].route[1].weight`; empty for the object as a whole. */
  readonly path: string;
  readonly message: string;
}

export function problem(path: string, message: string): Problem {
  return { path, message };
}

/** `file:line:column` as far as it is known, or the empty string. */
export function showOrigin(origin: Origin | undefined): string {
  if (origin === undefined) return '';
  return [origin.file, origin.line, origin.column].filter(part => part !== undefined).join(':');
}

export function showProblem(p: Problem): string {
  return p.path === '' ? p.message : `${p.path}: ${p.message}`;
}
