// Over arbitrary places: what the oracle predicts for the endpoints of a service is what the Istio API says of
// locality: failover by place and by labels, distribution, the traffic distribution of the Service.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/core/base/json.ts';
import { explain } from '../../src/oracle/explain.ts';
import { oracleOf } from '../../src/oracle/oracle.ts';
import type { ProxyConfig } from '../../src/oracle/question.ts';
import { expectedShares } from './mesh/locality-model.ts';
import { CLIENT_ADDRESS, configured } from './mesh/predicted.ts';
import type { World } from './mesh/world.ts';
import { parameters } from './seed.ts';

const SERVICE_ADDRESS = '10.96.1.1';
const CLIENT = { namespace: 'prod', labels: { app: 'client', tier: 'a' } };
/** Istio rounds weights up to whole percents, one place after the other. */
const TOLERANCE = 0.03;

const localities = ['r1/a/x', 'r1/a/y', 'r1/a', 'r1/b', 'r2/c', 'r2/d', 'r3/e'] as const;

function node(locality: string): JsonObject {
  const [region, zone, subzone] = locality.split('/');
  const labels = {
    'topology.kubernetes.io/region': region!,
    'topology.kubernetes.io/zone': zone!,
    ...(subzone === undefined ? {} : { 'topology.istio.io/subzone': subzone }),
  };
  return { apiVersion: 'v1', kind: 'Node', metadata: { name: nodeName(locality), labels } };
}
const nodeName = (locality: string): string => `node-${locality.replaceAll('/', '-')}`;

function pod(name: string, address: string, locality: string, labels: JsonObject): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'prod', labels },
    spec: { nodeName: nodeName(locality), containers: [{ name: 'app' }] },
    status: {
      phase: 'Running',
      podIP: address,
      podIPs: [{ ip: address }],
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  };
}

const failover = fc.constantFrom<Json>(
  {},
  { enabled: false },
  { enabled: true },
  { failover: [{ from: 'r1', to: 'r3' }] },
  {
    failover: [
      { from: 'r2', to: 'r1' },
      { from: 'r1', to: 'r2' },
    ],
  },
  { failoverPriority: ['tier'] },
  { failoverPriority: ['topology.kubernetes.io/region', 'tier', 'topology.kubernetes.io/zone'] },
  { failoverPriority: ['tier=b', 'topology.kubernetes.io/region'] },
);
const distribution = fc.constantFrom<Json>(
  { distribute: [{ from: 'r1/*', to: { 'r1/a/*': 70, 'r2/*': 30 } }] },
  {
    distribute: [
      { from: 'r1/a/x', to: { 'r3/*': 100 } },
      { from: 'r1/a/y', to: { 'r1/b/*': 10, 'r1/a/*': 90 } },
      { from: 'r2/*', to: { 'r1/*': 20, 'r2/c/*': 20, 'r3/*': 60 } },
    ],
  },
);
const setting = fc.oneof({ weight: 3, arbitrary: failover }, { weight: 2, arbitrary: distribution });

const anyWorld: fc.Arbitrary<World> = fc
  .record({
    client: fc.constantFrom(...localities),
    pods: fc.array(fc.record({ locality: fc.constantFrom(...localities), tier: fc.constantFrom('a', 'b') }), {
      minLength: 2,
      maxLength: 7,
    }),
    distribution: fc.constantFrom(undefined, undefined, 'PreferClose', 'PreferSameZone', 'PreferSameNode'),
    own: fc.option(setting, { nil: undefined, freq: 3 }),
    outlier: fc.boolean(),
    wide: fc.option(setting, { nil: undefined, freq: 1 }),
  })
  .map(({ client, pods, distribution, own, outlier, wide }) => ({
    mesh: wide === undefined ? {} : { localityLbSetting: wide },
    objects: [
      ...localities.map(node),
      pod('client', CLIENT_ADDRESS, client, CLIENT.labels),
      ...pods.map(({ locality, tier }, i) => pod(`web-${i}`, `10.1.1.${i + 1}`, locality, { app: 'web', tier })),
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'web', namespace: 'prod' },
        spec: {
          clusterIP: SERVICE_ADDRESS,
          ports: [{ name: 'http', port: 80 }],
          selector: { app: 'web' },
          ...(distribution === undefined ? {} : { trafficDistribution: distribution }),
        },
      },
      {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: { name: 'web', namespace: 'prod', labels: { 'kubernetes.io/service-name': 'web' } },
        addressType: 'IPv4',
        ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
        endpoints: pods.map((_, i) => ({
          addresses: [`10.1.1.${i + 1}`],
          conditions: { ready: true },
          targetRef: { kind: 'Pod', namespace: 'prod', name: `web-${i}` },
        })),
      },
      {
        apiVersion: 'networking.istio.io/v1',
        kind: 'DestinationRule',
        metadata: { name: 'web', namespace: 'prod' },
        spec: {
          host: 'web',
          ...(outlier || own !== undefined
            ? {
                trafficPolicy: {
                  ...(outlier ? { outlierDetection: { consecutive5xxErrors: 5 } } : {}),
                  ...(own === undefined ? {} : { loadBalancer: { simple: 'ROUND_ROBIN', localityLbSetting: own } }),
                },
              }
            : {}),
        },
      },
    ],
  }));

