// ServiceExports: with multi-cluster service discovery they decide what other clusters see of a service's endpoints.
// ServiceImports: with names in the set of clusters they give services such a name.
// Source: Istio pilot/pkg/serviceregistry/kube/controller/serviceexportcache.go.

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { Tracker } from '../../../../src/core/query/tracker.ts';
import { servicesOfHost } from '../../../../src/core/registry/services.ts';
import { selectAssignment } from '../../../../src/core/select/endpoint/assignment.ts';
import { ask, inCluster, nodeOf, proxyOf, type WorldOptions, world } from '../../world.ts';
import { service, slice } from '../registry/fixtures.ts';
import { deletes, entryKey, rows, says, serviceKey } from './rows.ts';

const exported: JsonObject = {
  apiVersion: 'multicluster.x-k8s.io/v1alpha1',
  kind: 'ServiceExport',
  metadata: { name: 'web', namespace: 'default' },
};
const told = { ...exported, metadata: { ...(exported.metadata as JsonObject), labels: { a: 'b' } } };
const imported = (...ips: readonly string[]): JsonObject => ({ ...exported, kind: 'ServiceImport', spec: { ips } });
const SET_HOST = 'web.default.svc.clusterset.local';
const WEB = serviceKey('web');
const SET = entryKey(SET_HOST);

const HOSTS = { ENABLE_MCS_HOST: 'true' };
const DISCOVERY = { ENABLE_MCS_SERVICE_DISCOVERY: 'true' };
const flags = (env: Readonly<Record<string, string>>): WorldOptions => ({ settings: { env } });
const DISCOVERS = flags(DISCOVERY);
const NAMES = flags({ ...DISCOVERY, ...HOSTS });

describe('a ServiceExport pushes the endpoints of its service:', () => {
  rows([
    ['when it is added', world([service('web')], DISCOVERS), says(exported, 'east'), `incremental endpoint ${WEB}`],
    ['when it is deleted', world([exported], DISCOVERS), deletes(exported), `incremental endpoint ${WEB}`],
    ['under both names of the service', world([], NAMES), says(exported), `incremental endpoint ${WEB} ${SET}`],
    ['nothing for other changes', world([exported], DISCOVERS), says(told), '-'],
    ['nothing without service discovery', world([service('web')]), says(exported), '-'],
  ]);
});

describe('a ServiceImport pushes:', () => {
  const web = service('web');
  const elsewhere = inCluster('east', web);
  const vip = imported('10.9.0.1');
  rows([
    ['a new name of the service', world([web], NAMES), says(vip), `full service ${SET}`],
    ['a new name of a service in another cluster', world([elsewhere], NAMES), says(vip), `full service ${SET}`],
    ['the removed name when it is deleted', world([web, vip], NAMES), deletes(vip), `full service ${SET}`],
    ['the name of a service that follows it', world([vip], NAMES), says(web), `full service ${WEB} ${SET}`],
    ['no name without a service', world([], NAMES), says(vip), '-'],
    ['no name without an address', world([web], NAMES), says(imported()), '-'],
    ['no name without the flag', world([web], DISCOVERS), says(vip), '-'],
    ['no name without service discovery', world([web], flags(HOSTS)), says(vip), '-'],
  ]);
  const behind = slice('web', [{ ip: '10.1.0.1' }]);
  rows([['has the endpoints too', world([web, vip], NAMES), says(behind), `full endpoint ${WEB} ${SET}`]]);
});

