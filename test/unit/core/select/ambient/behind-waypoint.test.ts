// Which services and workloads a waypoint proxy serves.
// Source of the rules: Istio pilot/pkg/networking/core/waypoint.go (findWaypointResources), pilot/pkg/model/service.go
// (waypointKeyForProxy), pilot/pkg/serviceregistry/ambient/ambientindex.go (ServicesForWaypoint, WorkloadsForWaypoint).

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { Tracker } from '../../../../../src/core/query/tracker.ts';
import {
  serviceBehind,
  servicesBehind,
  workloadsBehind,
} from '../../../../../src/core/select/ambient/behind-waypoint.ts';
import { ask, inCluster, type WorldPart } from '../../../world.ts';
import { waypointProxy } from '../../../xds/ambient/mesh.ts';
import { type Meta, pod, service, serviceEntry, workloadEntry } from '../../registry/fixtures.ts';
import { ambientWorld, type GatewayOptions, hbone, namespace, waypoint } from './fixtures.ts';

const USE = 'istio.io/use-waypoint';
const managed = { 'gateway.istio.io/managed': 'istio.io-mesh-controller' };
const instance = { 'gateway.networking.k8s.io/gateway-name': 'way', ...managed };
const use = { [USE]: 'way' };
const web = (name: string, meta: Meta = {}): JsonObject =>
  service(name, {}, { namespace: 'shop', ...meta, labels: { ...use, ...meta.labels } });
const atAddress = (value: string): GatewayOptions => ({ addresses: [{ type: 'IPAddress', value }] });
const admitting = { listeners: [hbone({ from: 'All' })] };

/** The waypoint `way` of the namespace `shop`: its Gateway, Service and pod. */
function way(gateway: GatewayOptions = {}, clusterIP = '10.96.9.9'): readonly WorldPart[] {
  return [
    waypoint('way', { namespace: 'shop', ...gateway }),
    service('way', { clusterIP, selector: instance }, { namespace: 'shop', labels: managed }),
    pod('way-1', '10.1.0.1', { namespace: 'shop', labels: instance }),
  ];
}

/** Hosts, without what those of Kubernetes have in common. */
function services(parts: readonly WorldPart[], metadata: JsonObject = {}): readonly string[] {
  const found = ask(ambientWorld(parts), servicesBehind, '', waypointProxy(metadata));
  return found.map(({ hostname }) => hostname.replace('.svc.cluster.local', ''));
}

