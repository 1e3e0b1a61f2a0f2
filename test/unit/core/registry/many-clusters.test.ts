// One service in several clusters, as proxies of each cluster see it: what the config cluster's Service decides for all,
// and what each cluster decides for itself. Source: Istio pilot/pkg/serviceregistry/aggregate/controller.go
// (mergeService), pkg/dns/server/name_table.go.

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { Tracker } from '../../../../src/core/query/tracker.ts';
import { allServices } from '../../../../src/core/registry/services.ts';
import type { State } from '../../../../src/core/state.ts';
import { endpointsOf } from '../../../../src/xds/assemble/endpoint/resources.ts';
import { nameTables } from '../../../../src/xds/assemble/nametable/resources.ts';
import type { NameTable } from '../../../../src/xds/proto/types.gen.ts';
import { ask, inCluster, nodeOf, proxyOf, type WorldOptions, world } from '../../world.ts';
import { namespace, pod, service, serviceEntry, slice } from './fixtures.ts';

const EXPORT_TO = 'networking.istio.io/exportTo';
const DISTRIBUTION = 'networking.istio.io/traffic-distribution';
const HOST = 'db.default.svc.cluster.local';

const proxyIn = (cluster: string, metadata: JsonObject = {}) =>
  proxyOf(nodeOf({ metadata: { CLUSTER_ID: cluster, DNS_CAPTURE: 'true', ...metadata } }));

function named(state: State, cluster: string, metadata: JsonObject = {}): NonNullable<NameTable['table']> {
  return new Tracker().get(state, proxyIn(cluster, metadata), nameTables, '')[0]?.message.table ?? {};
}

/** The endpoints that a proxy of the cluster is sent for the host, as text. */
const assigned = (state: State, cluster: string): string =>
  JSON.stringify(new Tracker().get(state, proxyIn(cluster), endpointsOf, `outbound|80||${HOST}`));

describe('a service of several clusters', () => {
  test('is exported as the first cluster says that has it', () => {
    const state = world([
      inCluster('east', service('both', {}, { annotations: { [EXPORT_TO]: '*' } })),
      service('both', {}, { annotations: { [EXPORT_TO]: '.' } }),
      inCluster('west', service('far', {}, { annotations: { [EXPORT_TO]: '*' } })),
      inCluster('east', service('far', {}, { annotations: { [EXPORT_TO]: 'shop' } })),
    ]);
    const exported = ask(state, allServices, '').map(({ name, exportTo }) => `${name} ${exportTo.join()}`);
    expect(exported.sort()).toEqual(['both default', 'far shop']);
  });

  test('of a remote cluster alone is exported as the mesh of the config cluster says', () => {
    const state = world([inCluster('east', service('far'))], { mesh: { defaultServiceExportTo: ['.'] } });
    expect(ask(state, allServices, '')[0]?.exportTo).toEqual(['default']);
  });

  test('distributes traffic as the first cluster says, by the namespace of that cluster', () => {
    const state = world([
      namespace('default', { annotations: { [DISTRIBUTION]: 'PreferSameZone' } }),
      inCluster('east', namespace('default', { annotations: { [DISTRIBUTION]: 'PreferSameNode' } })),
      inCluster('east', service('both', { trafficDistribution: 'PreferSameNode' }), service('far')),
      service('both'),
    ]);
    const distribution = ask(state, allServices, '').map(one => `${one.name} ${one.trafficDistribution}`);
    expect(distribution.sort()).toEqual(['both PreferSameZone', 'far PreferSameNode']);
  });

  test('with internal traffic for its own node has no endpoints of other clusters', () => {
    const objects = (policy: string) => [
      service('db', { internalTrafficPolicy: policy }),
      inCluster('east', service('db'), slice('db', [{ ip: '10.2.0.1', ready: true }])),
    ];
    expect(assigned(world(objects('Cluster')), 'Kubernetes')).toContain('10.2.0.1');
    expect(assigned(world(objects('Local')), 'Kubernetes')).not.toContain('10.2.0.1');
  });
});

