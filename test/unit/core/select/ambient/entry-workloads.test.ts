// WorkloadEntries and the endpoints of ServiceEntries as ztunnel knows them.
// Source of the rules: Istio pilot/pkg/serviceregistry/ambient/workloads.go (workloadEntryWorkloadBuilder,
// serviceEntryWorkloadBuilder, constructServicesFromWorkloadEntry).

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { endpointWorkloads } from '../../../../../src/core/select/ambient/entry-workloads.ts';
import { machineWorkload } from '../../../../../src/core/select/ambient/machine-workload.ts';
import type { AmbientWorkload } from '../../../../../src/core/select/ambient/workload.ts';
import { ask, type WorldPart } from '../../../world.ts';
import { type Meta, service, serviceEntry, workloadEntry } from '../../registry/fixtures.ts';
import { ambientWorld, namespace, waypoint } from './fixtures.ts';

const local = namespace('istio-system', { 'topology.istio.io/network': 'n1' });
const labels = { app: 'web' };
const WEB = 'default/web.default.svc.cluster.local';
/** What a workload has in common with every other of which as little is known. */
const plain = {
  hostname: '',
  network: 'n1',
  networkGateway: undefined,
  tunnel: 'NONE',
  trustDomain: '',
  serviceAccount: '',
  waypoint: undefined,
  ofWaypoint: false,
  applicationTunnel: undefined,
  node: '',
  workloadType: 'POD',
  canonicalRevision: 'latest',
  services: [],
  authorizationPolicies: [],
  healthy: true,
  cluster: 'Kubernetes',
  locality: '',
  hostNetwork: false,
  capacity: 0,
};

describe('a WorkloadEntry', () => {
  const machine = (
    spec: JsonObject,
    meta: Meta = {},
    parts: readonly WorldPart[] = [],
    env = {},
  ): AmbientWorkload | undefined => {
    const entry = workloadEntry('vm', { address: '10.2.0.1', ...spec }, meta);
    return ask(ambientWorld([local, entry, ...parts], env), machineWorkload, 'default/vm');
  };
  const ports = (...args: Parameters<typeof machine>): unknown =>
    machine(...args)?.services.map(one => [one.name, one.ports]);

  it('with an address alone is a workload in the network of the cluster', () => {
    expect(machine({})).toEqual({
      ...plain,
      uid: 'Kubernetes/networking.istio.io/WorkloadEntry/default/vm',
      name: 'vm',
      namespace: 'default',
      creationTime: Date.UTC(2026, 0, 1),
      addresses: ['10.2.0.1'],
      workloadName: 'vm',
      canonicalName: 'vm',
    });
  });

  it('is none that is not there', () => {
    expect(ask(ambientWorld([]), machineWorkload, 'default/vm')).toBeUndefined();
  });

  it('without an address has no host name either', () => {
    expect(machine({ address: '', network: 'n2' })).toMatchObject({ addresses: [], hostname: '', network: 'n2' });
  });

  it.each([
    [{ 'istio.io/autoRegistrationGroup': 'group' }, { 'service.istio.io/workload-name': 'label' }, 'group'],
    [{}, { 'service.istio.io/workload-name': 'label' }, 'label'],
    [{ 'istio.io/autoRegistrationGroup': '' }, { 'service.istio.io/workload-name': 'label' }, ''],
    [{}, { 'service.istio.io/workload-name': '' }, ''],
  ])('with the annotations %j and the labels %j has the name %j', (annotations, named, expected) => {
    expect(machine({}, { annotations, labels: named })?.workloadName).toBe(expected);
  });

  it.each([
    ['r/z/s', 'r/z/s'],
    ['r', 'r//'],
    ['/z', '/z/'],
    ['//s', '//s'],
    ['r/z/s/rack', 'r/z/s'],
    ['//', ''],
  ])('of the locality %j is in %j', (locality, expected) => {
    expect(machine({ locality })?.locality).toBe(expected);
  });

  it('serves the services that select it, unless a flag leaves it to ServiceEntries', () => {
    const parts = [
      service('web'),
      serviceEntry('ext', { hosts: ['a.com'], workloadSelector: { labels } }),
      service('other'),
    ];
    const served = (env = {}): unknown => machine({ labels }, {}, parts, env)?.services.map(({ name }) => name);
    expect(served()).toEqual([WEB, 'default/a.com']);
    expect(served({ PILOT_ENABLE_K8S_SELECT_WORKLOAD_ENTRIES: 'false' })).toEqual(['default/a.com']);
  });

  it('serves a port at its own of the name of the target, else none', () => {
    const named = [service('web', { ports: [{ name: 'http', port: 80, targetPort: 'web' }] })];
    expect(ports({ labels, ports: { web: 9090, http: 7070 } }, {}, named)).toEqual([[WEB, [[80, 9090]]]]);
    expect(ports({ labels, ports: { http: 7070 } }, {}, named)).toEqual([[WEB, []]]);
  });

  it('serves a port at its own of the same name, else at the number of the target', () => {
    expect(ports({ labels, ports: { http: 7070 } }, {}, [service('web')])).toEqual([[WEB, [[80, 7070]]]]);
    expect(ports({ labels }, {}, [service('web')])).toEqual([[WEB, [[80, 8080]]]]);
  });

  it('has no port that it does not name, also if every JavaScript object has a member of the name', () => {
    const odd = [
      { name: 'constructor', port: 80, targetPort: 8080 },
      { name: 'http', port: 81, targetPort: 'valueof' },
      { name: 'grpc', port: 82, targetPort: 'constructor' },
    ];
    expect(ports({ labels, ports: { tcp: 1 } }, {}, [service('web', { ports: odd })])).toEqual([[WEB, [[80, 8080]]]]);
    expect(ports({ labels }, {}, [service('web', { ports: odd })])).toEqual([[WEB, [[80, 8080]]]]);
  });
});

