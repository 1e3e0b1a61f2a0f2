// Waypoints: which Gateways are waypoints, and which object uses which. A Gateway of any class is a waypoint once its
// status has addresses; it need not be deployed by us.
//
// The label of an object hides that of its namespace even if it names no waypoint or a forbidden one.
// Source: Istio pilot/pkg/serviceregistry/ambient/waypoints.go.

import { goBoolean } from '../../base/go-boolean.ts';
import { isIp } from '../../base/ip.ts';
import { EAST_WEST_CONTROLLER, type Labels, MANAGED_LABEL, WAYPOINT_CONTROLLER } from '../../base/labels.ts';
import type { GatewayAddresses } from '../../kinds/gateway-api/kubernetes-gateway.ts';
import { isReadable, type LabelSelector, selectsAll } from '../../mesh/label-selector.ts';
import { configKey, type Obj } from '../../model/object.ts';
import type { Query, Reader } from '../../query/reader.ts';
import { localNetwork } from './network.ts';

export interface Waypoint {
  readonly namespace: string;
  readonly name: string;
  /** Undefined: the status has addresses, but none that a client could use. */
  readonly address: WaypointAddress | undefined;
  /** Of label istio.io/waypoint-for: service, workload, all; any other text admits nothing. */
  readonly trafficType: string;
  readonly binding: InboundBinding | undefined;
  readonly allowed: AllowedNamespaces;
}

/** A service of the mesh, or an address in a network. */
export type WaypointAddress =
  | { readonly namespace: string; readonly hostname: string }
  | { readonly network: string; readonly ip: string };

/** How traffic enters the waypoint's own pods; port 0: the port of the destination. */
export interface InboundBinding {
  readonly protocol: 'NONE' | 'PROXY';
  readonly port: number;
}

interface AllowedNamespaces {
  readonly from: string;
  readonly selector: LabelSelector | undefined;
}

/** The object that asks for a waypoint. */
export interface Bound {
  readonly namespace: string;
  readonly labels: Labels;
}
export type BoundKind = 'service' | 'workload';

/** Neither member: the object asks for no waypoint. */
export interface WaypointChoice {
  readonly waypoint?: Waypoint;
  readonly problem?: WaypointProblem;
}
export interface WaypointProblem {
  readonly reason: 'notReady' | 'denied' | 'unsupportedTraffic';
  /** `namespace/name` of the waypoint. */
  readonly waypoint: string;
}

/** Port on which every waypoint takes HBONE. */
export const HBONE_PORT = 15_008;
export const GATEWAY_NAME_LABEL = 'gateway.networking.k8s.io/gateway-name';
const USE_WAYPOINT = 'istio.io/use-waypoint';
const USE_WAYPOINT_NAMESPACE = 'istio.io/use-waypoint-namespace';
const INGRESS_USE_WAYPOINT = 'istio.io/ingress-use-waypoint';
const WAYPOINT_FOR = 'istio.io/waypoint-for';
const INBOUND_BINDING = 'ambient.istio.io/waypoint-inbound-binding';
const PROXY_LISTENER = 'istio.io/PROXY';

/** Argument: `namespace/name` of a Gateway. Undefined: it is no waypoint, or ambient mode is off. */
export const waypointNamed: Query<string, Waypoint | undefined> = {
  name: 'select/ambient/waypointNamed',
  run: (reader, key) => {
    if (!reader.feature('PILOT_ENABLE_AMBIENT')) return undefined;
    const gateway = reader.object('KubernetesGateway', key);
    if (gateway?.spec.status === undefined) return undefined;
    const gatewayClass = reader.object('GatewayClass', configKey('', gateway.spec.gatewayClassName));
    const binding = bindingOf(gateway.annotations[INBOUND_BINDING] ?? gatewayClass?.annotations[INBOUND_BINDING]);
    return {
      namespace: gateway.namespace,
      name: gateway.name,
      address: addressOf(reader, gateway.namespace, gateway.spec.status.addresses),
      trafficType: gateway.labels[WAYPOINT_FOR] ?? gatewayClass?.labels[WAYPOINT_FOR] ?? 'service',
      binding,
      allowed: allowedOf(gateway, binding),
    };
  },
};

/** Argument ''. By namespace and name. */
export const waypoints: Query<'', readonly Waypoint[]> = {
  name: 'select/ambient/waypoints',
  run: reader =>
    reader
      .objects('KubernetesGateway')
      .map(({ namespace, name }) => reader.get(waypointNamed, configKey(namespace, name)))
      .filter(waypoint => waypoint !== undefined),
};

/** The waypoint that takes the traffic of a service or of a workload. */
export function waypointOf(reader: Reader, bound: Bound, kind: BoundKind): WaypointChoice {
  if (kind === 'service' && isOfWaypoint(bound.labels)) return {};
  const choice = named(reader, bound);
  const { waypoint } = choice;
  if (waypoint === undefined || waypoint.trafficType === kind || waypoint.trafficType === 'all') return choice;
  // Workloads share the label of their namespace with services, for which the waypoint may be.
  if (kind === 'workload' && bound.labels[USE_WAYPOINT] === undefined) return {};
  return { problem: { reason: 'unsupportedTraffic', waypoint: configKey(waypoint.namespace, waypoint.name) } };
}

