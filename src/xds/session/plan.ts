// What a response of one type has to contain, given what generation says now and what the client holds. Nothing is sent if nothing
// differs and nobody asked.
//
// State of the world: types with a wildcard (CDS, LDS) always go out whole, the others (EDS, RDS, SDS) with what changed. Delta: what
// changed, and what is gone. A delta client is not told at once that a cluster is gone: routes that it still has may use it. The
// removal waits until listeners and routes have been brought to a state without the cluster and the client has accepted them (design,
// "Protocol"). Clusters on hold are not in the receipt's digest, which is over what generation gives; `held` does have them, so one
// that comes back unchanged is not sent again.

import { absent, diffVersions, intersection, mergePresent, namesOf, noList, unionWith, without } from './name-sets.ts';
import { type Due, nothingDue, type Session, type Versions, type Watch } from './session.ts';
import { CDS, EDS, LDS, RDS, rulesOf } from './types.ts';

export interface PlannedResponse {
  readonly names: readonly string[];
  readonly removed: readonly string[];
  readonly full: boolean;
  /** Names in the response that are new to the client or changed. */
  readonly changed: readonly string[];
}

/** The client did not have some of it before. */
export function addsNames(made: PlannedResponse, heldBefore: Versions): boolean {
  return made.changed.some(name => !heldBefore.has(name));
}

/** There is nothing to say: `plan` would only take note of the state. */
export function isUnchanged(session: Session, typeUrl: string, watch: Watch, set: Versions): boolean {
  return set === watch.held && dueOf(session, typeUrl, watch) === nothingDue;
}

/** The response that is due, if any, and what the client then holds; nonces and unanswered responses are the caller's. */
export function planResponse(
  session: Session,
  typeUrl: string,
  watch: Watch,
  set: Versions,
  stateSeq: number,
): readonly [Watch, PlannedResponse | undefined] {
  const due = dueOf(session, typeUrl, watch);
  if (set === watch.held && due === nothingDue) return [{ ...watch, syncedToSeq: stateSeq }, undefined];
  const { changed, gone } = diffVersions(watch.held, set);
  const holds = session.protocol === 'delta' && typeUrl === CDS && gone.length > 0;
  const heldRemovals = holds ? removalsToHold(session, watch, gone, stateSeq) : noHeldRemovals;
  const after: Watch = {
    ...watch,
    held:
      heldRemovals.size === 0
        ? set
        : new Map([...set, ...[...heldRemovals.keys()].map(name => [name, watch.held.get(name)!] as const)]),
    heldRemovals,
    nackedNames: session.protocol === 'sotw' ? stillPresent(watch.nackedNames, set) : watch.nackedNames,
    due: nothingDue,
    syncedToSeq: stateSeq,
  };
  const leaving = heldRemovals.size === 0 ? gone : gone.filter(name => !heldRemovals.has(name));
  const made =
    session.protocol === 'sotw'
      ? planSotw(typeUrl, watch, set, due, changed, leaving)
      : planDelta(typeUrl, watch, set, due, sortedUnion(changed, renackable(watch, set)), leaving, heldRemovals);
  return [after, made];
}

function planSotw(
  typeUrl: string,
  watch: Watch,
  set: Versions,
  due: Due,
  changed: readonly string[],
  leaving: readonly string[],
): PlannedResponse | undefined {
  const rules = rulesOf(typeUrl);
  const asked = due.answer || due.everything || due.names.size > 0;
  // Outside wildcard types a removal cannot be expressed: the client drops the resource with the cluster or listener that names it.
  // It is a change only if what has gone was refused: what was refused with it may be accepted now.
  const gone = rules.wildcard ? leaving : leaving.filter(name => watch.nackedNames.has(name));
  if (!asked && changed.length === 0 && gone.length === 0) return undefined;
  const full = rules.wildcard || due.everything;
  const names = full ? namesOf(set) : pick(set, changed, due.names, watch.nackedNames);
  if (names.length === 0 && (rules.absence !== 'removed' || (!asked && !full))) return undefined;
  return { names, removed: noList, full, changed: due.everything ? names : changed };
}

function planDelta(
  typeUrl: string,
  watch: Watch,
  set: Versions,
  due: Due,
  changed: readonly string[],
  leaving: readonly string[],
  onHold: ReadonlyMap<string, number>,
): PlannedResponse | undefined {
  const rules = rulesOf(typeUrl);
  const names = pick(set, changed, due.names, watch.nackedNames);
  const missing = due.answer && watch.syncedToSeq === 0 ? absent(watch.names, set) : noList;
  const unknown = absent(due.names, set);
  const unsure = absent(watch.nackedNames, set);
  const asked = due.answer || due.everything || due.names.size > 0;
  if (!asked && changed.length === 0 && leaving.length === 0) return undefined;
  // What is on hold goes when its time comes, whoever asks: until then it counts as held.
  const absentees = sortedUnion(leaving, missing, unknown, unsure);
  const removed = rules.absence === 'never' ? noList : notHeld(onHold, absentees);
  if (names.length === 0 && rules.absence !== 'removed') return undefined;
  return { names, removed, full: names.length === set.size, changed: names };
}

