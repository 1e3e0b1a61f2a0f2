// The record of an object after many versions, when the records in between are not wanted.
//
// All that a record keeps of the past is since when the object has its value. So versions are judged backwards: from
// the last to the last accepted one, and on while versions are equal to it. Versions superseded before that leave no
// trace and are never decoded. Invariant: the result equals `recordAfter` applied to one version after the other.

import { jsonEqual } from '../base/json.ts';
import type { KindDefinition } from '../kinds/definition.ts';
import type { Obj, ObjectRecord } from '../model/object.ts';
import { type JudgedNamed, judge, recordAfter, refusedAfter, sameObjects, type Version } from './record.ts';

/** `versions`: the oldest first. Undefined if there was no record and no version makes one. */
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

/** The record after the last of the versions, which `judged` says is accepted. */
function acceptedAfter(
  before: ObjectRecord | undefined,
  definition: KindDefinition,
  versions: readonly Version[],
  judged: { readonly outcome: 'accepted'; readonly key: string; readonly object: Obj },
): ObjectRecord {
  const { same, reachesFirst } = trailingEqual(definition, versions, judged.object);
  let record = reachesFirst ? before : undefined;
  for (const version of same) {
    const object = record?.accepted !== undefined && record !== before ? record.accepted : judged.object;
    record = recordAfter(record, definition, version, { ...judged, object });
  }
  return record!;
}

/**
 * The trailing accepted versions with an equal value, the oldest first, and whether they reach back to the first
 * version.
 */
function trailingEqual(
  definition: KindDefinition,
  versions: readonly Version[],
  object: Obj,
): { readonly same: readonly Version[]; readonly reachesFirst: boolean } {
  let earliest = versions.at(-1)!;
  const same = [earliest];
  for (let i = versions.length - 2; i >= 0; i--) {
    const version = versions[i]!;
    if (!jsonEqual(version.object, earliest.object)) {
      const judged = judge(definition, version);
      if (judged.outcome !== 'accepted') continue;
      if (!sameObjects(judged.object, object)) return { same: same.reverse(), reachesFirst: false };
    }
    earliest = version;
    same.push(version);
  }
  return { same: same.reverse(), reachesFirst: true };
}
