// The changed object that a warning of a difference is most likely about, and where it is written: reports put the
// warning there, at a line of the change that a reviewer reads.
//
// Invariant: the object differs between the two states. Objects that name what the warning is about come first, then
// those of its namespace. Which of several is to blame only a trial of each would tell.

import { isObject, jsonEqual } from '../core/base/json.ts';
import { recordKey } from '../core/fold/record.ts';
import { compareText, type ObjectRecord } from '../core/model/object.ts';
import type { State } from '../core/state.ts';
import { mentions } from './absence.ts';
import type { DiffWarning } from './answers.ts';
import { objectOfRecord } from './what-if.ts';

export type WarningCause = Pick<DiffWarning, 'object' | 'place'>;

/** Of objects that name the same, these come first: they decide where requests go. */
const KINDS_FIRST: readonly string[] = ['VirtualService', 'HTTPRoute', 'DestinationRule', 'ServiceEntry', 'Service'];

interface ObjectChange {
  readonly object: string;
  readonly namespace: string;
  /** The version after, then the one before; one of them alone where the object comes or goes. */
  readonly versions: readonly ObjectRecord[];
}

/** `hosts`: what the warning is about. Undefined: no object changes. */
export type ChangeBehind = (kind: DiffWarning['kind'], hosts: readonly string[]) => WarningCause | undefined;

/** The states are compared when the first question comes. */
export function changeBehind(before: State, after: State): ChangeBehind {
  let changes: readonly ObjectChange[] | undefined;
  return (kind, hosts) => {
    changes ??= changesBetween(before, after);
    const ranked = changes.map(change => ({ change, ranks: ranksOf(change, kind, hosts) }));
    ranked.sort((a, b) => compareRanks(a.ranks, b.ranks) || compareText(a.change.object, b.change.object));
    const [best] = ranked;
    if (best === undefined) return undefined;
    const { object, versions } = best.change;
    const place = versions[0]?.refused?.origin ?? versions[0]?.origin;
    return { object, ...(place === undefined ? {} : { place }) };
  };
}

function changesBetween(before: State, after: State): readonly ObjectChange[] {
  const found: ObjectChange[] = [];
  const add = (...versions: readonly [ObjectRecord, ...ObjectRecord[]]): void => {
    const object = objectOfRecord(versions[0]);
    found.push({ object, namespace: versions[0].accepted?.namespace ?? '', versions });
  };
  for (const now of after.records.values()) {
    const old = before.records.get(keyOf(now));
    if (old === undefined) add(now);
    else if (old !== now && !jsonEqual(rawOf(old), rawOf(now))) add(now, old);
  }
  for (const old of before.records.values()) if (after.records.get(keyOf(old)) === undefined) add(old);
  return found;
}

function keyOf({ kind, key, source }: ObjectRecord): string {
  return recordKey(kind, key, source);
}

function rawOf({ raw, refused }: ObjectRecord): NonNullable<ObjectRecord['raw']> {
  return refused?.raw ?? raw ?? {};
}

/** The lower, the likelier; the first that differs decides. */
function ranksOf(
  { namespace, versions }: ObjectChange,
  kind: DiffWarning['kind'],
  hosts: readonly string[],
): readonly number[] {
  const { kind: ofObject } = versions[0]!;
  const named = hosts.filter(host => versions.some(version => mentions(rawOf(version), host, namespaceIn(version))));
  const isNear = hosts.some(host => host.split('.')[1] === namespace);
  const first = KINDS_FIRST.indexOf(ofObject);
  return [
    kind === 'refused-by-envoy' && ofObject !== 'EnvoyFilter' ? 1 : 0,
    -named.length,
    isNear ? 0 : 1,
    first < 0 ? KINDS_FIRST.length : first,
  ];
}

function namespaceIn(version: ObjectRecord): string {
  const { metadata } = rawOf(version);
  return isObject(metadata) && typeof metadata.namespace === 'string' ? metadata.namespace : 'default';
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  for (const [i, rank] of a.entries()) if (rank !== b[i]) return rank - (b[i] ?? 0);
  return 0;
}
