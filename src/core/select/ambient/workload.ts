// A workload as ztunnel knows it, before it is a message, and what workloads of all kinds have in common.
// Source: Istio pilot/pkg/serviceregistry/ambient/workloads.go.

import { type Labels, selects } from '../../base/labels.ts';
import { configKey } from '../../model/object.ts';
import { interning } from '../../query/memo.ts';
import type { Query, Reader } from '../../query/reader.ts';
import { canonicalService } from '../../registry/canonical-service.ts';
import { allowancesOf, authorizationsOf } from './authorizations.ts';
import type { GatewayTarget } from './network-gateways.ts';
import { type LabelledIn, labelledKey, peerAuthenticationsOf } from './peer-authentications.ts';
import type { AmbientPort, AmbientService } from './service.ts';
import { selectingServices } from './services.ts';
import type { Tunnel } from './tunnel.ts';
import { type Bound, type InboundBinding, type Waypoint, waypointOf, waypointOfInstance } from './waypoints.ts';

export interface AmbientWorkload {
  /** The name of the resource. */
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  /** Of the object. */
  readonly creationTime: number;
  /** IP addresses as text. */
  readonly addresses: readonly string[];
  /** In place of addresses. */
  readonly hostname: string;
  readonly network: string;
  readonly networkGateway: GatewayTarget | undefined;
  readonly tunnel: Tunnel;
  /** Empty: cluster.local. */
  readonly trustDomain: string;
  readonly serviceAccount: string;
  readonly waypoint: Waypoint['address'];
  /** It belongs to a waypoint or an east-west gateway, so no waypoint serves it. */
  readonly ofWaypoint: boolean;
  readonly applicationTunnel: InboundBinding | undefined;
  readonly node: string;
  readonly workloadName: string;
  readonly workloadType: 'POD' | 'DEPLOYMENT';
  readonly canonicalName: string;
  readonly canonicalRevision: string;
  readonly services: readonly WorkloadService[];
  readonly authorizationPolicies: readonly string[];
  readonly healthy: boolean;
  readonly cluster: string;
  /** `region/zone/subzone`; empty: unknown. */
  readonly locality: string;
  readonly hostNetwork: boolean;
  /** 0: as usual. */
  readonly capacity: number;
}

export interface WorkloadService {
  /** `namespace/hostname`. */
  readonly name: string;
  /** Each with its target. */
  readonly ports: readonly (readonly [port: number, targetPort: number])[];
}

/** Workloads with equal ports share them. */
export const workloadService = interning<WorkloadService>('select/ambient/workloadService');

/** A workload of which nothing is known but its name and place. */
export const unknownWorkload = {
  addresses: [],
  hostname: '',
  networkGateway: undefined,
  tunnel: 'NONE',
  serviceAccount: '',
  waypoint: undefined,
  ofWaypoint: false,
  applicationTunnel: undefined,
  node: '',
  workloadName: '',
  workloadType: 'DEPLOYMENT',
  canonicalName: '',
  canonicalRevision: '',
  services: [],
  authorizationPolicies: [],
  healthy: true,
  cluster: '',
  locality: '',
  hostNetwork: false,
  capacity: 0,
} as const satisfies Partial<AmbientWorkload>;

/** The ports of a service for which there is a target. */
export function portsAt(
  { namespace, hostname, ports }: AmbientService,
  targetOf: (port: AmbientPort) => number | undefined,
): WorkloadService {
  const found = ports.flatMap(port => {
    const targetPort = targetOf(port);
    return targetPort === undefined ? [] : [[port.port, targetPort] as const];
  });
  return { name: configKey(namespace, hostname), ports: found };
}

/** The services of a namespace whose selectors select the labels, by registry and name. */
export const servicesSelecting: Query<LabelledIn, readonly AmbientService[]> = {
  name: 'select/ambient/servicesSelecting',
  key: labelledKey,
  run: (reader, { namespace, labels }) =>
    reader.get(selectingServices, namespace).filter(({ selector }) => selects(selector, labels)),
};

export interface WaypointParts {
  readonly waypoint: Waypoint | undefined;
  readonly applicationTunnel: InboundBinding | undefined;
}

/** An instance of a waypoint has none itself. */
export function waypointPartsOf(reader: Reader, bound: Bound): WaypointParts {
  const instance = waypointOfInstance(reader, bound);
  if (instance !== undefined) return { waypoint: undefined, applicationTunnel: instance.binding };
  return { waypoint: waypointOf(reader, bound, 'workload').waypoint, applicationTunnel: undefined };
}

/**
 * The policies that a workload lists: authorizations, then modes, then what its waypoints are allowed. `waypointKeys`:
 * of its services.
 */
export function policiesOf(
  reader: Reader,
  of: LabelledIn,
  waypoint: Waypoint | undefined,
  waypointKeys: readonly string[],
): readonly string[] {
  return [
    ...reader.get(authorizationsOf, of),
    ...reader.get(peerAuthenticationsOf, of),
    ...allowancesOf(reader, waypoint, waypointKeys),
  ];
}

/** Of the waypoints of the services, each once. */
export function waypointKeysOf(services: readonly AmbientService[]): readonly string[] {
  return [...new Set(services.map(({ waypointKey }) => waypointKey))];
}

export function canonicalOf(labels: Labels, workloadName: string) {
  const { name, revision } = canonicalService(labels, workloadName);
  return { workloadName, canonicalName: name, canonicalRevision: revision };
}

export function trustDomainOf(reader: Reader): string {
  const domain = reader.mesh('trustDomain');
  return domain === 'cluster.local' ? '' : domain;
}
