// What is known of the endpoints of a cluster besides which they are: mTLS, how they are described, networks.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { ProxyRecord } from '../../../../../src/core/model/proxy.ts';
import type { Query } from '../../../../../src/core/query/reader.ts';
import type { AssignmentInputs } from '../../../../../src/core/select/endpoint/assignment.ts';
import {
  endpointsOfCluster,
  endpointsOfClusters,
  selectClusterEndpoints,
} from '../../../../../src/core/select/endpoint/cluster-endpoints.ts';
import { ask, inCluster, nodeOf, proxyOf, type WorldOptions, type WorldPart, world } from '../../../world.ts';
import { destinationRule, peerAuthentication, pod, service, serviceEntry, slice } from '../../registry/fixtures.ts';

const HOST = 'web.default.svc.cluster.local';
const OUT = 'out.example.com';

function inputs(
  parts: readonly WorldPart[],
  cluster = `outbound|80||${HOST}`,
  { options = {}, proxy = proxyOf(nodeOf()) }: { options?: WorldOptions; proxy?: ProxyRecord } = {},
): AssignmentInputs | undefined {
  const query: Query<'', AssignmentInputs | undefined> = {
    name: 'test/assignment',
    run: reader => {
      const found = endpointsOfCluster(reader, cluster);
      return found && selectClusterEndpoints(reader, found);
    },
  };
  return ask(world(parts, options), query, '', proxy);
}
const env = (flags: Readonly<Record<string, string>>): WorldOptions => ({ settings: { env: flags } });

const TLS = 'security.istio.io/tlsMode';
const web = [
  service('web'),
  slice('web', [
    { ip: '10.0.0.1', pod: 'web-1' },
    { ip: '10.0.0.2', pod: 'web-2' },
    { ip: '10.0.0.3', pod: 'web-3' },
    { ip: '10.0.0.4' },
  ]),
  pod('web-1', '10.0.0.1', { labels: { app: 'web', [TLS]: 'istio' } }),
  pod('web-2', '10.0.0.2', { labels: { app: 'web', [TLS]: 'disabled' } }),
  pod('web-3', '10.0.0.3', { labels: { app: 'web', [TLS]: 'other' } }),
];
const tls = (mode: string): JsonObject => ({ trafficPolicy: { tls: { mode } } });

describe('an endpoint is offered mTLS', () => {
  it.each<[string, readonly JsonObject[], readonly boolean[]]>([
    ['without a rule if it has a sidecar', [], [true, false, false, false]],
    [
      'unless a policy disables it',
      [peerAuthentication('p', { mtls: { mode: 'DISABLE' } })],
      [false, false, false, false],
    ],
    [
      'by a rule for mTLS if its mode is not switched off',
      [destinationRule('r', HOST, tls('ISTIO_MUTUAL'))],
      [true, false, true, false],
    ],
    ['by no rule for other TLS', [destinationRule('r', HOST, tls('SIMPLE'))], [false, false, false, false]],
  ])('%s', (_what, objects, expected) => {
    expect(inputs([...web, ...objects])?.mtls).toEqual(expected);
  });

  it('by the TLS of its subset alone, which inherits none', () => {
    const subsets = [
      { name: 'plain', labels: { app: 'web' }, ...tls('DISABLE') },
      { name: 'bare', labels: { app: 'web' } },
    ];
    const rule = destinationRule('r', HOST, { ...tls('DISABLE'), subsets });
    expect(inputs([...web, rule], `outbound|80|plain|${HOST}`)?.mtls).toEqual([false, false, false]);
    expect(inputs([...web, rule], `outbound|80|bare|${HOST}`)?.mtls).toEqual([true, false, false]);
  });
});

describe('endpoints are described', () => {
  it('as flags say', () => {
    expect(inputs(web)).toMatchObject({ drainingLabel: 'istio.io/draining', describesWorkloads: true });
    const label = { options: env({ PILOT_DRAINING_LABEL: 'drains', ISTIO_DUAL_STACK: 'true' }) };
    expect(inputs(web, undefined, label)).toMatchObject({ drainingLabel: 'drains', dualStack: true });
    for (const flag of ['PILOT_ENABLE_TELEMETRY_LABEL', 'PILOT_ENDPOINT_TELEMETRY_LABEL']) {
      expect(inputs(web, undefined, { options: env({ [flag]: 'false' }) })?.describesWorkloads).toBe(false);
    }
  });

  it.each<[JsonObject, JsonObject]>([
    [{}, { 'service.istio.io/canonical-name': 'out', 'service.istio.io/canonical-revision': 'latest' }],
    [
      { 'service.istio.io/canonical-name': 'n' },
      { 'service.istio.io/canonical-name': 'n', 'service.istio.io/canonical-revision': 'latest' },
    ],
    [
      { 'service.istio.io/canonical-name': 'n', 'service.istio.io/canonical-revision': 'r' },
      { 'service.istio.io/canonical-name': 'n', 'service.istio.io/canonical-revision': 'r' },
    ],
  ])('as their service outside of the mesh with the labels %j, if a flag says so', (labels, expected) => {
    const spec = (location: string) => ({ hosts: [OUT], location, endpoints: [{ address: '192.0.2.1' }] });
    const of = (location: string, value: string) =>
      inputs(
        [serviceEntry('out', spec(location), { labels: labels as Readonly<Record<string, string>> })],
        `outbound|80||${OUT}`,
        { options: env({ LABEL_CANONICAL_SERVICES_FOR_MESH_EXTERNAL_SERVICE_ENTRIES: value }) },
      );
    expect(of('MESH_EXTERNAL', 'true')?.describedAs).toEqual({ namespace: 'default', labels: expected });
    expect(of('MESH_EXTERNAL', 'false')?.describedAs).toBeUndefined();
    expect(of('MESH_INTERNAL', 'true')?.describedAs).toBeUndefined();
  });
});

