import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { Service } from '../../../../../src/core/model/service.ts';
import type { Query } from '../../../../../src/core/query/reader.ts';
import {
  type AddressView,
  addressView,
  allAddresses,
  frozenAddresses,
  singleAddress,
} from '../../../../../src/core/select/nametable/service-addresses.ts';
import { ask, nodeOf, proxyOf, world } from '../../../world.ts';

const view: AddressView = { cluster: 'c1', ipMode: 'ipv4', bothFamilies: false, autoAllocated: false };

type Addresses = Pick<Service, 'clusterVips' | 'defaultAddress' | 'autoAllocatedV4' | 'autoAllocatedV6'>;
const service = (given: Partial<Addresses>): Service =>
  ({ clusterVips: {}, defaultAddress: '0.0.0.0', ...given }) as Partial<Service> as Service;

describe('addresses of a service', () => {
  const dual = service({ clusterVips: { c1: ['10.0.0.1', 'fd00::1'], c2: ['10.2.0.1'] }, defaultAddress: '10.0.0.1' });

  it('are the VIPs of the proxy’s cluster in an address family that it supports', () => {
    expect(allAddresses(dual, view)).toEqual(['10.0.0.1']);
    expect(allAddresses(dual, { ...view, ipMode: 'ipv6' })).toEqual(['fd00::1']);
    expect(allAddresses(dual, { ...view, ipMode: 'dual' })).toEqual(['10.0.0.1']);
    expect(allAddresses(dual, { ...view, ipMode: 'dual', bothFamilies: true })).toEqual(['10.0.0.1', 'fd00::1']);
    expect(allAddresses(dual, { ...view, cluster: 'c2' })).toEqual(['10.2.0.1']);
  });

  it('fall back to the default address, unless that is of another family', () => {
    expect(allAddresses(dual, { ...view, cluster: 'c3' })).toEqual(['10.0.0.1']);
    expect(allAddresses(dual, { ...view, cluster: 'c3', ipMode: 'ipv6' })).toEqual([]);
    const external = service({ defaultAddress: '240.0.0.0/24' });
    expect(allAddresses(external, { ...view, ipMode: 'ipv6' })).toEqual(['240.0.0.0/24']);
  });

  it('are the allocated ones where the proxy resolves them, and one of them where addresses are frozen', () => {
    const entry = service({ autoAllocatedV4: '240.240.0.1', autoAllocatedV6: '2001:2::1' });
    const resolves = { ...view, ipMode: 'dual' as const, bothFamilies: true, autoAllocated: true };
    expect(allAddresses(entry, view)).toEqual(['0.0.0.0']);
    expect(allAddresses(entry, resolves)).toEqual(['240.240.0.1', '2001:2::1']);
    expect(frozenAddresses(entry, resolves)).toEqual(['240.240.0.1']);
    expect(singleAddress(entry, { ...resolves, ipMode: 'ipv6' })).toBe('2001:2::1');
    expect(singleAddress(service({ autoAllocatedV6: '2001:2::1' }), resolves)).toBe('2001:2::1');
    expect(singleAddress(service({ autoAllocatedV6: '2001:2::1' }), { ...resolves, ipMode: 'ipv4' })).toBe('0.0.0.0');
  });

  it('are the allocated ones only where the service has none of its own', () => {
    const own = { autoAllocatedV4: '240.240.0.1', defaultAddress: '192.0.2.1' };
    const resolves = { ...view, autoAllocated: true };
    expect(singleAddress(service(own), resolves)).toBe('192.0.2.1');
    expect(allAddresses(service({ ...own, clusterVips: { c1: ['10.0.0.1'] } }), resolves)).toEqual(['10.0.0.1']);
  });

  it('may be ranges, of the family of their addresses', () => {
    const ranges = service({ clusterVips: { c1: ['10.0.0.0/24', 'fd00::/64'] } });
    expect(allAddresses(ranges, view)).toEqual(['10.0.0.0/24']);
    expect(allAddresses(ranges, { ...view, ipMode: 'ipv6' })).toEqual(['fd00::/64']);
    expect(allAddresses(ranges, { ...view, ipMode: 'dual' })).toEqual(['10.0.0.0/24']);
  });

  it('are the default address of any family where no cluster has a VIP', () => {
    const without = service({ clusterVips: { c2: [] }, defaultAddress: '10.0.0.1' });
    expect(allAddresses(without, { ...view, ipMode: 'ipv6' })).toEqual(['10.0.0.1']);
  });
});

describe('the addresses that a proxy knows services by', () => {
  const query: Query<'', AddressView> = { name: 'test/addressView', run: reader => reader.derived(addressView) };
  const viewOf = (
    metadata: JsonObject,
    env: Readonly<Record<string, string>> = {},
    node: JsonObject = {},
  ): AddressView => ask(world([], { settings: { env } }), query, '', proxyOf({ ...nodeOf({ metadata }), ...node }));

  it.each<[JsonObject, Readonly<Record<string, string>>, boolean]>([
    [{}, {}, false],
    [{ DNS_CAPTURE: 'true' }, {}, true],
    [{ DNS_CAPTURE: 'false' }, {}, false],
    [{ DNS_CAPTURE: true, DNS_AUTO_ALLOCATE: true }, { PILOT_ENABLE_IP_AUTOALLOCATE: 'false' }, true],
    [{ DNS_CAPTURE: 'true' }, { PILOT_ENABLE_IP_AUTOALLOCATE: 'false' }, false],
    [{ DNS_AUTO_ALLOCATE: 'true' }, {}, false],
  ])('are allocated ones with the metadata %j and the flags %j: %s', (metadata, env, expected) => {
    expect(viewOf(metadata, env).autoAllocated).toBe(expected);
  });

  it.each<[JsonObject, string, boolean]>([
    [{}, 'true', true],
    [{}, 'false', false],
    [{ DNS_AUTO_ALLOCATE: 'true' }, 'false', true],
  ])('are allocated ones for a waypoint with %j, allocation %s: %s', (metadata, flag, expected) => {
    const node = { id: 'waypoint~10.0.0.9~w.default~default.svc.cluster.local' };
    const env = { PILOT_ENABLE_AMBIENT: 'true', PILOT_ENABLE_IP_AUTOALLOCATE: flag };
    expect(viewOf(metadata, env, node).autoAllocated).toBe(expected);
  });

  it.each<[string, Readonly<Record<string, string>>, boolean]>([
    ['10.0.0.9,fd00::9', { ISTIO_DUAL_STACK: 'true' }, true],
    ['10.0.0.9,fd00::9', { PILOT_ENABLE_AMBIENT: 'true' }, true],
    ['10.0.0.9,fd00::9', { ISTIO_DUAL_STACK: 'false', PILOT_ENABLE_AMBIENT: 'false' }, false],
    ['10.0.0.9', { ISTIO_DUAL_STACK: 'true' }, false],
  ])('are of both families with the addresses %s and the flags %j: %s', (INSTANCE_IPS, env, expected) => {
    expect(viewOf({ INSTANCE_IPS }, env).bothFamilies).toBe(expected);
  });
});
