// Where addresses of hosts come from: pools of a prefix, hashes of names, the status of a ServiceEntry.

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import {
  AddressPool,
  AddressPrefix,
  canonicalAddress,
  isPrefixOf,
} from '../../../../src/core/registry/address-pool.ts';
import { allServices, servicesOfHost } from '../../../../src/core/registry/services.ts';
import { ask, world } from '../../world.ts';
import { type Meta, serviceEntry } from './fixtures.ts';

const hosts = ['ext.example.com'];
const unresolved = (entry: JsonObject): JsonObject => {
  const { resolution: _, ...spec } = entry.spec as JsonObject;
  return { ...entry, spec };
};

function poolOf(prefix: string): AddressPool {
  return new AddressPool(new AddressPrefix(prefix));
}

function nextOf(pool: AddressPool, hash: number): string | undefined {
  const place = pool.next(hash);
  return place === undefined ? undefined : pool.prefix.addressAt(place);
}

describe('a pool of addresses', () => {
  test('gives the place of a hash or the next free one, the first after the last', () => {
    const pool = poolOf('10.1.2.0/30');
    expect([2, 2, 2, 2].map(hash => nextOf(pool, hash))).toEqual(['10.1.2.3', '10.1.2.1', '10.1.2.2', undefined]);
  });

  test('passes over addresses that are taken, and ignores those of others', () => {
    const pool = poolOf('10.1.2.0/29');
    for (const address of ['10.1.2.1', '10.1.3.2', '2001:db8::2']) pool.take(address);
    expect([0, 0].map(hash => nextOf(pool, hash))).toEqual(['10.1.2.2', '10.1.2.3']);
    const long = poolOf('2001:db8::/125');
    for (const address of ['2001:db8::1', '2001:db9::2', '10.1.2.3']) long.take(address);
    expect([0, 0].map(hash => nextOf(long, hash))).toEqual(['2001:db8::2', '2001:db8::3']);
  });

  test('gives places in order to thousands of one hash, without a walk over all that are taken', () => {
    const pool = poolOf('10.0.0.0/8');
    const count = 300_000;
    const found = Array.from({ length: count }, () => nextOf(pool, 5));
    expect(new Set(found).size).toBe(count);
    expect([found[0], found[1], found[count - 1]]).toEqual(['10.0.0.6', '10.0.0.7', '10.4.147.229']);
    expect(nextOf(pool, 4)).toBe('10.0.0.5');
    expect(nextOf(pool, 4)).toBe('10.4.147.230');
  });

  test('numbers the places of a prefix that does not end at a byte, and of one longer than 32 bits', () => {
    expect(nextOf(poolOf('10.1.3.255/22'), 0)).toBe('10.1.0.1');
    expect(nextOf(poolOf('2001:db8::/64'), 0xffff_fffe)).toBe('2001:db8::ffff:ffff');
    expect(nextOf(poolOf('2001:db8::/120'), 254)).toBe('2001:db8::ff');
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

/** The expected addresses are those of an implementation of Istio's algorithm in another language. */
describe('the address of a host by its hash', () => {
  const addressesOf = (...entries: readonly JsonObject[]): Readonly<Record<string, unknown>> => {
    const state = world(entries, { settings: { env: { PILOT_ENABLE_IP_AUTOALLOCATE: 'false' } } });
    return Object.fromEntries(
      ask(state, allServices, '').map(({ hostname, autoAllocatedV4: v4, autoAllocatedV6: v6 }) => [hostname, [v4, v6]]),
    );
  };
  const named = (...names: readonly string[]): JsonObject => serviceEntry('ext', { hosts: names });

  test('is the one that istiod gives it', () => {
    const address = ['240.240.196.98', '2001:2::f0f0:c462'];
    expect(addressesOf(named('ext.example.com'))).toEqual({ 'ext.example.com': address });
  });

  test('leaves the first octet empty in IPv6 where it is zero', () => {
    expect(addressesOf(named('h82341.com'))).toEqual({ 'h82341.com': ['240.240.0.1', '2001:2::f0f0:1'] });
  });

  test('passes over addresses that end in 255, and so moves the hosts after it', () => {
    expect(addressesOf(named('h52230.com'))).toEqual({ 'h52230.com': ['240.240.1.254', '2001:2::f0f0:1fe'] });
    expect(addressesOf(named('h52230.com', 'h48598.com', 'h82341.com'))).toEqual({
      'h82341.com': ['240.240.0.1', '2001:2::f0f0:1'],
      'h48598.com': ['240.240.1.1', '2001:2::f0f0:11'],
      'h52230.com': ['240.240.2.1', '2001:2::f0f0:21'],
    });
  });

  test.each<Readonly<Record<string, readonly [string, string]>>>([
    {
      '16546.example.com': ['240.240.97.20', '2001:2::f0f0:6114'],
      '44365.example.com': ['240.240.191.119', '2001:2::f0f0:bf77'],
    },
    {
      '2739.example.com': ['240.240.242.222', '2001:2::f0f0:f2de'],
      '50756.example.com': ['240.240.78.132', '2001:2::f0f0:4e84'],
    },
    // The place after the first that is free is the second.
    {
      '0.example.com': ['240.240.148.251', '2001:2::f0f0:94fb'],
      '36388.example.com': ['240.240.31.136', '2001:2::f0f0:1f88'],
      '37330.example.com': ['240.240.171.193', '2001:2::f0f0:abc1'],
    },
  ])('goes by name where hosts have one place, in whichever order they are listed: %j', expected => {
    expect(addressesOf(named(...Object.keys(expected).reverse()))).toEqual(expected);
    expect(addressesOf(named(...Object.keys(expected)))).toEqual(expected);
  });

  test('is one for all ServiceEntries with the host', () => {
    const [one, other] = ['ext', 'other'].map(name => serviceEntry(name, { hosts: ['t1.example.com'] }));
    expect(addressesOf(one!)).toEqual({ 't1.example.com': ['240.240.126.234', '2001:2::f0f0:7eea'] });
    expect(addressesOf(one!, other!)).toEqual(addressesOf(one!));
  });

  test('is given to no wildcard, and takes no place for hosts with addresses of their own or without resolution', () => {
    const spec = { hosts: ['16546.example.com'] };
    const rest = [{ addresses: ['1.1.1.1'] }, { resolution: 'NONE' }].map(more =>
      serviceEntry('ext', { ...spec, ...more }),
    );
    // It would have the place first.
    for (const entry of [...rest, unresolved(serviceEntry('ext', spec))]) {
      const found = addressesOf(entry, serviceEntry('other', { hosts: ['44365.example.com'] }));
      expect(found).toEqual({
        '16546.example.com': [undefined, undefined],
        '44365.example.com': ['240.240.97.20', '2001:2::f0f0:6114'],
      });
    }
    expect(addressesOf(named('*.example.com'))['*.example.com']).toEqual([undefined, undefined]);
  });
});

describe('a service of a ServiceEntry', () => {
  const serviceOf = (spec: JsonObject, more: JsonObject = {}, meta: Meta = {}) => {
    const entry = serviceEntry('ext', { hosts, ...spec }, meta);
    const object = { ...entry, ...more, metadata: { ...(entry.metadata as JsonObject), uid: 'u' } };
    return ask(world([object]), servicesOfHost, hosts[0]!)[0];
  };

  test('has of its status the addresses that are addresses', () => {
    const status = { addresses: ['240.240.0.7', 'no', ''].map(value => ({ value, host: hosts[0]! })) };
    const found = serviceOf({}, { status });
    expect(found?.autoAllocatedV4).toBe('240.240.0.7');
    expect(found?.autoAllocatedV6).toBeUndefined();
  });

  test('uses nothing of its status where the entry has no claim to an address', () => {
    const status = { addresses: [{ value: '240.240.0.7', host: hosts[0]! }] };
    const label = { labels: { 'networking.istio.io/enable-autoallocate-ip': 'false' } };
    for (const spec of [{ addresses: ['1.1.1.1'] }, { resolution: 'NONE' }]) {
      expect(serviceOf(spec, { status })?.autoAllocatedV4).toBeUndefined();
    }
    expect(ask(world([{ ...unresolved(serviceEntry('ext', { hosts })), status }]), allServices, '')).toMatchObject([
      { resolution: 'Passthrough' },
    ]);
    expect(serviceOf({}, { status }, label)?.autoAllocatedV4).toBeUndefined();
    expect(serviceOf({}, { status })?.autoAllocatedV4).toBe('240.240.0.7');
  });

  test('has before its status is written no address where an API server stored it, else the one to be written', () => {
    expect(serviceOf({})?.autoAllocatedV4).toBeUndefined();
    const unstored = ask(world([serviceEntry('ext', { hosts: ['a.com'] })]), servicesOfHost, 'a.com')[0];
    expect(unstored).toMatchObject({ autoAllocatedV4: '240.240.244.114', autoAllocatedV6: '2001:2::f18c:2e6' });
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