describe('an endpoint of a ServiceEntry', () => {
  const UID = 'Kubernetes/networking.istio.io/ServiceEntry/default/ext';
  const endpoints = (
    spec: JsonObject,
    meta: Meta = {},
    parts: readonly WorldPart[] = [],
  ): readonly AmbientWorkload[] => {
    const entry = serviceEntry('ext', { hosts: ['a.com'], ...spec }, meta);
    return ask(ambientWorld([local, entry, ...parts]), endpointWorkloads, 'default/ext');
  };
  const two = [{ address: '1.1.1.1' }, { address: '2.2.2.2' }];

  it('with an address alone is a workload of all hosts', () => {
    const [found] = endpoints({ hosts: ['a.com', 'b.com'], endpoints: two });
    expect(found).toEqual({
      ...plain,
      uid: `${UID}/1.1.1.1`,
      name: 'ext',
      namespace: 'default',
      creationTime: Date.UTC(2026, 0, 1),
      addresses: ['1.1.1.1'],
      workloadName: 'ext',
      canonicalName: 'ext',
      services: [
        { name: 'default/a.com', ports: [[80, 80]] },
        { name: 'default/b.com', ports: [[80, 80]] },
      ],
    });
  });

  it('is none of an entry that is not there', () => {
    expect(ask(ambientWorld([]), endpointWorkloads, 'default/ext')).toEqual([]);
  });

  it('without an address is found through its network', () => {
    const found = endpoints({ endpoints: [{ network: 'n2' }] });
    expect(found).toMatchObject([{ uid: `${UID}/`, addresses: [], hostname: '', network: 'n2' }]);
  });

  it('counts as written last, if two have one address', () => {
    const ports = [{ http: 8080 }, { http: 9090 }];
    const found = endpoints({ endpoints: ports.map(own => ({ address: '1.1.1.1', ports: own })) });
    expect(found.map(one => one.services[0]?.ports)).toEqual([[[80, 9090]]]);
  });

  it.each<[string, JsonObject, readonly string[]]>([
    ['that DNS resolves', { resolution: 'DNS' }, ['a.com']],
    ['that DNS resolves in turn', { resolution: 'DNS_ROUND_ROBIN' }, ['a.com']],
    ['below which each name is resolved', { resolution: 'DYNAMIC_DNS', hosts: ['*.a.com'] }, ['*.a.com']],
    ['no host where endpoints are written', { resolution: 'DNS', endpoints: two }, ['1.1.1.1', '2.2.2.2']],
    ['no host where others are selected', { resolution: 'DNS', workloadSelector: { labels } }, []],
    ['no host that is not resolved', {}, []],
  ])('stands for a host %s', (_, spec, expected) => {
    const found = endpoints(spec);
    expect(found.map(({ uid }) => uid)).toEqual(expected.map(name => `${UID}/${name}`));
  });

  it('has the waypoint of its own labels or of the namespace, but not if it stands for a host', () => {
    const parts = [
      namespace('default', { 'istio.io/use-waypoint': 'w' }),
      waypoint('w', { labels: { 'istio.io/waypoint-for': 'all' } }),
    ];
    const none = { 'istio.io/use-waypoint': 'none' };
    const hosts = (spec: JsonObject): unknown => endpoints(spec, {}, parts).map(one => one.waypoint);
    const used = { namespace: 'default', hostname: 'w.default.svc.cluster.local' };
    expect(hosts({ endpoints: [{ address: '1.1.1.1' }, { address: '2.2.2.2', labels: none }] })).toEqual([
      used,
      undefined,
    ]);
    expect(hosts({ resolution: 'DNS' })).toEqual([undefined]);
  });
});
