// Where addresses of hosts come from: pools of a prefix, hashes of names, the status of a ServiceEntry.

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { AddressPool, canonicalAddress, isPrefixOf } from '../../../../src/core/registry/address-pool.ts';
import { servicesOfHost } from '../../../../src/core/registry/services.ts';
import { ask, world } from '../../world.ts';
import { serviceEntry } from './fixtures.ts';

const hosts = ['ext.example.com'];

describe('a pool of addresses', () => {
  test('gives the place of a hash or the next free one, the first after the last', () => {
    const pool = new AddressPool('10.1.2.0/30');
    expect([2, 2, 2, 2].map(hash => pool.next(hash))).toEqual(['10.1.2.3', '10.1.2.1', '10.1.2.2', undefined]);
  });

  test('passes over addresses that are taken, and ignores those of others', () => {
    const pool = new AddressPool('10.1.2.0/29');
    for (const address of ['10.1.2.1', '10.1.3.2', '2001:db8::1']) pool.take(address);
    expect([0, 0].map(hash => pool.next(hash))).toEqual(['10.1.2.2', '10.1.2.3']);
  });

  test('numbers the places of a prefix that does not end at a byte, and of one longer than 32 bits', () => {
    expect(new AddressPool('10.1.3.255/22').next(0)).toBe('10.1.0.1');
    expect(new AddressPool('2001:db8::/64').next(0xffff_fffe)).toBe('2001:db8::ffff:ffff');
    expect(new AddressPool('2001:db8::/120').next(254)).toBe('2001:db8::ff');
  });

  test.each<[4 | 6, string, boolean]>([
    [4, '240.240.0.0/16', true],
    [6, '240.240.0.0/16', false],
    [6, '2001:2::/48', true],
    [4, '2001:2::/48', false],
    [4, '240.240.0.0', false],
    [6, 'no', false],
  ])('is one of IPv%i with %s: %s', (family, text, expected) => {
    expect(isPrefixOf(family, text)).toBe(expected);
  });

  test.each([
    ['10.0.0.1', '10.0.0.1'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['2001:DB8:0::1', '2001:db8::1'],
    ['10.0.0.1/32', undefined],
    ['host', undefined],
    ['fe80::1%eth-0', undefined],
  ])('knows %s as %s', (text, canonical) => {
    expect(canonicalAddress(text)).toBe(canonical);
  });
});

describe('the address of a host by its hash', () => {
  test.each([
    ['44365.example.com', '16546.example.com'],
    ['2739.example.com', '50756.example.com'],
  ])('is its own where the hash of another host has the same place: %s, %s', (one, other) => {
    const settings = { env: { PILOT_ENABLE_IP_AUTOALLOCATE: 'false' } };
    const addressesOf = (names: readonly string[]): readonly (string | undefined)[] => {
      const state = world([serviceEntry('ext', { hosts: names })], { settings });
      return names.map(name => ask(state, servicesOfHost, name)[0]?.autoAllocatedV4);
    };
    expect(addressesOf([one])).toEqual(addressesOf([other]));
    const [first, second] = addressesOf([one, other]);
    expect([first, second]).not.toContain(undefined);
    expect(first).not.toBe(second);
  });
});

describe('a service of a ServiceEntry', () => {
  const serviceOf = (spec: JsonObject, more: JsonObject = {}) => {
    const entry = serviceEntry('ext', { hosts, ...spec });
    const object = { ...entry, ...more, metadata: { ...(entry.metadata as JsonObject), uid: 'u' } };
    return ask(world([object]), servicesOfHost, hosts[0]!)[0];
  };

  test('has of its status the addresses that are addresses', () => {
    const status = { addresses: ['240.240.0.7', 'no', ''].map(value => ({ value, host: hosts[0]! })) };
    const found = serviceOf({}, { status });
    expect(found?.autoAllocatedV4).toBe('240.240.0.7');
    expect(found?.autoAllocatedV6).toBeUndefined();
  });

  test('has IPv6 addresses of whole prefixes and of its status in their shortest form, others as given', () => {
    const addressOf = (address: string) => serviceOf({ addresses: [address] })?.defaultAddress;
    expect(addressOf('2001:DB8:0::1/128')).toBe('2001:db8::1');
    expect(addressOf('::ffff:10.0.0.1/128')).toBe('::ffff:10.0.0.1');
    expect(addressOf('2001:DB8:0::1')).toBe('2001:DB8:0::1');
    expect(addressOf('2001:DB8:0::/64')).toBe('2001:DB8:0::/64');
    const status = { addresses: ['2001:DB8:0:0::1', '10.0.0.1'].map(value => ({ value, host: hosts[0]! })) };
    const found = serviceOf({ resolution: 'DNS' }, { status });
    expect([found?.autoAllocatedV4, found?.autoAllocatedV6]).toEqual(['10.0.0.1', '2001:db8::1']);
  });

  test('has the names that its certificates may have as accounts', () => {
    expect(serviceOf({ subjectAltNames: ['spiffe://td/ns/a/sa/b'] })?.serviceAccounts).toEqual([
      'spiffe://td/ns/a/sa/b',
    ]);
    expect(serviceOf({})?.serviceAccounts).toEqual([]);
  });

  test('replaces ports of passed-through connections by its target ports', () => {
    const ports = [
      { number: 80, name: 'a', protocol: 'TCP', targetPort: 8080 },
      { number: 81, name: 'b', protocol: 'TCP' },
    ];
    expect(serviceOf({ ports, resolution: 'NONE' })?.passthroughTargetPorts).toEqual({ 80: 8080 });
    expect(serviceOf({ ports })?.passthroughTargetPorts).toEqual({});
  });
});
