import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { outlierDetection } from '../../../../../src/xds/generate/cluster/outlier-detection.ts';
import { Cluster_LbPolicy } from '../../../../../src/xds/proto/types.gen.ts';
import { Scene, type SceneOptions, sidecarNode } from '../route/scene.ts';
import { cluster, HTTP_PORT, httpOptions, rule, workload } from './cluster-scene.ts';

const HOST = 'web.default.svc.cluster.local';
const NAME = `outbound|80||${HOST}`;

function scene(spec: JsonObject, options: SceneOptions = {}): Scene {
  const made = new Scene([...workload('web', 'default', '10.0.0.1', [HTTP_PORT]), rule('web', spec)], options);
  made.connect('p', sidecarNode('default'));
  return made;
}

const policy = (trafficPolicy: JsonObject, options?: SceneOptions) =>
  cluster(scene({ trafficPolicy }, options), 'p', NAME);

describe('the load balancer of a traffic policy', () => {
  it.each([
    [{ simple: 'ROUND_ROBIN' }, { lbPolicy: Cluster_LbPolicy.ROUND_ROBIN }],
    [{ simple: 'RANDOM' }, { lbPolicy: Cluster_LbPolicy.RANDOM }],
    [{ simple: 'LEAST_CONN' }, { lbPolicy: Cluster_LbPolicy.LEAST_REQUEST }],
    [
      { consistentHash: { useSourceIp: true } },
      { lbPolicy: Cluster_LbPolicy.RING_HASH, ringHashLbConfig: { minimumRingSize: { value: 1024 } } },
    ],
    [
      { consistentHash: { useSourceIp: true, ringHash: { minimumRingSize: 9 } } },
      { lbPolicy: Cluster_LbPolicy.RING_HASH, ringHashLbConfig: { minimumRingSize: { value: 9 } } },
    ],
    [
      { consistentHash: { useSourceIp: true, maglev: { tableSize: 11 } } },
      { lbPolicy: Cluster_LbPolicy.MAGLEV, maglevLbConfig: { tableSize: { value: 11 } } },
    ],
  ])('is translated for %j', (loadBalancer, expected) => {
    const { lbPolicy, ringHashLbConfig, maglevLbConfig } = policy({ loadBalancer });
    const made = { lbPolicy, ...(ringHashLbConfig && { ringHashLbConfig }), ...(maglevLbConfig && { maglevLbConfig }) };
    expect(made).toEqual(expected);
  });

  it('warms up endpoints', () => {
    const message = policy({ loadBalancer: { simple: 'ROUND_ROBIN', warmup: { duration: '30s' } } });
    expect(message.roundRobinLbConfig?.slowStartConfig).toEqual({
      slowStartWindow: { seconds: 30, nanos: 0 },
      aggression: { defaultValue: 1, runtimeKey: '(' },
      minWeightPercent: { value: 10 },
    });
  });
});

describe('the connection pool of a traffic policy', () => {
  it('limits connections and sets timeouts', () => {
    const message = policy({
      connectionPool: {
        tcp: { maxConnections: 5, connectTimeout: '3s', idleTimeout: '1m', tcpKeepalive: { time: '7200s' } },
        http: { http1MaxPendingRequests: 1, http2MaxRequests: 2, maxRetries: 4, maxRequestsPerConnection: 6 },
      },
      retryBudget: { percent: 30 },
    });
    expect(message.circuitBreakers?.thresholds).toEqual([
      {
        maxConnections: { value: 5 },
        maxPendingRequests: { value: 1 },
        maxRequests: { value: 2 },
        maxRetries: { value: 4 },
        retryBudget: { budgetPercent: { value: 30 }, minRetryConcurrency: { value: 3 } },
      },
    ]);
    expect(message.connectTimeout).toEqual({ seconds: 3, nanos: 0 });
    expect(message.upstreamConnectionOptions).toEqual({ tcpKeepalive: { keepaliveTime: { value: 7200 } } });
    expect(message.typedExtensionProtocolOptions?.[httpOptions]).toMatchObject({
      commonHttpProtocolOptions: { idleTimeout: { seconds: 60, nanos: 0 }, maxRequestsPerConnection: { value: 6 } },
      explicitHttpConfig: { httpProtocolOptions: {} },
    });
  });

  it('overrides keepalive of the mesh field by field', () => {
    const mesh = { tcpKeepalive: { probes: 3, time: '10s' }, connectTimeout: '4s' };
    const message = policy({ connectionPool: { tcp: { tcpKeepalive: { time: '20s' } } } }, { mesh });
    expect(message.upstreamConnectionOptions?.tcpKeepalive).toEqual({
      keepaliveProbes: { value: 3 },
      keepaliveTime: { value: 20 },
    });
    expect(message.connectTimeout).toEqual({ seconds: 4, nanos: 0 });
  });
});

