// Workloads as ztunnel knows them: pods, WorkloadEntries, endpoints of ServiceEntries and of slices. Each is found by
// its object and listed by its namespace, so that a change of one object makes one workload and one list anew. Beside
// them are the gateways of networks (gateway-workloads.ts).
// Source: Istio pilot/pkg/serviceregistry/ambient/workloads.go (WorkloadsCollection).

import { configKey, type Obj } from '../../model/object.ts';
import type { Query } from '../../query/reader.ts';
import { endpointWorkloads } from './entry-workloads.ts';
import { machineWorkload } from './machine-workload.ts';
import { podAmbientWorkload } from './pod-workload.ts';
import { sliceWorkloads } from './slice-workloads.ts';
import type { AmbientWorkload } from './workload.ts';

/** Argument ''. Those that may have workloads, sorted; none where ambient mode is off. */
export const workloadNamespaces: Query<'', readonly string[]> = {
  name: 'select/ambient/workloadNamespaces',
  run: reader => {
    if (!reader.feature('PILOT_ENABLE_AMBIENT')) return [];
    const cluster = `${reader.setting('clusterId')}/`;
    const lists: readonly (readonly Obj[])[] = [
      reader.objects('Pod', cluster),
      reader.objects('WorkloadEntry'),
      reader.objects('ServiceEntry'),
      reader.objects('EndpointSlice', cluster),
    ];
    return [...new Set(lists.flat().map(({ namespace }) => namespace))].sort();
  },
};

/** Argument: a namespace. In the order of their kinds and keys. */
export const workloadsIn: Query<string, readonly AmbientWorkload[]> = {
  name: 'select/ambient/workloadsIn',
  run: (reader, namespace) => {
    const place = `${namespace}/`;
    const placeInCluster = `${reader.setting('clusterId')}/${place}`;
    const own = [
      ...reader.objects('Pod', placeInCluster).map(pod => reader.get(podAmbientWorkload, keyOf(pod))),
      ...reader.objects('WorkloadEntry', place).map(entry => reader.get(machineWorkload, keyOf(entry))),
    ];
    return [
      ...own.filter(workload => workload !== undefined),
      ...reader.objects('ServiceEntry', place).flatMap(entry => reader.get(endpointWorkloads, keyOf(entry))),
      ...reader.objects('EndpointSlice', placeInCluster).flatMap(slice => reader.get(sliceWorkloads, keyOf(slice))),
    ];
  },
};

function keyOf({ namespace, name }: Obj): string {
  return configKey(namespace, name);
}
