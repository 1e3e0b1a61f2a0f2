import { describe, expect, test, vi } from 'vitest';
import { Tracker } from '../../../../src/core/query/tracker.ts';
import { allServices, servicesOfHost } from '../../../../src/core/registry/services.ts';
import { ask, inCluster, put, world } from '../../world.ts';
import { namespace, service, serviceEntry } from './fixtures.ts';

describe('the registry of Kubernetes services', () => {
  test('merges a service of two clusters: settings of the config cluster, addresses of both', () => {
    const state = world([
      inCluster('remote', service('web', { clusterIP: '10.97.0.1', ports: [{ name: 'tcp', port: 81 }] })),
      service('web', { clusterIP: '10.96.0.1' }),
    ]);
    const [web, ...others] = ask(state, allServices, '');
    expect(others).toEqual([]);
    expect(web?.hostname).toBe('web.default.svc.cluster.local');
    expect(web?.ports.map(port => port.port)).toEqual([80]);
    expect(web?.clusterVips).toEqual({ Kubernetes: ['10.96.0.1'], remote: ['10.97.0.1'] });
  });

  test('gives a headless service no address, and passes its traffic through', () => {
    const [db] = ask(world([service('db', { clusterIP: 'None' })]), allServices, '');
    expect(db).toMatchObject({ resolution: 'Passthrough', defaultAddress: '0.0.0.0' });
  });

  test('takes exportTo from the annotation, else the mesh default, with `.` resolved to the namespace', () => {
    const annotations = { 'networking.istio.io/exportTo': '., other' };
    const mesh = { defaultServiceExportTo: ['.'] };
    const state = world([service('a', {}, { annotations }), service('b')], { mesh });
    expect(ask(state, allServices, '').map(s => s.exportTo)).toEqual([['default', 'other'], ['default']]);
  });

  test('exports to no namespace by an annotation that names none', () => {
    const exportTo = (text: string) => service('a', {}, { annotations: { 'networking.istio.io/exportTo': text } });
    const of = (text: string) => ask(world([exportTo(text)]), allServices, '')[0]?.exportTo;
    expect([of(','), of('a,'), of('')]).toEqual([[''], ['', 'a'], ['*']]);
  });

  test('keeps the addresses outside of the first cluster that has the service', () => {
    const balanced = (ip: string, clusterIP: string) => ({
      ...service('web', { type: 'LoadBalancer', clusterIP }),
      status: { loadBalancer: { ingress: [{ ip }] } },
    });
    const state = world([balanced('1.1.1.1', '10.96.0.1'), inCluster('remote', balanced('2.2.2.2', '10.97.0.1'))]);
    expect(ask(state, allServices, '')[0]?.externalAddresses).toEqual({ Kubernetes: ['1.1.1.1'] });
  });

  test.each([
    [{ trafficDistribution: 'PreferClose' }, {}, {}, 'PreferSameZone'],
    [{ trafficDistribution: 'preferclose' }, {}, {}, 'Any'],
    [{}, { 'networking.istio.io/traffic-distribution': 'prefersamenode' }, {}, 'PreferSameNode'],
    [{}, {}, { 'networking.istio.io/traffic-distribution': 'PreferClose' }, 'PreferSameZone'],
    [
      {},
      { 'networking.istio.io/traffic-distribution': 'nonsense' },
      { 'networking.istio.io/traffic-distribution': 'PreferClose' },
      'Any',
    ],
    [
      {},
      { 'networking.istio.io/traffic-distribution': '' },
      { 'networking.istio.io/traffic-distribution': 'PreferClose' },
      'PreferSameZone',
    ],
  ])(
    'derives from spec %o, annotation %o and namespace %o the traffic distribution %s',
    (spec, annotations, inherited, expected) => {
      const state = world([namespace('default', { annotations: inherited }), service('a', spec, { annotations })]);
      expect(ask(state, allServices, '')[0]?.trafficDistribution).toBe(expected);
    },
  );
});

