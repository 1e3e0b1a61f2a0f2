// Workloads as ztunnel knows them: pods, WorkloadEntries, endpoints of ServiceEntries and of slices, and gateways of
// networks. Each is found by its object, so that a change of one object makes one workload anew.
// Source: Istio pilot/pkg/serviceregistry/ambient/workloads.go (WorkloadsCollection).

import { configKey } from '../../model/object.ts';
import type { Query } from '../../query/reader.ts';
import { endpointWorkloads } from './entry-workloads.ts';
import { gatewayWorkloads } from './gateway-workloads.ts';
import { machineWorkload } from './machine-workload.ts';
import { podAmbientWorkload } from './pod-workload.ts';
import { sliceWorkloads } from './slice-workloads.ts';
import type { AmbientWorkload } from './workload.ts';

/** Argument ''. All, in the order of their kinds and keys. */
export const ambientWorkloads: Query<'', readonly AmbientWorkload[]> = {
  name: 'select/ambient/workloads',
  run: reader => {
    if (!reader.feature('PILOT_ENABLE_AMBIENT')) return [];
    const prefix = `${reader.setting('clusterId')}/`;
    const keyed = ({ namespace, name }: Named): string => configKey(namespace, name);
    const own = [
      ...reader.objects('Pod', prefix).map(pod => reader.get(podAmbientWorkload, keyed(pod))),
      ...reader.objects('WorkloadEntry').map(entry => reader.get(machineWorkload, keyed(entry))),
    ];
    return [
      ...own.filter(workload => workload !== undefined),
      ...reader.objects('ServiceEntry').flatMap(entry => reader.get(endpointWorkloads, keyed(entry))),
      ...reader.objects('EndpointSlice', prefix).flatMap(slice => reader.get(sliceWorkloads, keyed(slice))),
      ...reader.get(gatewayWorkloads, ''),
    ];
  },
};

interface Named {
  readonly namespace: string;
  readonly name: string;
}
