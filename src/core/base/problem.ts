// A mistake in an input, with what its author needs to correct it: the place, the value found, the value expected.
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

/**
 * Thrown by a reporter that keeps no further problem, to end a check whose findings would be dropped: an object may
 * have a mistake in each of half a million elements. One instance: nothing of where it was thrown is of interest.
 */
export const enoughProblems = new (class EnoughProblems extends Error {})('there are more problems than are kept');

/** Runs a check until its end, or until its reporter has enough. */
export function untilEnough(check: () => void): void {
  try {
    check();
  } catch (error) {
    if (error !== enoughProblems) throw error;
  }
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

/** Also one that does not end: a search that fails there would begin anew at each quote. */
const QUOTED = /"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)/g;
const FOUND = /\bfound -?(?:[0-9][0-9.e+-]*|true|false|Infinity|NaN)/g;

/** The problem without the values that its message quotes: paths and what was expected stay. */
export function discreet({ path, message }: Problem): Problem {
  return { path, message: unquoted(message).replace(FOUND, 'found a value') };
}

/** A message without what it quotes of the text that it is about. */
export function unquoted(message: string): string {
  return message.replace(QUOTED, '"…"');
}
