// A Service of the config cluster as ztunnel knows it.
// Source: Istio pilot/pkg/serviceregistry/ambient/services.go (constructService).

import type { ServiceData } from '../../kinds/kubernetes/service.ts';
import { kubernetesHost } from '../../model/hosts.ts';
import { configKey, type Obj } from '../../model/object.ts';
import { kubernetesProtocol } from '../../model/protocol.ts';
import type { TrafficDistribution } from '../../model/service.ts';
import type { Query, Reader } from '../../query/reader.ts';
import { trafficDistributionOf } from '../../registry/traffic-distribution.ts';
import { localNetwork } from './network.ts';
import type { AmbientPort, AmbientService, LoadBalancing } from './service.ts';
import { ingressUsesWaypoint, waypointOf } from './waypoints.ts';

/** Argument `namespace/name`. Undefined: there is none, or it is another name of a host. */
export const kubernetesAmbientService: Query<string, AmbientService | undefined> = {
  name: 'select/ambient/kubernetesService',
  run: (reader, key) => {
    if (!reader.feature('PILOT_ENABLE_AMBIENT')) return undefined;
    const obj = reader.object('Service', `${reader.setting('clusterId')}/${key}`);
    if (obj === undefined || obj.spec.type === 'ExternalName') return undefined;
    const { name, namespace } = obj;
    return {
      name,
      namespace,
      hostname: kubernetesHost(name, namespace, reader.setting('domainSuffix')),
      registry: 'Service',
      network: reader.get(localNetwork, ''),
      addresses: addressesOf(obj.spec),
      ports: obj.spec.ports.map(portOf),
      subjectAltNames: [],
      ...waypointParts(reader, obj),
      loadBalancing: loadBalancingOf(reader, obj),
      ipFamilies: familiesOf(obj.spec.ipFamilies),
      canonical: true,
      selector: obj.spec.selector,
    };
  },
};

/** What the waypoint of a service gives it. */
export function waypointParts(
  reader: Reader,
  obj: Obj,
): Pick<AmbientService, 'waypoint' | 'waypointKey' | 'ingressUseWaypoint'> {
  const { waypoint } = waypointOf(reader, obj, 'service');
  if (waypoint === undefined) return { waypoint: undefined, waypointKey: '', ingressUseWaypoint: false };
  return {
    waypoint: waypoint.address,
    waypointKey: configKey(waypoint.namespace, waypoint.name),
    ingressUseWaypoint: ingressUsesWaypoint(reader, obj) ?? false,
  };
}

/** Undefined: any endpoint may be chosen. */
export function distributed(distribution: TrafficDistribution): LoadBalancing | undefined {
  switch (distribution) {
    case 'PreferSameZone':
      return { preference: ['NETWORK', 'REGION', 'ZONE'], mode: 'FAILOVER', allEndpoints: false };
    case 'PreferSameNode':
      return { preference: ['NETWORK', 'REGION', 'ZONE', 'SUBZONE', 'NODE'], mode: 'FAILOVER', allEndpoints: false };
    default:
      return undefined;
  }
}

function loadBalancingOf(reader: Reader, obj: Obj<'Service'>): LoadBalancing | undefined {
  const { internalTrafficPolicy, publishNotReadyAddresses, trafficDistribution } = obj.spec;
  const chosen: LoadBalancing | undefined =
    internalTrafficPolicy === 'Local'
      ? { preference: ['NODE'], mode: 'STRICT', allEndpoints: false }
      : distributed(trafficDistributionOf(reader, obj, trafficDistribution));
  if (!publishNotReadyAddresses) return chosen;
  return { ...(chosen ?? { preference: [], mode: undefined }), allEndpoints: true };
}

function addressesOf({ clusterIPs }: ServiceData): AmbientService['addresses'] {
  return clusterIPs.filter(address => address !== 'None').map(ip => ({ ip, bits: undefined }));
}

function portOf({ name, port, protocol, targetPort, appProtocol }: ServiceData['ports'][number]): AmbientPort {
  const isNamed = typeof targetPort === 'string';
  return {
    port,
    targetPort: isNamed ? 0 : targetPort,
    name,
    targetName: isNamed ? targetPort : '',
    protocol: kubernetesProtocol(appProtocol, name, protocol, port),
  };
}

function familiesOf(families: readonly string[] = []): AmbientService['ipFamilies'] {
  if (families.length === 2) return 'DUAL';
  if (families.length !== 1) return 'AUTOMATIC';
  return families[0] === 'IPv4' ? 'IPV4_ONLY' : 'IPV6_ONLY';
}
