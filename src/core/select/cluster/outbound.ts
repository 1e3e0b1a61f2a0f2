// The outbound clusters of one service for the current proxy: which ones exist, and the inputs of each.
// Source: Istio pilot/pkg/networking/core/cluster.go (buildOutboundClusters),
// pilot/pkg/networking/core/cluster_builder.go.
//
// Every cluster has flat inputs of scalars and of references into the state, so that a changed DestinationRule, or a
// changed mesh field, rebuilds only the clusters that it changes, and proxies that see the same share one cluster.

import { append } from '../../base/append.ts';
import { blocksOf } from '../../base/groups.ts';
import type { Problem } from '../../base/problem.ts';
import type { Port, Protocol, Service } from '../../model/service.ts';
import type { ProxyReader } from '../../query/reader.ts';
import type {
  ConnectionPoolSettings,
  LoadBalancerSettings,
  OutlierDetection,
  Subset,
  TrafficPolicy,
  TrafficPolicy_ProxyProtocol,
  TrafficPolicy_RetryBudget,
} from '../../schema/istio-types.gen.ts';
import { isPoolService } from '../../translate/gateway-api/endpoint-picker.ts';
import { allCaptured } from '../ambient/captured.ts';
import { type AssignmentInputs, selectAssignment } from '../endpoint/assignment.ts';
import { localityChoice, weighsLocalities } from '../endpoint/locality.ts';
import type { MergedRule } from '../scope/destination-rules.ts';
import { ALL_SUBSETS, SUBSETS_TOGETHER, type SubsetRange, subsetBlocks, subsetsWithin } from '../scope/subsets.ts';
import { outboundClusterName, sniDnatName } from './cluster-names.ts';
import {
  type CommonClusterInputs,
  type OutboundDefaults,
  outboundDefaults,
  sendsUnhealthy,
  statName,
} from './common.ts';
import {
  type Discovery,
  type DnsInputs,
  discoveryOf,
  dnsInputs,
  finishedDiscovery,
  hashesKeys,
  isDynamic,
  isPassthrough,
  resolvesNames,
} from './discovery.ts';
import { type ClusterPolicy, policyOfPort, policyOfSubset } from './traffic-policy.ts';
import { chooseUpstreamProtocol, type UpstreamProtocol, upgradesToH2 } from './upstream-protocol.ts';
import { chooseUpstreamTls, type UpstreamTlsInputs } from './upstream-tls.ts';

/** `S` and `A`: the caller's types for the TLS inputs and for the endpoints inside the cluster. */
export interface OutboundClusterInputs<S = unknown, A = unknown> extends CommonClusterInputs, DnsInputs {
  readonly sockets: S | undefined;
  /** DNS types only. */
  readonly assignment: A | undefined;
  readonly name: string;
  readonly statName: string;
  readonly discovery: Discovery;
  readonly hostname: string;
  readonly protocol: Protocol;
  readonly finalProtocol: UpstreamProtocol;
  readonly headerCase: boolean;
  readonly connectionPool: ConnectionPoolSettings | undefined;
  readonly retryBudget: TrafficPolicy_RetryBudget | undefined;
  readonly outlierDetection: OutlierDetection | undefined;
  readonly loadBalancer: LoadBalancerSettings | undefined;
  readonly proxyProtocol: TrafficPolicy_ProxyProtocol | undefined;
  readonly localityWeighted: boolean;
  /** Unhealthy endpoints are sent too: Envoy must not panic over them. */
  readonly sendsUnhealthy: boolean;
  /** Draining endpoints keep the sessions that are bound to them. */
  readonly keepsSessions: boolean;
  /** An endpoint picker chooses the endpoint of each request. */
  readonly picksEndpoints: boolean;
  /** Redis with the Redis filter hashes keys itself. */
  readonly hashesKeys: boolean;
  /** ORIGINAL_DST: the port that replaces the one of the original destination; 0 for none. */
  readonly portOverride: number;
  readonly exchangeMetadata: boolean;
  readonly exchangeLabels: string;
  /** TLS ends at the endpoints; a tunnel to them does not count. */
  readonly speaksTls: boolean;
  readonly autoSni: boolean;
  readonly autoSanValidation: boolean;
  /** Telemetry metadata; empty host: none. */
  readonly serviceHost: string;
  readonly serviceName: string;
  readonly serviceNamespace: string;
  readonly external: boolean;
  /** Every endpoint takes HBONE tunnels: peers are not asked who they are. */
  readonly captured: boolean;
  /** Endpoints may be reached through HBONE tunnels. */
  readonly tunnels: boolean;
  readonly ruleName: string;
  readonly ruleNamespace: string;
  readonly subset: string;
  /** TLS is originated by the proxy: the ALPN of the mesh must not be offered. */
  readonly overridesAlpn: boolean;
  readonly problems: readonly Problem[];
}

/** The generators of the parts of a cluster. */
export interface ClusterParts<S, A> {
  readonly sockets: (inputs: UpstreamTlsInputs) => S;
  readonly assignment: (inputs: AssignmentInputs) => A;
}

