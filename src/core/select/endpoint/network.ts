// The gateways through which other networks are reached. Source: Istio pilot/pkg/model/network.go,
// pilot/pkg/serviceregistry/kube/controller/network.go.
//
// A gateway with a host name stands for the addresses of the last DNS answer (objects of kind ResolvedName); until the
// first answer, the endpoints behind it are left out. Where Envoy resolves names itself (clusters of DNS type) the name
// stays.

import { append } from '../../base/append.ts';
import { isIp } from '../../base/ip.ts';
import { isObject } from '../../base/json.ts';
import { NETWORK_LABEL, selects } from '../../base/labels.ts';
import { dnsNameOf } from '../../kinds/periplus/resolved-name.ts';
import { kubernetesServiceOf } from '../../model/hosts.ts';
import { compareText, type Obj } from '../../model/object.ts';
import type { Query, Reader, Selection } from '../../query/reader.ts';
import { outsideAddresses } from '../../registry/kubernetes-service.ts';
import { gatewaysOfResources } from './gateway-resources.ts';
import type { NetworkGateway } from './network-gateway.ts';

/** A label that names another port than the usual one. */
const GATEWAY_PORT_LABEL = 'networking.istio.io/gatewayPort';
/** Nodes whose external addresses lead to a NodePort service; a JSON object of labels. */
const NODE_SELECTOR_ANNOTATION = 'traffic.istio.io/nodeSelector';
const GATEWAY_PORT = 15443;
const HBONE_PORT = 15008;
/** Gateways that Services are, of all networks together: those on node ports multiply with nodes. */
export const SERVICE_GATEWAYS_MAX = 10_000;

/** Every gateway, also those known by a host name; by network, cluster, address, port. */
export const namedNetworkGateways: Query<'', readonly NetworkGateway[]> = {
  name: 'select/namedNetworkGateways',
  run: reader => {
    const services = reader.indexed('networkGatewayServices', 'gateway');
    const found: NetworkGateway[] = [];
    for (const gateways of reader.selectEach(labelled, services)) {
      append(found, gateways.slice(0, SERVICE_GATEWAYS_MAX - found.length));
    }
    return distinct([...found, ...configured(reader), ...gatewaysOfResources(reader)]);
  },
};

/** Every gateway by its addresses, in the same order. */
export const networkGateways: Query<'', readonly NetworkGateway[]> = {
  name: 'select/networkGateways',
  run: reader => {
    return distinct(reader.get(namedNetworkGateways, '').flatMap(gateway => resolved(reader, gateway)));
  },
};

/** The names that have to be resolved, in the form of `dnsNameOf`; sorted. */
export const gatewayNames: Query<'', readonly string[]> = {
  name: 'select/gatewayNames',
  run: reader => {
    if (!reader.feature('RESOLVE_HOSTNAME_GATEWAYS')) return [];
    const names = reader.get(namedNetworkGateways, '').map(({ address }) => dnsNameOf(address));
    return [...new Set(names.filter(name => name !== undefined))].sort();
  },
};

function resolved(reader: Reader, gateway: NetworkGateway): readonly NetworkGateway[] {
  if (isIp(gateway.address)) return [gateway];
  const name = reader.feature('RESOLVE_HOSTNAME_GATEWAYS') ? dnsNameOf(gateway.address) : undefined;
  const answer = name && reader.object('ResolvedName', `${reader.setting('clusterId')}/${name}`);
  return answer ? answer.spec.addresses.map(address => ({ ...gateway, address })) : [];
}

function distinct(gateways: readonly NetworkGateway[]): readonly NetworkGateway[] {
  const found = new Map<string, NetworkGateway>();
  for (const gateway of gateways) {
    const { network, cluster, address, port, hbonePort, serviceAccount } = gateway;
    found.set(`${network}|${cluster}|${address}|${port}|${hbonePort}|${serviceAccount}`, gateway);
  }
  return [...found.values()].sort(byPlace);
}

/**
 * A service that its label makes the gateway of a network; it has to listen on the port for mTLS or on that for HBONE.
 */
const labelled: Selection<Obj<'Service'>, readonly NetworkGateway[]> = {
  name: 'select/gatewaysOfService',
  run: (reader, service) => {
    const named = service.labels[GATEWAY_PORT_LABEL] ?? '';
    const port = listensOn(service, /^\d+$/.test(named) ? Number(named) : GATEWAY_PORT);
    const hbonePort = listensOn(service, HBONE_PORT);
    if (port === 0 && hbonePort === 0) return [];
    return gatewaysOf(reader, service, service.labels[NETWORK_LABEL] ?? '', { port, hbonePort });
  },
};