describe('a waypoint serves the services', () => {
  it('that name it, by age, name and namespace, and finds each by its host', () => {
    const apps = { namespace: 'apps', labels: { 'istio.io/use-waypoint-namespace': 'shop' } };
    const parts = [
      ...way(admitting),
      web('young', { day: 3 }),
      web('b', { day: 2 }),
      web('a', { day: 2 }),
      web('a', { ...apps, day: 2 }),
      web('old', { namespace: 'apps', labels: apps.labels, day: 1 }),
      service('unbound', {}, { namespace: 'shop' }),
    ];
    expect(services(parts)).toEqual(['old.apps', 'a.apps', 'a.shop', 'b.shop', 'young.shop']);
    const find = (name: string): unknown =>
      ask(ambientWorld(parts), serviceBehind, `${name}.shop.svc.cluster.local`, waypointProxy())?.objectName;
    expect([find('a'), find('unbound')]).toEqual(['a', undefined]);
  });

  it('by age also where two Gateways stand for it, by the host and by the address of its service', () => {
    const byIp = waypoint('by-ip', { namespace: 'shop', ...atAddress('10.96.9.9') });
    const other = { [USE]: 'by-ip' };
    const parts = [
      ...way(),
      byIp,
      web('c', { day: 4 }),
      web('d', { labels: other, day: 3 }),
      web('b', { day: 2 }),
      web('e', { labels: other, day: 2 }),
      web('a', { labels: other, day: 1 }),
    ];
    expect(services(parts)).toEqual(['a.shop', 'b.shop', 'e.shop', 'd.shop', 'c.shop']);
  });

  it('whose namespace names it, unless they decline or name another', () => {
    const parts = [
      namespace('shop', use),
      ...way(),
      waypoint('other', { namespace: 'shop' }),
      service('web', {}, { namespace: 'shop' }),
      web('declines', { labels: { [USE]: 'none' } }),
      web('elsewhere', { labels: { [USE]: 'other' } }),
    ];
    expect(services(parts)).toEqual(['web.shop']);
  });

  it('and the oldest of one host in two namespaces', () => {
    const entry = (space: string, day: number): JsonObject =>
      serviceEntry(
        'ext',
        { hosts: ['a.com'] },
        { namespace: space, day, labels: { ...use, 'istio.io/use-waypoint-namespace': 'shop' } },
      );
    const behind = (a: number, b: number): unknown =>
      ask(ambientWorld([...way(admitting), entry('a', a), entry('b', b)]), servicesBehind, '', waypointProxy()).map(
        one => one.namespace,
      );
    expect([behind(1, 2), behind(2, 1)]).toEqual([['a'], ['b']]);
  });

  const HOST = 'web.shop.svc.cluster.local';
  it.each([
    ['the Service', { day: 9 }, { day: 1, labels: { [USE]: 'none' } }, ['web.shop']],
    ['not the ServiceEntry', { day: 9, labels: { [USE]: 'none' } }, { day: 1 }, []],
    ['the older Service', { day: 1 }, { day: 9, labels: { [USE]: 'none' } }, ['web.shop']],
    ['not the younger ServiceEntry', { day: 1, labels: { [USE]: 'none' } }, { day: 9 }, []],
  ])('of a Service and a ServiceEntry with one host as %s says', (_, own, other, expected) => {
    const meta = { namespace: 'shop', ...other, labels: { ...use, ...('labels' in other ? other.labels : {}) } };
    expect(services([...way(), web('web', own), serviceEntry('squatter', { hosts: [HOST] }, meta)])).toEqual(expected);
  });

  it.each([
    ['older', 'way', 'none', ['a.com']],
    ['older, which declines,', 'none', 'way', []],
  ])('of two ServiceEntries with one host as the %s says', (_, older, younger, expected) => {
    const entry = (name: string, day: number, chosen: string): JsonObject =>
      serviceEntry(name, { hosts: ['a.com'] }, { namespace: 'shop', day, labels: { [USE]: chosen } });
    expect(services([...way(), entry('z', 1, older), entry('a', 2, younger)])).toEqual(expected);
  });

  it('but none that selects waypoints, is another name of a host, or is of another cluster alone', () => {
    const selecting = service('own', { selector: managed }, { namespace: 'shop', labels: use });
    const alias = service('alias', { type: 'ExternalName', externalName: 'a.com' }, { namespace: 'shop', labels: use });
    expect(services([...way(), selecting, alias, inCluster('far', web('remote')), web('web')])).toEqual(['web.shop']);
  });

  it('and names that are resolved on demand, if they are outside of the mesh', () => {
    const entry = (location: string): JsonObject => {
      const ports = [{ number: 443, name: 'tls', protocol: 'TLS' }];
      const spec = { hosts: ['*.a.com'], ports, location, resolution: 'DYNAMIC_DNS' };
      return serviceEntry('ext', spec, { namespace: 'shop' });
    };
    const behind = (location: string): readonly string[] =>
      services([namespace('shop', use), ...way(), entry(location)]);
    expect([behind('MESH_EXTERNAL'), behind('MESH_INTERNAL')]).toEqual([['*.a.com'], []]);
  });
});

