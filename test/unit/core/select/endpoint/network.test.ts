// Gateways of networks: Services with a label, Services and addresses of MeshNetworks, and which addresses and ports.

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import {
  gatewayNames,
  networkGateways,
  SERVICE_GATEWAYS_MAX,
} from '../../../../../src/core/select/endpoint/network.ts';
import { ask, inCluster, type WorldOptions, world } from '../../../world.ts';
import { node, service } from '../../registry/fixtures.ts';

const SELECTOR = 'traffic.istio.io/nodeSelector';

const onNodes = (selector: string, spec: JsonObject = {}): JsonObject =>
  service(
    'gw',
    { type: 'NodePort', ports: [{ name: 'tls', port: 15_443, nodePort: 30_443 }], ...spec },
    { labels: { 'topology.istio.io/network': 'n2' }, annotations: { [SELECTOR]: selector } },
  );
const at = (name: string, region: string, ...addresses: readonly string[]): JsonObject => ({
  ...node(name, region, 'z'),
  status: {
    addresses: [
      { type: 'InternalIP', address: '10.0.0.1' },
      ...addresses.map(address => ({ type: 'ExternalIP', address })),
    ],
  },
});
const nodes = [at('a', 'r', '8.8.8.8', '2001:db8::8'), at('b', 'r', '', '9.9.9.9'), at('c', 's', '7.7.7.7')];
const of = (gateway: JsonObject): readonly string[] =>
  ask(world([gateway, ...nodes]), networkGateways, '').map(({ address, port }) => `${address} ${port}`);

describe('a gateway on node ports', () => {
  test('is at the first external address of each selected node', () => {
    expect(of(onNodes('{"topology.kubernetes.io/region":"r"}'))).toEqual(['8.8.8.8 30443', '9.9.9.9 30443']);
  });
  test.each(['', '{}', 'no json'])('is on every node with the selector %o', selector => {
    expect(of(onNodes(selector))).toEqual(['7.7.7.7 30443', '8.8.8.8 30443', '9.9.9.9 30443']);
  });
  test('is at the external IPs of its Service, if it has any', () => {
    expect(of(onNodes('{}', { externalIPs: ['192.0.2.1'] }))).toEqual(['192.0.2.1 30443']);
  });
  test('is at the node port of its own port, or at that port where it has none', () => {
    const http = { name: 'http', port: 80, nodePort: 30_080 };
    const only = '{"topology.kubernetes.io/region":"s"}';
    expect(of(onNodes(only, { ports: [http, { name: 'tls', port: 15_443, nodePort: 30_443 }] }))).toEqual([
      '7.7.7.7 30443',
    ]);
    expect(of(onNodes(only, { ports: [http, { name: 'tls', port: 15_443 }] }))).toEqual(['7.7.7.7 15443']);
  });
  test('is on nodes of its own cluster', () => {
    const state = world([onNodes('{}'), nodes[2]!, inCluster('other', nodes[0]!)]);
    expect(ask(state, networkGateways, '').map(({ address }) => address)).toEqual(['7.7.7.7']);
  });
  test('with others comes to no more than a limit', () => {
    const [services, count] = [101, 100];
    const many = Array.from({ length: services }, (_, i) => {
      const made = onNodes('{}');
      return { ...made, metadata: { ...(made.metadata as JsonObject), name: `gw-${i}` } };
    });
    const addressed = Array.from({ length: count }, (_, i) => at(`n${i}`, 'r', `8.8.8.${i}`));
    const named = many.map((one, i) => {
      const labels = { 'topology.istio.io/network': `n${i}` };
      return { ...one, metadata: { ...(one.metadata as JsonObject), labels } };
    });
    expect(ask(world([...named, ...addressed]), networkGateways, '')).toHaveLength(SERVICE_GATEWAYS_MAX);
  });
  test('is none without a selector, nor is one of another type', () => {
    const external = { externalIPs: ['192.0.2.1'] };
    const bare = (spec: JsonObject) => {
      const made = onNodes('{}', spec);
      return { ...made, metadata: { ...(made.metadata as JsonObject), annotations: {} } };
    };
    expect(of(bare({}))).toEqual([]);
    expect(of(bare(external))).toEqual(['192.0.2.1 15443']);
    expect(of(onNodes('{}', { type: 'ClusterIP', ...external }))).toEqual(['192.0.2.1 15443']);
  });
});

