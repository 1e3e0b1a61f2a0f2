// Many versions of one object at once, where only the record after the last is wanted.
//
// Of the past, the record keeps only the start of the current content, so versions are judged backwards: from the last
// one to the last accepted one, and further while versions are equal. What was superseded before that can no longer be
// seen, and is never decoded.

import { jsonEqual } from '../base/json.ts';
import type { KindDefinition } from '../kinds/definition.ts';
import type { Obj, ObjectRecord } from '../model/object.ts';
import { type JudgedNamed, judge, recordAfter, refusedAfter, sameObjects, type Version } from './record.ts';

/**
 * What recordAfter comes to for one version after the other; undefined: there is no record still. The oldest version
 * first.
 */
export function recordAfterAll(
  before: ObjectRecord | undefined,
  definition: KindDefinition,
  versions: readonly Version[],
): ObjectRecord | undefined {
  let refused:
    | { readonly version: Version; readonly judged: JudgedNamed & { readonly outcome: 'refused' } }
    | undefined;
  for (let last = versions.length - 1; last >= 0; last--) {
    const version = versions[last]!;
    const judged = judge(definition, version);
    if (judged.outcome === 'unnamed') continue;
    if (judged.outcome === 'accepted') {
      const record = acceptedAfter(before, definition, versions.slice(0, last + 1), judged);
      return refused === undefined ? record : refusedAfter(record, definition, refused.version, refused.judged);
    }
    refused ??= { version, judged };
  }
  if (refused === undefined) return before;
  return refusedAfter(before, definition, refused.version, refused.judged);
}

/** The record after the last of the versions, which is accepted, as `judged` says. */
function acceptedAfter(
  before: ObjectRecord | undefined,
  definition: KindDefinition,
  versions: readonly Version[],
  judged: { readonly outcome: 'accepted'; readonly key: string; readonly object: Obj },
): ObjectRecord {
  const { same, toTheFirst } = sayingTheSame(definition, versions, judged.object);
  let record = toTheFirst ? before : undefined;
  for (const version of same) {
    const object = record?.accepted !== undefined && record !== before ? record.accepted : judged.object;
    record = recordAfter(record, definition, version, { ...judged, object });
  }
  return record!;
}

/**
 * The versions at the end that say the same, the oldest first, leaving out what was not accepted; and whether nothing
 * else was before them.
 */
function sayingTheSame(
  definition: KindDefinition,
  versions: readonly Version[],
  object: Obj,
): { readonly same: readonly Version[]; readonly toTheFirst: boolean } {
  let earliest = versions.at(-1)!;
  const same = [earliest];
  for (let i = versions.length - 2; i >= 0; i--) {
    const version = versions[i]!;
    if (!jsonEqual(version.object, earliest.object)) {
      const judged = judge(definition, version);
      if (judged.outcome !== 'accepted') continue;
      if (!sameObjects(judged.object, object)) return { same: same.reverse(), toTheFirst: false };
    }
    earliest = version;
    same.push(version);
  }
  return { same: same.reverse(), toTheFirst: true };
}
