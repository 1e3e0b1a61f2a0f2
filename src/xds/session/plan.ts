// The content of a response of one type, from the generated set (`set`) and the client's resources (`clientVersions`).
// Without a difference and without a request that is due there is no response; nor is there an empty one, but to tell
// absence (TypeRules.absence). `planResponse` advances the watch in any case: what was due is done, also without one.
// State of the world: wildcard types (as CDS and LDS) are sent whole, the others (as EDS and RDS) with the changed,
// requested and NACKed resources. Delta: those of every type, and what disappeared.
// Held removals (delta CDS). A client's routes may still use a cluster that disappeared, so its removal is held back
// until the client has answered CDS, and LDS and RDS are synced to a state without the cluster and accepted. Invariant:
// a cluster whose removal is held back stays in `clientVersions`, so if it comes back unchanged it is sent again only
// where it was NACKed or is asked for; it is not in the receipt's digest, which covers what generation gives.
// Warming. A cluster that Envoy takes as new waits for EDS, even if the endpoints are there. `newToClient` names those
// of a response: their endpoints are due again (`warmingAfter`, `dueOf`), and routes may wait for them (step.ts).
// Identity: identical arguments give identical lists (name-sets.ts; only `sortedUnion` of several lists makes a new
// one), by which streams share bodies (serve/shared-bodies.ts).

import {
  absent,
  difference,
  diffVersions,
  intersection,
  mergePresent,
  namesOf,
  noList,
  union,
  unionWith,
} from './name-sets.ts';
import { type Aliases, type Due, nothingDue, type Session, type Versions, type Watch } from './session.ts';
import { CDS, EDS, LDS, RDS, rulesOf } from './types.ts';

export interface PlannedResponse {
  readonly names: readonly string[];
  readonly removed: readonly string[];
  readonly full: boolean;
  /**
   * Names in the response that count as new to the client: changed ones; in delta also requested and NACKed ones; all
   * if everything is due.
   */
  readonly newToClient: readonly string[];
}

/** The response contains a resource that the client did not have. */
export function addsNames(planned: PlannedResponse, clientBefore: Versions): boolean {
  return planned.newToClient.some(name => !clientBefore.has(name));
}

/** No response is due: `planResponse` would only advance `syncedToSeq`. */
export function isUnchanged(session: Session, typeUrl: string, watch: Watch, set: Versions): boolean {
  return set === watch.clientVersions && dueOf(session, typeUrl, watch) === nothingDue;
}

/** The response that is due, if any, and the watch afterwards. The caller adds nonce and unanswered response. */
export function planResponse(
  session: Session,
  typeUrl: string,
  watch: Watch,
  set: Versions,
  stateSeq: number,
  aliases: Aliases = noAliases,
): readonly [Watch, PlannedResponse | undefined] {
  const due = dueOf(session, typeUrl, watch);
  if (set === watch.clientVersions && due === nothingDue) return [{ ...watch, syncedToSeq: stateSeq }, undefined];
  const { changed, gone } = diffVersions(watch.clientVersions, set);
  const holds = session.protocol === 'delta' && typeUrl === CDS && gone.length > 0;
  const heldRemovals = holds ? removalsToHold(session, watch, gone, stateSeq) : noHeldRemovals;
  const after: Watch = {
    ...watch,
    clientVersions: heldRemovals.size === 0 ? set : withHeld(set, watch.clientVersions, heldRemovals),
    heldRemovals,
    nackedNames: session.protocol === 'sotw' ? stillPresent(watch.nackedNames, set) : watch.nackedNames,
    due: nothingDue,
    syncedToSeq: stateSeq,
  };
  const removable = heldRemovals.size === 0 ? gone : gone.filter(name => !heldRemovals.has(name));
  const planned =
    session.protocol === 'sotw'
      ? planSotw(typeUrl, watch, set, due, changed, removable)
      : planDelta(typeUrl, watch, set, due, sortedUnion(changed, heldAndBack(watch, set)), removable, heldRemovals);
  return [after, aliases.size === 0 ? planned : withAliases(planned, set, due, aliases)];
}

/** The versions in the set, and of what is held back those that the client has. */
function withHeld(set: Versions, before: Versions, heldRemovals: ReadonlyMap<string, number>): Versions {
  const versions = new Map(set);
  for (const name of heldRemovals.keys()) versions.set(name, before.get(name)!);
  return versions;
}

function planSotw(
  typeUrl: string,
  watch: Watch,
  set: Versions,
  due: Due,
  changed: readonly string[],
  removable: readonly string[],
): PlannedResponse | undefined {
  const rules = rulesOf(typeUrl);
  const requested = due.answer || due.everything || due.names.size > 0;
  // A non-wildcard type cannot express a removal: the client drops the resource with the cluster or listener that names
  // it. A removal matters only if the resource was NACKed: without it the client may accept the rest of that response.
  const noticed = rules.wildcard ? removable : removable.filter(name => watch.nackedNames.has(name));
  if (!requested && changed.length === 0 && noticed.length === 0) return undefined;
  const full = rules.wildcard || due.everything;
  const names = full ? namesOf(set) : pick(set, changed, due.names, watch.nackedNames);
  if (names.length === 0 && (rules.absence !== 'removed' || (!requested && !full))) return undefined;
  return { names, removed: noList, full, newToClient: due.everything ? names : changed };
}