/** Of waypoints and east-west gateways, which have no waypoint themselves. */
export function isOfWaypoint(labels: Labels): boolean {
  const controller = labels[MANAGED_LABEL];
  return controller === WAYPOINT_CONTROLLER || controller === EAST_WEST_CONTROLLER;
}

/** The waypoint that a workload is an instance of. */
export function waypointOfInstance(reader: Reader, { namespace, labels }: Bound): Waypoint | undefined {
  const name = labels[GATEWAY_NAME_LABEL];
  return name === undefined ? undefined : reader.get(waypointNamed, configKey(namespace, name));
}

/** Whether ingress gateways send to the waypoint; undefined: neither the service nor its namespace says. */
export function ingressUsesWaypoint(reader: Reader, { namespace, labels }: Bound): boolean | undefined {
  const label = labels[INGRESS_USE_WAYPOINT] ?? namespaceLabels(reader, namespace)[INGRESS_USE_WAYPOINT];
  return label === undefined ? undefined : (goBoolean(label) ?? false);
}

/** Service accounts of a waypoint's pods, sorted; one for each pod. Argument: `namespace/name` of the waypoint. */
export const waypointAccounts: Query<string, readonly string[]> = {
  name: 'select/ambient/waypointAccounts',
  run: (reader, key) => {
    const [namespace, name] = key.split('/');
    return reader
      .objects('Pod', `${reader.setting('clusterId')}/${namespace}/`)
      .filter(({ labels, spec }) => labels[GATEWAY_NAME_LABEL] === name && spec.phase !== 'Failed')
      .map(({ spec }) => spec.serviceAccountName)
      .sort();
  },
};

function named(reader: Reader, { namespace, labels }: Bound): WaypointChoice {
  const key = nameIn(labels, namespace) ?? nameIn(namespaceLabels(reader, namespace), namespace) ?? '';
  if (key === '') return {};
  const waypoint = reader.get(waypointNamed, key);
  if (waypoint === undefined) return { problem: { reason: 'notReady', waypoint: key } };
  return allows(reader, waypoint, namespace) ? { waypoint } : { problem: { reason: 'denied', waypoint: key } };
}

/** `namespace/name` of the waypoint that labels name; empty: they decline one; undefined: they have no such label. */
function nameIn(labels: Labels, namespace: string): string | undefined {
  const name = labels[USE_WAYPOINT];
  if (name === undefined) return undefined;
  return name === 'none' ? '' : configKey(labels[USE_WAYPOINT_NAMESPACE] ?? namespace, name);
}

function allows(reader: Reader, { namespace, allowed }: Waypoint, from: string): boolean {
  if (allowed.from === 'All') return true;
  if (allowed.from !== 'Selector') return namespace === from;
  const { selector } = allowed;
  return selector !== undefined && isReadable(selector) && selectsAll(selector, namespaceLabels(reader, from));
}

function namespaceLabels(reader: Reader, namespace: string): Labels {
  return reader.object('Namespace', `${reader.setting('clusterId')}/${namespace}`)?.labels ?? {};
}

function addressOf(
  reader: Reader,
  namespace: string,
  addresses: GatewayAddresses['addresses'],
): WaypointAddress | undefined {
  const host = addresses.find(({ type }) => type === 'Hostname');
  if (host !== undefined) return { namespace, hostname: host.value ?? '' };
  const ip = addresses.find(({ type, value = '' }) => type === 'IPAddress' && isIp(value))?.value;
  return ip === undefined ? undefined : { network: reader.get(localNetwork, ''), ip };
}

/**
 * `NONE`, `PROXY`, or one of them with `/port`. A port that cannot be read is none, one that is too large the largest
 * number: Go's strconv.ParseUint gives both beside its error, which istiod only logs.
 */
function bindingOf(annotation: string | undefined): InboundBinding | undefined {
  if (annotation === undefined) return undefined;
  const [protocol, port = '', ...more] = annotation.split('/');
  if ((protocol !== 'NONE' && protocol !== 'PROXY') || more.length > 0) return undefined;
  return { protocol, port: /^\d+$/.test(port) ? Math.min(Number(port), 0xffff_ffff) : 0 };
}

/** The listener to which traffic is bound says who may attach, else the one for HBONE. */
function allowedOf({ spec }: Obj<'KubernetesGateway'>, binding: InboundBinding | undefined): AllowedNamespaces {
  const { listeners } = spec;
  const entrance =
    listeners.find(({ port, protocol }) => isBound(binding, port, protocol)) ??
    listeners.find(({ port, protocol }) => protocol === 'HBONE' && port === HBONE_PORT);
  const { from = 'Same', selector } = entrance?.allowedRoutes.namespaces ?? {};
  return { from, selector };
}

function isBound(binding: InboundBinding | undefined, port: number, protocol: string): boolean {
  if (binding === undefined) return false;
  if (binding.port !== 0) return port === binding.port;
  return binding.protocol === 'PROXY' && protocol === PROXY_LISTENER;
}
