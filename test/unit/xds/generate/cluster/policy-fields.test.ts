// Each field of a traffic policy by itself, and what its absence or a zero means.

import { describe, expect, it } from 'vitest';
import type {
  ConnectionPoolSettings,
  LoadBalancerSettings,
  OutlierDetection,
} from '../../../../../src/core/schema/istio-types.gen.ts';
import { circuitBreakers, connectionOptions } from '../../../../../src/xds/generate/cluster/connection-pool.ts';
import { type LoadBalancing, loadBalancing } from '../../../../../src/xds/generate/cluster/load-balancer.ts';
import { outlierDetection, panicThreshold } from '../../../../../src/xds/generate/cluster/outlier-detection.ts';
import { http1Options, protocolOptions } from '../../../../../src/xds/generate/cluster/protocol-options.ts';
import { Cluster_LbPolicy } from '../../../../../src/xds/proto/types.gen.ts';
import { httpOptions } from './cluster-scene.ts';

const seconds = (count: number) => ({ seconds: count, nanos: 0 });
const UNLIMITED = { value: 4294967295 };

describe('circuit breakers', () => {
  const limits = (pool: ConnectionPoolSettings | undefined) =>
    circuitBreakers(pool, undefined, false).thresholds?.map(
      ({ maxConnections, maxPendingRequests, maxRequests, maxRetries }) => [
        maxConnections,
        maxPendingRequests,
        maxRequests,
        maxRetries,
      ],
    );

  it('limit nothing where the policy has no limit, or a limit of zero', () => {
    const none = [[UNLIMITED, UNLIMITED, UNLIMITED, UNLIMITED]];
    expect(limits(undefined)).toEqual(none);
    expect(limits({ tcp: {} })).toEqual(none);
    expect(limits({ http: {} })).toEqual(none);
    const zero = { http1MaxPendingRequests: 0, http2MaxRequests: 0, maxRetries: 0 };
    expect(limits({ tcp: { maxConnections: 0 }, http: zero })).toEqual(none);
  });

  it('limit to one where the policy says one', () => {
    expect(limits({ tcp: { maxConnections: 1 }, http: { maxRetries: 1 } })).toEqual([
      [{ value: 1 }, UNLIMITED, UNLIMITED, { value: 1 }],
    ]);
  });

  it('report what remains of them only if told to', () => {
    const tracks = (track: boolean) => circuitBreakers(undefined, undefined, track).thresholds?.[0]?.trackRemaining;
    expect([tracks(true), tracks(false)]).toEqual([true, undefined]);
  });

  it('budget retries by the rule, with a fifth of the requests and three at least by default', () => {
    const budget = (settings: { readonly percent?: number; readonly minRetryConcurrency?: number }) =>
      circuitBreakers(undefined, settings, false).thresholds?.[0]?.retryBudget;
    expect(budget({})).toEqual({ budgetPercent: { value: 20 }, minRetryConcurrency: { value: 3 } });
    expect(budget({ percent: 0, minRetryConcurrency: 0 })).toEqual({
      budgetPercent: { value: 0 },
      minRetryConcurrency: { value: 3 },
    });
    expect(budget({ percent: 5, minRetryConcurrency: 1 })).toEqual({
      budgetPercent: { value: 5 },
      minRetryConcurrency: { value: 1 },
    });
  });
});

describe('keepalive', () => {
  it('is that of the mesh where the rule has none, and off where neither has any', () => {
    const mesh = { probes: 3, time: seconds(10), interval: seconds(2) };
    const fromMesh = { keepaliveProbes: { value: 3 }, keepaliveTime: { value: 10 }, keepaliveInterval: { value: 2 } };
    expect(connectionOptions(mesh, undefined)?.tcpKeepalive).toEqual(fromMesh);
    expect(connectionOptions(mesh, { http: {} })?.tcpKeepalive).toEqual(fromMesh);
    expect(connectionOptions(undefined, { tcp: {} })).toBeUndefined();
  });

  it('is that of the rule where the mesh has none, also if it names no field', () => {
    const own = (tcpKeepalive: object) => connectionOptions(undefined, { tcp: { tcpKeepalive } })?.tcpKeepalive;
    expect(own({})).toEqual({});
    expect(own({ probes: 4 })).toEqual({ keepaliveProbes: { value: 4 } });
    expect(own({ time: seconds(5) })).toEqual({ keepaliveTime: { value: 5 } });
    expect(own({ interval: seconds(6) })).toEqual({ keepaliveInterval: { value: 6 } });
  });

  it('overrides the mesh by each field that the rule gives, and a zero count is not given', () => {
    const mesh = { probes: 3, time: seconds(10), interval: seconds(2) };
    const own = { tcp: { tcpKeepalive: { probes: 0, interval: seconds(7) } } };
    expect(connectionOptions(mesh, own)?.tcpKeepalive).toEqual({
      keepaliveProbes: { value: 3 },
      keepaliveTime: { value: 10 },
      keepaliveInterval: { value: 7 },
    });
  });
});

