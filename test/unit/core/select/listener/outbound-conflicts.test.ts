// What stays where several services want one address and port.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { outboundListenerPlans } from '../../../../../src/core/select/listener/outbound-listeners.ts';
import { ask, world } from '../../../world.ts';
import { service, serviceEntry, sidecar } from '../../registry/fixtures.ts';
import { plans } from './plans.ts';

/** Services of one port in order of age, as `PROTOCOL:name`; without an address. */
const entries = (...written: readonly string[]): readonly JsonObject[] =>
  written.map((text, i) => {
    const [protocol = '', name = ''] = text.split(':');
    const ports = [{ number: 9000, name: 'p', protocol }];
    return serviceEntry(name, { hosts: [`${name}.com`], ports, resolution: 'DNS' }, { day: i + 1 });
  });
const chainsOf = (parts: readonly JsonObject[]) => plans(parts).flatMap(([, ...chains]) => chains);

describe('services of one port on the wildcard address', () => {
  it.each<[readonly string[], readonly string[]]>([
    [['HTTP:a', 'HTTP:b'], ['http? 9000']],
    [
      ['HTTP:a', 'TCP:b'],
      ['http? 9000', 'tcp > outbound|9000||b.com'],
    ],
    [
      ['TCP:a', 'HTTP:b', 'HTTP:c'],
      ['tcp > outbound|9000||a.com', 'http? 9000'],
    ],
    [['TCP:a', 'TCP:b'], ['tcp > outbound|9000||a.com']],
    [
      ['TLS:a', 'TLS:b', 'HTTP:c'],
      ['tcp a.com > outbound|9000||a.com', 'tcp b.com > outbound|9000||b.com', 'http? 9000'],
    ],
    [['HTTP:a', 'HTTP_PROXY:b'], ['http 9000']],
    [['HTTP_PROXY:a', 'HTTP:b'], ['http 9000']],
    [['MySQL:a', 'Mongo:b'], ['tcp > outbound|9000||a.com']],
    [
      ['TLS:a', 'TCP:b'],
      ['tcp a.com > outbound|9000||a.com', 'tcp > outbound|9000||b.com'],
    ],
    [
      ['TLS:a', 'HTTP:b', 'TLS:c'],
      ['tcp a.com > outbound|9000||a.com', 'http? 9000', 'tcp c.com > outbound|9000||c.com'],
    ],
    [['Mongo:a', 'Mongo:b'], ['tcp > outbound|9000||a.com']],
    [['Mongo:a', 'TLS:b'], ['tcp > outbound|9000||a.com']],
    [['MySQL:a', 'HTTP:b'], ['tcp > outbound|9000||a.com']],
    [['TLS:a', 'MySQL:b'], ['tcp a.com > outbound|9000||a.com']],
    [
      ['TLS:a', 'HTTP:b', 'Mongo:c'],
      ['tcp a.com > outbound|9000||a.com', 'http? 9000'],
    ],
  ])('%j have the chains %j', (services, chains) => {
    expect(chainsOf(entries(...services))).toEqual(chains);
  });
});

describe('services at one address of an egress listener', () => {
  const bound = sidecar('s', { egress: [{ bind: '127.0.0.1', captureMode: 'NONE', hosts: ['*/*'] }] });
  const named = (portName: string, name: string, day: number): JsonObject =>
    service(name, { ports: [{ name: portName, port: 9000 }] }, { day });

  it.each<[readonly string[], readonly string[]]>([
    [['http', 'http'], ['http 9000']],
    [
      ['http', 'x'],
      ['tcp > outbound|9000||b', 'http? b.default.svc.cluster.local:9000'],
    ],
    [
      ['x', 'http'],
      ['tcp > outbound|9000||a', 'http? a.default.svc.cluster.local:9000'],
    ],
    [
      ['x', 'x'],
      ['tcp > outbound|9000||a', 'http? a.default.svc.cluster.local:9000'],
    ],
    [
      ['x', 'tcp'],
      ['tcp > outbound|9000||a', 'http? a.default.svc.cluster.local:9000'],
    ],
    [
      ['tcp', 'x'],
      ['tcp > outbound|9000||a', 'http? b.default.svc.cluster.local:9000'],
    ],
    [['http', 'tcp'], ['http 9000']],
    [['tcp', 'http'], ['tcp > outbound|9000||a']],
  ])('with ports named %j have the chains %j', (names, chains) => {
    const services = names.map((portName, i) => named(portName, i === 0 ? 'a' : 'b', i + 1));
    expect(plans([bound, ...services])).toEqual([['127.0.0.1 9000', ...chains]]);
  });
});

