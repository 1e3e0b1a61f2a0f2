// A wish: fields that one manager wants an object of a cluster to have, or that the object be absent. Wishes are
// derived from the state by tracked queries and never stored; an adapter compares them with what is observed and writes
// what differs (docs/adr/0021).
//
// A wish names only the fields that it owns. Everything else of the object belongs to others and stays as it is. No
// wish depends on a clock, and a status that was written changes no push, so that a second look at an applied wish
// finds nothing to do.

import type { JsonObject } from '../base/json.ts';
import type { KindDefinition } from '../kinds/definition.ts';
import { definitions } from '../kinds/registry.ts';
import type { KindName } from '../model/kind.ts';
import type { Election } from './elections.ts';
import type { StatusRule } from './status.ts';

/** istiod's field manager for configuration (Istio pilot/pkg/config/kube/crdclient). */
export const MANAGER = 'pilot-discovery';

export interface Target {
  readonly cluster: string;
  readonly kind: KindName;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
  /** Empty: the object itself. */
  readonly subresource: '' | 'status';
  readonly manager: string;
}

export interface Wish extends Target {
  /**
   * As in an object of `kind`, without apiVersion, kind, name and namespace; undefined: the object, or the manager's
   * part of it, is to be absent.
   */
  readonly fields: JsonObject | undefined;
  /** Further fields of an object that has to be created; left alone afterwards. */
  readonly atCreation?: JsonObject;
  /**
   * `merge`: created, or patched where a field differs, on the version that was looked at. `apply`: server-side apply
   * by the manager, forced, which also removes fields that the manager wished before.
   */
  readonly verb: 'merge' | 'apply';
  /** Written only by the holder of this election; undefined: by every replica. */
  readonly gate: Election | undefined;
  readonly precondition?: Precondition;
  /** A list of the live object loses the elements whose member has this value; the others stay as they are. */
  readonly without?: {
    readonly part: string;
    readonly list: string;
    readonly member: string;
    readonly value: string;
  };
  /** `fields.status` is joined with the live status by this rule before it is compared. */
  readonly statusRule?: StatusRule;
  /**
   * Lists whose elements are found by a member, e.g. `status.conditions` → `type`; other lists are owned as a whole.
   */
  readonly listKeys?: Readonly<Record<string, string>>;
}

export interface Precondition {
  /** The object that is there has this uid; an absent one does not hold the wish up. */
  readonly uid?: string;
  /** The generation that the fields were derived from. */
  readonly generation?: number;
  /** Fields that the wish was derived from, as in `fields`. Null and an empty list mean that there is none. */
  readonly read?: JsonObject;
  /** Annotations of the object that are times (RFC 3339): the wish is outdated where one is after `at`. */
  readonly notLater?: { readonly at: string; readonly annotations: readonly string[] };
  /** An absent object is not created. */
  readonly exists?: true;
}

/** One text for each entry of the table; sorts by cluster, kind, namespace, name. */
export function wishKey(target: Target): string {
  let key = keys.get(target);
  if (key === undefined) {
    const { cluster, kind, namespace, name, subresource, manager } = target;
    key = [cluster, kind, namespace, name, subresource, manager].join('|');
    keys.set(target, key);
  }
  return key;
}

/** The table asks for those of all wishes after every change. */
const keys = new WeakMap<Target, string>();

/** `ConfigMap default/istio-ca-root-cert`, with the subresource if there is one. The kind is the cluster's word. */
export function showTarget({ kind, namespace, name, subresource }: Target): string {
  const { objectKind = kind }: KindDefinition = definitions[kind];
  const object = namespace === '' ? `${objectKind} ${name}` : `${objectKind} ${namespace}/${name}`;
  return subresource === '' ? object : `${object} (${subresource})`;
}