interface Target {
  readonly service: Service;
  readonly port: Port;
  readonly rule: MergedRule | undefined;
  readonly sniDnat: boolean;
}

/**
 * The clusters of a service, ports and subsets in order. `rule`: the one in force for the proxy; `sniDnat`: those that
 * a gateway routes to by SNI alone.
 */
export function selectOutboundClusters<S, A>(
  reader: ProxyReader,
  parts: ClusterParts<S, A>,
  service: Service,
  rule: MergedRule | undefined,
  sniDnat: boolean,
): readonly OutboundClusterInputs<S, A>[] {
  const selections: OutboundClusterInputs<S, A>[] = [];
  for (const port of portsWithClusters(service, sniDnat)) {
    append(selections, clustersOfPort(reader, parts, { service, port, rule, sniDnat }, ALL_SUBSETS));
  }
  return selections;
}

/** Ports of one block have clusters that are made, and made anew, together. */
const PORTS_TOGETHER = 64;

/** Clusters of some ports of a service; with subsets of one port. */
export interface OutboundBlock extends Omit<Target, 'port'> {
  readonly ports: readonly Port[];
  /** Subsets from this index on, at most `SUBSETS_TOGETHER`; at 0 with the clusters of the ports themselves. */
  readonly from: number;
}

/**
 * The clusters of a service in parts that together are `selectOutboundClusters`, in order; empty if one part is enough.
 * Of thousands of ports, or a rule with thousands of subsets, a part that is made stays made when the work is
 * interrupted.
 */
export function outboundBlocks(service: Service, rule: MergedRule | undefined, sniDnat: boolean): OutboundBlock[] {
  const starts = subsetBlocks(rule);
  const isSmall = starts.length === 1 && service.ports.length <= PORTS_TOGETHER;
  if (isSmall || isDynamic(service)) return [];
  const blocks = blocksOf(portsWithClusters(service, sniDnat), starts.length === 1 ? PORTS_TOGETHER : 1);
  return blocks.flatMap(ports => starts.map(from => ({ service, ports, rule, sniDnat, from })));
}

export function selectOutboundBlock<S, A>(
  reader: ProxyReader,
  parts: ClusterParts<S, A>,
  { ports, from, ...of }: OutboundBlock,
): readonly OutboundClusterInputs<S, A>[] {
  const subsets = { from, to: from + SUBSETS_TOGETHER };
  return ports.flatMap(port => clustersOfPort(reader, parts, { ...of, port }, subsets));
}

function portsWithClusters(service: Service, sniDnat: boolean): readonly Port[] {
  if (service.resolution === 'Alias' || (sniDnat && service.meshExternal)) return [];
  const ports = isPoolService(service) && !sniDnat ? service.ports.slice(0, 1) : service.ports;
  return ports.filter(({ protocol }) => protocol !== 'UDP');
}

function clustersOfPort<S, A>(
  reader: ProxyReader,
  parts: ClusterParts<S, A>,
  target: Target,
  subsets: SubsetRange,
): readonly OutboundClusterInputs<S, A>[] {
  const { service, port, rule } = target;
  const discovery = discoveryOf(reader, service, target.sniDnat);
  const own = rule?.spec.trafficPolicy;
  const base = policyOfPort(own, port.port);
  const found = subsets.from > 0 ? [] : [selectCluster(reader, parts, target, discovery, base, own, undefined)];
  if (isDynamic(service)) return present(found);
  const inherited = finishedDiscovery(reader, port, discovery, base);
  for (const subset of subsetsWithin(rule, subsets)) {
    const policy = policyOfSubset(base, subset, port.port);
    const type = isPassthrough(subset.trafficPolicy) ? 'ORIGINAL_DST' : inherited;
    found.push(selectCluster(reader, parts, target, type, policy, subset.trafficPolicy, subset));
  }
  return present(found);
}

