// Fields of outbound, inbound and passthrough clusters, each from the one input that makes it.

import { describe, expect, it } from 'vitest';
import type { BindInputs, InboundClusterInputs } from '../../../../../src/core/select/cluster/inbound.ts';
import { inboundCluster } from '../../../../../src/xds/generate/cluster/inbound.ts';
import { type OutboundParts, outboundCluster } from '../../../../../src/xds/generate/cluster/outbound.ts';
import { inboundPassthroughCluster, passthroughCluster } from '../../../../../src/xds/generate/cluster/special.ts';
import { pickedHosts } from '../../../../../src/xds/generate/common/endpoint-picker.ts';
import {
  type Cluster,
  Cluster_DiscoveryType,
  Cluster_DnsLookupFamily,
  Cluster_LbPolicy,
} from '../../../../../src/xds/proto/types.gen.ts';
import { httpOptions } from './cluster-scene.ts';

const seconds = (count: number) => ({ seconds: count, nanos: 0 });
const common = { connectTimeout: seconds(10), meshKeepalive: undefined, trackRemaining: false };
const keepalive = { tcpKeepalive: { keepaliveTime: { value: 5 } } };
const NAME = 'outbound|80||a.example.com';

const plain: OutboundParts = {
  ...common,
  sockets: undefined,
  assignment: undefined,
  name: NAME,
  statName: NAME,
  discovery: 'EDS',
  hostname: 'a.example.com',
  protocol: 'HTTP',
  finalProtocol: 'unset',
  headerCase: false,
  connectionPool: undefined,
  retryBudget: undefined,
  outlierDetection: undefined,
  loadBalancer: undefined,
  proxyProtocol: undefined,
  localityWeighted: false,
  sendsUnhealthy: false,
  keepsSessions: false,
  picksEndpoints: false,
  hashesKeys: false,
  portOverride: 0,
  exchangeMetadata: false,
  exchangeLabels: '',
  autoSni: false,
  speaksTls: false,
  autoSanValidation: false,
  serviceHost: '',
  serviceName: '',
  serviceNamespace: '',
  external: false,
  captured: false,
  tunnels: false,
  ruleName: '',
  ruleNamespace: '',
  subset: '',
  overridesAlpn: false,
  problems: [],
  dnsFamily: undefined,
  dnsRefreshRate: undefined,
  dnsJitterMs: 0,
  dnsUdpMaxQueries: 0,
};
const outbound = (more: Partial<OutboundParts>): Cluster => outboundCluster.run({ ...plain, ...more }).message;

describe('the load balancing of an outbound cluster', () => {
  it.each<[Partial<OutboundParts>, object]>([
    [{}, {}],
    [{ outlierDetection: {} }, { healthyPanicThreshold: {} }],
    [{ outlierDetection: { minHealthPercent: 9 } }, { healthyPanicThreshold: { value: 9 } }],
    [{ sendsUnhealthy: true }, { healthyPanicThreshold: {} }],
    [{ localityWeighted: true }, { localityWeightedLbConfig: {} }],
    [{ localityWeighted: true, picksEndpoints: true }, {}],
    [{ keepsSessions: true }, { overrideHostStatus: { statuses: [1, 3, 0, 5] } }],
  ])('with %j has the settings %j', (more, expected) => {
    expect(outbound(more).commonLbConfig).toEqual(expected);
  });

  it('leaves the choice to an endpoint picker where there is one', () => {
    const picked = outbound({ picksEndpoints: true });
    expect([picked.lbPolicy, picked.loadBalancingPolicy]).toEqual([Cluster_LbPolicy.CLUSTER_PROVIDED, pickedHosts]);
    const balanced = outbound({});
    expect([balanced.lbPolicy, balanced.loadBalancingPolicy]).toEqual([Cluster_LbPolicy.LEAST_REQUEST, undefined]);
  });

  it('is the cluster’s own where Envoy finds the endpoints, and ejects those that fail', () => {
    const forward = outbound({ discovery: 'FORWARD_PROXY', outlierDetection: { consecutive5xxErrors: 1 } });
    expect([forward.lbPolicy, forward.commonLbConfig]).toEqual([Cluster_LbPolicy.CLUSTER_PROVIDED, undefined]);
    expect(forward.outlierDetection?.consecutive5xx).toEqual({ value: 1 });
    const original = outbound({ discovery: 'ORIGINAL_DST', loadBalancer: { simple: 'RANDOM' } });
    expect([original.lbPolicy, original.commonLbConfig]).toEqual([Cluster_LbPolicy.CLUSTER_PROVIDED, {}]);
  });
});

