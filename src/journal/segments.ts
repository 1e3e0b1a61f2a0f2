// The segments of a snapshot as they are stored: JSON arrays of facts, deflated, in base64 because the column is text.
// Facts of one mesh resemble each other, so this takes a tenth of their text or less, and many more snapshots are kept.
//
// Segments that older journals hold are the text itself, which begins with a bracket as no base64 does.

import { deflateSync, inflateSync } from 'node:zlib';
import { isObject } from '../core/base/json.ts';
import { errorText, JournalFault } from './fault.ts';
import { BODY_CHARS_MAX, type SnapshotFact } from './journal.ts';
import { isDeeperThan } from './json-text.ts';
import { BRACKETS_MAX } from './stored-body.ts';

/** A segment ends at whichever limit comes first; encoding one takes one to two milliseconds. */
export const SEGMENT_FACTS_MAX = 200;
export const SEGMENT_CHARS_MAX = 256 * 1024;
/** Of its text: the largest fact ends a segment, and each fact has an envelope and a comma. */
const TEXT_CHARS_MAX = SEGMENT_CHARS_MAX + BODY_CHARS_MAX + SEGMENT_FACTS_MAX * 2;
/** Of inflated text: a character takes three bytes at most. */
const TEXT_BYTES_MAX = 3 * TEXT_CHARS_MAX;
/** The array, an item, and the fact in it. */
const DEPTH_MAX = BRACKETS_MAX + 2;
/** Higher levels take twice the time for a tenth less. */
const LEVEL = 1;
const BRACKET = '['.charCodeAt(0);

export interface Segment {
  readonly body: string;
  /** Their number. */
  readonly facts: number;
}

/** `facts`: the text of each, as JSON. */
export function* segmentsOf(facts: Iterable<string>): Generator<Segment> {
  let items: string[] = [];
  let chars = 0;
  for (const fact of facts) {
    items.push(fact);
    chars += fact.length;
    if (items.length < SEGMENT_FACTS_MAX && chars < SEGMENT_CHARS_MAX) continue;
    yield segmentOf(items);
    items = [];
    chars = 0;
  }
  if (items.length > 0) yield segmentOf(items);
}

function segmentOf(items: readonly string[]): Segment {
  const body = deflateSync(`[${items.join(',')}]`, { level: LEVEL }).toString('base64');
  return { body, facts: items.length };
}

interface Where {
  readonly path: string;
  readonly seq: number;
}

/** The JSON array. Faults: `damaged`, with `where`. */
export function segmentText(body: Buffer, where: Where): string {
  let text: string;
  try {
    text = body[0] === BRACKET ? body.toString() : inflated(body);
  } catch (error) {
    throw new JournalFault('damaged', `a segment of the snapshot cannot be inflated (${errorText(error)})`, where);
  }
  if (text.length <= TEXT_CHARS_MAX) return text;
  const size = `${text.length} characters, more than ${TEXT_CHARS_MAX}`;
  throw new JournalFault('damaged', `a segment of the snapshot has ${size}`, where);
}

function inflated(body: Buffer): string {
  const packed = Buffer.from(body.toString('latin1'), 'base64');
  return inflateSync(packed, { maxOutputLength: TEXT_BYTES_MAX }).toString();
}

/** The facts of a segment's text. Faults: `damaged`, with `where`. */
export function segmentFacts(text: string, where: Where): readonly SnapshotFact[] {
  let items: unknown;
  try {
    items = isDeeperThan(text, DEPTH_MAX) ? undefined : JSON.parse(text);
  } catch {
    // Without the reason that JSON.parse gives: it quotes the text.
  }
  if (Array.isArray(items) && items.every(isSnapshotFact)) return items;
  throw new JournalFault('damaged', 'a segment of the snapshot is no JSON array of facts, or nested too deep', where);
}

function isSnapshotFact(item: unknown): item is SnapshotFact {
  return isObject(item) && typeof item.source === 'string' && isObject(item.fact);
}