describe('load balancing', () => {
  const warmup = { duration: seconds(30), aggression: 2, minimumPercent: 0 };
  const slow = {
    slowStartConfig: {
      slowStartWindow: seconds(30),
      aggression: { defaultValue: 2, runtimeKey: '(' },
      minWeightPercent: { value: 0 },
    },
  };
  const old = { warmupDurationSecs: seconds(9) };
  const { LEAST_REQUEST, ROUND_ROBIN, RANDOM, RING_HASH, MAGLEV } = Cluster_LbPolicy;

  it.each<[LoadBalancerSettings | undefined, LoadBalancing]>([
    [undefined, { lbPolicy: LEAST_REQUEST }],
    [{}, { lbPolicy: LEAST_REQUEST }],
    [{ warmup }, { lbPolicy: LEAST_REQUEST, leastRequestLbConfig: slow }],
    [
      { simple: 'LEAST_REQUEST', warmup, ...old },
      { lbPolicy: LEAST_REQUEST, leastRequestLbConfig: slow },
    ],
    [old, { lbPolicy: LEAST_REQUEST, leastRequestLbConfig: { slowStartConfig: { slowStartWindow: seconds(9) } } }],
    [{ simple: 'ROUND_ROBIN' }, { lbPolicy: ROUND_ROBIN }],
    [
      { simple: 'ROUND_ROBIN', warmup },
      { lbPolicy: ROUND_ROBIN, roundRobinLbConfig: slow },
    ],
    [{ simple: 'RANDOM', warmup }, { lbPolicy: RANDOM }],
    [{ consistentHash: {} }, { lbPolicy: RING_HASH, ringHashLbConfig: { minimumRingSize: { value: 1024 } } }],
    [
      { consistentHash: { minimumRingSize: 0 }, warmup },
      { lbPolicy: RING_HASH, ringHashLbConfig: { minimumRingSize: { value: 1024 } } },
    ],
    [
      { consistentHash: { minimumRingSize: 7 } },
      { lbPolicy: RING_HASH, ringHashLbConfig: { minimumRingSize: { value: 7 } } },
    ],
    [{ consistentHash: { ringHash: {} } }, { lbPolicy: RING_HASH }],
    [
      { consistentHash: { ringHash: {} }, warmup },
      { lbPolicy: RING_HASH, leastRequestLbConfig: slow },
    ],
    [
      { consistentHash: { ringHash: { minimumRingSize: 8 } }, warmup },
      { lbPolicy: RING_HASH, ringHashLbConfig: { minimumRingSize: { value: 8 } } },
    ],
    [{ consistentHash: { maglev: {} } }, { lbPolicy: MAGLEV }],
    [
      { consistentHash: { maglev: {} }, warmup },
      { lbPolicy: MAGLEV, leastRequestLbConfig: slow },
    ],
    [
      { consistentHash: { maglev: { tableSize: 11 } }, warmup },
      { lbPolicy: MAGLEV, maglevLbConfig: { tableSize: { value: 11 } } },
    ],
  ])('by %j is %j', (settings, expected) => {
    expect(loadBalancing(settings, false)).toEqual(expected);
  });

  it('of a cluster that hashes keys is Maglev, whatever the rule says', () => {
    expect(loadBalancing({ simple: 'RANDOM', warmup }, true)).toEqual({ lbPolicy: MAGLEV });
  });

  it('warms up linearly from a tenth of the weight unless the rule says how', () => {
    expect(loadBalancing({ warmup: {} }, false).leastRequestLbConfig?.slowStartConfig).toEqual({
      aggression: { defaultValue: 1, runtimeKey: '(' },
      minWeightPercent: { value: 10 },
    });
  });
});