describe('services at the wildcard address of an egress listener', () => {
  const bound = sidecar('s', { egress: [{ bind: '0.0.0.0', captureMode: 'NONE', hosts: ['*/*'] }] });

  it.each<[readonly string[], readonly string[]]>([
    [['http', 'x'], ['http? 9000']],
    [
      ['x', 'http'],
      ['tcp > outbound|9000||a', 'http? 9000'],
    ],
    [
      ['x', 'x'],
      ['tcp > outbound|9000||a', 'http? 9000'],
    ],
  ])('with ports named %j have the chains %j, and no conflict', (names, chains) => {
    const services = names.map((name, i) =>
      service(i === 0 ? 'a' : 'b', { ports: [{ name, port: 9000 }] }, { day: i + 1 }),
    );
    expect(plans([bound, ...services])).toEqual([['0.0.0.0 9000', ...chains]]);
    const found = ask(world([bound, ...services]), outboundListenerPlans, '');
    expect(found.flatMap(({ conflicts }) => conflicts)).toEqual([]);
  });
});

describe('chains that would take the same connections', () => {
  const ranged = (name: string, day: number, addresses: readonly string[], protocol = 'TCP'): JsonObject =>
    serviceEntry(
      name,
      { hosts: [`${name}.com`], addresses, ports: [{ number: 9000, name: 'p', protocol }], resolution: 'NONE' },
      { day },
    );
  const conflictsOf = (...parts: readonly JsonObject[]): readonly string[] =>
    ask(world(parts), outboundListenerPlans, '').flatMap(({ conflicts }) => conflicts);

  it.each<[string, readonly string[], readonly string[], number]>([
    ['of IPv6 in another notation', ['2001:db8::/32'], ['2001:db8:1::/32'], 1],
    ['that differ', ['10.1.0.0/16'], ['10.2.0.0/16'], 0],
    ['of which one is longer', ['10.1.0.0/16'], ['10.1.0.0/24'], 0],
    ['of which the first has more', ['10.1.0.0/16', '10.2.0.0/16'], ['10.1.0.0/16'], 1],
  ])('are dropped and named: ranges %s', (_what, first, second, conflicts) => {
    expect(conflictsOf(ranged('a', 1, first), ranged('b', 2, second))).toHaveLength(conflicts);
  });

  it('are dropped and named: the first has its place', () => {
    expect(conflictsOf(...entries('TCP:a', 'TCP:b', 'TCP:c'))).toEqual([
      'b.com:9000 shares 0.0.0.0:9000 with a.com, which takes its traffic',
      'c.com:9000 shares 0.0.0.0:9000 with a.com, which takes its traffic',
    ]);
    expect(conflictsOf(...entries('Mongo:a', 'Mongo:b'))).toHaveLength(1);
    expect(conflictsOf(...entries('TCP:a', 'HTTP:b', 'HTTP:c'))).toEqual([]);
    expect(conflictsOf(...entries('TLS:a', 'TLS:b', 'TCP:c', 'HTTP:d', 'TCP:e'))).toEqual([
      'e.com:9000 shares 0.0.0.0:9000 with a.com, which takes its traffic',
    ]);
  });

  it('stay beside each other where one has a range and the other a name', () => {
    expect(conflictsOf(ranged('a', 1, ['10.1.0.0/16']), ...entries('TLS:b', 'TCP:c'))).toEqual([]);
  });
});