function selectCluster<S, A>(
  reader: ProxyReader,
  parts: ClusterParts<S, A>,
  target: Target,
  startDiscovery: Discovery,
  policy: ClusterPolicy | undefined,
  unmerged: TrafficPolicy | undefined,
  subset: Subset | undefined,
): OutboundClusterInputs<S, A> | undefined {
  const { service, port, rule, sniDnat } = target;
  const subsetName = subset?.name ?? '';
  const name = (sniDnat ? sniDnatName : outboundClusterName)(service.hostname, subsetName, port.port);
  const discovery = finishedDiscovery(reader, port, startDiscovery, policy);
  const connectionPool = policy?.connectionPool;
  const defaults = reader.get(outboundDefaults, '');
  const h2Upgrade = upgradesToH2(port.protocol, connectionPool, defaults.h2UpgradePolicy);
  const protocol = chooseUpstreamProtocol({
    protocol: port.protocol,
    followUndetected: defaults.followsUndetected,
    preserveHeaderCase: defaults.headerCase,
    h2Upgrade,
    connectionPool,
  });
  const dns = resolvesNames(startDiscovery);
  const assignment = dns
    ? selectAssignment(reader, {
        service,
        port,
        subset,
        rule,
        clusterName: name,
        dns: true,
        sniDnat,
        policy,
        vip: false,
      })
    : undefined;
  if (dns && assignment?.endpoints.length === 0) return undefined;
  const tls = chooseUpstreamTls(reader, {
    service,
    port,
    policy: sniDnat ? undefined : policy,
    unmergedPassthrough: isPassthrough(unmerged),
    defaultSni: discovery === 'FORWARD_PROXY' ? '' : sniDnatName(service.hostname, subsetName, port.port),
    originalDst: discovery === 'ORIGINAL_DST',
    http2: protocol.protocol === 'http2',
    ruleSelectsWorkloads: rule?.spec.workloadSelector !== undefined,
    forwardProxy: discovery === 'FORWARD_PROXY',
    vip: false,
  });
  const untouched = discovery === 'ORIGINAL_DST' && (tls.inputs !== undefined || policy?.tls !== undefined);
  const tunnels = !sniDnat && !untouched && defaults.sendsHbone;
  const captured = !sniDnat && subset === undefined && defaults.ambient && hasCaptured(reader, target);
  const choice = localityChoice(policy, service.trafficDistribution, defaults.localityLbSetting);
  const telemetry = discovery !== 'FORWARD_PROXY' && defaults.telemetry;
  const resolving = dnsInputs(reader, service, dns);
  // Written out member by member: spreading objects of this size costs several times as much.
  return {
    sockets: sniDnat || tls.inputs === undefined ? undefined : parts.sockets(tls.inputs),
    assignment: assignment !== undefined && resolvesNames(discovery) ? parts.assignment(assignment) : undefined,
    connectTimeout: defaults.connectTimeout,
    meshKeepalive: defaults.meshKeepalive,
    trackRemaining: defaults.trackRemaining,
    dnsFamily: resolving.dnsFamily,
    dnsRefreshRate: resolving.dnsRefreshRate,
    dnsJitterMs: resolving.dnsJitterMs,
    dnsUdpMaxQueries: resolving.dnsUdpMaxQueries,
    name,
    statName: nameOfStats(defaults.statPattern, target, name, subsetName, discovery),
    discovery,
    hostname: service.hostname,
    protocol: port.protocol,
    finalProtocol: protocol.protocol,
    headerCase: protocol.headerCase,
    connectionPool,
    retryBudget: policy?.retryBudget,
    outlierDetection: policy?.outlierDetection,
    loadBalancer: policy?.loadBalancer,
    proxyProtocol: sniDnat ? undefined : policy?.proxyProtocol,
    localityWeighted: defaults.localityWeighted || weighsLocalities(choice),
    sendsUnhealthy: sendsUnhealthy(defaults, service),
    keepsSessions: !sniDnat && subset === undefined && hasSessionLabel(defaults, service),
    picksEndpoints: !sniDnat && subset === undefined && isPoolService(service) && reader.facet('type') === 'router',
    hashesKeys: hashesKeys(defaults, port),
    // A policy that passes connections through comes too late for it.
    portOverride: startDiscovery === 'ORIGINAL_DST' ? (service.passthroughTargetPorts[port.port] ?? 0) : 0,
    exchangeMetadata: defaults.exchangeMetadata,
    exchangeLabels: defaults.exchangeLabels,
    speaksTls: !sniDnat && tls.inputs !== undefined,
    autoSni: !sniDnat && tls.autoSni,
    autoSanValidation: !sniDnat && tls.autoSanValidation,
    serviceHost: telemetry ? service.hostname : '',
    serviceName: telemetry ? service.name : '',
    serviceNamespace: telemetry ? service.namespace : '',
    external: subset === undefined && service.meshExternal && !captured,
    captured,
    tunnels,
    ruleName: rule?.name ?? '',
    ruleNamespace: rule?.namespace ?? '',
    subset: subsetName,
    overridesAlpn: policy?.tls?.mode === 'SIMPLE' || policy?.tls?.mode === 'MUTUAL',
    problems: sniDnat ? noProblems : tls.problems,
  };
}

const noProblems: readonly Problem[] = [];

function hasCaptured(reader: ProxyReader, { service: { hostname, namespace }, port }: Target): boolean {
  return reader.get(allCaptured, { hostname, namespace, port: port.port });
}

/** A label that binds sessions to endpoints, for cookies or for a header. */
function hasSessionLabel({ sessionLabels }: OutboundDefaults, { labels }: Service): boolean {
  return sessionLabels.some(label => (labels[label] ?? '') !== '');
}

function nameOfStats(
  pattern: string | undefined,
  target: Target,
  name: string,
  subset: string,
  discovery: Discovery,
): string {
  if (discovery === 'FORWARD_PROXY') return name;
  return statName(pattern, name, target.service.hostname, target.service, target.port, subset, 0);
}

function present<T>(found: readonly (T | undefined)[]): readonly T[] {
  return found.filter(cluster => cluster !== undefined);
}