function planDelta(
  typeUrl: string,
  watch: Watch,
  set: Versions,
  due: Due,
  changedOrBack: readonly string[],
  removable: readonly string[],
  heldRemovals: ReadonlyMap<string, number>,
): PlannedResponse | undefined {
  const rules = rulesOf(typeUrl);
  const names = pick(set, changedOrBack, due.names, watch.nackedNames);
  const neverThere = due.answer && watch.syncedToSeq === 0 ? absent(watch.names, set) : noList;
  const requestedAbsent = absent(due.names, set);
  const nackedAbsent = absent(watch.nackedNames, set);
  const requested = due.answer || due.everything || due.names.size > 0;
  if (!requested && changedOrBack.length === 0 && removable.length === 0) return undefined;
  // A held removal is sent only once it is releasable, even if a request names the cluster.
  const absentNames = sortedUnion(removable, neverThere, requestedAbsent, nackedAbsent);
  const removed = rules.absence === 'never' ? noList : notHeld(heldRemovals, absentNames);
  if (names.length === 0 && rules.absence !== 'removed') return undefined;
  return { names, removed, full: names.length === set.size, newToClient: names };
}

/**
 * A name by which the client asked may be another name of resources: these are sent, also if it has them, and the name
 * is not absent.
 */
function withAliases(
  planned: PlannedResponse | undefined,
  set: Versions,
  due: Due,
  aliases: Aliases,
): PlannedResponse | undefined {
  if (planned === undefined) return undefined;
  const named = new Set([...due.names].flatMap(name => aliases.get(name) ?? []));
  const names = mergePresent(set, planned.names, named);
  const removed = planned.removed.filter(name => !aliases.has(name));
  return { names, removed, full: names.length === set.size, newToClient: names };
}

const noAliases: Aliases = new Map();

function notHeld(heldRemovals: ReadonlyMap<string, number>, names: readonly string[]): readonly string[] {
  return heldRemovals.size === 0 ? names : names.filter(name => !heldRemovals.has(name));
}

/**
 * Names that disappeared, whose removal was held back, that were NACKed and are back: same version as in
 * `clientVersions`, but the client may not have them.
 */
function heldAndBack(watch: Watch, set: Versions): readonly string[] {
  if (watch.heldRemovals.size === 0 || watch.nackedNames.size === 0) return noList;
  return [...watch.heldRemovals.keys()].filter(name => watch.nackedNames.has(name) && set.has(name));
}

/** In EDS, the endpoints of warming clusters count as requested. */
function dueOf(session: Session, typeUrl: string, watch: Watch): Due {
  const { due } = watch;
  if (typeUrl !== EDS || session.warmingClusters.size === 0) {
    return due.answer || due.everything || due.names.size > 0 ? due : nothingDue;
  }
  const warming = intersection(session.warmingClusters, watch.names);
  const names = union(due.names, warming);
  return names.size === 0 && !due.answer && !due.everything ? nothingDue : { ...due, names };
}

/**
 * The clusters of `gone` that the client may still route to, each with the seq of the state in which it disappeared.
 */
function removalsToHold(
  session: Session,
  watch: Watch,
  gone: readonly string[],
  stateSeq: number,
): ReadonlyMap<string, number> {
  const kept = new Map<string, number>();
  const holdsNew = !isReleasable(session, watch, stateSeq);
  for (const name of gone) {
    const since = watch.heldRemovals.get(name);
    const isHeld = since === undefined ? holdsNew : !isReleasable(session, watch, since);
    if (isHeld) kept.set(name, since ?? stateSeq);
  }
  return kept;
}

/**
 * LDS and RDS, which can name a cluster, are synced to a state from `since` on, and the client accepted them. CDS must
 * be answered too: by the time a reconnecting client has answered it, it has also subscribed to its listeners and
 * routes.
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

/**
 * At least one removal that is held back can be sent now. The session asks for a view while this is true (step.ts), so
 * `isReleasable` decides here and in `removalsToHold`: one that only this one released would be evaluated for ever.
 */
export function hasReleasableRemoval(session: Session): boolean {
  const clusters = session.watches.get(CDS);
  if (clusters === undefined) return false;
  for (const since of clusters.heldRemovals.values()) if (isReleasable(session, clusters, since)) return true;
  return false;
}

/**
 * Clusters in a response start to warm; a response of endpoints answers for those of the subscription, also where it
 * has none: Envoy takes a removed assignment as an empty one (source/extensions/clusters/eds/eds.cc, onConfigUpdate),
 * and a repetition adds nothing. `watch`: of the type, after the response.
 */
export function warmingAfter(
  session: Session,
  typeUrl: string,
  planned: PlannedResponse,
  watch: Watch,
): ReadonlySet<string> {
  if (typeUrl === CDS) {
    return intersection(unionWith(session.warmingClusters, planned.newToClient), watch.clientVersions);
  }
  if (typeUrl !== EDS || session.warmingClusters.size === 0) return session.warmingClusters;
  return difference(session.warmingClusters, watch.names);
}

/** State of the world cannot express a removal, so a name that disappeared will never be accepted: forget it. */
function stillPresent(nackedNames: ReadonlySet<string>, set: Versions): ReadonlySet<string> {
  return nackedNames.size === 0 ? nackedNames : new Set([...nackedNames].filter(name => set.has(name)));
}

function pick(
  set: Versions,
  changed: readonly string[],
  due: ReadonlySet<string>,
  nackedNames: ReadonlySet<string>,
): readonly string[] {
  return mergePresent(set, mergePresent(set, changed, due), nackedNames);
}

/** Keeps the identity of the list if only one is not empty, as is usual. */
function sortedUnion(...lists: readonly (readonly string[])[]): readonly string[] {
  const filled = lists.filter(list => list.length > 0);
  const [only] = filled;
  if (only === undefined) return noList;
  return filled.length === 1 ? sortedOnce(only) : [...new Set(filled.flat())].sort();
}

function sortedOnce(list: readonly string[]): readonly string[] {
  return list.every((name, i) => i === 0 || list[i - 1]! < name) ? list : [...new Set(list)].sort();
}

const noHeldRemovals: ReadonlyMap<string, number> = new Map();
