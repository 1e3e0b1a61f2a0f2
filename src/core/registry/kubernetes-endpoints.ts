// Endpoints of a Kubernetes service in one cluster: of all its slices, and of the WorkloadEntries that it selects.
// Source: Istio pilot/pkg/serviceregistry/kube/controller/endpointslice.go,
// pilot/pkg/serviceregistry/kube/controller/controller.go.

import { append } from '../base/append.ts';
import { blocksOf, joined } from '../base/groups.ts';
import { hasLabels, selects } from '../base/labels.ts';
import type { Obj } from '../model/object.ts';
import type { Endpoint, Service } from '../model/service.ts';
import type { Query, Reader, Selection } from '../query/reader.ts';
import { workloadsInForce } from './endpoint-limits.ts';
import { endpointOf } from './endpoint-of.ts';
import { kubernetesService } from './kubernetes-service.ts';
import { candidateEntries, remoteCandidates } from './selecting.ts';
import { endpointsOfObject, endpointsOfSlice, isUsable } from './slice-endpoints.ts';
import { type EntryWorkload, needsNoName, workloadOfAny } from './workload-entry.ts';

/**
 * Argument `cluster/namespace/service`. Slices by name, no address and port name twice; then the WorkloadEntries by
 * name.
 */
export const kubernetesEndpoints: Query<string, readonly Endpoint[]> = {
  name: 'registry/kubernetesEndpoints',
  run: (reader, key) => {
    const cluster = key.slice(0, key.indexOf('/'));
    const slices = reader.indexed('slicesByService', key).filter(isUsable);
    const lists =
      slices.length === 0
        ? [reader.get(endpointsOfObject, key)]
        : slices.map(slice => reader.get(endpointsOfSlice, `${cluster}/${slice.namespace}/${slice.name}`));
    const found = withoutRepeats(joined(lists));
    if (reader.feature('PILOT_ENABLE_K8S_SELECT_WORKLOAD_ENTRIES'))
      append(found, selectedEntries(reader, key, cluster));
    return found;
  },
};

function withoutRepeats(endpoints: readonly Endpoint[]): Endpoint[] {
  const seen = new Map<string, Set<string | undefined>>();
  return endpoints.filter(({ addresses: [address], portName }) => {
    const known = seen.get(portName);
    if (known === undefined) seen.set(portName, new Set([address]));
    else if (known.has(address)) return false;
    else known.add(address);
    return true;
  });
}

function selectedEntries(reader: Reader, key: string, cluster: string): readonly Endpoint[] {
  const service = reader.get(kubernetesService, key);
  if (service === undefined) return [];
  const candidates = inForce(reader, service, candidatesOf(reader, service, cluster));
  if (candidates.length <= ENTRIES_ALONE_MAX) return endpointsOf(reader, service, candidates);
  return joined(
    blocksOf(candidates, ENTRIES_TOGETHER).map(entries => reader.select(endpointsOfEntries, { service, entries })),
  );
}

/** A Service selects WorkloadEntries of its own cluster. */
function candidatesOf(reader: Reader, { namespace, selector, resolution }: Service, cluster: string): Entries {
  if (resolution !== 'ClientSideLB' || !hasLabels(selector)) return [];
  if (cluster === reader.setting('clusterId')) return candidateEntries(reader, namespace, selector);
  return remoteCandidates(reader, namespace, selector).filter(obj => obj.cluster === cluster);
}

/** Argument ''. Services that select more WorkloadEntries than may become endpoints, and how many may. */
export const servicesPastLimit: Query<'', ReadonlyMap<string, number>> = {
  name: 'registry/servicesPastLimit',
  run: reader => {
    const found = new Map<string, number>();
    if (!reader.feature('PILOT_ENABLE_K8S_SELECT_WORKLOAD_ENTRIES')) return found;
    for (const { cluster, namespace, name } of reader.objects('Service')) {
      const key = `${cluster}/${namespace}/${name}`;
      const service = reader.get(kubernetesService, key);
      if (service === undefined) continue;
      const candidates = candidatesOf(reader, service, cluster);
      const most = workloadsInForce(candidates.length, service.ports.length);
      if (most !== undefined && selectedOf(reader, service, candidates).length > most) found.set(key, most);
    }
    return found;
  },
};

/** Those that become endpoints of every port of the service. */
function inForce(reader: Reader, service: Service, candidates: Entries): Entries {
  const most = workloadsInForce(candidates.length, service.ports.length);
  if (most === undefined) return candidates;
  return selectedOf(reader, service, candidates).slice(0, most);
}

function selectedOf(reader: Reader, service: Service, candidates: Entries): Entries {
  return candidates.filter(obj => isSelected(service, workloadOfAny(reader, obj)));
}

function isSelected({ selector }: Service, workload: EntryWorkload | undefined): workload is EntryWorkload {
  return workload !== undefined && needsNoName(workload) && selects(selector, workload.labels);
}

/** More are gone through in blocks, so that their endpoints stay made when the work is interrupted. */
const ENTRIES_ALONE_MAX = 256;
const ENTRIES_TOGETHER = 64;

type Entries = readonly (Obj<'WorkloadEntry'> | Obj<'RemoteWorkloadEntry'>)[];

const endpointsOfEntries: Selection<{ readonly service: Service; readonly entries: Entries }, readonly Endpoint[]> = {
  name: 'registry/endpointsOfWorkloadEntries',
  run: (reader, { service, entries }) => endpointsOf(reader, service, entries),
};

function endpointsOf(reader: Reader, service: Service, entries: Entries): readonly Endpoint[] {
  const found: Endpoint[] = [];
  for (const obj of entries) {
    const workload = workloadOfAny(reader, obj);
    if (!isSelected(service, workload)) continue;
    for (const port of service.ports) {
      const target = targetPort(port, workload.ports);
      if (port.protocol === 'UDP' || target === undefined) continue;
      const { addresses, weight } = workload;
      found.push(
        reader.make(endpointOf, {
          addresses,
          port: target,
          portName: port.name,
          servicePort: 0,
          workload,
          weight,
          health: 'Unset',
        }),
      );
    }
  }
  return found;
}

/**
 * Of a target port with a name the workload's port of that name, undefined when it has none; of one with a number the
 * workload's port that has the name of the service's port, else the number.
 */
export function targetPort(
  port: Service['ports'][number],
  named: Readonly<Record<string, number>>,
): number | undefined {
  const { targetPort: target, name } = port;
  if (typeof target === 'string') return Object.hasOwn(named, target) ? named[target] : undefined;
  if (target === undefined) return port.port;
  return Object.hasOwn(named, name) ? named[name] || target : target;
}
