// Shares of hosts: priorities by health, panic, locality weights, host weights, subsets; and the transport socket that
// a host's metadata picks.

import { describe, expect, it } from 'vitest';
import { weightedHosts } from '../../../src/oracle/hosts.ts';
import { type HostCounts, priorityLoads } from '../../../src/oracle/priority.ts';
import { transportOf } from '../../../src/oracle/transport.ts';
import {
  type Cluster,
  Cluster_LbPolicy,
  HealthStatus,
  type LbEndpoint,
  type LocalityLbEndpoints,
  type Metadata,
} from '../../../src/xds/proto/types.gen.ts';

describe('priority levels', () => {
  const loads = (
    counts: readonly (readonly [total: number, healthy: number, degraded?: number])[],
    panicThreshold = 50,
  ) =>
    priorityLoads(
      counts.map(([total, healthy, degraded = 0]): HostCounts => ({ total, healthy, degraded })),
      { overprovisioning: 140, panicThreshold },
    ).map(({ healthy, degraded, panic }) => `${healthy}/${degraded}${panic ? ' panic' : ''}`);

  // Rows of Envoy's documentation of priority levels, and cases between them.
  it.each([
    [
      [
        [10, 10],
        [10, 10],
      ],
      ['100/0', '0/0'],
    ],
    [
      [
        [100, 72],
        [10, 10],
      ],
      ['100/0', '0/0'],
    ],
    [
      [
        [100, 71],
        [100, 100],
      ],
      ['99/0', '1/0'],
    ],
    [
      [
        [100, 50],
        [100, 100],
      ],
      ['70/0', '30/0'],
    ],
    [
      [
        [100, 25],
        [100, 100],
      ],
      ['35/0', '65/0'],
    ],
    [
      [
        [100, 0],
        [100, 100],
      ],
      ['0/0', '100/0'],
    ],
    [
      [
        [100, 25],
        [100, 25],
      ],
      ['50/0 panic', '50/0 panic'],
    ],
    [[[100, 60, 40]], ['84/16']],
    [[[100, 0, 100]], ['0/100']],
    [
      [
        [10, 0],
        [30, 0],
      ],
      ['25/0 panic', '75/0 panic'],
    ],
    [
      [
        [0, 0],
        [10, 10],
      ],
      ['0/0', '100/0'],
    ],
  ] as const)('get for health %j the load %j', (counts, expected) => expect(loads(counts)).toEqual(expected));

  it('never panic where panic is off, even without a healthy host', () => {
    expect(loads([[10, 0]], 0)).toEqual(['0/0']);
    expect(loads([[100, 10]], 0)).toEqual(['100/0']);
  });
});

const endpoint = (address: string, more: LbEndpoint = {}): LbEndpoint => ({
  endpoint: { address: { socketAddress: { address, portValue: 80 } } },
  ...more,
});
const sick = { healthStatus: HealthStatus.UNHEALTHY };
const of = (weight: number | undefined, lbEndpoints: readonly LbEndpoint[], priority = 0): LocalityLbEndpoints => ({
  lbEndpoints,
  priority,
  ...(weight === undefined ? {} : { loadBalancingWeight: { value: weight } }),
});

function shares(
  cluster: Cluster,
  endpoints: readonly LocalityLbEndpoints[],
  wanted?: Metadata,
): Record<string, number> {
  const found = weightedHosts(cluster, { endpoints }, wanted);
  return Object.fromEntries(
    found.map(([share, host]) => [
      host.endpoint.endpoint?.address?.socketAddress?.address ?? '',
      Math.round(share * 1_000) / 1_000,
    ]),
  );
}

