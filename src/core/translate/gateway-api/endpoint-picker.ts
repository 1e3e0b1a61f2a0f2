// The endpoint picker of an InferencePool: a service that sees every request before it is sent and names the endpoint
// for it.
//
// A rule of a route carries it beside the fields of the Istio API, which have no place for it. istiod keeps pickers in
// a map by the names of rules, so that rules of one name share the last one; here each rule has its own.
// Source: Istio pkg/config/gateway/kube/inferenceextension.go.

import type { Service } from '../../model/service.ts';
import type { HTTPRoute } from '../../schema/istio-types.gen.ts';

export interface EndpointPicker {
  readonly host: string;
  readonly port: number;
  /** Requests go on when it does not answer. */
  readonly failOpen: boolean;
}

/** A rule of a VirtualService that was made of an HTTPRoute. */
export interface PickedRoute extends HTTPRoute {
  readonly endpointPicker?: EndpointPicker;
}

/** On the Service that stands for a pool. */
export const POOL_LABELS = {
  pool: 'istio.io/inferencepool-name',
  service: 'istio.io/inferencepool-extension-service',
  port: 'istio.io/inferencepool-extension-port',
  failureMode: 'istio.io/inferencepool-extension-failure-mode',
} as const;

/** Label and value of a Service whose ports are all ports of one pool. */
export const SERVICE_SEMANTICS = 'internal.istio.io/service-semantics';
export const POOL_SEMANTICS = 'inferencepool';

/** Its first port stands for all of them: the picker chooses among the endpoints of every port. */
export function isPoolService({ labels }: Pick<Service, 'labels'>): boolean {
  return labels[SERVICE_SEMANTICS] === POOL_SEMANTICS;
}