describe('the discovery of an outbound cluster', () => {
  const dns = { dnsFamily: 'V6_ONLY', dnsRefreshRate: seconds(7), dnsJitterMs: 2_300, dnsUdpMaxQueries: 9 } as const;
  const resolved = {
    dnsLookupFamily: Cluster_DnsLookupFamily.V6_ONLY,
    dnsRefreshRate: seconds(7),
    dnsJitter: { seconds: 2, nanos: 300_000_000 },
    respectDnsTtl: true,
    typedDnsResolverConfig: {
      name: 'envoy.network.dns_resolver.cares',
      typedConfig: {
        '@type': 'type.googleapis.com/envoy.extensions.network.dns_resolver.cares.v3.CaresDnsResolverConfig',
        udpMaxQueries: { value: 9 },
      },
    },
  };
  const assignment = { clusterName: NAME };

  it('by names resolves them as often, and as jittered, as the mesh says', () => {
    const strict = outbound({ discovery: 'STRICT_DNS', assignment, ...dns });
    expect(strict).toMatchObject({ type: Cluster_DiscoveryType.STRICT_DNS, loadAssignment: assignment, ...resolved });
    const logical = outbound({ discovery: 'LOGICAL_DNS', assignment, ...dns, dnsFamily: undefined });
    expect(logical).toMatchObject({ type: Cluster_DiscoveryType.LOGICAL_DNS, loadAssignment: assignment });
    expect(logical.dnsLookupFamily).toBeUndefined();
  });

  it('by the original destination keeps how names would be resolved, if a policy took their endpoints away', () => {
    expect(outbound({ discovery: 'ORIGINAL_DST', ...dns })).toMatchObject(resolved);
    const { respectDnsTtl, typedDnsResolverConfig } = outbound({ discovery: 'ORIGINAL_DST' });
    expect([respectDnsTtl, typedDnsResolverConfig]).toEqual([undefined, undefined]);
  });
});

it('an outbound cluster without TLS, tunnel and PROXY protocol has no socket of its own', () => {
  const { transportSocket, transportSocketMatches } = outbound({});
  expect([transportSocket, transportSocketMatches]).toEqual([undefined, undefined]);
  const tunnelled = outbound({ tunnels: true }).transportSocketMatches;
  expect(tunnelled?.map(({ name }) => name)).toEqual(['hbone', 'tlsMode-disabled']);
  expect(outbound({ sockets: { socket: { name: 'tls' } } }).transportSocket).toEqual({ name: 'tls' });
});

describe('the metadata of an outbound cluster', () => {
  const described = { host: 'a.example.com', name: 'a', namespace: 'shop' };
  const service = { serviceHost: described.host, serviceName: described.name, serviceNamespace: 'shop' };

  it.each<[Partial<OutboundParts>, object | undefined]>([
    [{}, undefined],
    [service, { services: [described] }],
    [{ external: true }, { external: true }],
    [{ captured: true }, { disable_mx: true }],
    [{ subset: 'v1' }, { subset: 'v1' }],
    [{ overridesAlpn: true }, { alpn_override: 'false' }],
    [
      { ruleName: 'r', ruleNamespace: 'shop' },
      { config: '/apis/networking.istio.io/v1/namespaces/shop/destination-rule/r' },
    ],
  ])('with %j is %j', (more, expected) => {
    expect(outbound(more).metadata?.filterMetadata?.istio).toEqual(expected);
  });
});

