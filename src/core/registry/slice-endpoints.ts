// Endpoints of one EndpointSlice, or of one core/v1 Endpoints object where a service has no slice.
// Source: Istio pilot/pkg/serviceregistry/kube/controller/endpointslice.go.

import { append } from '../base/append.ts';
import { blocksOf, joined } from '../base/groups.ts';
import { isIpv6 } from '../base/ip.ts';
import { withTopology } from '../base/labels.ts';
import type { Obj } from '../model/object.ts';
import type { Endpoint, EndpointHealth } from '../model/service.ts';
import { KEY_SEPARATOR, type Query, type Reader, type Selection } from '../query/reader.ts';
import { networkOf } from './clusters.ts';
import { endpointOf } from './endpoint-of.ts';
import { kubernetesService } from './kubernetes-service.ts';
import { podsAtAddress, podWorkload, type Workload } from './pods.ts';

export const SERVICE_NAME_LABEL = 'kubernetes.io/service-name';
const IMPORTED_SERVICE_LABEL = 'multicluster.kubernetes.io/service-name';

/** The service's settings for its endpoints. */
interface Traits {
  /** Sessions stick, so a terminating endpoint drains. */
  readonly persistent: boolean;
  readonly known: boolean;
  readonly dual: boolean;
}

interface Conditions {
  readonly ready?: boolean;
  readonly serving?: boolean;
  readonly terminating?: boolean;
}

/**
 * Argument `cluster/namespace/name` of an EndpointSlice: its endpoints, addresses in order, of each the ports in order.
 */
export const endpointsOfSlice: Query<string, readonly Endpoint[]> = {
  name: 'registry/endpointsOfSlice',
  run: (reader, key) => {
    const slice = reader.object('EndpointSlice', key);
    const service = slice?.labels[SERVICE_NAME_LABEL];
    if (slice === undefined || service === undefined || !isUsable(slice)) return [];
    const traits = reader.get(traitsOf, `${slice.cluster}/${slice.namespace}/${service}`);
    const { endpoints, ports } = slice.spec;
    if (endpoints.length * ports.length <= ENDPOINTS_ALONE_MAX) {
      return endpointsOfPart.run(reader, { slice, traits, endpoints });
    }
    const size = Math.max(1, Math.floor(ENDPOINTS_TOGETHER / ports.length));
    const parts = blocksOf(endpoints, size).map(block => ({ slice, traits, endpoints: block }));
    return joined(parts.map(part => reader.select(endpointsOfPart, part)));
  },
};

/** More are made in blocks, so that they stay made when the work is interrupted. */
const ENDPOINTS_ALONE_MAX = 4_096;
const ENDPOINTS_TOGETHER = 1_024;

interface SlicePart {
  readonly slice: Obj<'EndpointSlice'>;
  readonly traits: Traits;
  readonly endpoints: Obj<'EndpointSlice'>['spec']['endpoints'];
}

const endpointsOfPart: Selection<SlicePart, readonly Endpoint[]> = {
  name: 'registry/endpointsOfSlicePart',
  run: (reader, { slice: { cluster, namespace, spec }, traits, endpoints }) => {
    const ports = spec.ports.map(port => ({ name: port.name, port: port.port ?? 0 }));
    const found: Endpoint[] = [];
    for (const { conditions, addresses, targetRef } of endpoints) {
      const health = healthOf(conditions, traits);
      for (const address of addresses) {
        append(found, endpointsOfAddress(reader, { cluster, namespace, address, targetRef }, ports, health, traits));
      }
    }
    return found;
  },
};

/**
 * Argument `cluster/namespace/name` of an Endpoints object: its endpoints, subsets in order, of each those that are
 * ready first.
 */
export const endpointsOfObject: Query<string, readonly Endpoint[]> = {
  name: 'registry/endpointsOfObject',
  run: (reader, key) => {
    const obj = reader.object('Endpoints', key);
    if (obj === undefined) return [];
    const { cluster, namespace, spec } = obj;
    const traits = reader.get(traitsOf, key);
    const parts = spec.subsets.flatMap(partsOf).map(part => ({ cluster, namespace, traits, ...part }));
    const count = parts.reduce((sum, { addresses, ports }) => sum + addresses.length * ports.length, 0);
    const made = (part: SubsetPart): readonly Endpoint[] =>
      count <= ENDPOINTS_ALONE_MAX ? endpointsOfSubset.run(reader, part) : reader.select(endpointsOfSubset, part);
    return joined(parts.map(made));
  },
};

type Subset = Obj<'Endpoints'>['spec']['subsets'][number];

interface SubsetPart extends Pick<Subset, 'addresses' | 'ports'> {
  readonly cluster: string;
  readonly namespace: string;
  readonly traits: Traits;
  readonly ready: boolean;
}

