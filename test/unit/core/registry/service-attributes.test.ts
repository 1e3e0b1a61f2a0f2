// Every attribute of a service, by the object it is made from: generation reads all of them.

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import type { Service } from '../../../../src/core/model/service.ts';
import { allServices, servicesOfHost } from '../../../../src/core/registry/services.ts';
import { ask, inCluster, type WorldOptions, type WorldPart, world } from '../../world.ts';
import { type Meta, namespace, service, serviceEntry } from './fixtures.ts';

const hosts = ['ext.example.com'];
const DISTRIBUTION = 'networking.istio.io/traffic-distribution';
const all = (parts: readonly WorldPart[], options?: WorldOptions): readonly Service[] =>
  ask(world(parts, options), allServices, '');
const first = (part: JsonObject, options?: WorldOptions): Service | undefined => all([part], options)[0];
const flags = (env: Readonly<Record<string, string>>): WorldOptions => ({ settings: { env } });

describe('the service of a ServiceEntry', () => {
  test('has what the entry says, and the defaults of Istio for the rest', () => {
    const { creationTime: _, ...plain } = first(serviceEntry('ext', { hosts, addresses: ['1.1.1.1'] }))!;
    expect(plain).toEqual({
      hostname: 'ext.example.com',
      namespace: 'default',
      name: 'ext.example.com',
      objectName: 'ext',
      registry: 'External',
      ports: [{ name: 'http', port: 80, protocol: 'HTTP' }],
      resolution: 'ClientSideLB',
      meshExternal: true,
      defaultAddress: '1.1.1.1',
      clusterVips: {},
      labels: {},
      selector: {},
      exportTo: ['*'],
      serviceAccounts: [],
      aliases: [],
      externalAddresses: {},
      trafficDistribution: 'Any',
      nodeLocal: false,
      publishNotReadyAddresses: false,
      raceFirstTcpConnect: false,
      passthroughTargetPorts: {},
    });
  });

  test('has its selector, its target ports, and the default export of the mesh', () => {
    const ports = [{ number: 80, name: 'http', protocol: 'HTTP', targetPort: 8080 }];
    const spec = { hosts, ports, workloadSelector: { labels: { app: 'ext' } } };
    expect(first(serviceEntry('ext', spec), { mesh: { defaultServiceExportTo: ['.'] } })).toMatchObject({
      ports: [{ name: 'http', port: 80, protocol: 'HTTP', targetPort: 8080 }],
      selector: { app: 'ext' },
      exportTo: ['default'],
    });
  });

  test('opens connections to both families at once by an annotation, in any case', () => {
    const race = (text: string) =>
      first(serviceEntry('ext', { hosts }, { annotations: { 'istio.io/connect-strategy': text } }))
        ?.raceFirstTcpConnect;
    expect(['RACE_FIRST_TCP_CONNECT', 'race_first_tcp_connect', 'DEFAULT'].map(race)).toEqual([true, true, false]);
  });

  test('takes the traffic distribution of its namespace in the config cluster', () => {
    const annotated = (value: string) => namespace('default', { annotations: { [DISTRIBUTION]: value } });
    const parts = [serviceEntry('ext', { hosts }), inCluster('east', annotated('PreferSameNode'))];
    expect(all(parts)[0]?.trafficDistribution).toBe('Any');
    expect(all([...parts, annotated('PreferClose')])[0]?.trafficDistribution).toBe('PreferSameZone');
    expect(all([...parts, annotated('nonsense')])[0]?.trafficDistribution).toBe('Any');
  });

  describe('with canonical names for what is outside of the mesh', () => {
    const on = flags({ LABEL_CANONICAL_SERVICES_FOR_MESH_EXTERNAL_SERVICE_ENTRIES: 'true' });
    const NAME = 'service.istio.io/canonical-name';
    const REVISION = 'service.istio.io/canonical-revision';
    test.each<[string, Readonly<Record<string, string>>, JsonObject, Readonly<Record<string, string>>]>([
      ['of the entry', {}, {}, { [NAME]: 'ext', [REVISION]: 'latest' }],
      ['of the entry', {}, { location: 'MESH_EXTERNAL' }, { [NAME]: 'ext', [REVISION]: 'latest' }],
      ['of the label app', { app: 'a', version: 'v2' }, {}, { app: 'a', version: 'v2', [NAME]: 'a', [REVISION]: 'v2' }],
      [
        'of the recommended labels first',
        { app: 'a', 'app.kubernetes.io/name': 'b', version: 'v2', 'app.kubernetes.io/version': 'v3' },
        {},
        {
          app: 'a',
          'app.kubernetes.io/name': 'b',
          version: 'v2',
          'app.kubernetes.io/version': 'v3',
          [NAME]: 'b',
          [REVISION]: 'v3',
        },
      ],
      ['that it has, with the revision that it lacks', { [NAME]: 'c' }, {}, { [NAME]: 'c', [REVISION]: 'latest' }],
      ['that it has', { [NAME]: 'c', [REVISION]: 'r' }, {}, { [NAME]: 'c', [REVISION]: 'r' }],
      ['of nothing, inside of the mesh', { app: 'a' }, { location: 'MESH_INTERNAL' }, { app: 'a' }],
    ])('has the one %s (%j, %j)', (_what, labels, spec, expected) => {
      const meta: Meta = { labels };
      expect(first(serviceEntry('ext', { hosts, ...spec }, meta), on)?.labels).toEqual(expected);
      expect(first(serviceEntry('ext', { hosts, ...spec }, meta))?.labels).toEqual(labels);
    });
  });
});

