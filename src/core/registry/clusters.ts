// Facts about clusters and networks: which network a workload is in, and what the registry of a cluster knows of its
// namespaces. Source: Istio pilot/pkg/serviceregistry/kube/controller/network.go.

import { isLeft } from 'fp-ts/lib/Either.js';
import ipaddr from 'ipaddr.js';
import { isCidr, isIp } from '../base/ip.ts';
import { isObject } from '../base/json.ts';
import { type Labels, NETWORK_LABEL } from '../base/labels.ts';
import { readYaml } from '../base/yaml.ts';
import { compareText, kubernetesKey, type Obj } from '../model/object.ts';
import type { Query, Reader } from '../query/reader.ts';

/** Objects of several clusters in the order of precedence: the config cluster first, then by name. */
export function inClusterOrder<O extends Obj>(reader: Reader, objects: readonly O[]): readonly O[] {
  const config = reader.setting('clusterId');
  const rank = (obj: O): number => (obj.cluster === config ? 0 : 1);
  return [...objects].sort((a, b) => rank(a) - rank(b) || compareText(a.cluster, b.cluster));
}

/**
 * The network of a workload: its label, the label of the system namespace, meshNetworks by registry, then by address;
 * else empty.
 */
export function networkOf(reader: Reader, cluster: string, labels: Labels, address: string): string {
  const own = labels[NETWORK_LABEL] || reader.get(clusterNetwork, cluster);
  if (own !== '') return own;
  const ranges = reader.get(networkRanges, '');
  return ranges.length === 0 ? '' : networkOfAddress(ranges, address);
}

/** Argument: a cluster. The network of all its workloads, if it has one. */
const clusterNetwork: Query<string, string> = {
  name: 'registry/clusterNetwork',
  run: (reader, cluster) => {
    const system = reader.object('Namespace', `${cluster}/${reader.setting('systemNamespace')}`);
    const label = system?.labels[NETWORK_LABEL];
    if (label) return label;
    for (const [name, network] of sortedNetworks(reader)) {
      if (network.endpoints?.some(endpoint => endpoint.fromRegistry === cluster)) return name;
    }
    return '';
  },
};

interface NetworkRange {
  readonly cidr: string;
  readonly network: string;
}

/** Wider ranges first: of those that have an address, the widest says its network. */
const networkRanges: Query<'', readonly NetworkRange[]> = {
  name: 'registry/networkRanges',
  run: reader => {
    const ranges = sortedNetworks(reader).flatMap(([network, { endpoints = [] }]) =>
      endpoints.flatMap(({ fromCidr }) =>
        fromCidr !== undefined && isCidr(fromCidr) ? [{ cidr: fromCidr, network }] : [],
      ),
    );
    return ranges.sort((a, b) => bitsOf(a) - bitsOf(b));
  },
};

function bitsOf({ cidr }: NetworkRange): number {
  return Number(cidr.slice(cidr.indexOf('/') + 1));
}

function sortedNetworks(reader: Reader) {
  return Object.entries(reader.networks().networks ?? {}).sort(([a], [b]) => compareText(a, b));
}

function networkOfAddress(ranges: readonly NetworkRange[], address: string): string {
  // No prefix contains an address with a zone (netip.Prefix.Contains).
  if (!isIp(address) || address.includes('%')) return '';
  const ip = ipaddr.parse(address);
  for (const { cidr, network } of ranges) {
    const [base, bits] = ipaddr.parseCIDR(cidr);
    if (base.kind() === ip.kind() && ip.match(base, bits)) return network;
  }
  return '';
}

/** The name of the ConfigMap with the mesh configuration of a revision. */
export function meshConfigMapName(revision: string): string {
  return revision === '' || revision === 'default' ? 'istio' : `istio-${revision}`;
}

/**
 * Argument: a cluster. A remote cluster has the trust domain that its own mesh configuration names, else that of the
 * mesh. (Istio takes `cluster.local` for a cluster without that ConfigMap.)
 * Source: Istio pilot/pkg/serviceregistry/kube/controller/controller.go (meshWatcher), pkg/config/mesh/watchers.go.
 */
export const trustDomainIn: Query<string, string> = {
  name: 'registry/trustDomainIn',
  run: (reader, cluster) => {
    const ours = reader.mesh('trustDomain');
    if (cluster === reader.setting('clusterId')) return ours;
    const name = meshConfigMapName(reader.setting('revision'));
    const map = reader.object('ConfigMap', kubernetesKey(cluster, reader.setting('systemNamespace'), name));
    return trustDomainOf(map?.spec.data.mesh ?? '') || ours;
  },
};

/** Of the mesh configuration of a remote cluster; a longer one is not parsed, its line `trustDomain:` counts. */
export const REMOTE_MESH_CHARS_MAX = 16_384;

const TRUST_DOMAIN_LINE = /^trustDomain:[^\n]{0,1000}$/m;

function trustDomainOf(text: string): string {
  const part = text.length <= REMOTE_MESH_CHARS_MAX ? text : (TRUST_DOMAIN_LINE.exec(text)?.[0] ?? '');
  const mesh = readYaml(part);
  if (isLeft(mesh) || !isObject(mesh.right)) return '';
  const { trustDomain } = mesh.right;
  return typeof trustDomain === 'string' ? trustDomain : '';
}

/** The identity of a service account. */
export function spiffeId(trustDomain: string, namespace: string, serviceAccount: string): string {
  return `spiffe://${trustDomain}/ns/${namespace}/sa/${serviceAccount}`;
}