describe('networks count', () => {
  const networks = { networks: { far: { endpoints: [], gateways: [{ address: '192.0.2.1', port: 15_443 }] } } };
  const node = (type: 'sidecar' | 'router') => proxyOf(nodeOf({ type, metadata: { NETWORK: 'near' } }));

  it('with what the proxy is, once there is a gateway', () => {
    const found = inputs(web, undefined, { options: { networks }, proxy: node('router') });
    expect(found).toMatchObject({ proxyNetwork: 'near', proxyFamilies: 'ipv4', router: true });
    expect(found?.gateways).toHaveLength(1);
    expect(inputs(web, undefined, { options: { networks }, proxy: node('sidecar') })?.router).toBe(false);
  });

  it('for nothing without one, so that proxies share the assignment', () => {
    expect(inputs(web, undefined, { proxy: node('router') })).toMatchObject({
      gateways: [],
      proxyNetwork: '',
      proxyFamilies: 'dual',
      router: false,
    });
  });
});

describe('a cluster has an assignment', () => {
  const external = (resolution: string): JsonObject =>
    serviceEntry('out', { hosts: [OUT], resolution, endpoints: [{ address: '192.0.2.1' }] });

  it.each([
    ['STATIC', true],
    ['DNS', false],
    ['DNS_ROUND_ROBIN', false],
  ])('unless it resolves names itself: resolution %s: %s', (resolution, expected) => {
    expect(inputs([external(resolution)], `outbound|80||${OUT}`) !== undefined).toBe(expected);
  });

  it('only of an outbound name with a port that a service has', () => {
    for (const name of [`outbound|81||${HOST}`, `inbound|80||${HOST}`, `outbound|80||${OUT}`, 'BlackHoleCluster']) {
      expect(inputs(web, name)).toBeUndefined();
    }
  });

  const names = [`inbound|80||${HOST}`, `outbound|80||${HOST}`, 'BlackHoleCluster', `outbound|80||${OUT}`];
  it.each([
    ['over state of the world each name, without endpoints if no service has it', 'sotw', names],
    ['for a delta client only the names of services', 'delta', [`outbound|80||${HOST}`]],
  ] as const)('found with others in one go like alone: %s', (_, protocol, expected) => {
    const rule = destinationRule('r', HOST, tls('SIMPLE'));
    const query: Query<'', boolean> = {
      name: 'test/together',
      run: reader => {
        const together = endpointsOfClusters(reader, names);
        const alone = names.flatMap(name => endpointsOfCluster(reader, name) ?? []);
        expect(together.map(({ clusterName }) => clusterName)).toEqual(expected);
        expect(alone).toEqual(together);
        expect(together.map(({ service }) => service?.hostname).filter(Boolean)).toEqual([HOST]);
        return together.some(one => one.rule !== undefined);
      },
    };
    expect(ask(world([...web, rule]), query, '', { ...proxyOf(nodeOf()), protocol })).toBe(true);
  });

  it('with paths of sockets as endpoints', () => {
    const entry = serviceEntry('out', { hosts: [OUT], endpoints: [{ address: 'unix:///var/run/a' }] });
    expect(inputs([entry], `outbound|80||${OUT}`)?.endpoints.map(({ port }) => port)).toEqual([0]);
  });
});

describe('endpoints of other clusters', () => {
  const own = [service('web', { internalTrafficPolicy: 'Local' }), slice('web', [{ ip: '10.0.0.1', pod: 'a' }])];
  const far = (spec: JsonObject = {}) =>
    inCluster(
      'far',
      service('web', spec),
      slice('web', [{ ip: '10.1.0.1', pod: 'b' }]),
      pod('b', '10.1.0.1', { node: 'n' }),
    );
  const addresses = (found: AssignmentInputs | undefined) => found?.endpoints.map(one => one.addresses[0]);

  it('on a node of the same name do not count for a service of the own node', () => {
    const proxy = proxyOf(nodeOf({ metadata: { NODE_NAME: 'n' } }));
    const parts = [...own, pod('a', '10.0.0.1', { node: 'n' }), far({ internalTrafficPolicy: 'Local' })];
    expect(addresses(inputs(parts, undefined, { proxy }))).toEqual(['10.0.0.1']);
  });

  it('that are not exported are for proxies of their cluster, and for those of no known cluster', () => {
    const options = env({ ENABLE_MCS_SERVICE_DISCOVERY: 'true' });
    const parts = [service('web'), slice('web', [{ ip: '10.0.0.1' }]), far()];
    const at = (CLUSTER_ID: string) => ({ options, proxy: proxyOf(nodeOf({ metadata: { CLUSTER_ID } })) });
    expect(addresses(inputs(parts, undefined, at('Kubernetes')))).toEqual(['10.0.0.1']);
    expect(addresses(inputs(parts, undefined, at('far')))).toEqual(['10.1.0.1']);
    expect(addresses(inputs(parts, undefined, at('')))).toEqual(['10.0.0.1', '10.1.0.1']);
    const entry = serviceEntry('out', { hosts: [OUT], endpoints: [{ address: '192.0.2.1' }] });
    expect(addresses(inputs([entry], `outbound|80||${OUT}`, at('far')))).toEqual(['192.0.2.1']);
  });
});