describe('the service of a Kubernetes Service', () => {
  test('has what the Service says, and the defaults of Istio for the rest', () => {
    const { creationTime: _, ...plain } = first(service('web', {}, { labels: { a: 'b' } }))!;
    expect(plain).toEqual({
      hostname: 'web.default.svc.cluster.local',
      namespace: 'default',
      name: 'web',
      objectName: 'web',
      registry: 'Kubernetes',
      ports: [{ name: 'http', port: 80, protocol: 'HTTP', targetPort: 8080 }],
      resolution: 'ClientSideLB',
      meshExternal: false,
      defaultAddress: '10.96.0.1',
      clusterVips: { Kubernetes: ['10.96.0.1'] },
      labels: { a: 'b' },
      selector: { app: 'web' },
      exportTo: ['*'],
      serviceAccounts: [],
      aliases: [],
      externalAddresses: {},
      trafficDistribution: 'Any',
      nodeLocal: false,
      publishNotReadyAddresses: false,
      raceFirstTcpConnect: false,
      passthroughTargetPorts: {},
    });
  });

  test('is an alias by its type alone', () => {
    const of = (spec: JsonObject) => {
      const { resolution, externalName } = first(service('web', spec))!;
      return [resolution, externalName];
    };
    expect(of({ type: 'ExternalName', externalName: 'a.com' })).toEqual(['Alias', 'a.com']);
    expect(of({ type: 'ClusterIP', externalName: 'a.com' })).toEqual(['ClientSideLB', undefined]);
  });

  test('has no address before it was given one', () => {
    expect(first(service('web', { clusterIP: '' }))).toMatchObject({
      resolution: 'ClientSideLB',
      defaultAddress: '0.0.0.0',
      clusterVips: { Kubernetes: ['0.0.0.0'] },
    });
  });

  test('has the accounts of either annotation alone', () => {
    const accounts = (name: string) =>
      first(service('web', {}, { annotations: { [`alpha.istio.io/${name}-serviceaccounts`]: 'x' } }))?.serviceAccounts;
    expect(accounts('canonical')).toEqual(['x']);
    expect(accounts('kubernetes')).toEqual(['spiffe://cluster.local/ns/default/sa/x']);
  });
});

describe('the aliases of a service', () => {
  const alias = (name: string, externalName: string, namespaceName = 'default') =>
    service(name, { type: 'ExternalName', externalName, clusterIP: '', selector: {} }, { namespace: namespaceName });
  const WEB = 'web.default.svc.cluster.local';
  const aliases = (parts: readonly WorldPart[], host = WEB, options?: WorldOptions) =>
    ask(world(parts, options), servicesOfHost, host)[0]?.aliases.map(({ hostname }) => hostname.split('.svc')[0]);

  test('are those that name it, by namespace, then by name', () => {
    const parts = [service('web'), service('other'), alias('z', WEB, 'aaa'), alias('b', WEB), alias('a', WEB)];
    const other = alias('o', 'other.default.svc.cluster.local');
    expect(aliases([...parts, other])).toEqual(['z.aaa', 'a.default', 'b.default']);
    expect(aliases([...parts, other], 'other.default.svc.cluster.local')).toEqual(['o.default']);
  });

  test('are also those of a ServiceEntry, and lead through names in loops to nothing', () => {
    const parts = [serviceEntry('ext', { hosts }), alias('one', hosts[0]!)];
    expect(aliases(parts, hosts[0])).toEqual(['one.default']);
    const loop = ['a', 'b', 'c'].map((name, i) => alias(name, `${'bcb'[i]}.default.svc.cluster.local`));
    for (const name of 'abc') expect(aliases(loop, `${name}.default.svc.cluster.local`)).toEqual([]);
    expect(ask(world([...loop, ...parts]), servicesOfHost, hosts[0]!)[0]?.aliases).toHaveLength(1);
  });

  test('are none of a Service that the config cluster has as no alias', () => {
    const parts = [service('web'), service('both'), inCluster('east', alias('both', WEB))];
    expect(aliases(parts)).toEqual([]);
    expect(aliases([service('web'), inCluster('east', alias('both', WEB))])).toEqual(['both.default']);
  });
});

test('services of equal age and name come by namespace', () => {
  const entry = (name: string, where: string) => serviceEntry(name, { hosts }, { namespace: where });
  const state = world([entry('a', 'shop'), entry('b', 'aaa'), entry('c', 'default')]);
  const order = ['aaa', 'default', 'shop'];
  expect(ask(state, allServices, '').map(found => found.namespace)).toEqual(order);
  expect(ask(state, servicesOfHost, hosts[0]!).map(found => found.namespace)).toEqual(order);
});
