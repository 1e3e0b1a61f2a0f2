// The facts of a change of one file: which objects changed, how, and the present problems of the file.

import type { Fact } from '../../core/event.ts';
import { othersHadTheirTurn } from '../kit/event-loop.ts';
import type { KnownFile } from './holdings.ts';
import { cleared, malformedFact, type ParsedObject } from './parse.ts';

/** A file's list of errors, when it differs from what was said of it before. */
export function malformedFacts(
  path: string,
  before: KnownFile | undefined,
  after: KnownFile | undefined,
): readonly Fact[] {
  const said = [...(before?.malformed ?? []), ...(before?.ignored ?? [])];
  const { malformed = [], ignored = [] } = after ?? {};
  const first = malformed[0] ?? ignored[0];
  if (first === undefined) return said.length === 0 ? [] : [cleared(path)];
  return [malformedFact({ ...first.origin, file: path }, malformed, ignored)];
}

export function difference(before: ParsedObject | undefined, after: ParsedObject | undefined): Fact | undefined {
  if (before === after) return undefined;
  if (after !== undefined) {
    return { kind: before === undefined ? 'Add' : 'Update', object: after.object, origin: after.origin };
  }
  return before === undefined ? undefined : { kind: 'Delete', ref: before.ref };
}

export function keysOf(a: KnownFile | undefined, b: KnownFile | undefined): readonly string[] {
  return [...new Set([...(a?.objects.keys() ?? []), ...(b?.objects.keys() ?? [])])].sort();
}

/** Objects whose differences are found in some ten milliseconds. */
const OBJECTS_PER_TURN = 2_048;

/** Lets the event loop turn after work for that number of objects, if a turn has no time for more. */
export async function turnAfter(objects: number): Promise<void> {
  if (objects > OBJECTS_PER_TURN) await othersHadTheirTurn();
}
