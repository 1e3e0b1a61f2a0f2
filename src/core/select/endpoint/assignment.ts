// The inputs of one cluster's endpoints for the current proxy: which endpoints, in what order, with or without mTLS,
// and the settings of localities and networks.
// Source: Istio pilot/pkg/xds/endpoints/endpoint_builder.go.
//
// All filtering and comparing with the proxy happens here, so that proxies with equal results share one
// assignment: a locality or label of the proxy is an input only where a policy makes use of it.

import { isIp } from '../../base/ip.ts';
import { selects } from '../../base/labels.ts';
import type { IpMode } from '../../model/proxy.ts';
import type { Endpoint, Port, Service } from '../../model/service.ts';
import { refOf } from '../../model/service-ref.ts';
import type { ProxyReader } from '../../query/reader.ts';
import { CANONICAL_NAME, CANONICAL_REVISION } from '../../registry/canonical-service.ts';
import { isClusterLocal } from '../../registry/cluster-local.ts';
import { confinesClusterLocal, isExported, isImported, isOfClusterSet } from '../../registry/cluster-set.ts';
import { endpointShards, endpointsOfPort } from '../../registry/endpoints.ts';
import type { Subset } from '../../schema/istio-types.gen.ts';
import { isPoolService } from '../../translate/gateway-api/endpoint-picker.ts';
import { type ClusterPolicy, endpointTlsModeOfRule } from '../cluster/traffic-policy.ts';
import { endpointMtlsMode } from '../policy/peer-authentication.ts';
import { metadataText } from '../proxy/proxy-metadata.ts';
import type { MergedRule } from '../scope/destination-rules.ts';
import { targetIn, type WaypointTarget } from './ingress-waypoint.ts';
import { type LocalityInputs, localityInputs, noLocality } from './locality-inputs.ts';
import { namedNetworkGateways, networkGateways } from './network.ts';
import type { NetworkGateway } from './network-gateway.ts';
import { tunnelsTo } from './tunnels.ts';

export interface NetworkInputs {
  /** All gateways between networks; empty: there is one network. */
  readonly gateways: readonly NetworkGateway[];
  readonly proxyNetwork: string;
  readonly proxyFamilies: IpMode;
  readonly router: boolean;
}

/** Settings of the service that replace those of each endpoint. */
export interface DescribedAs {
  readonly namespace: string;
  /** Canonical name and revision, if it has them. */
  readonly labels: Readonly<Record<string, string>>;
}

export interface AssignmentInputs extends LocalityInputs, NetworkInputs {
  readonly clusterName: string;
  readonly endpoints: readonly Endpoint[];
  /** For each endpoint: it is offered mesh mTLS. */
  readonly mtls: readonly boolean[];
  /** For each endpoint: it is reached through an HBONE tunnel; empty: none is. */
  readonly tunnels: readonly boolean[];
  /** For each endpoint of a waypoint in place of the service's: what the tunnel to it asks for; else empty. */
  readonly throughWaypoint: readonly string[];
  /** Of a service behind a waypoint, whose cluster has one way to every endpoint. */
  readonly vip: boolean;
  readonly drainingLabel: string;
  readonly describesWorkloads: boolean;
  readonly describedAs: DescribedAs | undefined;
  readonly dualStack: boolean;
  /** SNI-DNAT: endpoints without mTLS cannot be reached. */
  readonly onlyMtls: boolean;
}

export interface AssignmentQuestion {
  readonly clusterName: string;
  readonly service: Service;
  readonly port: Port;
  readonly subset: Subset | undefined;
  readonly rule: MergedRule | undefined;
  /** The composed policy of the cluster. */
  readonly policy: ClusterPolicy | undefined;
  /** Inside a DNS type cluster: addresses may be host names. */
  readonly dns: boolean;
  readonly sniDnat: boolean;
  /** Of a service behind a waypoint. */
  readonly vip: boolean;
}