describe('aliases', () => {
  const external = (name: string, externalName: string) =>
    service(name, { type: 'ExternalName', externalName, clusterIP: '', selector: {} });

  test('resolve a chain to its first name that is no alias, and loops to nothing', () => {
    const state = world([
      service('web'),
      external('one', 'two.default.svc.cluster.local'),
      external('two', 'web.default.svc.cluster.local'),
      external('loop', 'loop.default.svc.cluster.local'),
    ]);
    const [web] = ask(state, servicesOfHost, 'web.default.svc.cluster.local');
    expect(web?.aliases.map(alias => alias.hostname)).toEqual([
      'one.default.svc.cluster.local',
      'two.default.svc.cluster.local',
    ]);
    expect(ask(state, servicesOfHost, 'loop.default.svc.cluster.local')[0]).toMatchObject({
      resolution: 'Alias',
      aliases: [],
    });
  });

  test('of a chain that leads into a loop resolve to nothing', () => {
    const host = (name: string) => `${name}.default.svc.cluster.local`;
    const state = world([external('in', host('a')), external('a', host('b')), external('b', host('a'))]);
    for (const name of ['in', 'a', 'b']) expect(ask(state, servicesOfHost, host(name))[0]?.aliases).toEqual([]);
  });

  test('of a long chain cost what follows its length', () => {
    const looksAt = (length: number): number => {
      const names = Array.from({ length }, (_, i) => `a${i}`);
      const chain = names.map((name, i) => external(name, `${names[i + 1] ?? 'web'}.default.svc.cluster.local`));
      const state = world([service('web'), ...chain]);
      const looks = vi.spyOn(Map.prototype, 'get');
      const all = ask(state, allServices, '');
      const { length: count } = looks.mock.calls;
      looks.mockRestore();
      expect(all.find(({ name }) => name === 'web')?.aliases).toHaveLength(length);
      return count;
    };
    // Four times the length: sixteen times the work if each alias followed the chain to its end.
    expect(looksAt(400) / looksAt(100)).toBeLessThan(6);
  });
});

describe('the registry of ServiceEntries', () => {
  test('has one service for each host and usable address', () => {
    const spec = {
      hosts: ['a.example.com', 'b.example.com'],
      addresses: ['240.0.0.1', '240.0.1.0/24', '240.0.0.2/32'],
    };
    const services = ask(world([serviceEntry('ext', spec)]), allServices, '');
    expect(services.map(s => `${s.hostname} ${s.defaultAddress}`)).toEqual([
      'a.example.com 240.0.0.1',
      'a.example.com 240.0.1.0/24',
      'a.example.com 240.0.0.2',
      'b.example.com 240.0.0.1',
      'b.example.com 240.0.1.0/24',
      'b.example.com 240.0.0.2',
    ]);
  });

  test('uses allocated addresses unless there are others', () => {
    const entry = {
      ...serviceEntry('ext', { hosts: ['a.example.com'], resolution: 'DNS' }),
      status: {
        addresses: [
          { host: 'a.example.com', value: '240.240.0.5' },
          { host: 'a.example.com', value: '2001:2::5' },
        ],
      },
    };
    const [service] = ask(world([entry]), allServices, '');
    expect(service).toMatchObject({ autoAllocatedV4: '240.240.0.5', autoAllocatedV6: '2001:2::5', meshExternal: true });
  });

  test('sorts by age, then name (of an entry: the host), then namespace', () => {
    const state = world([
      service('z', {}, { day: 1 }),
      service('b', {}, { day: 2 }),
      serviceEntry('ext', { hosts: ['a.example.com'] }, { day: 2 }),
    ]);
    expect(ask(state, allServices, '').map(s => s.name)).toEqual(['z', 'a.example.com', 'b']);
  });
});

test('a changed service leaves the others identical', () => {
  const tracker = new Tracker();
  const before = world([service('a'), service('b'), serviceEntry('ext', { hosts: ['c.example.com'] })]);
  const old = tracker.get(before, undefined, allServices, '');
  const after = put(before, service('a', { clusterIP: '10.96.0.77' })).state;
  const now = tracker.get(after, undefined, allServices, '');
  expect(now.map((s, i) => s === old[i])).toEqual([false, true, true]);
});
