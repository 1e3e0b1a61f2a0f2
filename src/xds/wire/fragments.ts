// Writes a large message in steps, so that its encoding need not be one turn of the event loop: a message falls into
// fragments (its fields, the elements of its lists, the entries of its maps), and a fragment that is large itself falls
// into those of its content. Each step gives a buffer of about `partBytes`; the message is never in one piece.
//
// What was cut is kept by its object: a filter with a megabyte of configuration that each chain of a listener has is
// written once, and its buffers stand in the result for each chain.
//
// Invariants: the parts put together are the bytes that writing the message whole gives. Between two steps the sink is
// empty, so others may use it. What is cut depends on the value alone: by its size, whatever its type.

import { assert } from '../../core/base/assert.ts';
import { header, lengthOf } from './frame.ts';
import type { Plain } from './registry.ts';
import { DEPTH_MAX, type Sink, TOO_DEEP } from './sink.ts';

export interface FragmentSizes {
  /** A part ends after the fragment with which it reaches this. Larger fragments are cut, if they can be. */
  readonly partBytes: number;
  /** Members of a message that take about as many bytes. */
  readonly weightMax: number;
}

const SIZES: FragmentSizes = { partBytes: 256 * 1024, weightMax: 8_192 };
/** A list is long, and a map, from this many elements. */
export const MANY = 16;
/** Characters, or bytes, that weigh as much as a member. */
const TEXT_OF_WEIGHT = 16;

/** Bytes of a message that can be written by themselves. */
export interface Fragment {
  /** Writes the fragment, with its tag, to the sink. */
  readonly write: () => void;
  /** Undefined: it can only be written whole. */
  readonly content?: FragmentContent | undefined;
}

/** What a length-delimited fragment holds. */
export interface FragmentContent {
  /** Number of the field; undefined: the fragments have no tag and length around them, as the entries of a map. */
  readonly id: number | undefined;
  readonly value: unknown;
  /** One of many elements, most of which are small: it is tried before it is weighed. */
  readonly ofMany: boolean;
  /** It is a message, one level deeper than its fragment. */
  readonly isMessage: boolean;
  readonly fragments: (value: unknown) => Iterable<Fragment>;
}

/** How values of one type fall into fragments. */
export type CutContent = Pick<FragmentContent, 'isMessage' | 'fragments'>;

/** Undefined: without `cut`. */
export function contentOf(
  cut: CutContent | undefined,
  id: number,
  value: unknown,
  ofMany: boolean,
): FragmentContent | undefined {
  return cut && { id, value, ofMany, ...cut };
}

/** Yields the number of bytes that each step wrote, and returns the parts. `depth`: as in the sink. */
export function* writeFragments(
  sink: Sink,
  fragments: Iterable<Fragment>,
  depth: number,
  sizes = SIZES,
): Generator<number, readonly Buffer[]> {
  const { partBytes, weightMax } = sizes;
  const parts: Buffer[] = [];
  // One of many elements that did not fit was written in vain; of others like it that is found before.
  let triedInVain = false;
  const all = fragments[Symbol.iterator]();
  let next = all.next();
  while (next.done !== true) {
    let large: readonly [Fragment, FragmentContent] | undefined;
    let failed = 0;
    const bytes = sink.collect(() => {
      sink.depth = depth;
      for (; next.done !== true && sink.at < partBytes; next = all.next()) {
        const { write, content } = next.value;
        if (content === undefined) write();
        else if (writtenBefore(content) !== undefined) large = [next.value, content];
        else if ((!content.ofMany || triedInVain) && isLarge(content.value, weightMax)) large = [next.value, content];
        else if (!sink.attempt(partBytes, write)) {
          large = [next.value, content];
          failed = partBytes;
          triedInVain = true;
        }
        if (large !== undefined) return;
      }
    });
    if (bytes.length > 0) parts.push(bytes);
    yield bytes.length + failed;
    if (large === undefined) continue;
    const [fragment, content] = large;
    assert(!content.isMessage || depth < DEPTH_MAX, TOO_DEEP);
    let inner = writtenBefore(content);
    if (inner === undefined) {
      const { value, isMessage } = content;
      inner = yield* writeFragments(sink, content.fragments(value), isMessage ? depth + 1 : depth, sizes);
      keepWritten(content, inner);
    }
    // What has no bytes may be left out, which the fragment itself knows.
    if (inner.length === 0) parts.push(sink.collect(fragment.write));
    else if (content.id === undefined) parts.push(...inner);
    else parts.push(Buffer.from(header(content.id, lengthOf(inner))), ...inner);
    next = all.next();
  }
  return parts;
}

interface Written {
  readonly fragments: FragmentContent['fragments'];
  readonly parts: readonly Buffer[];
}

/** Contents that were cut, by their value, as long as it lives: what was written of it has these buffers too. */
const written = new WeakMap<object, Written>();

/** Undefined if the value was not cut before, or as a value of another field. */
function writtenBefore({ value, fragments }: FragmentContent): readonly Buffer[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const known = written.get(value);
  return known?.fragments === fragments ? known.parts : undefined;
}

function keepWritten({ value, fragments }: FragmentContent, parts: readonly Buffer[]): void {
  if (typeof value === 'object' && value !== null) written.set(value, { fragments, parts });
}

/** Values that were found large: beginning to go through one with many members takes time for each of them. */
const large = new WeakSet<object>();

/** `value` has `members`: later looks need not begin to go through them. */
export function noteMembers(value: object, members: number): void {
  if (members >= SIZES.weightMax) large.add(value);
}

/** True if the value has that many members, or as much text. Looks at no more than that. */
function isLarge(value: unknown, weightMax: number): boolean {
  const found = weightLeft(value, weightMax) <= 0;
  if (found && typeof value === 'object' && value !== null) large.add(value);
  return found;
}

function weightLeft(value: unknown, before: number): number {
  let left = before - 1;
  if (typeof value === 'string') return left - value.length / TEXT_OF_WEIGHT;
  if (typeof value !== 'object' || value === null) return left;
  if (value instanceof Uint8Array) return left - value.length / TEXT_OF_WEIGHT;
  if (large.has(value)) return 0;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && left > 0; i++) left = weightLeft(value[i], left);
    return left;
  }
  for (const name in value) {
    if (left <= 0) break;
    left = weightLeft((value as Plain)[name], left);
  }
  return left;
}
