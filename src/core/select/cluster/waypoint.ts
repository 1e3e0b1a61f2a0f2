// The clusters of a waypoint: one for each port, protocol and subset of a service behind it, and outbound ones of the
// services that its routes lead to beyond those.
// Source: Istio pilot/pkg/networking/core/cluster_waypoint.go (buildWaypointInboundVIP),
// pilot/pkg/networking/core/waypoint.go (filterWaypointOutboundServices).

import { isHttp, isTcp, isUnsupported } from '../../model/protocol.ts';
import type { Port, Protocol, Service } from '../../model/service.ts';
import type { ProxyReader, Query } from '../../query/reader.ts';
import type { Subset, TrafficPolicy_ProxyProtocol } from '../../schema/istio-types.gen.ts';
import { servicesBehind } from '../ambient/behind-waypoint.ts';
import { type AssignmentInputs, type AssignmentQuestion, selectAssignment } from '../endpoint/assignment.ts';
import { localityChoice, weighsLocalities } from '../endpoint/locality.ts';
import { extraServices } from '../gateway/gateway-services.ts';
import { destinationRule, type MergedRule } from '../scope/destination-rules.ts';
import { destinationsFor } from '../scope/destinations.ts';
import { scopedServices } from '../scope/sidecar-scope.ts';
import { ALL_SUBSETS, SUBSETS_TOGETHER, type SubsetRange, subsetBlocks, subsetsWithin } from '../scope/subsets.ts';
import { virtualServices } from '../scope/virtual-services.ts';
import { vipClusterName } from './cluster-names.ts';
import { type OutboundDefaults, outboundDefaults, sendsUnhealthy } from './common.ts';
import { discoveryOf, dnsInputs, finishedDiscovery, hashesKeys, isDynamic, resolvesNames } from './discovery.ts';
import type { OutboundClusterInputs } from './outbound.ts';
import { type ClusterPolicy, policyOfPort, policyOfSubset } from './traffic-policy.ts';
import { chooseUpstreamProtocol, upgradesToH2 } from './upstream-protocol.ts';
import { chooseUpstreamTls, type UpstreamTlsInputs } from './upstream-tls.ts';

/** The generators of the parts of a cluster. */
export interface VipClusterParts<S, A> {
  /** The socket to the internal listener, around TLS and PROXY protocol as the rule asks for them. */
  readonly socket: (tls: UpstreamTlsInputs | undefined, proxyProtocol: TrafficPolicy_ProxyProtocol | undefined) => S;
  readonly assignment: (inputs: AssignmentInputs) => A;
}

export interface VipService {
  readonly service: Service;
  /** The DestinationRule in force. */
  readonly rule: MergedRule | undefined;
}

/** Services named by routes from a service behind the waypoint, and beyond the waypoint themselves. */
export const servicesBeyondWaypoint: Query<'', readonly Service[]> = {
  name: 'select/servicesBeyondWaypoint',
  run: reader => {
    const behind = new Map(reader.get(servicesBehind, '').map(service => [service.hostname, service]));
    const beyond = new Set<string>();
    for (const virtualService of reader.get(virtualServices, '')) {
      if (!virtualService.gateways.includes('mesh') || !virtualService.hosts.some(host => behind.has(host))) continue;
      for (const { host } of destinationsFor(virtualService, undefined)) {
        if (behind.get(host)?.meshExternal !== false) beyond.add(host);
      }
    }
    for (const named of reader.get(extraServices, '')) beyond.add(named);
    if (beyond.size === 0) return [];
    const services = reader.get(scopedServices, '');
    return services.filter(({ hostname, namespace }) => beyond.has(hostname) || beyond.has(`${namespace}/${hostname}`));
  },
};

/** The services behind the waypoint, with their rules. */
export function vipServices(reader: ProxyReader): readonly VipService[] {
  return reader.get(servicesBehind, '').map(service => ({
    service,
    rule: reader.get(destinationRule, { hostname: service.hostname, direction: 'inbound' }),
  }));
}

