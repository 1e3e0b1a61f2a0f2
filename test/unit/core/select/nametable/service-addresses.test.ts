import { describe, expect, it } from 'vitest';
import type { Service } from '../../../../../src/core/model/service.ts';
import {
  type AddressView,
  allAddresses,
  frozenAddresses,
  singleAddress,
} from '../../../../../src/core/select/nametable/service-addresses.ts';

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
  });
});
