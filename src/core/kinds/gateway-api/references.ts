// References that several kinds of the Gateway API have. Group and kind are there: defaults are filled in before.

import type { KindName } from '../../model/kind.ts';
import type { GatewayListener } from '../../schema/gateway-api-types.gen.ts';
import { each, type Reference, type Referring } from '../references.ts';
import { GATEWAY_API } from './gateway-kind.ts';

interface Named {
  readonly group?: string;
  readonly kind: string;
  readonly name?: string;
  readonly namespace?: string;
}

const KINDS: ReadonlyMap<string, KindName> = new Map([
  ['/Service', 'Service'],
  ['/Secret', 'Secret'],
  ['/ConfigMap', 'ConfigMap'],
  [`${GATEWAY_API}/Gateway`, 'KubernetesGateway'],
  [`${GATEWAY_API}/ListenerSet`, 'ListenerSet'],
  [`${GATEWAY_API}/HTTPRoute`, 'HTTPRoute'],
  [`${GATEWAY_API}/GRPCRoute`, 'GRPCRoute'],
  ['inference.networking.k8s.io/InferencePool', 'InferencePool'],
  ['networking.istio.io/ServiceEntry', 'ServiceEntry'],
]);

/** The object that is named, in `namespace` unless another one is; none for a kind that Periplus does not know. */
export function named(namespace: string): (path: string, reference: Named) => readonly Reference[] {
  return (path, reference) => {
    const kind = KINDS.get(`${reference.group ?? ''}/${reference.kind}`);
    if (kind === undefined || !reference.name) return [];
    return [{ path, kind, namespace: reference.namespace || namespace, name: reference.name }];
  };
}

/** Parents and backends. */
export function routeReferences({
  namespace,
  spec,
}: Referring<{
  readonly parentRefs?: readonly Named[];
  readonly rules?: readonly { readonly backendRefs?: readonly Named[] }[];
}>): readonly Reference[] {
  return [
    ...each('spec.parentRefs', spec.parentRefs, named(namespace)),
    ...each('spec.rules', spec.rules, (path, { backendRefs }) =>
      each(`${path}.backendRefs`, backendRefs, named(namespace)),
    ),
  ];
}

/** The Secrets of a listener. */
export function certificates(namespace: string) {
  return (path: string, { tls }: Pick<GatewayListener, 'tls'>): readonly Reference[] =>
    each(`${path}.tls.certificateRefs`, tls?.certificateRefs, named(namespace));
}

/** The backends that a policy is for. */
export function targetReferences({
  namespace,
  spec,
}: Referring<{ readonly targetRefs: readonly Named[] }>): readonly Reference[] {
  return each('spec.targetRefs', spec.targetRefs, named(namespace));
}