describe('a waypoint is known by', () => {
  const bound = [web('web')];
  it('the host of its own service in its own namespace', () => {
    const hostname = (value: string): GatewayOptions => ({ addresses: [{ type: 'Hostname', value }] });
    expect(services([...way(hostname('way.shop.svc.cluster.local')), ...bound])).toEqual(['web.shop']);
    expect(services([...way(hostname('other.shop.svc.cluster.local')), ...bound])).toEqual([]);
    const elsewhere = waypoint('far', { namespace: 'apps', ...admitting, ...hostname('way.shop.svc.cluster.local') });
    const labels = { [USE]: 'far', 'istio.io/use-waypoint-namespace': 'apps' };
    expect(services([...way(), elsewhere, web('web', { labels })])).toEqual([]);
  });

  it('an address of its own service in its own network', () => {
    const local = namespace('istio-system', { 'topology.istio.io/network': 'n1' });
    const parts = [local, ...way(atAddress('10.96.9.9')), ...bound];
    expect(services(parts, { NETWORK: 'n1' })).toEqual(['web.shop']);
    expect(services(parts, { NETWORK: 'n2' })).toEqual([]);
    expect(services([local, ...way(atAddress('10.96.9.8')), ...bound], { NETWORK: 'n1' })).toEqual([]);
  });

  it.each(['240.240.0.1', '2001:2::1'])('the address %s that was allocated to its own ServiceEntry', value => {
    const entry = serviceEntry(
      'own',
      { hosts: ['way.example'], workloadSelector: { labels: instance } },
      { namespace: 'shop', labels: managed },
    );
    const addresses = ['240.240.0.1', '2001:2::1'].map(one => ({ value: one, host: 'way.example' }));
    const own = { ...entry, metadata: { ...(entry.metadata as JsonObject), uid: 'u' }, status: { addresses } };
    expect(services([...way(atAddress(value)), own, ...bound])).toEqual(['web.shop']);
    expect(services([...way(atAddress(value)), ...bound])).toEqual([]);
  });

  it('no address, if its service has none', () => {
    expect(services([...way({}, 'None'), ...bound])).toEqual(['web.shop']);
  });
});

describe('a waypoint for workloads serves those', () => {
  const forAll = (more: GatewayOptions = {}): readonly WorldPart[] =>
    way({ labels: { 'istio.io/waypoint-for': 'all' }, ...more });
  const workloads = (parts: readonly WorldPart[]): readonly string[] =>
    ask(ambientWorld(parts), workloadsBehind, '', waypointProxy()).map(one => `${one.namespace}/${one.name}`);
  const machine = (name: string, meta: Meta = {}): JsonObject =>
    workloadEntry(name, { address: '10.2.0.1' }, { namespace: 'shop', ...meta, labels: { ...use, ...meta.labels } });

  it('that name it, by age, kind and name', () => {
    const labels = { 'istio.io/use-waypoint-namespace': 'shop' };
    const parts = [
      ...forAll(admitting),
      machine('b', { day: 2 }),
      pod('young', '10.0.0.1', { namespace: 'shop', labels: use, day: 3 }),
      machine('a', { day: 2 }),
      pod('p', '10.0.0.2', { namespace: 'shop', labels: use, day: 2 }),
      machine('old', { namespace: 'z', labels, day: 1 }),
      machine('unbound', { labels: { [USE]: 'none' } }),
    ];
    expect(workloads(parts)).toEqual(['z/old', 'shop/p', 'shop/a', 'shop/b', 'shop/young']);
  });

  it('also where another waypoint is for services', () => {
    expect(workloads([...forAll(), waypoint('other', { namespace: 'shop' }), machine('vm')])).toEqual(['shop/vm']);
  });

  it('but none that belongs to a waypoint', () => {
    expect(workloads([...forAll(), machine('vm', { labels: managed })])).toEqual([]);
  });

  it('that name it, also if it is known by an address', () => {
    expect(workloads([...forAll(atAddress('10.96.9.9')), machine('vm')])).toEqual(['shop/vm']);
  });

  it('that name it, and looks at none where all waypoints are for services', () => {
    const runs = (parts: readonly WorldPart[]): number => {
      const tracker = new Tracker();
      expect(tracker.get(ambientWorld(parts), waypointProxy(), workloadsBehind, '')).toEqual([]);
      return tracker.stats.runs;
    };
    expect(runs([...way(), machine('a'), machine('b')])).toBe(runs(way()));
  });
});