describe('a headless service of two clusters', () => {
  const database = (ip: string, name: string): JsonObject => {
    const made = pod(name, ip, { labels: { app: 'db' } });
    return { ...made, spec: { ...(made.spec as JsonObject), hostname: name, subdomain: 'db' } };
  };
  const clusters = (options: WorldOptions = {}, eastIp = 'None'): State =>
    world(
      [
        service('db', { clusterIP: 'None' }),
        database('10.1.0.1', 'db-0'),
        slice('db', [{ ip: '10.1.0.1', pod: 'db-0', ready: true }]),
        inCluster(
          'east',
          service('db', { clusterIP: eastIp }),
          database('10.2.0.1', 'db-0'),
          database('10.2.0.2', 'db-1'),
          slice('db', [
            { ip: '10.2.0.1', pod: 'db-0', ready: true },
            { ip: '10.2.0.2', pod: 'db-1', ready: true },
          ]),
        ),
      ],
      options,
    );
  const ips = (table: NonNullable<NameTable['table']>, host: string) => table[host]?.ips;

  test('has the pods of both in the name table; a pod name is that of the own cluster, else of the other', () => {
    for (const [cluster, own] of [
      ['Kubernetes', '10.1.0.1'],
      ['east', '10.2.0.1'],
    ] as const) {
      const table = named(clusters(), cluster);
      expect([...(ips(table, HOST) ?? [])].sort()).toEqual(['10.1.0.1', '10.2.0.1', '10.2.0.2']);
      expect(ips(table, `db-0.${HOST}`)).toEqual([own]);
      expect(ips(table, `db-1.${HOST}`)).toEqual(['10.2.0.2']);
    }
  });

  test('has the pods of the own cluster alone without ENABLE_MULTICLUSTER_HEADLESS, and still the names of all', () => {
    const state = clusters({ settings: { env: { ENABLE_MULTICLUSTER_HEADLESS: 'false' } } });
    expect(ips(named(state, 'Kubernetes'), HOST)).toEqual(['10.1.0.1']);
    expect(ips(named(state, 'east'), HOST)).toEqual(['10.2.0.1', '10.2.0.2']);
    expect(ips(named(state, 'Kubernetes'), `db-1.${HOST}`)).toEqual(['10.2.0.2']);
  });

  test('has neither pods nor names of pods of another network', () => {
    const fromEast = { networks: { far: { endpoints: [{ fromRegistry: 'east' }] } } };
    const table = named(clusters({ networks: fromEast }), 'Kubernetes', { NETWORK: 'near' });
    expect(ips(table, HOST)).toEqual(['10.1.0.1']);
    expect(table).not.toHaveProperty([`db-1.${HOST}`]);
  });

  test('passes traffic through in all clusters if it is headless in the first; a cluster with an address names that', () => {
    const state = clusters({}, '10.97.0.1');
    expect(ask(state, allServices, '')[0]).toMatchObject({
      resolution: 'Passthrough',
      clusterVips: { Kubernetes: ['0.0.0.0'], east: ['10.97.0.1'] },
    });
    expect(ips(named(state, 'east'), HOST)).toEqual(['10.97.0.1']);
    expect(ips(named(state, 'Kubernetes'), HOST)).toContain('10.2.0.1');
  });

  test('gives the name of a pod elsewhere precedence over a ServiceEntry of that name', () => {
    const spec = { hosts: [`db-1.${HOST}`], addresses: ['240.0.0.9'] };
    const entry = serviceEntry('older', spec, { namespace: 'aaa' });
    const day = {
      ...entry,
      metadata: { ...(entry.metadata as JsonObject), creationTimestamp: '2025-01-01T00:00:00Z' },
    };
    const state = world([day]);
    expect(ips(named(state, 'Kubernetes'), `db-1.${HOST}`)).toEqual(['240.0.0.9']);
    const both = world([
      day,
      service('db', { clusterIP: 'None' }),
      inCluster(
        'east',
        service('db', { clusterIP: 'None' }),
        database('10.2.0.2', 'db-1'),
        slice('db', [{ ip: '10.2.0.2', pod: 'db-1', ready: true }]),
      ),
    ]);
    expect(ips(named(both, 'Kubernetes'), `db-1.${HOST}`)).toEqual(['10.2.0.2']);
  });
});
