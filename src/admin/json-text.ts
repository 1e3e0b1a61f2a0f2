// JSON of pages that may be large, as text in pieces: what is listed may be worked out one by one while it is written, and other work goes on in
// between. The text is that of JSON.stringify with two spaces.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Json } from '../core/json.ts';

/** JSON whose lists may be lazy. Members that are undefined are left out. */
export type LazyJson = Json | Iterable<LazyJson> | { readonly [name: string]: LazyJson | undefined };

/** Levels that are taken apart; what is deeper is one piece. */
const DEPTH = 5;
/** Characters written between two turns of the event loop: a millisecond or two. */
export const SLICE_CHARS = 128 * 1024;

/** Elements of lazy lists likewise: each may have taken work. */
export const SLICE_LISTED = 8;
/** Stands behind an element of a lazy list. */
const WORKED_OUT = '';

/** The whole text, made in slices. */
export async function jsonText(value: LazyJson): Promise<string> {
  let text = '';
  let end = SLICE_CHARS;
  let listed = 0;
  for (const piece of pieces(value, '', DEPTH)) {
    text += piece;
    if (piece === WORKED_OUT) listed++;
    if (text.length < end && listed < SLICE_LISTED) continue;
    await nextTurn();
    end = text.length + SLICE_CHARS;
    listed = 0;
  }
  return `${text}\n`;
}

function* pieces(value: LazyJson, indent: string, depth: number): IterableIterator<string> {
  if (typeof value !== 'object' || value === null) {
    yield JSON.stringify(value);
  } else if (depth === 0 && !isLazy(value)) {
    // A line break inside a string is escaped: those that are there are between members.
    yield JSON.stringify(value, null, 2).replaceAll('\n', `\n${indent}`);
  } else if (isList(value)) {
    yield* listed(value, indent, depth);
  } else {
    yield* membersOf(value, indent, depth);
  }
}

function* listed(list: Iterable<LazyJson>, indent: string, depth: number): IterableIterator<string> {
  let before = '[';
  for (const item of list) {
    yield `${before}\n${indent}  `;
    yield* pieces(item, `${indent}  `, Math.max(0, depth - 1));
    before = ',';
    if (!Array.isArray(list)) yield WORKED_OUT;
  }
  yield before === '[' ? '[]' : `\n${indent}]`;
}

function* membersOf(
  record: { readonly [name: string]: LazyJson | undefined },
  indent: string,
  depth: number,
): IterableIterator<string> {
  let before = '{';
  for (const [name, member] of Object.entries(record)) {
    if (member === undefined) continue;
    yield `${before}\n${indent}  ${JSON.stringify(name)}: `;
    yield* pieces(member, `${indent}  `, Math.max(0, depth - 1));
    before = ',';
  }
  yield before === '{' ? '{}' : `\n${indent}}`;
}

function isList(value: LazyJson & object): value is Iterable<LazyJson> {
  return Symbol.iterator in value;
}

function isLazy(value: LazyJson & object): boolean {
  return isList(value) && !Array.isArray(value);
}
