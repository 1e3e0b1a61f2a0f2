// The services of a scope, which get clusters: for each listener its services, then the destinations of its
// VirtualServices. One service for each hostname.
// Source: Istio pilot/pkg/model/sidecar.go (appendSidecarServices, convertToSidecarScope).

import { sameContent } from '../../base/equal.ts';
import { sameLabels } from '../../base/labels.ts';
import { compareText, configKey } from '../../model/object.ts';
import type { Service } from '../../model/service.ts';
import type { Generator } from '../../query/memo.ts';
import type { Query, Reader } from '../../query/reader.ts';
import { servicesOfHost } from '../../registry/services.ts';
import {
  cutToPorts,
  egressDestinations,
  egressListenersOf,
  egressServices,
  egressSpec,
  listenerPort,
} from './egress-listener.ts';
import { isVisible, visibleServices } from './visibility.ts';

export interface ScopeRef {
  readonly namespace: string;
  /** Key of the Sidecar; empty for the built-in default. */
  readonly sidecar: string;
}

export const scopeKey = ({ namespace, sidecar }: ScopeRef): string => `${namespace}|${sidecar}`;

/**
 * The services of the listeners and of the destinations of their VirtualServices, in the order in which they are met.
 * A query of its own: it runs when services or destinations change, not with every VirtualService.
 */
export const scopeServices: Query<ScopeRef, readonly Service[]> = {
  name: 'select/scopeServices',
  key: scopeKey,
  run: (reader, ref) => {
    const { namespace } = ref;
    const found = new Map<string, Service>();
    for (const listener of egressListenersOf(reader, ref)) {
      for (const service of reader.get(egressServices, listener)) addService(reader, found, service);
      const port = listenerPort(egressSpec(reader, listener));
      for (const { host, ports } of reader.get(egressDestinations, listener)) {
        const service = serviceFor(reader, host, namespace);
        if (service === undefined) continue;
        const wanted = port !== undefined ? [port] : ports;
        addService(reader, found, wanted === undefined ? service : cutToPorts(reader, service, wanted));
      }
    }
    return [...found.values()];
  },
};

/** Of a gateway; the argument is a namespace: its visible services. */
export const gatewayScopeServices: Query<string, readonly Service[]> = {
  name: 'select/gatewayScopeServices',
  run: (reader, namespace) => {
    const found = new Map<string, Service>();
    for (const service of reader.get(visibleServices, namespace)) addService(reader, found, service);
    return [...found.values()];
  },
};

/**
 * One service for each hostname: the first, but a Kubernetes service replaces others; the ports of otherwise equal
 * services are merged.
 */
function addService(reader: Reader, found: Map<string, Service>, service: Service | undefined): void {
  if (service === undefined) return;
  const seen = found.get(service.hostname);
  if (seen === undefined) found.set(service.hostname, service);
  else if (seen.registry !== service.registry) {
    if (service.registry === 'Kubernetes') found.set(service.hostname, service);
  } else if (seen !== service && alike(reader, seen, service)) {
    const missing = service.ports.some(port => !seen.ports.some(known => known.port === port.port));
    if (missing) found.set(service.hostname, reader.make(unitedPorts, { first: seen, second: service }));
  }
}

const unitedPorts: Generator<{ readonly first: Service; readonly second: Service }, Service> = {
  name: 'select/unitedPorts',
  run: ({ first, second }) => ({
    ...first,
    ports: [...first.ports, ...second.ports.filter(port => !first.ports.some(known => known.port === port.port))],
  }),
};

/** Of one source. The exports are compared as the objects write them: none and `*` differ, as `.` and the name do. */
function alike(reader: Reader, a: Service, b: Service): boolean {
  return (
    a.namespace === b.namespace &&
    a.resolution === b.resolution &&
    sameLabels(a.labels, b.labels) &&
    sameLabels(a.selector, b.selector) &&
    sameContent(writtenExports(reader, a), writtenExports(reader, b))
  );
}

/** In order, each once. */
function writtenExports(reader: Reader, { namespace, objectName }: Service): readonly string[] {
  return [...new Set(reader.object('ServiceEntry', configKey(namespace, objectName))?.spec.exportTo)].sort();
}

/**
 * The service that a destination means for a client namespace: its own, else of the visible ones Kubernetes', else the
 * oldest.
 */
function serviceFor(reader: Reader, hostname: string, namespace: string): Service | undefined {
  const candidates = reader.get(servicesByNamespace, hostname);
  const own = candidates.find(service => service.namespace === namespace);
  if (own !== undefined) return own;
  const visible = candidates.filter(service => isVisible(service, namespace));
  if (!reader.feature('PILOT_SIDECAR_PICK_BEST_SERVICE_NAMESPACE')) {
    return [...visible].sort((a, b) => compareText(a.namespace, b.namespace))[0];
  }
  return visible.find(service => service.registry === 'Kubernetes') ?? visible[0];
}

/**
 * Argument: a hostname. One service for each namespace: the oldest, but a Kubernetes service replaces others. By age.
 */
export const servicesByNamespace: Query<string, readonly Service[]> = {
  name: 'select/servicesByNamespace',
  run: (reader, hostname) => {
    const found = new Map<string, Service>();
    for (const service of reader.get(servicesOfHost, hostname)) {
      const isBetter = !found.has(service.namespace) || service.registry === 'Kubernetes';
      if (isBetter) found.set(service.namespace, service);
    }
    return [...found.values()];
  },
};
