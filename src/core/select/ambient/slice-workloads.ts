// Endpoints of slices that are no pods, as ztunnel knows them: they were written by hand, and may be anybody's.
// Source: Istio pilot/pkg/serviceregistry/ambient/workloads.go (endpointSlicesBuilder).

import type { EndpointSliceData } from '../../kinds/kubernetes/endpoint-slice.ts';
import { kubernetesHost } from '../../model/hosts.ts';
import { configKey } from '../../model/object.ts';
import type { Query } from '../../query/reader.ts';
import { SERVICE_NAME_LABEL } from '../../registry/slice-endpoints.ts';
import { localNetwork } from './network.ts';
import type { AmbientService } from './service.ts';
import { ambientServiceNamed } from './services.ts';
import {
  type AmbientWorkload,
  trustDomainOf,
  unknownWorkload,
  type WorkloadService,
  workloadService,
} from './workload.ts';

/** Argument `namespace/name` of a slice of the config cluster. In the order of its endpoints. */
export const sliceWorkloads: Query<string, readonly AmbientWorkload[]> = {
  name: 'select/ambient/sliceWorkloads',
  run: (reader, key) => {
    const cluster = reader.setting('clusterId');
    const slice = reader.object('EndpointSlice', `${cluster}/${key}`);
    if (slice === undefined || slice.spec.addressType === 'FQDN') return [];
    const { namespace, name, creationTime } = slice;
    const of = slice.labels[SERVICE_NAME_LABEL];
    const foreign = slice.spec.endpoints.filter(({ targetRef }) => targetRef?.kind !== 'Pod');
    // Most slices have pods alone, and so depend on no service.
    if (of === undefined || foreign.length === 0) return [];
    const host = kubernetesHost(of, namespace, reader.setting('domainSuffix'));
    const service = reader.get(ambientServiceNamed, configKey(namespace, host));
    if (service?.registry !== 'Service') return [];
    const shared = {
      ...unknownWorkload,
      name,
      namespace,
      creationTime,
      network: reader.get(localNetwork, ''),
      trustDomain: trustDomainOf(reader),
      services: [reader.make(workloadService, portsOf(slice.spec, service))],
      cluster,
      hostNetwork: true,
    };
    const found = new Map<string, AmbientWorkload>();
    for (const { addresses, conditions } of foreign) {
      const first = addresses[0]!;
      if (found.has(first)) continue;
      const uid = `${cluster}/discovery.k8s.io/EndpointSlice/${namespace}/${name}/${first}`;
      found.set(first, { ...shared, uid, addresses, healthy: conditions.ready ?? true });
    }
    return [...found.values()];
  },
};

/** Ports of a slice belong to the ports of the service by name. */
function portsOf({ ports }: EndpointSliceData, service: AmbientService): WorkloadService {
  const joined = ports.flatMap(({ name, port, protocol }) => {
    const of = service.ports.find(candidate => candidate.name === name);
    return of === undefined || port === undefined || protocol !== 'TCP' ? [] : [[of.port, port] as const];
  });
  return { name: configKey(service.namespace, service.hostname), ports: joined };
}
