// What a proxy may see and send to: the scope that a Sidecar (or none) gives it.
// Rules: spec-routes-visibility §15; Istio pilot/pkg/model/sidecar.go.

import type { JsonObject } from '../json.ts';
import type { Service } from '../model/service.ts';
import type { Query } from '../reader.ts';
import type { ObjOf } from './specs.ts';
import type { ResolvedVirtualService } from './virtual-services.ts';
import { visibleServices } from './visibility.ts';

export interface EgressListener {
  /** The listener as written (port, bind, captureMode, hosts); absent for the implicit catch-all. */
  readonly spec?: JsonObject;
  readonly services: readonly Service[];
  readonly virtualServices: readonly ResolvedVirtualService[];
}

export interface OutboundTrafficPolicy {
  readonly mode: 'ALLOW_ANY' | 'REGISTRY_ONLY';
  /** Destination as written in the Sidecar. */
  readonly egressProxy?: JsonObject;
}

export interface SidecarScope {
  /** Config namespace of the proxy. */
  readonly namespace: string;
  readonly sidecar?: ObjOf<'Sidecar'>;
  readonly egressListeners: readonly EgressListener[];
  /** Services with clusters: those of the listeners and the destinations of their VirtualServices. One a host. */
  readonly services: readonly Service[];
  readonly outboundTrafficPolicy: OutboundTrafficPolicy;
}

/** The scope of the current proxy; a router has the gateway scope, whose listener has no services. */
export const sidecarScope: Query<'', SidecarScope> = {
  name: 'select/sidecarScope',
  run: reader => {
    const namespace = reader.facet('namespace');
    const services = reader.get(visibleServices, namespace);
    return {
      namespace,
      egressListeners: [{ services: reader.facet('type') === 'sidecar' ? services : [], virtualServices: [] }],
      services,
      outboundTrafficPolicy: { mode: 'ALLOW_ANY' },
    };
  },
};

/** Argument: a hostname. The service of that host in the scope of the current proxy. */
export const scopeService: Query<string, Service | undefined> = {
  name: 'select/scopeService',
  run: (reader, hostname) => reader.get(sidecarScope, '').services.find(service => service.hostname === hostname),
};