describe('hosts of a cluster', () => {
  const weighted: Cluster = { commonLbConfig: { localityWeightedLbConfig: {} } };
  const noPanic: Cluster = { commonLbConfig: { healthyPanicThreshold: {} } };
  const weight = (value: number): LbEndpoint => ({ loadBalancingWeight: { value } });

  it('share evenly', () =>
    expect(shares({}, [of(undefined, [endpoint('a'), endpoint('b')])])).toEqual({ a: 0.5, b: 0.5 }));
  it('share by weight', () =>
    expect(shares({}, [of(undefined, [endpoint('a', weight(3)), endpoint('b')])])).toEqual({ a: 0.75, b: 0.25 }));
  it('share evenly under RANDOM', () =>
    expect(
      shares({ lbPolicy: Cluster_LbPolicy.RANDOM }, [of(undefined, [endpoint('a', weight(3)), endpoint('b')])]),
    ).toEqual({ a: 0.5, b: 0.5 }));
  it('are weighted by locality only where the cluster configures it', () => {
    const localities = [of(80, [endpoint('a')]), of(20, [endpoint('b'), endpoint('c')])];
    expect(shares(weighted, localities)).toEqual({ a: 0.8, b: 0.1, c: 0.1 });
    expect(shares({}, localities)).toEqual({ a: 0.333, b: 0.333, c: 0.333 });
  });
  it('of a locality without weight get nothing where localities are weighted', () =>
    expect(shares(weighted, [of(1, [endpoint('a')]), of(undefined, [endpoint('b')])])).toEqual({ a: 1 }));
  it('lose load as hosts of their locality become unhealthy', () =>
    // 1 of 4 is healthy: 0.35 of its weight is left.
    expect(
      shares(weighted, [
        of(1, [endpoint('a'), ...['x', 'y', 'z'].map(n => endpoint(n, sick))]),
        of(
          1,
          ['b', 'c', 'd', 'e', 'f', 'g'].map(n => endpoint(n)),
        ),
      ]).a,
    ).toBe(0.259));
  it('of the next priority get load only once the previous one is degraded', () => {
    const next = of(undefined, [endpoint('b')], 1);
    expect(shares({}, [of(undefined, [endpoint('a')]), next])).toEqual({ a: 1 });
    expect(shares({}, [of(undefined, [endpoint('a', sick)]), next])).toEqual({ b: 1 });
    expect(shares({}, [of(undefined, [endpoint('a'), endpoint('x', sick)]), next])).toEqual({ a: 0.7, b: 0.3 });
  });
  it('are used despite failed checks in panic, and not where panic is off', () => {
    const all = [of(undefined, [endpoint('a', sick), endpoint('b', sick)])];
    expect(shares({}, all)).toEqual({ a: 0.5, b: 0.5 });
    expect(shares(noPanic, all)).toEqual({});
  });
  it('count as unhealthy if draining, and as a reserve if degraded', () => {
    expect(
      shares({}, [
        of(undefined, [endpoint('a'), endpoint('b'), endpoint('c', { healthStatus: HealthStatus.DRAINING })]),
      ]),
    ).toEqual({ a: 0.5, b: 0.5 });
    expect(
      shares({}, [of(undefined, [endpoint('a'), endpoint('b', { healthStatus: HealthStatus.DEGRADED })])]),
    ).toEqual({ a: 0.7, b: 0.3 });
  });

  describe('of a subset are', () => {
    const lb = (labels: Record<string, string>): Metadata => ({ filterMetadata: { 'envoy.lb': labels } });
    const all = [
      of(undefined, [endpoint('a', { metadata: lb({ v: '1' }) }), endpoint('b', { metadata: lb({ v: '2' }) })]),
    ];
    const selecting = (fallbackPolicy: 0 | 1 | 2): Cluster => ({
      lbSubsetConfig: { fallbackPolicy, defaultSubset: { v: '2' }, subsetSelectors: [{ keys: ['v'] }] },
    });
    it.each([
      ['the subset', 0, { v: '1' }, { a: 1 }],
      ['nothing for an unknown value', 0, { v: '3' }, {}],
      ['any endpoint', 1, { v: '3' }, { a: 0.5, b: 0.5 }],
      ['the default subset', 2, { v: '3' }, { b: 1 }],
      ['the fallback for keys that no selector has', 2, { w: '1' }, { b: 1 }],
    ] as const)('%s', (_, fallback, wanted, expected) => {
      expect(shares(selecting(fallback), all, lb(wanted))).toEqual(expected);
    });
  });
});

describe('transport sockets', () => {
  const tls = {
    name: 'envoy.transport_sockets.tls',
    typedConfig: {
      '@type': 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext',
      sni: 'a.com',
      commonTlsContext: { alpnProtocols: ['istio'], tlsCertificateSdsSecretConfigs: [{ name: 'default' }] },
    },
  };
  const cluster: Cluster = {
    transportSocketMatches: [
      { name: 'mutual', match: { tlsMode: 'istio' }, transportSocket: tls },
      { name: 'plain', match: {}, transportSocket: { name: 'envoy.transport_sockets.raw_buffer' } },
    ],
  };
  const host = (metadata?: Metadata, localityMetadata?: Metadata) => ({
    endpoint: { metadata },
    locality: {},
    localityMetadata,
    priority: 0,
  });
  const mode: Metadata = { filterMetadata: { 'envoy.transport_socket_match': { tlsMode: 'istio' } } };

  it('are selected by the metadata of the host, else of its locality', () => {
    const mutual = { kind: 'tls', match: 'mutual', sni: 'a.com', alpn: ['istio'], presents: true };
    expect(transportOf(cluster, host(mode))).toEqual(mutual);
    expect(transportOf(cluster, host(undefined, mode))).toEqual(mutual);
    expect(transportOf(cluster, host())).toMatchObject({ kind: 'plaintext', match: 'plain' });
  });
  it('are the cluster’s own otherwise, and plaintext without one', () => {
    expect(transportOf({ transportSocket: tls }, host())).toMatchObject({ kind: 'tls', match: '' });
    expect(transportOf({}, host())).toMatchObject({ kind: 'plaintext' });
    expect(transportOf({ transportSocket: { name: 'mine' } }, host())).toMatchObject({ kind: 'unknown' });
  });
});