function notHeld(onHold: ReadonlyMap<string, number>, names: readonly string[]): readonly string[] {
  return onHold.size === 0 ? names : names.filter(name => !onHold.has(name));
}

/** What was refused, has gone, and is back before it was taken away: the same version, but the client may not have it. */
function renackable(watch: Watch, set: Versions): readonly string[] {
  if (watch.heldRemovals.size === 0 || watch.nackedNames.size === 0) return noList;
  return [...watch.heldRemovals.keys()].filter(name => watch.nackedNames.has(name) && set.has(name));
}

/** Clusters without their endpoints since they were last sent count as asked for in EDS. */
function dueOf(session: Session, typeUrl: string, watch: Watch): Due {
  const { due } = watch;
  if (typeUrl !== EDS || session.warmingClusters.size === 0) {
    return due.answer || due.everything || due.names.size > 0 ? due : nothingDue;
  }
  const warming = intersection(session.warmingClusters, watch.names);
  const names = due.names.size === 0 ? warming : new Set([...due.names, ...warming]);
  return names.size === 0 && !due.answer && !due.everything ? nothingDue : { ...due, names };
}

/** Of the clusters that are gone, those that the client may still route to, with the state since when they are gone. */
function removalsToHold(
  session: Session,
  watch: Watch,
  gone: readonly string[],
  stateSeq: number,
): ReadonlyMap<string, number> {
  const kept = new Map<string, number>();
  for (const name of gone) {
    const since = watch.heldRemovals.get(name) ?? stateSeq;
    if (!isReleasable(session, watch, since)) kept.set(name, since);
  }
  return kept;
}

/**
 * Everything that can name a cluster has been brought to `since`, and accepted. An unanswered CDS response counts as well: by the time
 * a client that reconnects has answered it, it has also said whether it watches listeners and routes.
 */
function isReleasable(session: Session, clusters: Watch, since: number): boolean {
  if (clusters.unanswered.length > 0 || clusters.syncedToSeq === 0) return false;
  for (const typeUrl of [LDS, RDS]) {
    const watch = session.watches.get(typeUrl);
    if (watch === undefined) continue;
    if (watch.syncedToSeq < since || watch.unanswered.length > 0 || watch.nackedNames.size > 0) return false;
  }
  return true;
}

/** Clusters on hold could be let go now. */
export function hasReleasableRemoval(session: Session): boolean {
  const clusters = session.watches.get(CDS);
  if (clusters === undefined) return false;
  for (const since of clusters.heldRemovals.values()) if (isReleasable(session, clusters, since)) return true;
  return false;
}

/** Clusters in a response begin to warm; endpoints in one end it. `held`: what the client has of the type after the response. */
export function warmingAfter(
  session: Session,
  typeUrl: string,
  made: PlannedResponse,
  held: Versions,
): ReadonlySet<string> {
  if (typeUrl === CDS) {
    const warming = unionWith(session.warmingClusters, made.changed);
    const gone = absent(warming, held);
    return gone.length === 0 ? warming : without(warming, gone);
  }
  return typeUrl === EDS && session.warmingClusters.size > 0
    ? without(session.warmingClusters, made.names)
    : session.warmingClusters;
}

/** State of the world has no words for what is gone, so nothing can settle a doubt about it. */
function stillPresent(doubtful: ReadonlySet<string>, set: Versions): ReadonlySet<string> {
  return doubtful.size === 0 ? doubtful : new Set([...doubtful].filter(name => set.has(name)));
}

function pick(
  set: Versions,
  changed: readonly string[],
  due: ReadonlySet<string>,
  doubtful: ReadonlySet<string>,
): readonly string[] {
  return mergePresent(set, mergePresent(set, changed, due), doubtful);
}

/** Mostly one of them has anything to say: then that one itself. */
function sortedUnion(...lists: readonly (readonly string[])[]): readonly string[] {
  const said = lists.filter(list => list.length > 0);
  const [only] = said;
  if (only === undefined) return noList;
  return said.length === 1 ? sortedOnce(only) : [...new Set(said.flat())].sort();
}

function sortedOnce(list: readonly string[]): readonly string[] {
  return list.every((name, i) => i === 0 || list[i - 1]! < name) ? list : [...new Set(list)].sort();
}

const noHeldRemovals: ReadonlyMap<string, number> = new Map();
