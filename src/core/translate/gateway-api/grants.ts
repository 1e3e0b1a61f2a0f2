// ReferenceGrants: whether an object of one namespace may refer to an object of another. References within a namespace
// need none.
// Source: Istio pilot/pkg/config/kube/gatewaycommon/references.go.

import { GATEWAY_API } from '../../kinds/gateway-api/gateway-kind.ts';
import type { Reader } from '../../query/reader.ts';
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
  return allOfRevision(reader, 'ReferenceGrant', `${to.namespace}/`).some(({ spec }) => {
    const fromHere = spec.from?.some(
      one => one.group === GATEWAY_API && one.kind === from.kind && one.namespace === from.namespace,
    );
    const toThere = spec.to?.some(
      one => `${one.group}/${one.kind}` === to.type && (one.name === undefined || one.name === to.name),
    );
    return fromHere === true && toThere === true;
  });
}
