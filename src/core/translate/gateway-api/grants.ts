// ReferenceGrants: whether an object of one namespace may refer to an object of another. References within a namespace
// need none.
// Source: Istio pilot/pkg/config/kube/gatewaycommon/references.go.

import { GATEWAY_API } from '../../kinds/gateway-api/gateway-kind.ts';
import { KEY_SEPARATOR, type Query, type Reader } from '../../query/reader.ts';
import { allOfRevision } from './revision.ts';

export interface GrantFrom {
  readonly kind: 'GRPCRoute' | 'Gateway' | 'HTTPRoute' | 'ListenerSet' | 'TCPRoute' | 'TLSRoute';
  readonly namespace: string;
}

export interface GrantTo {
  /** `group/kind`; the core group is empty. */
  readonly type: string;
  readonly namespace: string;
  readonly name: string;
}

export const CORE_SECRET = '/Secret';
export const CORE_CONFIG_MAP = '/ConfigMap';
export const CORE_SERVICE = '/Service';
export const INFERENCE_POOL = 'inference.networking.k8s.io/InferencePool';
const GRANTABLE: readonly string[] = [CORE_SECRET, CORE_CONFIG_MAP, CORE_SERVICE, INFERENCE_POOL];

export function isGranted(reader: Reader, from: GrantFrom, to: GrantTo): boolean {
  if (!GRANTABLE.includes(to.type)) return false;
  const names = reader.get(grantsIn, to.namespace).get(grantKey(from, to.type));
  return names !== undefined && (names.has(undefined) || names.has(to.name));
}

/**
 * Argument: the namespace whose objects are referred to. Names that may be, by who refers to them and their type;
 * undefined stands for all. A grant has at most 16 of each side (its CRD), so their product is small.
 */
const grantsIn: Query<string, ReadonlyMap<string, ReadonlySet<string | undefined>>> = {
  name: 'translate/grantsIn',
  run: (reader, namespace) => {
    const grants = new Map<string, Set<string | undefined>>();
    for (const { spec } of allOfRevision(reader, 'ReferenceGrant', `${namespace}/`)) {
      for (const from of spec.from ?? []) {
        if (from.group !== GATEWAY_API) continue;
        for (const { group, kind, name } of spec.to ?? []) {
          const key = grantKey(from, `${group}/${kind}`);
          const names = grants.get(key);
          if (names === undefined) grants.set(key, new Set([name]));
          else names.add(name);
        }
      }
    }
    return grants;
  },
};

function grantKey({ kind, namespace }: { readonly kind: string; readonly namespace: string }, type: string): string {
  return `${kind}${KEY_SEPARATOR}${namespace}${KEY_SEPARATOR}${type}`;
}
