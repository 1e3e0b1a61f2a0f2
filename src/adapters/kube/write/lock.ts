// The lock of an election: its record in a ConfigMap or a Lease, byte for byte as istiod reads and writes it, and who
// may take it. Pure.
//
// Whether a lease has expired is judged by the own clock since the record last changed, never by the times in it:
// clocks differ. Source: Istio pilot/pkg/leaderelection/leaderelection.go (LocationPrioritizedComparison),
// pilot/pkg/leaderelection/k8sleaderelection.

import { isObject, type Json, type JsonObject } from '../../../core/base/json.ts';
import { LEASE_MS } from './limits.ts';

export type LockObject = 'ConfigMap' | 'Lease';

export interface LockRecord {
  /** '': released. */
  readonly holderIdentity: string;
  /** The holder's revision, with `^` before it if it serves the cluster from outside; '': it has none. */
  readonly holderKey: string;
  readonly leaseDurationSeconds: number;
  /** Milliseconds since the epoch. */
  readonly acquireTime: number;
  readonly renewTime: number;
  readonly leaderTransitions: number;
}

export interface Candidate {
  readonly identity: string;
  /** '' where each revision has a lock of its own. */
  readonly key: string;
}

const ANNOTATION = 'control-plane.alpha.kubernetes.io/leader';
const KEY_ANNOTATION = 'leader.istio.io/holder-key';
/** Begins the key of a holder that serves the cluster from outside. */
export const REMOTE = '^';

/**
 * The record that the candidate may write now; undefined: another one holds the lock. `changedAt`: when `known` was
 * first seen.
 */
export function claim(
  known: LockRecord | undefined,
  changedAt: number,
  now: number,
  candidate: Candidate,
  defaultRevision: string,
): LockRecord | undefined {
  const { identity: holderIdentity, key: holderKey } = candidate;
  const mine = {
    holderIdentity,
    holderKey,
    leaseDurationSeconds: LEASE_MS / 1_000,
    renewTime: now,
    leaderTransitions: known?.leaderTransitions ?? 0,
  };
  if (known === undefined) return { ...mine, acquireTime: now };
  if (known.holderIdentity === holderIdentity) return { ...mine, acquireTime: known.acquireTime };
  const isHeld = known.holderIdentity !== '' && changedAt + LEASE_MS > now;
  if (isHeld && !mayTake(known.holderKey, holderKey, defaultRevision)) return undefined;
  return { ...mine, acquireTime: now, leaderTransitions: mine.leaderTransitions + 1 };
}

/**
 * Before it expires: the default revision from another, and of one revision the one inside the cluster from the one
 * outside.
 */
export function mayTake(holderKey: string, key: string, defaultRevision: string): boolean {
  if (key === '') return false;
  const [own, holder] = [key, holderKey].map(text => (text.startsWith(REMOTE) ? text.slice(1) : text));
  if (own !== holder) return defaultRevision !== '' && defaultRevision === own;
  return !key.startsWith(REMOTE) && holderKey.startsWith(REMOTE);
}

/** The lock is free for the next one at once. */
export function released(record: LockRecord, now: number): LockRecord {
  return { ...record, holderIdentity: '', leaseDurationSeconds: 1, acquireTime: now, renewTime: now };
}

/** Undefined: nothing is held in it. Total: a record that cannot be read counts as none. */
export function recordIn(kind: LockObject, object: JsonObject): LockRecord | undefined {
  const { annotations } = isObject(object.metadata) ? object.metadata : {};
  const texts = isObject(annotations) ? annotations : {};
  if (kind === 'Lease') {
    if (!isObject(object.spec)) return undefined;
    const { leaseTransitions, ...spec } = object.spec;
    return recordOf({ ...spec, leaderTransitions: leaseTransitions, holderKey: texts[KEY_ANNOTATION] });
  }
  const text = texts[ANNOTATION];
  if (typeof text !== 'string') return undefined;
  try {
    const value = JSON.parse(text) as Json;
    return isObject(value) ? recordOf(value) : undefined;
  } catch {
    return undefined;
  }
}

function recordOf(json: JsonObject): LockRecord {
  return {
    holderIdentity: textOf(json.holderIdentity),
    holderKey: textOf(json.holderKey),
    leaseDurationSeconds: numberOf(json.leaseDurationSeconds),
    acquireTime: Date.parse(textOf(json.acquireTime)) || 0,
    renewTime: Date.parse(textOf(json.renewTime)) || 0,
    leaderTransitions: numberOf(json.leaderTransitions),
  };
}

/** `before`: the object that holds the lock already; everything else in it stays. */
export function objectWith(
  kind: LockObject,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  record: LockRecord,
  before?: JsonObject,
): JsonObject {
  const metadata = { ...(isObject(before?.metadata) ? before.metadata : {}), name, namespace };
  const annotations = isObject((metadata as JsonObject).annotations) ? (metadata as JsonObject).annotations : {};
  const annotated = (key: string, text: string): JsonObject => ({
    ...metadata,
    annotations: { ...(annotations as JsonObject), [key]: text },
  });
  if (kind === 'ConfigMap') {
    const text = JSON.stringify({
      holderIdentity: record.holderIdentity,
      holderKey: record.holderKey,
      leaseDurationSeconds: record.leaseDurationSeconds,
      acquireTime: seconds(record.acquireTime),
      renewTime: seconds(record.renewTime),
      leaderTransitions: record.leaderTransitions,
    });
    return { ...before, apiVersion: 'v1', kind, metadata: annotated(ANNOTATION, text) };
  }
  return {
    ...before,
    apiVersion: 'coordination.k8s.io/v1',
    kind,
    metadata: record.holderKey === '' ? metadata : annotated(KEY_ANNOTATION, record.holderKey),
    spec: {
      ...(isObject(before?.spec) ? before.spec : {}),
      holderIdentity: record.holderIdentity,
      leaseDurationSeconds: record.leaseDurationSeconds,
      acquireTime: micros(record.acquireTime),
      renewTime: micros(record.renewTime),
      leaseTransitions: record.leaderTransitions,
    },
  };
}

/** Where the lock is; the collection without a name. */
export function lockPath(kind: LockObject, namespace: string, name = ''): string {
  const [api, plural] = kind === 'ConfigMap' ? ['/api/v1', 'configmaps'] : ['/apis/coordination.k8s.io/v1', 'leases'];
  return `${api}/namespaces/${namespace}/${plural}${name === '' ? '' : `/${name}`}`;
}

/** RFC 3339 in seconds, as metav1.Time. */
function seconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** As metav1.MicroTime. */
function micros(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 23)}000Z`;
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

function numberOf(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0;
}
