// A pod of the config cluster as ztunnel knows it.
// Source: Istio pilot/pkg/serviceregistry/ambient/workloads.go (podWorkloadBuilder).

import { REGION_LABEL, SUBZONE_LABEL, ZONE_LABEL } from '../../base/labels.ts';
import { kubernetesHost } from '../../model/hosts.ts';
import { configKey, kubernetesKey, type Obj } from '../../model/object.ts';
import type { Query, Reader } from '../../query/reader.ts';
import { containerPort, hasEnded, isReady, workloadNameOf } from '../../registry/pods.ts';
import { SERVICE_NAME_LABEL } from '../../registry/slice-endpoints.ts';
import { localNetwork } from './network.ts';
import { gatewayOfNetwork } from './network-gateways.ts';
import type { AmbientPort, AmbientService } from './service.ts';
import { ambientServiceNamed } from './services.ts';
import { tunnelOf } from './tunnel.ts';
import { isOfWaypoint } from './waypoints.ts';
import {
  type AmbientWorkload,
  canonicalOf,
  policiesOf,
  portsAt,
  servicesSelecting,
  trustDomainOf,
  unknownWorkload,
  type WorkloadService,
  waypointPartsOf,
  workloadService,
} from './workload.ts';

/** Argument `namespace/name`. Undefined: it has ended, or has no address. */
export const podAmbientWorkload: Query<string, AmbientWorkload | undefined> = {
  name: 'select/ambient/podWorkload',
  run: (reader, key) => {
    const pod = reader.object('Pod', `${reader.setting('clusterId')}/${key}`);
    if (pod === undefined || !isWorkload(pod)) return undefined;
    const { cluster, namespace, name, labels, annotations, creationTime, spec } = pod;
    const services = servicesOf(reader, pod);
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
      services: services.map(service => reader.make(workloadService, portsIn(pod, service))),
      authorizationPolicies: policiesOf(reader, pod, waypoint, services),
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

/** Services that select the pod, then Services without a selector whose slices name it. */
function servicesOf(reader: Reader, pod: Obj<'Pod'>): readonly AmbientService[] {
  const { cluster, namespace, name, labels } = pod;
  const all = reader.get(servicesSelecting, { namespace, labels });
  const selecting = reader.feature('PILOT_ENABLE_SERVICEENTRY_SELECT_PODS')
    ? all
    : all.filter(({ registry }) => registry === 'Service');
  const found = new Map(selecting.map(service => [service.hostname, service] as const));
  for (const slice of reader.indexed('slicesByPod', `${cluster}/${namespace}/${name}`)) {
    const of = slice.labels[SERVICE_NAME_LABEL];
    if (of === undefined || slice.spec.addressType === 'FQDN') continue;
    const host = kubernetesHost(of, slice.namespace, reader.setting('domainSuffix'));
    const service = found.has(host) ? undefined : reader.get(ambientServiceNamed, configKey(slice.namespace, host));
    if (service?.registry === 'Service') found.set(host, service);
  }
  return [...found.values()];
}

function portsIn(pod: Obj<'Pod'>, service: AmbientService): WorkloadService {
  return portsAt(service, port => targetIn(pod, service, port));
}

/** Undefined: the pod has no port of that name. */
function targetIn(pod: Obj<'Pod'>, { registry }: AmbientService, port: AmbientPort): number | undefined {
  if (port.targetName !== '') return containerPort(pod, port.targetName, 'TCP');
  if (registry === 'Service') return port.targetPort;
  return containerPort(pod, port.name, 'TCP') ?? port.targetPort;
}