/** Undefined if the shares are those of the API, else both and why. */
function difference(world: World, config: ProxyConfig): string | undefined {
  const prediction = oracleOf(config).predict({
    arrives: 'outbound',
    destination: { address: SERVICE_ADDRESS, port: 80 },
    http: { authority: 'web' },
  });
  const got = new Map<string, number>();
  for (const { outcome, probability } of prediction.branches) {
    const where = outcome.kind === 'forwarded' ? outcome.endpoint.address : outcome.kind;
    got.set(where, (got.get(where) ?? 0) + probability);
  }
  const want = expectedShares(world, CLIENT_ADDRESS);
  // Without a host, Envoy itself answers.
  const expected = want.size === 0 ? new Map([['answered', 1]]) : want;
  const keys = [...new Set([...expected.keys(), ...got.keys()])].sort();
  const unlike = keys.some(key => Math.abs((expected.get(key) ?? 0) - (got.get(key) ?? 0)) > TOLERANCE);
  const shown = (shares: ReadonlyMap<string, number>): string =>
    [...shares].map(([key, share]) => `${key} ${share.toFixed(2)}`).join(', ');
  return unlike ? `the API: ${shown(expected)}\nEnvoy: ${shown(got)}\n${explain(prediction)}` : undefined;
}

const FIXED_SEED = 7;
const FIXED_CASES = 200;
const fixed = fc.sample(anyWorld, { numRuns: FIXED_CASES, seed: FIXED_SEED });

describe('load balancing by the locality of endpoints', () => {
  it('follows the API', () => {
    fc.assert(
      fc.property(anyWorld, given => {
        const { world, config } = configured(given, CLIENT);
        expect(world.objects).toHaveLength(given.objects.length);
        expect(difference(world, config)).toBeUndefined();
      }),
      parameters(150),
    );
  });

  it('census: selects all, one or some of the endpoints, evenly or not', () => {
    const census = { all: 0, some: 0, uneven: 0 };
    for (const world of fixed) {
      const shares = [...expectedShares(world, CLIENT_ADDRESS).values()];
      const pods = world.objects.filter(({ kind }) => kind === 'Pod').length - 1;
      if (new Set(shares.map(share => share.toFixed(2))).size > 1) census.uneven++;
      else if (shares.length === pods) census.all++;
      else census.some++;
    }
    expect(Math.min(...Object.values(census)), JSON.stringify(census)).toBeGreaterThan(FIXED_CASES / 20);
  });
});

describe('canary: a generator is caught with', () => {
  const changed = (change: (group: Group, i: number) => Group) => (config: ProxyConfig) => ({
    ...config,
    endpoints: config.endpoints.map(one => ({ ...one, endpoints: (one.endpoints ?? []).map(change) })),
  });
  type Group = NonNullable<ProxyConfig['endpoints'][number]['endpoints']>[number];
  const mutations: Readonly<Record<string, (config: ProxyConfig) => ProxyConfig>> = {
    'priorities forgotten': changed(group => ({ ...group, priority: 0 })),
    'priorities turned round': changed(group => ({ ...group, priority: 5 - (group.priority ?? 0) })),
    'weights of places forgotten': changed(group => ({ ...group, loadBalancingWeight: { value: 1 } })),
    'clusters that do not weigh places': config => ({
      ...config,
      clusters: config.clusters.map(one => ({ ...one, commonLbConfig: {} })),
    }),
  };
  it.each(Object.keys(mutations))('%s', name => {
    const isCaught = fixed.some(
      world => difference(world, mutations[name]!(configured(world, CLIENT).config)) !== undefined,
    );
    expect(isCaught).toBe(true);
  });
});