/** The port, or 0. */
function listensOn({ spec }: Obj<'Service'>, port: number): number {
  return spec.ports.some(candidate => candidate.port === port) ? port : 0;
}

/** The gateways of MeshNetworks: by address, or by the name of a service in a cluster of the network. */
function configured(reader: Reader): readonly NetworkGateway[] {
  const found: NetworkGateway[] = [];
  for (const [network, { gateways = [], endpoints = [] }] of Object.entries(reader.networks().networks)) {
    const clusters = new Set(endpoints.map(endpoint => endpoint.fromRegistry ?? ''));
    for (const gateway of gateways) {
      const port = gateway.port ?? 0;
      if (gateway.address !== undefined) {
        found.push({ network, cluster: '', address: gateway.address, port, hbonePort: 0, serviceAccount: '' });
      }
      for (const service of servicesNamed(reader, gateway.registryServiceName ?? '')) {
        if (!clusters.has(service.cluster) || (service.labels[NETWORK_LABEL] ?? '') !== '') continue;
        found.push(...gatewaysOf(reader, service, network, { port, hbonePort: 0 }));
      }
    }
  }
  return found;
}

function servicesNamed(reader: Reader, hostname: string): readonly Obj<'Service'>[] {
  const named = kubernetesServiceOf(hostname, reader.setting('domainSuffix'));
  return named === undefined ? [] : reader.indexed('servicesByName', `${named.namespace}/${named.name}`);
}

function gatewaysOf(
  reader: Reader,
  service: Obj<'Service'>,
  network: string,
  servicePorts: Pick<NetworkGateway, 'port' | 'hbonePort'>,
): readonly NetworkGateway[] {
  const { type, ports } = service.spec;
  const { cluster } = service;
  const common = { network, cluster, ...servicePorts, serviceAccount: '' };
  const own = outsideAddresses(service);
  const selector = type === 'NodePort' ? service.annotations[NODE_SELECTOR_ANNOTATION] : undefined;
  if (selector === undefined) return own.map(address => ({ ...common, address }));
  const port = ports.find(candidate => candidate.port === common.port)?.nodePort ?? common.port;
  const addresses = own.length > 0 ? own : reader.get(nodeAddresses, { cluster, selector });
  return addresses.map(address => ({ ...common, address, port }));
}

/** The first external address of each node that the selector selects. */
const nodeAddresses: Query<{ readonly cluster: string; readonly selector: string }, readonly string[]> = {
  name: 'select/nodeAddresses',
  key: ({ cluster, selector }) => `${cluster}/${selector}`,
  run: (reader, { cluster, selector }) => {
    const labels = labelsIn(selector);
    return reader
      .objects('Node', `${cluster}/`)
      .filter(node => selects(labels, node.labels))
      .flatMap(node => externalAddress(node) ?? []);
  },
};

/** What a node is to gateways: its address and the services that are reached at it; '' for none. */
export function gatewaysAtNode(reader: Reader, node: Obj<'Node'>): string {
  const address = externalAddress(node);
  if (address === undefined) return '';
  const configured = Object.values(reader.networks().networks)
    .flatMap(({ gateways = [] }) => gateways)
    .flatMap(({ registryServiceName = '' }) => servicesNamed(reader, registryServiceName));
  const services = [...reader.indexed('networkGatewayServices', 'gateway'), ...configured];
  const at = services.filter(service => isOnNode(service, node)).map(({ namespace, name }) => `${namespace}/${name}`);
  return at.length === 0 ? '' : [address, ...at].join(' ');
}

/** A service that may be reached at the addresses of nodes, as a gateway. */
export function isOnNodes({ annotations, spec }: Obj<'Service'>): boolean {
  return annotations[NODE_SELECTOR_ANNOTATION] !== undefined && spec.type === 'NodePort';
}

function isOnNode(service: Obj<'Service'>, node: Obj<'Node'>): boolean {
  if (!isOnNodes(service) || service.cluster !== node.cluster) return false;
  return selects(labelsIn(service.annotations[NODE_SELECTOR_ANNOTATION] ?? ''), node.labels);
}

function externalAddress({ spec }: Obj<'Node'>): string | undefined {
  return spec.addresses.find(({ type, address }) => type === 'ExternalIP' && address !== '')?.address;
}

/** One that cannot be read selects every node, as in istiod. */
function labelsIn(selector: string): Readonly<Record<string, string>> {
  try {
    const value: unknown = JSON.parse(selector);
    return isObject(value) ? (value as Readonly<Record<string, string>>) : {};
  } catch {
    return {};
  }
}

function byPlace(a: NetworkGateway, b: NetworkGateway): number {
  return (
    compareText(a.network, b.network) ||
    compareText(a.cluster, b.cluster) ||
    compareText(a.address, b.address) ||
    a.port - b.port
  );
}