/** What a port of a service behind a waypoint may carry: a port that is detected both. UDP is not served. */
export function vipProtocols(reader: ProxyReader, service: Service, { protocol }: Port): readonly ('tcp' | 'http')[] {
  if (service.resolution === 'DynamicDNS') {
    if (protocol === 'TLS') return reader.feature('ENABLE_WILDCARD_HOST_SERVICE_ENTRIES_FOR_TLS') ? ['tcp'] : [];
    return protocol === 'HTTP' ? ['http'] : [];
  }
  if (isUnsupported(protocol)) return ['tcp', 'http'];
  return isHttp(protocol) ? ['http'] : isTcp(protocol) ? ['tcp'] : [];
}

export function selectVipClusters<S, A>(
  reader: ProxyReader,
  parts: VipClusterParts<S, A>,
  { service, rule }: VipService,
): readonly OutboundClusterInputs<S, A>[] {
  return vipTargets(reader, { service, rule }).flatMap(target => clustersOfTarget(reader, parts, target, ALL_SUBSETS));
}

/** Clusters of one port of a service behind a waypoint. */
export interface VipBlock extends VipTarget {
  /** Subsets from this index on, at most `SUBSETS_TOGETHER`; at 0 with the cluster of the port itself. */
  readonly from: number;
}

/** As `outboundBlocks`, of `selectVipClusters`. */
export function vipBlocks(reader: ProxyReader, of: VipService): readonly VipBlock[] {
  const starts = subsetBlocks(of.rule);
  if (starts.length === 1) return [];
  return vipTargets(reader, of).flatMap(target => starts.map(from => ({ ...target, from })));
}

export function selectVipBlock<S, A>(
  reader: ProxyReader,
  parts: VipClusterParts<S, A>,
  { from, ...target }: VipBlock,
): readonly OutboundClusterInputs<S, A>[] {
  return clustersOfTarget(reader, parts, target, { from, to: from + SUBSETS_TOGETHER });
}

function vipTargets(reader: ProxyReader, { service, rule }: VipService): readonly VipTarget[] {
  return service.ports.flatMap(port =>
    vipProtocols(reader, service, port).map(carries => ({ service, rule, port, carries })),
  );
}

function clustersOfTarget<S, A>(
  reader: ProxyReader,
  parts: VipClusterParts<S, A>,
  target: VipTarget,
  subsets: SubsetRange,
): readonly OutboundClusterInputs<S, A>[] {
  const { port, rule } = target;
  const base = policyOfPort(rule?.spec.trafficPolicy, port.port);
  const found = subsets.from > 0 ? [] : [vipCluster(reader, parts, target, base, undefined)];
  for (const subset of subsetsWithin(rule, subsets)) {
    found.push(vipCluster(reader, parts, target, policyOfSubset(base, subset, port.port), subset));
  }
  return found.filter(cluster => cluster !== undefined);
}

interface VipTarget extends VipService {
  readonly port: Port;
  readonly carries: 'tcp' | 'http';
}

function vipCluster<S, A>(
  reader: ProxyReader,
  parts: VipClusterParts<S, A>,
  target: VipTarget,
  policy: ClusterPolicy | undefined,
  subset: Subset | undefined,
): OutboundClusterInputs<S, A> | undefined {
  const { service, port, carries } = target;
  const name = vipClusterName(service.hostname, carries, subset?.name ?? '', port.port);
  const started = discoveryOf(reader, service, false);
  const discovery = finishedDiscovery(reader, port, started, policy);
  const dns = resolvesNames(started);
  const assignment = dns ? selectAssignment(reader, namedEndpoints(target, policy, name)) : undefined;
  if (dns && assignment?.endpoints.length === 0) return undefined;
  const defaults = reader.get(outboundDefaults, '');
  return {
    ...identityOf(target, policy, subset),
    ...protocolOf(reader, parts, target, policy),
    ...policyFields(defaults, service, policy),
    ...dnsInputs(reader, service, dns),
    assignment: assignment !== undefined && resolvesNames(discovery) ? parts.assignment(assignment) : undefined,
    name,
    statName: name,
    discovery,
    hashesKeys: hashesKeys(defaults, port),
    portOverride: started === 'ORIGINAL_DST' ? (service.passthroughTargetPorts[port.port] ?? 0) : 0,
  };
}

