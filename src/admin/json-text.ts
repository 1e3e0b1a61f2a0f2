// JSON of large pages, as text in pieces: list elements are computed one by one while the page is written, and other
// work runs in between. The text is that of JSON.stringify with two spaces.

import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import type { Json } from '../core/base/json.ts';

/** JSON whose lists and objects may be lazy. Members that are undefined are left out. */
export type LazyJson = Json | Iterable<LazyJson> | LazyMembers | { readonly [name: string]: LazyJson | undefined };

/** An object whose members are computed one by one. Names are expected to differ. */
export class LazyMembers {
  readonly entries: Iterable<readonly [name: string, value: LazyJson]>;

  constructor(entries: Iterable<readonly [string, LazyJson]>) {
    this.entries = entries;
  }
}

/** A list whose elements are computed one by one, on demand. */
export function* mapped<T>(all: Iterable<T>, one: (item: T) => LazyJson): IterableIterator<LazyJson> {
  for (const item of all) yield one(item);
}

/** Levels that are split into pieces; a deeper value is one piece unless it contains a lazy list. */
const DEPTH = 5;
/** Characters written between two turns of the event loop: a millisecond or two. */
export const SLICE_CHARS = 128 * 1024;

/** Elements of lazy lists likewise: each may have taken work. */
export const SLICE_LISTED = 8;
/** The longest rest between two slices. */
export const SLICE_REST_MS_MAX = 20;
/** Stands behind an element of a lazy list. */
const WORKED_OUT = '';

/**
 * The text in parts of about SLICE_CHARS, made in slices and encoded already: a page of megabytes is never one string.
 */
export async function jsonParts(value: LazyJson): Promise<readonly Buffer[]> {
  const parts: Buffer[] = [];
  let text = '';
  let listed = 0;
  let since = performance.now();
  for (const piece of pieces(value, '', DEPTH)) {
    text += piece;
    if (piece === WORKED_OUT) listed++;
    if (text.length < SLICE_CHARS && listed < SLICE_LISTED) continue;
    if (text.length >= SLICE_CHARS) {
      parts.push(Buffer.from(text));
      text = '';
    }
    await restFor(performance.now() - since);
    since = performance.now();
    listed = 0;
  }
  return [...parts, Buffer.from(`${text}\n`)];
}

/** As long as the slice took: a page takes no more than half of the loop. */
async function restFor(ms: number): Promise<void> {
  if (ms < 1) await nextTurn();
  else await pause(Math.min(ms, SLICE_REST_MS_MAX), undefined, { ref: false });
}

function* pieces(value: LazyJson, indent: string, depth: number): IterableIterator<string> {
  if (typeof value !== 'object' || value === null) {
    yield JSON.stringify(value);
  } else if (depth === 0 && !holdsLazy(value)) {
    // A line break inside a string is escaped: those that are there are between members.
    yield JSON.stringify(value, null, 2).replaceAll('\n', `\n${indent}`);
  } else if (value instanceof LazyMembers) {
    yield* membersOf(value.entries, indent, depth, WORKED_OUT);
  } else if (isList(value)) {
    yield* listed(value, indent, depth);
  } else {
    yield* membersOf(Object.entries(value), indent, depth);
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

/** `after`: yielded behind each member. */
function* membersOf(
  entries: Iterable<readonly [string, LazyJson | undefined]>,
  indent: string,
  depth: number,
  after?: string,
): IterableIterator<string> {
  let before = '{';
  for (const [name, member] of entries) {
    if (member === undefined) continue;
    yield `${before}\n${indent}  ${JSON.stringify(name)}: `;
    yield* pieces(member, `${indent}  `, Math.max(0, depth - 1));
    before = ',';
    if (after !== undefined) yield after;
  }
  yield before === '{' ? '{}' : `\n${indent}}`;
}

function isList(value: LazyJson & object): value is Iterable<LazyJson> {
  return Symbol.iterator in value;
}

function isLazy(value: LazyJson & object): boolean {
  return value instanceof LazyMembers || (isList(value) && !Array.isArray(value));
}

function holdsLazy(value: LazyJson | undefined): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (isLazy(value)) return true;
  return Array.isArray(value) ? value.some(holdsLazy) : Object.values(value).some(holdsLazy);
}
