// A connected proxy as the core sees it: the node of its first request, parsed once into facets, its subscriptions and
// NACKs. Generation never reads the node: it asks for one facet at a time (core/query/facets.ts), so proxies that agree
// in the facets asked for share every value. Source: Istio pilot/pkg/model/context.go, pkg/model/proxy.go
// (ParseMetadata, ParseServiceNodeWithMetadata).

import { isIp, isIpv4, isIpv6 } from '../base/ip.ts';
import { isObject, type Json, type JsonObject } from '../base/json.ts';

import type { Proof } from './caller.ts';

export type ProxyType = 'sidecar' | 'router' | 'waypoint' | 'ztunnel' | 'agentgateway';
export type IpMode = 'ipv4' | 'ipv6' | 'dual';

export interface Locality {
  readonly region: string;
  readonly zone: string;
  readonly subzone: string;
}

/** What follows from the node alone. */
export interface NodeFacets {
  readonly type: ProxyType;
  /** Third part of the node id: `<pod>.<namespace>` in Kubernetes. */
  readonly id: string;
  readonly ips: readonly string[];
  readonly ipMode: IpMode;
  /** Fourth part of the node id, e.g. `default.svc.cluster.local`. */
  readonly dnsDomain: string;
  /** Config namespace: metadata NAMESPACE, else the first label of the DNS domain. */
  readonly namespace: string;
  /** metadata CLUSTER_ID */
  readonly clusterId: string;
  /** metadata NETWORK */
  readonly network: string;
  /** node.cluster */
  readonly nodeCluster: string;
  readonly nodeLocality: Locality;
  /** ISTIO_VERSION as [major, minor, patch]; absent or unparsable counts as the newest. */
  readonly version: readonly [number, number, number];
}

export interface Subscription {
  readonly wildcard: boolean;
  /** Sorted, no repeats. */
  readonly names: readonly string[];
  /** Digest of the listed names (`State.nameLists`) that `names` is. */
  readonly list?: string;
}

export interface ProxyRecord {
  readonly connection: string;
  readonly connectedAt: number;
  readonly protocol: 'sotw' | 'delta';
  /** As sent, without `extensions`. */
  readonly node: JsonObject;
  readonly facets: NodeFacets;
  readonly metadata: JsonObject;
  /** Digest of the interned list of extensions. */
  readonly extensionsDigest?: string;
  /** Names of compiled-in extensions; undefined: the proxy listed none and is taken for istio-proxy. */
  readonly extensions: ReadonlySet<string> | undefined;
  readonly identities: readonly string[];
  /** How they were proven; absent where nothing was, and in journals of before. */
  readonly proof?: Proof;
  readonly subscriptions: Readonly<Record<string, Subscription>>;
  readonly nacks: Readonly<Record<string, { readonly at: number; readonly message: string }>>;
}

const newest: readonly [number, number, number] = [65535, 65535, 65535];
const proxyTypes: readonly string[] = ['sidecar', 'router', 'waypoint', 'ztunnel', 'agentgateway'];

/** The facets of a node, or its problem (gRPC INVALID_ARGUMENT). */
export function parseNode(node: JsonObject): NodeFacets | { readonly error: string } {
  if (typeof node.id !== 'string' || node.id === '') return { error: 'missing node information' };
  const parts = node.id.split('~');
  const [type, address, id, dnsDomain] = parts;
  if (
    parts.length !== 4 ||
    type === undefined ||
    address === undefined ||
    id === undefined ||
    dnsDomain === undefined
  ) {
    return { error: `node id ${JSON.stringify(node.id)} must have four parts: type~ip~id~dnsDomain` };
  }
  if (!proxyTypes.includes(type)) return { error: `unknown proxy type ${JSON.stringify(type)} in node id` };
  const metadata = isObject(node.metadata) ? node.metadata : {};
  const ips = proxyIps(metadata, address);
  if (ips.length === 0) return { error: 'no valid IP address in the service node id or metadata' };
  const locality = isObject(node.locality) ? node.locality : {};
  return {
    type: type as ProxyType,
    id,
    ips,
    ipMode: ipModeOf(ips),
    ...placeOf(metadata, id, dnsDomain),
    clusterId: metadataText(metadata, 'CLUSTER_ID'),
    network: metadataText(metadata, 'NETWORK'),
    nodeCluster: scalarText(node.cluster),
    nodeLocality: {
      region: scalarText(locality.region),
      zone: scalarText(locality.zone),
      subzone: scalarText(locality.subZone ?? locality.sub_zone),
    },
    version: parseVersion(metadataText(metadata, 'ISTIO_VERSION')),
  };
}

/** A metadata value as text; empty if it is absent or not a scalar. */
export function metadataText(metadata: JsonObject, key: string): string {
  return scalarText(metadata[key]);
}

/** A scalar as text, as Istio stringifies booleans and numbers; empty for anything else. */
export function scalarText(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

function proxyIps(metadata: JsonObject, address: string): readonly string[] {
  const listed = metadataText(metadata, 'INSTANCE_IPS')
    .split(',')
    .map(ip => ip.trim())
    .filter(ip => ip !== '');
  if (listed.length > 0 && listed.every(isIp)) return listed;
  return isIp(address) ? [address] : [];
}

function ipModeOf(ips: readonly string[]): IpMode {
  const v4 = ips.some(isIpv4);
  const v6 = ips.some(isIpv6);
  return v4 && v6 ? 'dual' : v6 ? 'ipv6' : 'ipv4';
}

/**
 * The bootstrap that Istio's injection template `grpc-simple` writes holds no namespace: its DNS domain is that of the
 * whole cluster, and only the id `<pod>.<namespace>` says where the program runs.
 */
function placeOf(metadata: JsonObject, id: string, dnsDomain: string): Pick<NodeFacets, 'namespace' | 'dnsDomain'> {
  const bare = metadataText(metadata, 'GENERATOR') === 'grpc' && metadataText(metadata, 'NAMESPACE') === '';
  const namespace = id.slice(id.lastIndexOf('.') + 1);
  if (!bare || dnsDomain.includes('.svc.') || !id.includes('.') || namespace === '') {
    return { namespace: configNamespace(metadata, dnsDomain), dnsDomain };
  }
  return { namespace, dnsDomain: `${namespace}.svc.${dnsDomain}` };
}

function configNamespace(metadata: JsonObject, dnsDomain: string): string {
  const named = metadataText(metadata, 'NAMESPACE');
  if (named !== '') return named;
  const labels = dnsDomain.split('.');
  return labels.length >= 2 ? labels[0]! : '';
}

function parseVersion(text: string): readonly [number, number, number] {
  const match = /^(?:release-)?([0-9]+)\.([0-9]+)(?:\.([0-9]+))?/.exec(text);
  if (match === null) return newest;
  return [Number(match[1]), Number(match[2]), match[3] === undefined ? 65535 : Number(match[3])];
}
