// What the kinds of the Gateway API and Ingresses refer to. An object that is named without group or kind has the default of its place.

import type { KindName } from '../../model/kind.ts';
import type { Obj } from '../../model/object.ts';
import { each, type Reference, type Referring } from '../references.ts';
import type { GatewayListener, L4RouteSpec, ObjectReference } from './specs.ts';

const GATEWAY_GROUP = 'gateway.networking.k8s.io';
const KINDS: ReadonlyMap<string, KindName> = new Map([
  ['/Service', 'Service'],
  ['/Secret', 'Secret'],
  ['/ConfigMap', 'ConfigMap'],
  [`${GATEWAY_GROUP}/Gateway`, 'KubernetesGateway'],
  [`${GATEWAY_GROUP}/ListenerSet`, 'ListenerSet'],
  [`${GATEWAY_GROUP}/HTTPRoute`, 'HTTPRoute'],
  [`${GATEWAY_GROUP}/GRPCRoute`, 'GRPCRoute'],
  ['inference.networking.k8s.io/InferencePool', 'InferencePool'],
  ['networking.istio.io/ServiceEntry', 'ServiceEntry'],
]);

type Refer = (path: string, reference: ObjectReference) => readonly Reference[];

/** `group` and `kind`: what the place means when nothing is said. A kind that is none of ours is nobody's to check. */
function named(namespace: string, group: string, kind: string): Refer {
  return (path, reference) => {
    const found = KINDS.get(`${reference.group ?? group}/${reference.kind ?? kind}`);
    if (found === undefined || !reference.name) return [];
    return [{ path, kind: found, namespace: reference.namespace || namespace, name: reference.name }];
  };
}

export function routeReferences({ namespace, spec }: Referring<L4RouteSpec>): readonly Reference[] {
  return [
    ...each('spec.parentRefs', spec.parentRefs, named(namespace, GATEWAY_GROUP, 'Gateway')),
    ...each('spec.rules', spec.rules, (path, { backendRefs }) =>
      each(`${path}.backendRefs`, backendRefs, named(namespace, '', 'Service')),
    ),
  ];
}

export function kubernetesGatewayReferences({ namespace, spec }: Obj<'KubernetesGateway'>): readonly Reference[] {
  const { gatewayClassName: name = '', listeners } = spec;
  const path = 'spec.gatewayClassName';
  return [
    ...(name === '' ? [] : [{ path, kind: 'GatewayClass' as const, namespace: '', name }]),
    ...each('spec.listeners', listeners, certificates(namespace)),
  ];
}

export function listenerSetReferences({ namespace, spec }: Obj<'ListenerSet'>): readonly Reference[] {
  const parent = named(namespace, GATEWAY_GROUP, 'Gateway')('spec.parentRef', spec.parentRef ?? {});
  return [...parent, ...each('spec.listeners', spec.listeners, certificates(namespace))];
}

function certificates(namespace: string) {
  return (path: string, { tls }: GatewayListener): readonly Reference[] =>
    each(`${path}.tls.certificateRefs`, tls?.certificateRefs, named(namespace, '', 'Secret'));
}

export function gatewayClassReferences({ spec: { parametersRef } }: Obj<'GatewayClass'>): readonly Reference[] {
  return parametersRef === undefined ? [] : named('', '', '')('spec.parametersRef', parametersRef);
}

/** What it lets others refer to, where it names one thing. */
export function referenceGrantReferences({ namespace, spec }: Obj<'ReferenceGrant'>): readonly Reference[] {
  return each('spec.to', spec.to, named(namespace, '', ''));
}

export function targetReferences({
  namespace,
  spec,
}: Referring<{ readonly targetRefs?: readonly ObjectReference[] }>): readonly Reference[] {
  return each('spec.targetRefs', spec.targetRefs, named(namespace, '', 'Service'));
}

export function backendTlsPolicyReferences(obj: Obj<'BackendTLSPolicy'>): readonly Reference[] {
  const { validation } = obj.spec;
  const path = 'spec.validation.caCertificateRefs';
  return [
    ...targetReferences(obj),
    ...each(path, validation?.caCertificateRefs, named(obj.namespace, '', 'ConfigMap')),
  ];
}

export function inferencePoolReferences({ namespace, spec }: Obj<'InferencePool'>): readonly Reference[] {
  return named(namespace, '', 'Service')('spec.endpointPickerRef', (spec.endpointPickerRef ?? {}) as ObjectReference);
}
