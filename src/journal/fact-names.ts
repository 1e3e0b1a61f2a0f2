// What a fact may be called: its source and its kind stand in the text that is hashed, each on a line of its own.

import { JournalFault } from './fault.ts';

export const SOURCE_CHARS_MAX = 512;
export const KIND_CHARS_MAX = 64;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
const UNFIT_NAME = /[\u0000-\u001f\u007f\ud800-\udfff]/u;

/** Whether both have a length that `checkNames` takes. */
export function areShort(source: string, kind: string): boolean {
  return source.length <= SOURCE_CHARS_MAX && kind.length <= KIND_CHARS_MAX;
}

/** Faults: `unfit-fact`. */
export function checkNames(source: unknown, kind: unknown): { readonly source: string; readonly kind: string } {
  checkName('source', source, SOURCE_CHARS_MAX);
  checkName('kind', kind, KIND_CHARS_MAX);
  return { source, kind };
}

function checkName(what: string, name: unknown, charsMax: number): asserts name is string {
  if (typeof name !== 'string' || name === '' || name.length > charsMax || UNFIT_NAME.test(name)) {
    throw new JournalFault('unfit-fact', `${what} must be 1 to ${charsMax} characters without control characters`);
  }
}
