// How a code becomes a message: its level, and its text made of what an analyzer found.
//
// Invariant: a code is declared once; catalogue.ts lists them all. Lists and quotes are written as Go prints them
// (`[a b]`, `"a"`), because the texts are compared with istioctl's.

import type { Wording } from './message.ts';

export type MessageKind = Pick<Wording, 'code' | 'name' | 'level'>;

/** Filled as the files of codes are loaded. */
export const declaredKinds: MessageKind[] = [];

export function message<A extends readonly unknown[]>(
  code: string,
  name: string,
  level: Wording['level'],
  text: (...args: A) => string,
) {
  const kind = { code, name, level };
  declaredKinds.push(kind);
  return (...args: A): Wording => ({ ...kind, text: text(...args) });
}

export function list(items: readonly (string | number)[]): string {
  return `[${items.join(' ')}]`;
}

export function quoted(text: string): string {
  return `${JSON.stringify(text)}`;
}

export function quotedList(items: readonly string[]): string {
  return list(items.map(quoted));
}
