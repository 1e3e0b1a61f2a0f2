// One egress listener of a scope: its services, one namespace a hostname, and its VirtualServices. A query of its own,
// so that an unchanged listener keeps its identity.
// Source: Istio pilot/pkg/model/sidecar.go (selectServices).

import { protocolOf } from '../../model/protocol.ts';
import type { Service } from '../../model/service.ts';
import type { Generator } from '../../query/memo.ts';
import type { Query, Reader } from '../../query/reader.ts';
import type { IstioEgressListener } from '../../schema/istio-types.gen.ts';
import { type DestinationHost, destinationsFor } from './destinations.ts';
import { covers, type HostPatterns, importEverything, importOf, importsOf, importsVirtualService } from './imports.ts';
import { type ResolvedVirtualService, virtualServicesFor } from './virtual-services.ts';
import { visibleServices } from './visibility.ts';

export interface EgressListener {
  /** The listener as written (port, bind, captureMode, hosts); absent for the implicit catch-all. */
  readonly spec?: IstioEgressListener;
  readonly services: readonly Service[];
  readonly virtualServices: readonly ResolvedVirtualService[];
}

/** An egress listener of a Sidecar, seen from a namespace. */
export interface EgressListenerRef {
  readonly namespace: string;
  /** Key of the Sidecar; empty for the implicit listener that imports `*\/*`. */
  readonly sidecar: string;
  readonly index: number;
}

const egressListenerKey = ({ namespace, sidecar, index }: EgressListenerRef): string =>
  `${namespace}|${sidecar}|${index}`;

/** Those of the Sidecar with this key, in their order; the implicit one if it has none. */
export function egressListenersOf(
  reader: Reader,
  { namespace, sidecar }: Omit<EgressListenerRef, 'index'>,
): readonly EgressListenerRef[] {
  const count = sidecar === '' ? 0 : (reader.object('Sidecar', sidecar)?.spec.egress?.length ?? 0);
  if (count === 0) return [{ namespace, sidecar: '', index: 0 }];
  return Array.from({ length: count }, (_, index) => ({ namespace, sidecar, index }));
}

/** The listener as written; undefined for the implicit one. */
export function egressSpec(reader: Reader, { sidecar, index }: EgressListenerRef): IstioEgressListener | undefined {
  return sidecar === '' ? undefined : reader.object('Sidecar', sidecar)?.spec.egress?.[index];
}

export const egressListener: Query<EgressListenerRef, EgressListener> = {
  name: 'select/egressListener',
  key: egressListenerKey,
  run: (reader, ref) => {
    const { namespace } = ref;
    const spec = egressSpec(reader, ref);
    const all = reader.get(virtualServicesFor, { namespace, gateway: 'mesh' });
    const isLong = all.length > VIRTUAL_SERVICES_ALONE_MAX;
    const virtualServices = isLong ? reader.get(importedVirtualServices, ref) : importedOf(reader, ref, all);
    return { spec, services: reader.get(egressServices, ref), virtualServices };
  },
};

/** More are found in a run of their own. */
const VIRTUAL_SERVICES_ALONE_MAX = 512;

const importedVirtualServices: Query<EgressListenerRef, readonly ResolvedVirtualService[]> = {
  name: 'select/importedVirtualServices',
  key: egressListenerKey,
  run: (reader, ref) =>
    importedOf(reader, ref, reader.get(virtualServicesFor, { namespace: ref.namespace, gateway: 'mesh' })),
};

function importedOf(
  reader: Reader,
  ref: EgressListenerRef,
  all: readonly ResolvedVirtualService[],
): readonly ResolvedVirtualService[] {
  const spec = egressSpec(reader, ref);
  const imports = importsOf(spec === undefined ? importEverything : (spec.hosts ?? []), ref.namespace);
  return all.filter(vs => importsVirtualService(vs, imports));
}

/** Apart from the listener, because VirtualServices change more often. */
export const egressServices: Query<EgressListenerRef, readonly Service[]> = {
  name: 'select/egressServices',
  key: egressListenerKey,
  run: (reader, ref) => {
    const { namespace } = ref;
    const spec = egressSpec(reader, ref);
    const imports = importsOf(spec === undefined ? importEverything : (spec.hosts ?? []), namespace);
    const port = listenerPort(spec);
    const imported: Service[] = [];
    for (const service of reader.get(visibleServices, namespace)) {
      const patterns = importOf(service, imports);
      if (patterns === undefined) continue;
      const cut = port === undefined ? service : cutToPorts(reader, service, [port]);
      if (cut !== undefined) imported.push(withImportedAliases(reader, cut, patterns));
    }
    return oneNamespaceEach(imported, namespace, reader.feature('PILOT_UNIFIED_SIDECAR_SCOPE'));
  },
};

/**
 * The destinations of the listener's VirtualServices, in their order. Equal, and so the identical list, as long as no
 * destination changes.
 */
export const egressDestinations: Query<EgressListenerRef, readonly DestinationHost[]> = {
  name: 'select/egressDestinations',
  key: egressListenerKey,
  run: (reader, ref) =>
    reader.get(egressListener, ref).virtualServices.flatMap(vs => destinationsFor(vs, ref.namespace)),
};

/** The port that the listener's services must have; undefined when any will do. */
export function listenerPort(spec: IstioEgressListener | undefined): number | undefined {
  const port = spec?.port;
  if (!port?.number || protocolOf(port.protocol ?? '') === 'HTTP_PROXY') return undefined;
  return port.number;
}

/** The service with these ports only; the same object if all ports are kept, undefined if none is. */
export function cutToPorts(reader: Reader, service: Service, ports: readonly number[]): Service | undefined {
  const kept = service.ports.filter(port => ports.includes(port.port));
  if (kept.length === 0) return undefined;
  return kept.length === service.ports.length ? service : reader.make(cutService, { service, ports });
}

const cutService: Generator<{ readonly service: Service; readonly ports: readonly number[] }, Service> = {
  name: 'select/cutService',
  run: ({ service, ports }) => ({ ...service, ports: service.ports.filter(port => ports.includes(port.port)) }),
};

const serviceWithAliases: Generator<
  { readonly service: Service; readonly aliases: readonly Service['aliases'][number][] },
  Service
> = { name: 'select/serviceWithAliases', run: ({ service, aliases }) => ({ ...service, aliases }) };

function withImportedAliases(reader: Reader, service: Service, patterns: HostPatterns): Service {
  const aliases = service.aliases.filter(alias => covers(patterns, alias.hostname));
  return aliases.length === service.aliases.length ? service : reader.make(serviceWithAliases, { service, aliases });
}

/**
 * Of the namespaces that have a hostname: the proxy's own, else the first Kubernetes one (if `kubernetesFirst`), else
 * the first.
 */
function oneNamespaceEach(
  services: readonly Service[],
  namespace: string,
  kubernetesFirst: boolean,
): readonly Service[] {
  const chosen = new Map<string, Service>();
  for (const service of services) {
    const seen = chosen.get(service.hostname);
    if (seen?.namespace === namespace) continue;
    const better =
      seen === undefined || service.namespace === namespace || (kubernetesFirst && service.registry === 'Kubernetes');
    if (better) chosen.set(service.hostname, service);
  }
  return services.filter(service => chosen.get(service.hostname)?.namespace === service.namespace);
}
