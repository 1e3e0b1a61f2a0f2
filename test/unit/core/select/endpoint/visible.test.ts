// Which endpoints of a service a proxy is given: by node, by network, by health, by subset.

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { ProxyReader, Query } from '../../../../../src/core/query/reader.ts';
import {
  endpointsOfCluster,
  selectClusterEndpoints,
} from '../../../../../src/core/select/endpoint/cluster-endpoints.ts';
import { ask, inCluster, nodeOf, proxyOf, type WorldOptions, type WorldPart, world } from '../../../world.ts';
import { destinationRule, pod, service, serviceEntry, slice, workloadEntry } from '../../registry/fixtures.ts';

const HOST = 'web.default.svc.cluster.local';

interface Asked {
  readonly parts: readonly WorldPart[];
  readonly metadata?: JsonObject;
  readonly subset?: string;
  readonly port?: number;
  readonly options?: WorldOptions;
}

/** The first addresses of the endpoints in the assignment of the cluster; undefined: there is none. */
function visible({ parts, metadata = {}, subset = '', port = 80, options = {} }: Asked): unknown {
  const query: Query<'', readonly string[] | undefined> = {
    name: 'test/visible',
    run: (reader: ProxyReader) => {
      const found = endpointsOfCluster(reader, `outbound|${port}|${subset}|${HOST}`);
      const inputs = found && selectClusterEndpoints(reader, found);
      return inputs?.endpoints.map(({ addresses }) => addresses[0] ?? '');
    },
  };
  return ask(world(parts, options), query, '', proxyOf(nodeOf({ metadata })));
}

const pods = [
  pod('web-1', '10.0.0.1', { node: 'n1', labels: { app: 'web', version: 'v1', 'topology.istio.io/network': 'near' } }),
  pod('web-2', '10.0.0.2', { node: 'n2', labels: { app: 'web', version: 'v2', 'topology.istio.io/network': 'far' } }),
  pod('web-3', '10.0.0.3', { node: 'n2', labels: { app: 'web', version: 'v2' } }),
];
const slices = slice(
  'web',
  ['1', '2', '3'].map(n => ({ ip: `10.0.0.${n}`, pod: `web-${n}` })),
);
const all = ['10.0.0.1', '10.0.0.2', '10.0.0.3'];