describe('outlier detection by a rule', () => {
  const off = { enforcingSuccessRate: { value: 0 } };
  const locally = {
    ...off,
    splitExternalLocalOriginErrors: true,
    enforcingLocalOriginSuccessRate: { value: 0 },
  };

  it.each<[OutlierDetection, object]>([
    [{}, off],
    [{ interval: seconds(3) }, { ...off, interval: seconds(3) }],
    [{ baseEjectionTime: seconds(4) }, { ...off, baseEjectionTime: seconds(4) }],
    [{ maxEjectionPercent: 1 }, { ...off, maxEjectionPercent: { value: 1 } }],
    [{ maxEjectionPercent: 0 }, off],
    [{ consecutive5xxErrors: 1 }, { ...off, consecutive5xx: { value: 1 }, enforcingConsecutive5xx: { value: 100 } }],
    [
      { consecutiveGatewayErrors: 0 },
      { ...off, consecutiveGatewayFailure: { value: 0 }, enforcingConsecutiveGatewayFailure: { value: 0 } },
    ],
    [{ splitExternalLocalOriginErrors: true }, locally],
    [{ splitExternalLocalOriginErrors: true, consecutiveLocalOriginFailures: 0 }, locally],
    [
      { splitExternalLocalOriginErrors: true, consecutiveLocalOriginFailures: 2 },
      {
        ...locally,
        consecutiveLocalOriginFailure: { value: 2 },
        enforcingConsecutiveLocalOriginFailure: { value: 100 },
      },
    ],
    [{ splitExternalLocalOriginErrors: false, consecutiveLocalOriginFailures: 2 }, off],
  ])('%j is %j', (settings, expected) => {
    expect(outlierDetection(settings)).toEqual(expected);
  });

  it('panics below the share that the rule demands, and never where unhealthy endpoints are sent', () => {
    expect(panicThreshold({ minHealthPercent: 30 }, false)).toEqual({ value: 30 });
    expect(panicThreshold({ minHealthPercent: 30 }, true)).toEqual({});
    expect(panicThreshold({}, false)).toEqual({});
  });
});

describe('HTTP options of a cluster', () => {
  const options = (facts: Partial<Parameters<typeof protocolOptions>[0]>) => {
    const plain = { finalProtocol: 'unset', headerCase: false, autoSni: false, autoSanValidation: false } as const;
    const made = protocolOptions({ ...plain, connectionPool: undefined, ...facts })?.[httpOptions];
    if (made === undefined) return undefined;
    const { '@type': _, ...rest } = made as unknown as { readonly '@type': string };
    return rest;
  };
  const http1 = { explicitHttpConfig: { httpProtocolOptions: {} } };

  it.each<[ConnectionPoolSettings, object]>([
    [{ tcp: { idleTimeout: seconds(5) } }, { idleTimeout: seconds(5) }],
    [{ http: { idleTimeout: seconds(6) }, tcp: { idleTimeout: seconds(5) } }, { idleTimeout: seconds(6) }],
    [{ tcp: { maxConnectionDuration: seconds(7) } }, { maxConnectionDuration: seconds(7) }],
    [{ http: { maxRequestsPerConnection: 1 } }, { maxRequestsPerConnection: { value: 1 } }],
    [{ http: { maxConcurrentStreams: 1 } }, {}],
  ])('are those of the connection pool %j', (connectionPool, common) => {
    expect(options({ connectionPool })).toEqual({ commonHttpProtocolOptions: common, ...http1 });
  });

  it('are absent for HTTP/1.1 with a pool without settings of HTTP', () => {
    const zero = { maxRequestsPerConnection: 0, maxConcurrentStreams: 0 };
    for (const connectionPool of [undefined, {}, { tcp: { maxConnections: 1 } }, { http: zero }]) {
      expect(options({ connectionPool })).toBeUndefined();
    }
  });

  it('limit the streams of an HTTP/2 connection', () => {
    const http2 = (connectionPool?: ConnectionPoolSettings) =>
      options({ finalProtocol: 'http2', connectionPool })?.['explicitHttpConfig' as never];
    expect(http2({ http: { maxConcurrentStreams: 7 } })).toEqual({
      http2ProtocolOptions: { maxConcurrentStreams: { value: 7 } },
    });
    for (const pool of [undefined, { tcp: { maxConnections: 1 } }, { http: { maxConcurrentStreams: 0 } }]) {
      expect(http2(pool)).toEqual({ http2ProtocolOptions: {} });
    }
  });

  it.each([
    [true, false, { autoSni: true }],
    [false, true, { autoSanValidation: true }],
    [true, true, { autoSni: true, autoSanValidation: true }],
  ])('derive SNI (%s) and the validated name (%s) from the request', (autoSni, autoSanValidation, expected) => {
    expect(options({ autoSni, autoSanValidation })).toEqual({ upstreamHttpProtocolOptions: expected, ...http1 });
  });

  it('keep the case of HTTP/1.1 headers by a formatter that is named', () => {
    const type = 'envoy.extensions.http.header_formatters.preserve_case.v3.PreserveCaseFormatterConfig';
    expect(http1Options(true).headerKeyFormat?.statefulFormatter).toEqual({
      name: 'preserve_case',
      typedConfig: { '@type': `type.googleapis.com/${type}` },
    });
  });
});