describe('endpoints of another cluster', () => {
  const asked = {
    name: 'test/addresses',
    run: (reader: Parameters<typeof selectAssignment>[0], host: string): readonly string[] => {
      const [web] = reader.get(servicesOfHost, host);
      const question = { clusterName: '', service: web!, port: web!.ports[0]!, dns: false, sniDnat: false, vip: false };
      const none = { subset: undefined, rule: undefined, policy: undefined };
      return selectAssignment(reader, { ...question, ...none }).endpoints.flatMap(endpoint => endpoint.addresses);
    },
  };
  const addresses = (
    there: readonly JsonObject[],
    options?: WorldOptions,
    host = 'web.default.svc.cluster.local',
  ): readonly string[] => {
    const east = inCluster('east', service('web'), slice('web', [{ ip: '10.2.0.1' }]), ...there);
    const state = world([service('web'), slice('web', [{ ip: '10.1.0.1' }]), east], options);
    return new Tracker().get(state, proxyOf(nodeOf({})), asked, host);
  };
  const OWN = ['10.1.0.1'];
  const ALL = ['10.1.0.1', '10.2.0.1'];

  test('are visible to every proxy without service discovery', () => {
    expect(addresses([])).toEqual(ALL);
  });
  test('are visible to their own cluster, unless it exports the service', () => {
    expect(addresses([], DISCOVERS)).toEqual(OWN);
    expect(addresses([exported], DISCOVERS)).toEqual(ALL);
  });
  test('are visible to their own cluster alone under cluster.local, if that means the cluster and another name exists', () => {
    const local = { ...DISCOVERY, ENABLE_MCS_CLUSTER_LOCAL: 'true' };
    expect(addresses([exported], flags({ ...local, ...HOSTS }))).toEqual(OWN);
    expect(addresses([exported], flags(local))).toEqual(ALL);
  });
  test('count as exported where everything is, except what is local to its cluster', () => {
    const auto = flags({ ...DISCOVERY, ENABLE_MCS_AUTO_EXPORT: 'true' });
    const mesh = { serviceSettings: [{ settings: { clusterLocal: true }, hosts: ['*.default.svc.cluster.local'] }] };
    expect(addresses([], auto)).toEqual(ALL);
    expect(addresses([], { ...auto, mesh })).toEqual(OWN);
  });
  test('count as exported by the name that the domain of the mesh gives', () => {
    const settings = { domainSuffix: 'mesh.example', env: { ...DISCOVERY, ENABLE_MCS_AUTO_EXPORT: 'true' } };
    const mesh = { serviceSettings: [{ settings: { clusterLocal: true }, hosts: ['*.default.svc.mesh.example'] }] };
    expect(addresses([], { settings, mesh }, 'web.default.svc.mesh.example')).toEqual(OWN);
    expect(addresses([], { settings }, 'web.default.svc.mesh.example')).toEqual(ALL);
  });
  test('are visible by the name in the set where the service is both exported and imported', () => {
    const vip = imported('10.9.0.1');
    const local = flags({ ...DISCOVERY, ...HOSTS, ENABLE_MCS_CLUSTER_LOCAL: 'true' });
    expect(addresses([vip], NAMES, SET_HOST)).toEqual(OWN);
    expect(addresses([vip, exported], NAMES, SET_HOST)).toEqual(ALL);
    expect(addresses([vip, exported], local, SET_HOST)).toEqual(ALL);
  });
});

describe('the service of a name in the set', () => {
  const named = (parts: Parameters<typeof world>[0], options?: WorldOptions) =>
    ask(world(parts, options), servicesOfHost, SET_HOST)[0];
  const web = (clusterIP: string, port = 80): JsonObject =>
    service('web', { clusterIP, ports: [{ name: 'http', port }] });

  test('has the addresses of all imports and the settings of the first cluster that imports it', () => {
    const parts = [
      web('10.96.0.1'),
      inCluster('west', web('10.97.0.1', 82), imported('10.9.0.3')),
      inCluster('east', web('10.98.0.1', 81), imported('10.9.0.2', '2001:db8::2')),
    ];
    expect(named(parts, NAMES)).toMatchObject({
      hostname: SET_HOST,
      defaultAddress: '10.9.0.2',
      clusterVips: { east: ['10.9.0.2', '2001:db8::2'], west: ['10.9.0.3'] },
      ports: [{ port: 81 }],
    });
    expect(named([imported('10.9.0.1'), ...parts], NAMES)).toMatchObject({
      defaultAddress: '10.9.0.1',
      ports: [{ port: 80 }],
    });
    expect(named(parts, DISCOVERS)).toBeUndefined();
  });

  test('is that of another cluster where the importing one has none, and none of an import without an address', () => {
    const there = inCluster('east', web('10.98.0.1', 81));
    expect(named([there, imported('10.9.0.1')], NAMES)).toMatchObject({
      defaultAddress: '10.9.0.1',
      ports: [{ port: 81 }],
    });
    expect(named([there, imported(), inCluster('west', imported('10.9.0.2'))], NAMES)).toMatchObject({
      clusterVips: { west: ['10.9.0.2'] },
    });
    expect(named([imported('10.9.0.1')], NAMES)).toBeUndefined();
  });
});