describe('a Service that its label makes the gateway of a network', () => {
  const gateway = (ports: readonly number[], labels: Readonly<Record<string, string>> = {}, spec: JsonObject = {}) =>
    service(
      'gw',
      { ports: ports.map(port => ({ name: `p${port}`, port })), externalIPs: ['192.0.2.1'], ...spec },
      { labels: { 'topology.istio.io/network': 'n2', ...labels } },
    );
  const PORT = 'networking.istio.io/gatewayPort';
  const found = (object: JsonObject): readonly (readonly number[])[] =>
    ask(world([object]), networkGateways, '').map(({ port, hbonePort }) => [port, hbonePort]);

  test.each<[readonly number[], Readonly<Record<string, string>>, readonly (readonly number[])[]]>([
    [[15_443], {}, [[15_443, 0]]],
    [[15_008], {}, [[0, 15_008]]],
    [[15_443, 15_008], {}, [[15_443, 15_008]]],
    [[80], {}, []],
    [[80, 15_443], { [PORT]: '80' }, [[80, 0]]],
    [[15_443], { [PORT]: '80' }, []],
    [[15_443], { [PORT]: 'x' }, [[15_443, 0]]],
    [[15_443], { [PORT]: '' }, [[15_443, 0]]],
    [[15_443, 80], { [PORT]: '80x' }, [[15_443, 0]]],
    [[15_443, 80], { [PORT]: 'x80' }, [[15_443, 0]]],
  ])('on ports %j with the labels %j is used on %j', (ports, labels, expected) => {
    expect(found(gateway(ports, labels))).toEqual(expected);
  });

  test('is at its load balancers and its external addresses', () => {
    const state = world([
      {
        ...gateway([15_443], {}, { type: 'LoadBalancer' }),
        status: { loadBalancer: { ingress: [{ ip: '198.51.100.1' }] } },
      },
    ]);
    expect(ask(state, networkGateways, '').map(({ address }) => address)).toEqual(['192.0.2.1', '198.51.100.1']);
  });
});

describe('the gateways of MeshNetworks', () => {
  const named = (gateways: readonly JsonObject[], registries = ['Kubernetes']): WorldOptions => ({
    networks: { networks: { n2: { endpoints: registries.map(fromRegistry => ({ fromRegistry })), gateways } } },
  });
  const found = (gateways: readonly JsonObject[], registries?: readonly string[], labels = {}) => {
    const gw = service('gw', { externalIPs: ['192.0.2.1'] }, { labels });
    const state = world([gw, inCluster('other', service('gw', { externalIPs: ['192.0.2.2'] }))], {
      ...named(gateways, registries as string[]),
    });
    return ask(state, networkGateways, '').map(({ address, port, cluster }) => `${cluster} ${address} ${port}`);
  };
  const byName = { registryServiceName: 'gw.default.svc.cluster.local', port: 15_443 };

  test('are at their addresses, of no cluster', () => {
    expect(found([{ address: '192.0.2.9', port: 443 }])).toEqual([' 192.0.2.9 443']);
  });

  test('are the Services of their names, in the clusters of the network', () => {
    expect(found([byName])).toEqual(['Kubernetes 192.0.2.1 15443']);
    expect(found([byName], ['other'])).toEqual(['other 192.0.2.2 15443']);
    expect(found([byName], ['none'])).toEqual([]);
    expect(found([{ ...byName, registryServiceName: 'gw.elsewhere' }])).toEqual([]);
  });

  test('leave out a Service whose label names its network', () => {
    expect(found([byName], undefined, { 'topology.istio.io/network': 'n3' })).toEqual([]);
  });

  test('by host name need a resolved name, which is asked for once, if that is not switched off', () => {
    const gateways = [1, 2].map(port => ({ address: 'Gateway.example.com', port }));
    const ipToo = [...gateways, { address: '192.0.2.9', port: 443 }];
    const state = (env = {}) => world([], { ...named(ipToo), settings: { env } });
    expect(ask(state(), gatewayNames, '')).toHaveLength(1);
    expect(ask(state({ RESOLVE_HOSTNAME_GATEWAYS: 'false' }), gatewayNames, '')).toEqual([]);
    expect(ask(state(), networkGateways, '').map(({ address }) => address)).toEqual(['192.0.2.9']);
  });
});
