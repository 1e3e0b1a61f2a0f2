// Label maps: equality, selection, and the names of the labels that mean something to the mesh.

import { keysOf } from './keys.ts';

export type Labels = Readonly<Record<string, string>>;

export const REGION_LABEL = 'topology.kubernetes.io/region';
export const ZONE_LABEL = 'topology.kubernetes.io/zone';
export const SUBZONE_LABEL = 'topology.istio.io/subzone';
export const CLUSTER_LABEL = 'topology.istio.io/cluster';
export const NETWORK_LABEL = 'topology.istio.io/network';
export const HOSTNAME_LABEL = 'kubernetes.io/hostname';
export const TLS_MODE_LABEL = 'security.istio.io/tlsMode';
export const WORKLOAD_NAME_LABEL = 'service.istio.io/workload-name';
/** On everything that is made for a Gateway (Gateway API): which controller made it. */
export const MANAGED_LABEL = 'gateway.istio.io/managed';
export const WAYPOINT_CONTROLLER = 'istio.io-mesh-controller';
export const EAST_WEST_CONTROLLER = 'istio.io-eastwest-controller';
const LEGACY_REGION_LABEL = 'failure-domain.beta.kubernetes.io/region';
const LEGACY_ZONE_LABEL = 'failure-domain.beta.kubernetes.io/zone';
const LOCALITY_LABEL = 'topology.istio.io/locality';
const LEGACY_LOCALITY_LABEL = 'istio-locality';

/** To list the names of a map of a megabyte takes 15 ms, however few of them are wanted: longer lists are kept. */
const LISTED_ANEW_MAX = 64;
const longLists = new WeakMap<Labels, readonly string[]>();

/** The names of the labels, in the order of the map. */
export function labelNames(labels: Labels): readonly string[] {
  const known = longLists.get(labels);
  if (known !== undefined) return known;
  const names = keysOf(labels);
  if (names.length > LISTED_ANEW_MAX) longLists.set(labels, names);
  return names;
}

export function hasLabels(labels: Labels | undefined): boolean {
  return labels !== undefined && labelNames(labels).length > 0;
}

/** True if `labels` has every pair of `selector`; an empty selector selects everything. */
export function selects(selector: Labels, labels: Labels): boolean {
  for (const key of labelNames(selector)) if (labels[key] !== selector[key]) return false;
  return true;
}

export function sameLabels(a: Labels, b: Labels): boolean {
  return Object.keys(a).length === Object.keys(b).length && selects(a, b);
}

/** The text of the label that gives a workload's locality; empty when there is none. */
export function localityLabel(labels: Labels): string {
  return labels[LOCALITY_LABEL] ?? labels[LEGACY_LOCALITY_LABEL] ?? '';
}

/**
 * The locality that a workload's label gives, as `region/zone/subzone`; empty when there is none. Without a slash, dots
 * separate.
 */
export function localityOfLabels(labels: Labels): string {
  const text = localityLabel(labels);
  return text.includes('/') ? text : text.replaceAll('.', '/');
}

/** The locality that a node's labels give; empty when they give none. */
export function localityOfNode(labels: Labels): string {
  const region = labels[REGION_LABEL] || labels[LEGACY_REGION_LABEL] || '';
  const zone = labels[ZONE_LABEL] || labels[LEGACY_ZONE_LABEL] || '';
  const subzone = labels[SUBZONE_LABEL] || '';
  return region === '' && zone === '' && subzone === '' ? '' : `${region}/${zone}/${subzone}`;
}

export interface LocalityParts {
  readonly region: string;
  readonly zone: string;
  readonly subzone: string;
}

/** The parts of `region/zone/subzone`; missing parts are empty, further parts ignored. */
export function splitLocality(locality: string): LocalityParts {
  const [region = '', zone = '', subzone = ''] = locality.split('/');
  return { region, zone, subzone };
}

export interface Topology {
  readonly cluster: string;
  readonly locality: string;
  readonly node: string;
  readonly network: string;
}

/**
 * Labels with those of the topology, which everything that selects workloads by label may use. A network label is never
 * replaced.
 */
export function withTopology(labels: Labels, { cluster, locality, node, network }: Topology): Labels {
  const { region, zone, subzone } = splitLocality(locality);
  const all: Record<string, string> = { ...labels };
  if (region !== '') all[REGION_LABEL] = region;
  if (zone !== '') all[ZONE_LABEL] = zone;
  if (subzone !== '') all[SUBZONE_LABEL] = subzone;
  if (cluster !== '') all[CLUSTER_LABEL] = cluster;
  if (node !== '') all[HOSTNAME_LABEL] = node;
  if (network !== '' && !labels[NETWORK_LABEL]) all[NETWORK_LABEL] = network;
  return all;
}