describe('an inbound cluster', () => {
  const own: InboundClusterInputs & BindInputs = {
    ...common,
    bindAddress: '',
    extraBindAddress: '',
    name: 'inbound|80||',
    statName: 'inbound|80||',
    destination: 'passthrough',
    address: '',
    port: 0,
    portOverride: 0,
    finalProtocol: 'unset',
    headerCase: false,
    connectionPool: undefined,
    retryBudget: undefined,
    serviceHosts: [],
    serviceNames: [],
    serviceNamespaces: [],
    ruleName: '',
    ruleNamespace: '',
  };
  const inbound = (more: Partial<InboundClusterInputs>): Cluster => inboundCluster.run({ ...own, ...more }).message;

  it('has no field for what is not configured', () => {
    const { circuitBreakers: _, ...rest } = inbound({});
    expect(rest).toEqual({
      name: 'inbound|80||',
      altStatName: 'inbound|80||;',
      type: Cluster_DiscoveryType.ORIGINAL_DST,
      lbPolicy: Cluster_LbPolicy.CLUSTER_PROVIDED,
      cleanupInterval: { seconds: 9_223_372_035, nanos: 0 },
      connectTimeout: seconds(10),
      commonLbConfig: {},
    });
  });

  it('has the keepalive of the mesh, the timeout of the rule, and HTTP/2 where its port speaks it', () => {
    const connectionPool = { tcp: { connectTimeout: seconds(3) } };
    const made = inbound({ meshKeepalive: { time: seconds(5) }, connectionPool, finalProtocol: 'http2' });
    expect(made.upstreamConnectionOptions).toEqual(keepalive);
    expect(made.connectTimeout).toEqual(seconds(3));
    expect(made.typedExtensionProtocolOptions?.[httpOptions]).toMatchObject({
      explicitHttpConfig: { http2ProtocolOptions: {} },
    });
  });

  it('describes its services and the rule in force', () => {
    const services = { serviceHosts: ['a.x', 'b.x'], serviceNames: ['a', 'b'], serviceNamespaces: ['x', 'y'] };
    expect(inbound({ ...services, ruleName: 'r', ruleNamespace: 'x' }).metadata?.filterMetadata?.istio).toEqual({
      config: '/apis/networking.istio.io/v1/namespaces/x/destination-rule/r',
      services: [
        { host: 'a.x', name: 'a', namespace: 'x' },
        { host: 'b.x', name: 'b', namespace: 'y' },
      ],
    });
  });
});

describe('the clusters that pass connections through', () => {
  const outgoing = { ...common, headerCase: false, exchangeMetadata: false, exchangeLabels: '' };
  const incoming = { ...common, headerCase: false, bindAddress: '::6', extraBindAddress: '' };

  it('keep the protocol and the destination of the client', () => {
    const { circuitBreakers: _, ...rest } = passthroughCluster.run(outgoing).message;
    expect(rest).toEqual({
      name: 'PassthroughCluster',
      altStatName: 'PassthroughCluster;',
      type: Cluster_DiscoveryType.ORIGINAL_DST,
      lbPolicy: Cluster_LbPolicy.CLUSTER_PROVIDED,
      connectTimeout: seconds(10),
      typedExtensionProtocolOptions: {
        [httpOptions]: {
          '@type': `type.googleapis.com/${httpOptions}`,
          commonHttpProtocolOptions: { idleTimeout: seconds(300) },
          useDownstreamProtocolConfig: { httpProtocolOptions: {}, http2ProtocolOptions: {} },
        },
      },
    });
  });

  it('have the keepalive of the mesh', () => {
    const meshKeepalive = { time: seconds(5) };
    expect(passthroughCluster.run({ ...outgoing, meshKeepalive }).message.upstreamConnectionOptions).toEqual(keepalive);
    const inward = inboundPassthroughCluster.run({ ...incoming, meshKeepalive }).message;
    expect(inward.upstreamConnectionOptions).toEqual(keepalive);
  });

  it('exchange metadata on the way out alone', () => {
    const exchanging = passthroughCluster.run({ ...outgoing, exchangeMetadata: true, exchangeLabels: 'b,a,b' });
    expect(exchanging.message.filters).toEqual([
      {
        name: 'istio.metadata_exchange',
        typedConfig: {
          '@type': 'type.googleapis.com/udpa.type.v1.TypedStruct',
          typeUrl: 'type.googleapis.com/envoy.tcp.metadataexchange.config.MetadataExchange',
          value: { protocol: 'istio-peer-exchange', enable_discovery: true, additional_labels: ['a', 'b'] },
        },
      },
    ]);
    expect(inboundPassthroughCluster.run(incoming).message).toMatchObject({
      name: 'InboundPassthroughCluster',
      altStatName: 'PassthroughCluster;',
      upstreamBindConfig: { sourceAddress: { address: '::6', portValue: 0 } },
    });
    expect(inboundPassthroughCluster.run(incoming).message.filters).toBeUndefined();
  });
});