export function selectAssignment(reader: ProxyReader, question: AssignmentQuestion): AssignmentInputs {
  const { service, vip } = question;
  const endpoints = visibleEndpoints(reader, question);
  const ownTls = endpointTls(question);
  const mtls = endpoints.map(endpoint => offersMtls(reader, endpoint, ownTls));
  return {
    clusterName: question.clusterName,
    endpoints,
    mtls,
    tunnels: tunnelsTo(reader, endpoints, vip),
    throughWaypoint: [],
    vip,
    drainingLabel: reader.feature('PILOT_DRAINING_LABEL'),
    describesWorkloads:
      reader.feature('PILOT_ENABLE_TELEMETRY_LABEL') && reader.feature('PILOT_ENDPOINT_TELEMETRY_LABEL'),
    describedAs: describedAs(reader, service),
    dualStack: reader.feature('ISTIO_DUAL_STACK'),
    onlyMtls: question.sniDnat,
    ...networkInputs(reader, question.dns),
    ...localityInputs(reader, question, endpoints),
  };
}

/** The endpoints of the waypoint that traffic from gateways to the service takes; no locality rule applies to them. */
export function selectWaypointAssignment(
  reader: ProxyReader,
  question: AssignmentQuestion,
  waypoint: WaypointTarget,
): AssignmentInputs {
  const { service, port } = question;
  const inputs = selectAssignment(reader, { ...question, ...waypoint, subset: undefined, rule: undefined });
  const throughWaypoint = inputs.endpoints.map(({ cluster }) => targetIn(service, cluster, port.port));
  return { ...inputs, ...noLocality, throughWaypoint };
}

/**
 * The TLS mode of the rule. A subset does not inherit it here, unlike in its cluster; and what is behind a waypoint
 * always counts as a subset.
 * Source: Istio pilot/pkg/xds/endpoints/mtls_checker.go (newMtlsChecker).
 */
function endpointTls({ rule, subset, port, vip }: AssignmentQuestion): string | undefined {
  return vip && subset === undefined ? undefined : endpointTlsModeOfRule(rule?.spec, subset?.name ?? '', port.port);
}

function describedAs(reader: ProxyReader, service: Service): DescribedAs | undefined {
  if (!service.meshExternal || !reader.feature('LABEL_CANONICAL_SERVICES_FOR_MESH_EXTERNAL_SERVICE_ENTRIES')) {
    return undefined;
  }
  const { [CANONICAL_NAME]: name, [CANONICAL_REVISION]: revision } = service.labels;
  const labels: Record<string, string> = {};
  if (name !== undefined) {
    labels[CANONICAL_NAME] = name;
    labels[CANONICAL_REVISION] = revision ?? '';
  }
  return { namespace: service.namespace, labels };
}

function offersMtls(reader: ProxyReader, endpoint: Endpoint, ruleMode: string | undefined): boolean {
  if (endpoint.tlsMode === '' || endpoint.tlsMode === 'disabled') return false;
  if (ruleMode !== undefined) return ruleMode === 'ISTIO_MUTUAL';
  if (endpoint.tlsMode !== 'istio') return false;
  return endpointMtlsMode(reader, endpoint.namespace, endpoint.labels, endpoint.port) !== 'DISABLE';
}

/** Endpoints of the port and subset that the proxy may use, shards in order. */
function visibleEndpoints(reader: ProxyReader, question: AssignmentQuestion): readonly Endpoint[] {
  const { service, port, subset } = question;
  const keep = visibility(reader, question);
  const found: Endpoint[] = [];
  const allPorts = isPoolService(service);
  const behind = question.dns ? new Set(endpointsOfPort(reader, service, port.port)) : undefined;
  for (const shard of reader.get(endpointShards, refOf(service))) {
    if (!keep.cluster(shard.cluster)) continue;
    if (shard.provider === 'Kubernetes' && !isDiscoverable(reader, service, shard.cluster)) continue;
    for (const endpoint of shard.endpoints) {
      if (behind !== undefined ? !behind.has(endpoint) : !allPorts && endpoint.portName !== port.name) continue;
      if (subset?.labels !== undefined && !selects(subset.labels, endpoint.labels)) continue;
      if (!question.dns && !hasUsableAddress(endpoint)) continue;
      if (keep.endpoint(endpoint)) found.push(endpoint);
    }
  }
  return found;
}

