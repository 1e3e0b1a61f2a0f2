// WorkloadEntries as ztunnel knows them. Their health does not count, in istiod either.
// Source: Istio pilot/pkg/serviceregistry/ambient/workloads.go (workloadEntryWorkloadBuilder,
// constructServicesFromWorkloadEntry).

import { isIp } from '../../base/ip.ts';
import { canonicalJson } from '../../base/json.ts';
import { type Labels, splitLocality, WORKLOAD_NAME_LABEL } from '../../base/labels.ts';
import { REGISTRATION_GROUP } from '../../kinds/istio/workload-entry.ts';
import { KEY_SEPARATOR, type Query, type Reader } from '../../query/reader.ts';
import type { WorkloadEntry } from '../../schema/istio-types.gen.ts';
import { localNetwork } from './network.ts';
import { gatewayOfNetwork } from './network-gateways.ts';
import { labelledKey } from './peer-authentications.ts';
import type { AmbientPort, AmbientService } from './service.ts';
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
  waypointKeysOf,
  waypointPartsOf,
  workloadService,
} from './workload.ts';

/** Argument `namespace/name`. */
export const machineWorkload: Query<string, AmbientWorkload | undefined> = {
  name: 'select/ambient/machineWorkload',
  run: (reader, key) => {
    const entry = reader.object('WorkloadEntry', key);
    if (entry === undefined) return undefined;
    const { namespace, name, annotations, creationTime, spec } = entry;
    const labels = { ...spec.labels, ...entry.labels };
    const { services, waypointKeys } = reader.get(servicesOfMachine, { namespace, labels, ports: spec.ports ?? {} });
    const { waypoint, applicationTunnel } = waypointPartsOf(reader, { namespace, labels });
    const cluster = reader.setting('clusterId');
    const named = annotations[REGISTRATION_GROUP] ?? labels[WORKLOAD_NAME_LABEL];
    return {
      ...unknownWorkload,
      uid: `${cluster}/networking.istio.io/WorkloadEntry/${namespace}/${name}`,
      name,
      namespace,
      creationTime,
      ...placeOf(reader, spec, spec.network || reader.get(localNetwork, '')),
      tunnel: tunnelOf(labels, annotations),
      waypoint: waypoint?.address,
      ofWaypoint: isOfWaypoint(labels),
      applicationTunnel,
      workloadType: 'POD',
      ...canonicalOf(labels, named ?? name),
      services,
      authorizationPolicies: policiesOf(reader, { namespace, labels }, waypoint, waypointKeys),
      cluster,
    };
  },
};

/** What decides which services select a machine and at which ports it serves them. */
interface MachineTemplate {
  readonly namespace: string;
  readonly labels: Labels;
  readonly ports: Readonly<Record<string, number>>;
}

interface MachineServices {
  readonly services: readonly WorkloadService[];
  /** Of the waypoints of the services, each once. */
  readonly waypointKeys: readonly string[];
}

/** Machines with equal labels and ports share one list. */
const servicesOfMachine: Query<MachineTemplate, MachineServices> = {
  name: 'select/ambient/servicesOfMachine',
  key: template => [labelledKey(template), canonicalJson(template.ports)].join(KEY_SEPARATOR),
  run: (reader, { namespace, labels, ports }) => {
    const services = servicesOf(reader, namespace, labels);
    return {
      services: services.map(service => reader.make(workloadService, portsOfEndpoint({ ports }, service))),
      waypointKeys: waypointKeysOf(services),
    };
  },
};

function servicesOf(
  reader: Reader,
  namespace: string,
  labels: Readonly<Record<string, string>>,
): readonly AmbientService[] {
  const all = reader.get(servicesSelecting, { namespace, labels });
  if (reader.feature('PILOT_ENABLE_K8S_SELECT_WORKLOAD_ENTRIES')) return all;
  return all.filter(({ registry }) => registry === 'ServiceEntry');
}

/** What an endpoint says of where it is and who runs there. */
export function placeOf(reader: Reader, spec: WorkloadEntry, network: string) {
  const { address = '', serviceAccount = '', locality = '', weight = 0 } = spec;
  const { region, zone, subzone } = splitLocality(locality);
  return {
    ...(isIp(address) ? { addresses: [address] } : { hostname: address }),
    network,
    networkGateway: reader.get(gatewayOfNetwork, network),
    trustDomain: trustDomainOf(reader),
    serviceAccount,
    locality: region || zone || subzone ? `${region}/${zone}/${subzone}` : '',
    capacity: weight,
  };
}

/** The ports of a service at an endpoint. */
export function portsOfEndpoint({ ports = {} }: WorkloadEntry, service: AmbientService): WorkloadService {
  const own = new Map(Object.entries(ports));
  return portsAt(service, port => targetAt(own, port));
}

/** Undefined: the endpoint has no port of that name. */
function targetAt(own: ReadonlyMap<string, number>, port: AmbientPort): number | undefined {
  if (port.targetName !== '') return own.get(port.targetName);
  return own.get(port.name) ?? port.targetPort;
}
