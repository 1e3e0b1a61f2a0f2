// The services and configuration that a proxy may see, as its Sidecar or the default restricts them. All proxies of a
// namespace with the same Sidecar share the scope; only the choice of the Sidecar reads the proxy.
// Source: Istio pilot/pkg/model/sidecar.go, pilot/pkg/model/push_context.go.

import { byAge } from '../../model/object.ts';
import type { Service } from '../../model/service.ts';
import type { ProxyReader, Query, Reader } from '../../query/reader.ts';
import { proxySelectedBy } from '../../registry/workload.ts';
import type { Destination } from '../../schema/istio-types.gen.ts';
import { type EgressListener, egressListener, egressListenersOf } from './egress-listener.ts';
import { gatewayScopeServices, type ScopeRef, scopeKey, scopeServices } from './scope-services.ts';
import type { ObjOf } from './specs.ts';
import { virtualServicesFor } from './virtual-services.ts';

export type { EgressListener } from './egress-listener.ts';

export interface OutboundTrafficPolicy {
  readonly mode: 'ALLOW_ANY' | 'REGISTRY_ONLY';
  /** Destination as written in the Sidecar. */
  readonly egressProxy?: Destination;
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
    if (reader.facet('type') !== 'sidecar') return reader.get(gatewayScope, namespace);
    return reader.get(scopeOf, { namespace, sidecar: chosenSidecar(reader, namespace) });
  },
};

/**
 * Parts of the scope. A caller reads only the part that it needs: a part keeps its identity when another part changes,
 * so a changed VirtualService does not run the cluster queries again.
 */
export const scopedServices: Query<'', readonly Service[]> = {
  name: 'select/scopedServices',
  run: reader => reader.get(sidecarScope, '').services,
};

export type ScopeSettings = Pick<SidecarScope, 'namespace' | 'sidecar' | 'outboundTrafficPolicy'>;

export const scopeSettings: Query<'', ScopeSettings> = {
  name: 'select/scopeSettings',
  run: reader => {
    const { namespace, sidecar, outboundTrafficPolicy } = reader.get(sidecarScope, '');
    return { namespace, sidecar, outboundTrafficPolicy };
  },
};

/** The services of each egress listener. */
export const listenerServices: Query<'', readonly (readonly Service[])[]> = {
  name: 'select/listenerServices',
  run: reader => reader.get(sidecarScope, '').egressListeners.map(({ services }) => services),
};

/** Argument: a hostname. The service of that host in the scope of the current proxy. */
export const scopeService: Query<string, Service | undefined> = {
  name: 'select/scopeService',
  run: (reader, hostname) => reader.get(scopeIndex, '').get(hostname),
};

/** By hostname, for callers that need all services: one memoised answer instead of one for each host. */
export const scopeIndex: Query<'', ReadonlyMap<string, Service>> = {
  name: 'select/scopeIndex',
  run: reader => new Map(reader.get(scopedServices, '').map(service => [service.hostname, service])),
};

const scopeOf: Query<ScopeRef, SidecarScope> = {
  name: 'select/scopeOf',
  key: scopeKey,
  run: (reader, ref) => {
    const sidecar = ref.sidecar === '' ? undefined : reader.object('Sidecar', ref.sidecar);
    return {
      namespace: ref.namespace,
      sidecar,
      egressListeners: egressListenersOf(reader, ref).map(listener => reader.get(egressListener, listener)),
      services: reader.get(scopeServices, ref),
      outboundTrafficPolicy: outboundPolicy(reader, sidecar),
    };
  },
};

/** Argument: a namespace. Its visible services, and the VirtualServices of the mesh without their services. */
const gatewayScope: Query<string, SidecarScope> = {
  name: 'select/gatewayScope',
  run: (reader, namespace) => ({
    namespace,
    egressListeners: [reader.get(gatewayListener, namespace)],
    services: reader.get(gatewayScopeServices, namespace),
    outboundTrafficPolicy: outboundPolicy(reader, undefined),
  }),
};

const gatewayListener: Query<string, EgressListener> = {
  name: 'select/gatewayEgressListener',
  run: (reader, namespace) => ({
    services: [],
    virtualServices: reader.get(virtualServicesFor, { namespace, gateway: 'mesh' }),
  }),
};

/**
 * Key of the Sidecar that applies: in the namespace one that selects the proxy or has no selector, else the root
 * namespace's default.
 */
function chosenSidecar(reader: ProxyReader, namespace: string): string {
  for (const sidecar of reader.get(sidecarsOf, namespace)) {
    const selector = sidecar.spec.workloadSelector;
    if (selector === undefined || proxySelectedBy(reader, selector.labels ?? {})) return `${namespace}/${sidecar.name}`;
  }
  const root = reader.mesh('rootNamespace');
  const fallback = reader.get(sidecarsOf, root).find(sidecar => sidecar.spec.workloadSelector === undefined);
  return fallback === undefined ? '' : `${root}/${fallback.name}`;
}

/** Argument: a namespace. Its Sidecars, those with a selector first, each group by age. */
const sidecarsOf: Query<string, readonly ObjOf<'Sidecar'>[]> = {
  name: 'select/sidecars',
  run: (reader, namespace) => {
    const all = [...reader.objects('Sidecar', `${namespace}/`)].sort(byAge);
    const hasSelector = (sidecar: ObjOf<'Sidecar'>): boolean => sidecar.spec.workloadSelector !== undefined;
    return [...all.filter(hasSelector), ...all.filter(sidecar => !hasSelector(sidecar))];
  },
};

function outboundPolicy(reader: Reader, sidecar: ObjOf<'Sidecar'> | undefined): OutboundTrafficPolicy {
  const own = sidecar?.spec.outboundTrafficPolicy;
  if (own !== undefined) return { mode: own.mode ?? 'REGISTRY_ONLY', egressProxy: own.egressProxy };
  // A policy that names no mode has the first one. ALLOW_ANY_DYNAMIC_DNS exists in the API only: in Istio 1.30 it has
  // no effect.
  return { mode: reader.mesh('outboundTrafficPolicy').mode === 'ALLOW_ANY' ? 'ALLOW_ANY' : 'REGISTRY_ONLY' };
}
