// The segments of a snapshot as they are stored: JSON arrays of facts, deflated, in base64 because the column is text.
// Facts of one mesh resemble each other, so this takes a tenth of their text or less, and many more snapshots are kept.
//
// Segments that older journals hold are the text itself, which begins with a bracket as no base64 does.

import { deflateSync, inflateSync } from 'node:zlib';
import { errorText, JournalFault } from './fault.ts';

/** A segment ends at whichever limit comes first; encoding one takes one to two milliseconds. */
export const SEGMENT_FACTS_MAX = 200;
export const SEGMENT_CHARS_MAX = 256 * 1024;
/** Of inflated text: above what the largest facts of a segment may have. */
const SEGMENT_BYTES_MAX = 448 * 1024 * 1024;
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

/** The JSON array. Faults: `damaged`, with `where`. */
export function segmentText(body: Buffer, where: { readonly path: string; readonly seq: number }): string {
  if (body[0] === BRACKET) return body.toString();
  try {
    const packed = Buffer.from(body.toString('latin1'), 'base64');
    return inflateSync(packed, { maxOutputLength: SEGMENT_BYTES_MAX }).toString();
  } catch (error) {
    throw new JournalFault('damaged', `a segment of the snapshot cannot be inflated (${errorText(error)})`, where);
  }
}
