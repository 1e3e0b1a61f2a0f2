// An accepted object: metadata as far as it matters to anybody, and the decoded content. Immutable; its identity is its
// version: the reducer keeps the old record when nothing in the projection of its kind changed, so `===` means "did not
// change".

import { isObject } from '../base/json.ts';
import type { Origin, Problem } from '../base/problem.ts';
import type { RawObject } from '../event.ts';
import type { KindName, KindSpecs } from './kind.ts';

export interface Obj<K extends KindName = KindName> {
  readonly kind: K;
  /** Cluster that the object came from (the adapter's cluster); selects the registry. */
  readonly cluster: string;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch; 0 if the object has none, never the time of arrival (law 3). */
  readonly creationTime: number;
  readonly resourceVersion: string;
  readonly uid: string;
  /** metadata.generation, of kinds whose status says which one it is of. */
  readonly generation?: number;
  /** The decoded content: for Istio kinds the `spec`, for Kubernetes kinds the projection of their schema. */
  readonly spec: KindSpecs[K];
}

/** One source's record of one object: the accepted version and, beside it, a newer one that was refused. */
export interface ObjectRecord {
  readonly source: string;
  readonly kind: KindName;
  readonly key: string;
  readonly accepted?: Obj;
  /** The accepted version as received. */
  readonly raw?: RawObject;
  /** seq of the event that brought the accepted version. */
  readonly acceptedAt: number;
  /**
   * seq of a later event that changed what was received in a way that does not count, e.g. its status: for those who
   * write objects.
   */
  readonly writtenAt?: number;
  readonly origin?: Origin;
  readonly refused?: Refusal;
  /** What acts while no version has been accepted and the kind must not open (KindDefinition.standIn). */
  readonly standIn?: Obj;
}

export interface Refusal {
  readonly at: number;
  readonly raw: RawObject;
  readonly problems: readonly Problem[];
  readonly origin?: Origin;
}

/**
 * The key in the table of the kind. Istio kinds and Gateway API live in the config cluster only and are keyed
 * `namespace/name`; Kubernetes kinds of every cluster are kept: `cluster/namespace/name`, cluster-scoped
 * `cluster/name`.
 */
export function kubernetesKey(cluster: string, namespace: string, name: string): string {
  return namespace === '' ? `${cluster}/${name}` : `${cluster}/${namespace}/${name}`;
}

export function configKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

interface Named {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/**
 * `Kind/namespace/name`, `Kind//name` of a cluster-scoped object: how push requests, provenance and messages name an
 * object, whichever source or cluster it is from.
 */
export function objectName({ kind, namespace, name }: Named): string {
  return `${kind}/${namespace}/${name}`;
}

/** The parts of `Kind/namespace/name`; a missing part is empty. */
export function partsOfName(object: string): Named {
  const [kind = '', namespace = '', ...rest] = object.split('/');
  return { kind, namespace, name: rest.join('/') };
}

export type Aged = Pick<Obj, 'creationTime' | 'name' | 'namespace'>;

/** Istio's order of objects: creation time, then name, then namespace. */
export function byAge(a: Aged, b: Aged): number {
  return a.creationTime - b.creationTime || compareText(a.name, b.name) || compareText(a.namespace, b.namespace);
}

export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** metadata.generation of an object as received; undefined: it has none. */
export function generationOf(raw: RawObject | undefined): number | undefined {
  const generation = isObject(raw?.metadata) ? raw.metadata.generation : undefined;
  return typeof generation === 'number' ? generation : undefined;
}
