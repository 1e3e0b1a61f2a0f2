// The gateways through which other networks are reached. Source: Istio pilot/pkg/model/network.go,
// pilot/pkg/serviceregistry/kube/controller/network.go; spec-clusters §14.1.
//
// A gateway known by a host name only would have to be resolved, which is no business of the core; endpoints behind it are reached
// where Envoy resolves names itself (clusters of DNS type), and are left out elsewhere, as Istio does with names it cannot resolve.

import { isObject } from '../json.ts';
import { compareText, type Obj } from '../object.ts';
import { isIp } from '../proxy.ts';
import type { Query, Reader } from '../reader.ts';
import { NETWORK_LABEL, selects } from '../registry/labels.ts';

/** A label that names another port than the usual one. */
const GATEWAY_PORT_LABEL = 'networking.istio.io/gatewayPort';
/** Nodes whose external addresses lead to a NodePort service; a JSON object of labels. */
const NODE_SELECTOR_ANNOTATION = 'traffic.istio.io/nodeSelector';
const GATEWAY_PORT = 15443;

export interface NetworkGateway {
  readonly network: string;
  /** The cluster it stands in; empty: it serves its network in every cluster. */
  readonly cluster: string;
  readonly address: string;
  readonly port: number;
}

/** Every gateway, also those known by a host name; by network, cluster, address, port. */
export const namedNetworkGateways: Query<'', readonly NetworkGateway[]> = {
  name: 'select/namedNetworkGateways',
  run: reader => {
    const found = new Map<string, NetworkGateway>();
    const add = (gateway: NetworkGateway): void => {
      found.set(`${gateway.network}|${gateway.cluster}|${gateway.address}|${gateway.port}`, gateway);
    };
    for (const service of reader.indexed('networkGatewayServices', 'gateway')) labelled(reader, service).forEach(add);
    for (const gateway of configured(reader)) add(gateway);
    return [...found.values()].sort(byPlace);
  },
};

/** Gateways with an address. */
export const networkGateways: Query<'', readonly NetworkGateway[]> = {
  name: 'select/networkGateways',
  run: reader => reader.get(namedNetworkGateways, '').filter(gateway => isIp(gateway.address)),
};

/** A service that its label makes the gateway of a network; without the port it cannot be one. */
function labelled(reader: Reader, service: Obj<'Service'>): readonly NetworkGateway[] {
  const port = Number(service.labels[GATEWAY_PORT_LABEL] ?? GATEWAY_PORT);
  if (!service.spec.ports.some(candidate => candidate.port === port)) return [];
  return gatewaysOf(reader, service, service.labels[NETWORK_LABEL] ?? '', port);
}

/** What MeshNetworks says: by address, or by the name of a service in a cluster of the network. */
function configured(reader: Reader): readonly NetworkGateway[] {
  const found: NetworkGateway[] = [];
  for (const [network, { gateways = [], endpoints = [] }] of Object.entries(reader.networks().networks ?? {})) {
    const clusters = new Set(endpoints.map(endpoint => endpoint.fromRegistry ?? ''));
    for (const gateway of gateways) {
      const port = gateway.port ?? 0;
      if (gateway.address !== undefined) found.push({ network, cluster: '', address: gateway.address, port });
      for (const service of servicesNamed(reader, gateway.registryServiceName ?? '')) {
        if (!clusters.has(service.cluster) || (service.labels[NETWORK_LABEL] ?? '') !== '') continue;
        found.push(...gatewaysOf(reader, service, network, port));
      }
    }
  }
  return found;
}

function servicesNamed(reader: Reader, hostname: string): readonly Obj<'Service'>[] {
  const suffix = `.svc.${reader.setting('domainSuffix')}`;
  if (!hostname.endsWith(suffix)) return [];
  const [name, namespace] = hostname.slice(0, -suffix.length).split('.');
  return namespace === undefined ? [] : reader.indexed('servicesByName', `${namespace}/${name}`);
}

function gatewaysOf(
  reader: Reader,
  service: Obj<'Service'>,
  network: string,
  servicePort: number,
): readonly NetworkGateway[] {
  const { type, loadBalancerIngress, externalIPs, ports } = service.spec;
  const { cluster } = service;
  const selector = type === 'NodePort' ? nodeSelector(service) : undefined;
  if (selector !== undefined) {
    const port = ports.find(candidate => candidate.port === servicePort)?.nodePort ?? servicePort;
    return nodeAddresses(reader, cluster, selector).map(address => ({ network, cluster, address, port }));
  }
  const balancers = type === 'LoadBalancer' ? loadBalancerIngress.map(({ ip, hostname }) => ip || hostname || '') : [];
  return [...balancers, ...externalIPs]
    .filter(address => address !== '')
    .map(address => ({ network, cluster, address, port: servicePort }));
}

function nodeSelector(service: Obj<'Service'>): Readonly<Record<string, string>> | undefined {
  const text = service.annotations[NODE_SELECTOR_ANNOTATION];
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? (value as Readonly<Record<string, string>>) : undefined;
  } catch {
    return undefined;
  }
}

function nodeAddresses(reader: Reader, cluster: string, selector: Readonly<Record<string, string>>): readonly string[] {
  return reader
    .objects('Node', `${cluster}/`)
    .filter(node => selects(selector, node.labels))
    .flatMap(node => node.spec.addresses.filter(({ type }) => type === 'ExternalIP').map(({ address }) => address));
}

function byPlace(a: NetworkGateway, b: NetworkGateway): number {
  return (
    compareText(a.network, b.network) ||
    compareText(a.cluster, b.cluster) ||
    compareText(a.address, b.address) ||
    a.port - b.port
  );
}