/**
 * With multi-cluster services, endpoints that a cluster does not export are for its own proxies only. Under the
 * clusterset name, endpoints also need an import in their own cluster.
 */
function isDiscoverable(reader: ProxyReader, { hostname, namespace, name }: Service, cluster: string): boolean {
  if (!reader.feature('ENABLE_MCS_SERVICE_DISCOVERY')) return true;
  const own = reader.facet('clusterId');
  if (own === '' || own === cluster) return true;
  const key = `${cluster}/${namespace}/${name}`;
  if (isOfClusterSet(hostname) ? !isImported(reader, key) : confinesClusterLocal(reader)) return false;
  return isExported(reader, key);
}

function hasUsableAddress(endpoint: Endpoint): boolean {
  const address = endpoint.addresses[0] ?? '';
  return address === '' || endpoint.port === 0 || isIp(address);
}

/**
 * A WorkloadEntry may name its network alone. As an address Envoy would refuse the empty text, and the whole assignment
 * with it; istiod sends it where no gateway leads to the network.
 */
function hasAddress(endpoint: Endpoint): boolean {
  return (endpoint.addresses[0] ?? '') !== '';
}

interface Visibility {
  readonly cluster: (cluster: string) => boolean;
  readonly endpoint: (endpoint: Endpoint) => boolean;
}

/**
 * Which of a service's endpoints the proxy may see; the checks follow the order of Istio
 * pilot/pkg/xds/endpoints/endpoint_builder.go.
 */
function visibility(reader: ProxyReader, { service, dns }: AssignmentQuestion): Visibility {
  const clusterLocal = reader.get(isClusterLocal, service.hostname);
  const ownCluster = clusterLocal || service.nodeLocal ? reader.facet('clusterId') : undefined;
  const ownNode = service.nodeLocal ? metadataText(reader, 'NODE_NAME') : undefined;
  const networks = requestedNetworks(reader);
  const draining = reader.feature('PILOT_DRAINING_LABEL');
  const keepsDraining = (service.labels[reader.feature('PILOT_PERSISTENT_SESSION_LABEL')] ?? '') !== '';
  const manyNetworks = networkGatewaysFor(reader, dns).length > 0;
  // Of the merged service: settings of the service in another cluster do not count.
  const sendsUnhealthy = reader.feature('PILOT_SEND_UNHEALTHY_ENDPOINTS') || service.trafficDistribution !== 'Any';
  return {
    cluster: cluster => ownCluster === undefined || cluster === ownCluster,
    endpoint: endpoint => {
      if (ownNode !== undefined && endpoint.nodeName !== ownNode) return false;
      if (networks !== undefined && endpoint.network !== '' && !networks.includes(endpoint.network)) return false;
      if (clusterLocal && endpoint.cluster !== ownCluster) return false;
      if (!hasAddress(endpoint) && (!manyNetworks || reader.facet('network') === endpoint.network)) return false;
      if (endpoint.health === 'UnHealthy' && !sendsUnhealthy) return false;
      if (endpoint.health === 'Terminating') return false;
      return keepsDraining || (endpoint.health !== 'Draining' && (endpoint.labels[draining] ?? '') === '');
    },
  };
}

/** Undefined: the proxy sees every network. */
function requestedNetworks(reader: ProxyReader): readonly string[] | undefined {
  const view = metadataText(reader, 'REQUESTED_NETWORK_VIEW');
  return view === '' ? undefined : view.split(',');
}

/** A cluster that resolves names also takes gateways that are known by name. */
function networkGatewaysFor(reader: ProxyReader, names: boolean): readonly NetworkGateway[] {
  return reader.get(names ? namedNetworkGateways : networkGateways, '');
}

function networkInputs(reader: ProxyReader, names: boolean): NetworkInputs {
  const gateways = networkGatewaysFor(reader, names);
  if (gateways.length === 0) return { gateways, proxyNetwork: '', proxyFamilies: 'dual', router: false };
  return {
    gateways,
    proxyNetwork: reader.facet('network'),
    proxyFamilies: reader.facet('ipMode'),
    router: reader.facet('type') === 'router',
  };
}