describe('the endpoints that a proxy sees', () => {
  test.each<[string, JsonObject, readonly string[]]>([
    ['every network without a view', {}, all],
    ['the networks of its view, and what has no network', { REQUESTED_NETWORK_VIEW: 'near' }, ['10.0.0.1', '10.0.0.3']],
    ['several networks of its view', { REQUESTED_NETWORK_VIEW: 'near,far' }, all],
  ])('are of %s', (_what, metadata, expected) => {
    expect(visible({ parts: [service('web'), ...pods, slices], metadata })).toEqual(expected);
  });

  test('of a service with internal traffic for its node are those of the node of the proxy', () => {
    const parts = [service('web', { internalTrafficPolicy: 'Local' }), ...pods, slices];
    expect(visible({ parts, metadata: { NODE_NAME: 'n2' } })).toEqual(['10.0.0.2', '10.0.0.3']);
    expect(visible({ parts, metadata: { NODE_NAME: 'n3' } })).toEqual([]);
    expect(visible({ parts })).toEqual([]);
  });

  test('of a subset have all of its labels', () => {
    const subsets = [
      { name: 'v2', labels: { version: 'v2' } },
      { name: 'far', labels: { version: 'v2', 'topology.istio.io/network': 'far' } },
      { name: 'any' },
    ];
    const parts = [service('web'), ...pods, slices, destinationRule('web', HOST, { subsets })];
    expect(visible({ parts, subset: 'v2' })).toEqual(['10.0.0.2', '10.0.0.3']);
    expect(visible({ parts, subset: 'far' })).toEqual(['10.0.0.2']);
    expect(visible({ parts, subset: 'any' })).toEqual(all);
  });

  test('are ready, or not ready where the mesh or the service sends to those as well', () => {
    const conditions = [{ ready: true }, { ready: false, terminating: false }, { ready: false, terminating: true }];
    const own = slice(
      'web',
      conditions.map((condition, i) => ({ ip: all[i]!, ...condition })),
    );
    expect(visible({ parts: [service('web'), own] })).toEqual(all.slice(0, 1));
    const env = { PILOT_SEND_UNHEALTHY_ENDPOINTS: 'true' };
    expect(visible({ parts: [service('web'), own], options: { settings: { env } } })).toEqual(all.slice(0, 2));
    const close = service('web', { trafficDistribution: 'PreferClose' });
    expect(visible({ parts: [close, own] })).toEqual(all.slice(0, 2));
  });

  test('are without those that drain, unless sessions stick to them', () => {
    const draining = pod('web-2', '10.0.0.2', { labels: { app: 'web', 'istio.io/draining': 'yes' } });
    const parts = (labels: { readonly [key: string]: string }): readonly JsonObject[] => [
      service('web', {}, { labels }),
      pods[0]!,
      draining,
      pods[2]!,
      slices,
    ];
    expect(visible({ parts: parts({}) })).toEqual(['10.0.0.1', '10.0.0.3']);
    expect(visible({ parts: parts({ 'istio.io/persistent-session': 'cookie' }) })).toEqual(all);
    const ill = slice('web', [{ ip: '10.0.0.2', pod: 'web-2', ready: false, terminating: false }]);
    const options = { settings: { env: { PILOT_SEND_UNHEALTHY_ENDPOINTS: 'true' } } };
    expect(visible({ parts: [service('web'), draining, ill], options })).toEqual([]);
    const off = { settings: { env: { PILOT_DRAINING_LABEL: '' } } };
    expect(visible({ parts: parts({}), options: off })).toEqual(all);
  });

  test('are of the port by its name', () => {
    const ports = [
      { name: 'http', port: 80, targetPort: 8080 },
      { name: 'admin', port: 81, targetPort: 9090 },
    ];
    const admin = { ...slice('web', [{ ip: '10.0.0.9' }], { name: 'admin' }), ports: [{ name: 'admin', port: 9090 }] };
    const parts = [service('web', { ports }), slice('web', [{ ip: '10.0.0.1' }]), admin];
    expect(visible({ parts })).toEqual(['10.0.0.1']);
    expect(visible({ parts, port: 81 })).toEqual(['10.0.0.9']);
  });

  test('are of all clusters, or only of that of the proxy if the mesh keeps the host in its cluster', () => {
    const remote = inCluster('remote', service('web'), slice('web', [{ ip: '10.1.0.1' }]));
    const parts = [service('web'), slice('web', [{ ip: '10.0.0.1' }]), remote];
    const kept = (clusterLocal: boolean, hosts = [HOST]) => ({
      mesh: { serviceSettings: [{ settings: { clusterLocal }, hosts }] },
    });
    expect(visible({ parts })).toEqual(['10.0.0.1', '10.1.0.1']);
    expect(visible({ parts, options: kept(true) })).toEqual(['10.0.0.1']);
    expect(visible({ parts, options: kept(true), metadata: { CLUSTER_ID: 'remote' } })).toEqual(['10.1.0.1']);
    expect(visible({ parts, options: kept(false) })).toEqual(['10.0.0.1', '10.1.0.1']);
    expect(visible({ parts, options: kept(true, ['*.other.svc.cluster.local']) })).toHaveLength(2);
  });

  test('of a service that resolves no names have an address, or a network that gateways lead to', () => {
    const labels = { app: 'web' };
    const entry = serviceEntry('web', { hosts: [HOST], workloadSelector: { labels } });
    const at = (name: string, spec: JsonObject) => workloadEntry(name, { labels, ...spec });
    const parts = [
      entry,
      at('a', { address: '10.0.0.1' }),
      at('b', { address: 'b.example.com' }),
      at('c', { network: 'far' }),
    ];
    expect(visible({ parts })).toEqual(['10.0.0.1']);
    const networks = { networks: { far: { endpoints: [], gateways: [{ address: '192.0.2.1', port: 15_443 }] } } };
    expect(visible({ parts, options: { networks } })).toEqual(['10.0.0.1', '']);
    expect(visible({ parts, options: { networks }, metadata: { NETWORK: 'far' } })).toEqual(['10.0.0.1']);
  });
});