describe('outlier detection', () => {
  it('counts errors, and never panics unless configured', () => {
    const message = policy({
      outlierDetection: { consecutive5xxErrors: 0, consecutiveGatewayErrors: 5, interval: '5s' },
    });
    expect(message.outlierDetection).toEqual({
      enforcingSuccessRate: { value: 0 },
      interval: { seconds: 5, nanos: 0 },
      consecutive5xx: { value: 0 },
      enforcingConsecutive5xx: { value: 0 },
      consecutiveGatewayFailure: { value: 5 },
      enforcingConsecutiveGatewayFailure: { value: 100 },
    });
    expect(message.commonLbConfig).toEqual({ healthyPanicThreshold: {} });
  });

  it('separates local-origin errors only if configured', () => {
    expect(outlierDetection({ consecutiveLocalOriginFailures: 3 })).toEqual({ enforcingSuccessRate: { value: 0 } });
    const split = { splitExternalLocalOriginErrors: true, consecutiveLocalOriginFailures: 3, minHealthPercent: 40 };
    const message = policy({ outlierDetection: split });
    expect(message.outlierDetection).toMatchObject({
      splitExternalLocalOriginErrors: true,
      consecutiveLocalOriginFailure: { value: 3 },
    });
    expect(message.commonLbConfig?.healthyPanicThreshold).toEqual({ value: 40 });
  });
});

describe('policies of ports and subsets', () => {
  it('let a port-level entry inherit nothing', () => {
    const message = policy({
      connectionPool: { tcp: { maxConnections: 5 } },
      portLevelSettings: [{ port: { number: 80 }, loadBalancer: { simple: 'RANDOM' } }],
    });
    expect(message.lbPolicy).toBe(Cluster_LbPolicy.RANDOM);
    expect(message.circuitBreakers?.thresholds?.[0]?.maxConnections).toEqual({ value: 4294967295 });
  });

  it('let a subset replace whole fields of the rule and keep the others', () => {
    const message = cluster(
      scene({
        trafficPolicy: {
          connectionPool: { tcp: { maxConnections: 5 } },
          loadBalancer: { simple: 'RANDOM' },
        },
        subsets: [
          {
            name: 'v1',
            labels: { version: 'v1' },
            trafficPolicy: { connectionPool: { http: { maxRetries: 2 } } },
          },
        ],
      }),
      'p',
      `outbound|80|v1|${HOST}`,
    );
    expect(message.lbPolicy).toBe(Cluster_LbPolicy.RANDOM);
    expect(message.circuitBreakers?.thresholds?.[0]).toMatchObject({
      maxConnections: { value: 4294967295 },
      maxRetries: { value: 2 },
    });
    expect(message.metadata?.filterMetadata?.istio).toMatchObject({
      subset: 'v1',
      config: '/apis/networking.istio.io/v1/namespaces/default/destination-rule/rule-web',
    });
    expect(JSON.stringify(message.transportSocketMatches)).toContain(`outbound_.80_.v1_.${HOST}`);
  });
});