/** As in Istio, subsets of names do not narrow their endpoints. */
function namedEndpoints(
  { service, port }: VipTarget,
  policy: ClusterPolicy | undefined,
  clusterName: string,
): AssignmentQuestion {
  const all = { rule: undefined, subset: undefined };
  return { clusterName, service, port, policy, ...all, dns: true, sniDnat: false, vip: true };
}

/** Whose cluster it is, for readers and telemetry. */
function identityOf({ service, port, rule, carries }: VipTarget, policy: ClusterPolicy | undefined, subset?: Subset) {
  return {
    hostname: service.hostname,
    protocol: port.protocol,
    serviceHost: service.hostname,
    serviceName: service.name,
    serviceNamespace: service.namespace,
    ruleName: policy === undefined ? '' : (rule?.name ?? ''),
    ruleNamespace: policy === undefined ? '' : (rule?.namespace ?? ''),
    subset: subset === undefined ? carries : `${carries}/${subset.name}`,
    external: false,
    captured: false,
    overridesAlpn: false,
  };
}

/** How it speaks to its endpoints: through a tunnel, or directly, in either case by one socket. */
function protocolOf<S, A>(
  reader: ProxyReader,
  parts: VipClusterParts<S, A>,
  target: VipTarget,
  policy: ClusterPolicy | undefined,
) {
  const { protocol } = target.port;
  const defaults = reader.get(outboundDefaults, '');
  const connectionPool = policy?.connectionPool;
  const chosen = chooseUpstreamProtocol({
    protocol,
    followUndetected: true,
    preserveHeaderCase: defaults.headerCase,
    h2Upgrade: upgradesToH2(protocol, connectionPool, defaults.h2UpgradePolicy),
    connectionPool,
  });
  const tls = ownTls(reader, target, policy, chosen.protocol === 'http2');
  return {
    finalProtocol: chosen.protocol,
    headerCase: chosen.headerCase,
    sockets: parts.socket(tls.inputs, policy?.proxyProtocol),
    proxyProtocol: undefined,
    tunnels: false,
    exchangeMetadata: false,
    exchangeLabels: '',
    speaksTls: tls.inputs !== undefined,
    autoSni: tls.autoSni,
    autoSanValidation: tls.autoSanValidation,
    problems: tls.problems,
  };
}

function policyFields(defaults: OutboundDefaults, service: Service, policy: ClusterPolicy | undefined) {
  const choice = localityChoice(policy, service.trafficDistribution, defaults.localityLbSetting);
  return {
    connectTimeout: defaults.connectTimeout,
    meshKeepalive: defaults.meshKeepalive,
    trackRemaining: defaults.trackRemaining,
    connectionPool: policy?.connectionPool,
    retryBudget: policy?.retryBudget,
    outlierDetection: policy?.outlierDetection,
    loadBalancer: policy?.loadBalancer,
    localityWeighted: defaults.localityWeighted || weighsLocalities(choice),
    sendsUnhealthy: sendsUnhealthy(defaults, service),
    keepsSessions: false,
    picksEndpoints: false,
  };
}

const NO_TLS = { inputs: undefined, autoSni: false, autoSanValidation: false, problems: [] };

/** TLS of the rule alone: the tunnel stands in for mesh mTLS. */
function ownTls(
  reader: ProxyReader,
  { service, port }: VipTarget,
  policy: ClusterPolicy | undefined,
  http2: boolean,
): ReturnType<typeof chooseUpstreamTls> {
  const mode = policy?.tls?.mode;
  if (mode !== 'SIMPLE' && mode !== 'MUTUAL') return NO_TLS;
  return chooseUpstreamTls(reader, {
    service,
    port,
    policy,
    unmergedPassthrough: false,
    defaultSni: '',
    originalDst: false,
    http2,
    // A credential is withheld from sidecars alone.
    ruleSelectsWorkloads: false,
    forwardProxy: isDynamic(service),
    vip: true,
  });
}

/** The protocol in the name of the cluster of a port; a port that is detected, or unknown, is HTTP. */
export function vipProtocolOf(port: { readonly protocol: Protocol } | undefined): 'http' | 'tcp' {
  if (port === undefined) return 'http';
  return isHttp(port.protocol) || isUnsupported(port.protocol) ? 'http' : 'tcp';
}