function partsOf({
  addresses,
  notReadyAddresses,
  ports,
}: Subset): readonly Pick<SubsetPart, 'addresses' | 'ports' | 'ready'>[] {
  const size = Math.max(1, Math.floor(ENDPOINTS_TOGETHER / Math.max(1, ports.length)));
  return [true, false].flatMap(ready =>
    blocksOf(ready ? addresses : notReadyAddresses, size).map(block => ({ addresses: block, ports, ready })),
  );
}

const endpointsOfSubset: Selection<SubsetPart, readonly Endpoint[]> = {
  name: 'registry/endpointsOfSubset',
  run: (reader, { cluster, namespace, traits, addresses, ports, ready }) => {
    const found: Endpoint[] = [];
    const health = healthOf({ ready }, traits);
    for (const { ip, targetRef } of addresses) {
      append(found, endpointsOfAddress(reader, { cluster, namespace, address: ip, targetRef }, ports, health, traits));
    }
    return found;
  },
};

export function isUsable(slice: Obj<'EndpointSlice'>): boolean {
  return slice.spec.addressType !== 'FQDN' && slice.labels[IMPORTED_SERVICE_LABEL] === undefined;
}

/** Argument `cluster/namespace/service`. */
const traitsOf: Query<string, Traits> = {
  name: 'registry/serviceTraits',
  run: (reader, key) => {
    const service = reader.get(kubernetesService, key);
    if (service === undefined) return { known: false, persistent: false, dual: false };
    const cluster = key.slice(0, key.indexOf('/'));
    return {
      known: true,
      persistent:
        !!service.labels[reader.feature('PILOT_PERSISTENT_SESSION_LABEL')] ||
        !!service.labels[reader.feature('PILOT_PERSISTENT_SESSION_HEADER_LABEL')],
      dual: reader.feature('ISTIO_DUAL_STACK') && (service.clusterVips[cluster]?.length ?? 0) > 1,
    };
  },
};

/** An unknown condition counts as true. */
function healthOf({ ready, serving, terminating }: Conditions, traits: Traits): EndpointHealth {
  if (ready !== false) return 'Healthy';
  if (!traits.known) return 'UnHealthy';
  if (traits.persistent && serving !== false && terminating !== false) return 'Draining';
  return terminating !== false ? 'Terminating' : 'UnHealthy';
}

interface Where {
  readonly cluster: string;
  readonly namespace: string;
  readonly address: string;
  readonly targetRef?: { readonly kind: string; readonly name: string; readonly namespace: string };
}

/** None until the named pod is known, because its workload is unknown. */
function endpointsOfAddress(
  reader: Reader,
  where: Where,
  ports: readonly { readonly name: string; readonly port: number }[],
  health: EndpointHealth,
  traits: Traits,
): readonly Endpoint[] {
  const workload = workloadAt(reader, where);
  if (workload === undefined) return [];
  let addresses: readonly string[] = [where.address];
  if (traits.dual && where.targetRef?.kind === 'Pod' && workload.addresses.length > 1) {
    if (isIpv6(where.address)) return [];
    addresses = workload.addresses;
  }
  return ports.map(({ name, port }) =>
    reader.make(endpointOf, {
      addresses,
      port,
      portName: name,
      servicePort: 0,
      workload,
      weight: 1,
      health,
    }),
  );
}

function workloadAt(reader: Reader, { cluster, namespace, address, targetRef }: Where): Workload | undefined {
  if (targetRef?.kind === 'Pod') {
    return reader.get(podWorkload, `${cluster}/${targetRef.namespace || namespace}/${targetRef.name}`);
  }
  const pod = podsAtAddress(reader, cluster, address).find(found => found.namespace === namespace);
  if (pod !== undefined) return reader.get(podWorkload, `${cluster}/${pod.namespace}/${pod.name}`);
  return reader.get(bareWorkload, { cluster, address });
}

/** An address without a pod: only its cluster and network are known. */
const bareWorkload: Query<{ readonly cluster: string; readonly address: string }, Workload> = {
  name: 'registry/bareWorkload',
  key: ({ cluster, address }) => `${cluster}${KEY_SEPARATOR}${address}`,
  run: (reader, { cluster, address }) => {
    const network = networkOf(reader, cluster, {}, address);
    return {
      namespace: '',
      labels: withTopology({}, { cluster, locality: '', node: '', network }),
      serviceAccount: '',
      locality: '',
      network,
      cluster,
      workloadName: '',
      nodeName: '',
      hostname: '',
      subdomain: '',
      tlsMode: 'disabled',
      addresses: [],
    };
  },
};
