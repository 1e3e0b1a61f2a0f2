// A pod of the config cluster as ztunnel knows it.
// Source: Istio pilot/pkg/serviceregistry/ambient/workloads.go (podWorkloadBuilder).

import { REGION_LABEL, SUBZONE_LABEL, ZONE_LABEL } from '../../base/labels.ts';
import { kubernetesKey, type Obj } from '../../model/object.ts';
import type { Query } from '../../query/reader.ts';
import { hasEnded, isReady, workloadNameOf } from '../../registry/pods.ts';
import { localNetwork } from './network.ts';
import { gatewayOfNetwork } from './network-gateways.ts';
import { podServicesOf } from './pod-services.ts';
import { tunnelOf } from './tunnel.ts';
import { isOfWaypoint } from './waypoints.ts';
import {
  type AmbientWorkload,
  canonicalOf,
  policiesOf,
  trustDomainOf,
  unknownWorkload,
  waypointPartsOf,
} from './workload.ts';

/** Argument `namespace/name`. Undefined: it has ended, or has no address. */
export const podAmbientWorkload: Query<string, AmbientWorkload | undefined> = {
  name: 'select/ambient/podWorkload',
  run: (reader, key) => {
    const pod = reader.object('Pod', `${reader.setting('clusterId')}/${key}`);
    if (pod === undefined || !isWorkload(pod)) return undefined;
    const { cluster, namespace, name, labels, annotations, creationTime, spec } = pod;
    const { services, waypointKeys } = podServicesOf(reader, pod);
    const { waypoint, applicationTunnel } = waypointPartsOf(reader, pod);
    const network = reader.get(localNetwork, '');
    return {
      ...unknownWorkload,
      uid: `${cluster}//Pod/${namespace}/${name}`,
      name,
      namespace,
      creationTime,
      addresses: spec.podIPs,
      network,
      networkGateway: reader.get(gatewayOfNetwork, network),
      tunnel: tunnelOf(labels, annotations),
      trustDomain: trustDomainOf(reader),
      serviceAccount: spec.serviceAccountName,
      waypoint: waypoint?.address,
      ofWaypoint: isOfWaypoint(labels),
      applicationTunnel,
      node: spec.nodeName,
      workloadType: 'POD',
      ...canonicalOf(labels, workloadNameOf(pod)),
      services,
      authorizationPolicies: policiesOf(reader, pod, waypoint, waypointKeys),
      healthy: isReady(pod) && spec.deletionTimestamp === undefined,
      cluster,
      locality: reader.get(nodeLocality, kubernetesKey(cluster, '', spec.nodeName)),
      hostNetwork: spec.hostNetwork,
    };
  },
};

/** One that waits for its containers counts as soon as it has an address. */
function isWorkload(pod: Obj<'Pod'>): boolean {
  return !hasEnded(pod) && pod.spec.podIPs.length > 0;
}

/** Argument: key of a node. `region/zone/subzone` by its labels; empty: unknown. Labels of pods do not count. */
const nodeLocality: Query<string, string> = {
  name: 'select/ambient/nodeLocality',
  run: (reader, key) => {
    const labels = reader.object('Node', key)?.labels ?? {};
    const parts = [REGION_LABEL, ZONE_LABEL, SUBZONE_LABEL].map(label => labels[label] ?? '');
    return parts.every(part => part === '') ? '' : parts.join('/');
  },
};
