// serviceEntryHandler: which changes of a ServiceEntry need a full push, which one of endpoints, which none.
// Source: Istio pilot/pkg/serviceregistry/serviceentry/controller.go (pushServiceUpdates).

import { describe, expect, test, vi } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { PARTS_COMPARED_MAX } from '../../../../src/core/handlers/comparison.ts';
import { untrackedReader } from '../../../../src/core/query/untracked.ts';
import { AddressPool, AddressPrefix } from '../../../../src/core/registry/address-pool.ts';
import { allocatedAddresses } from '../../../../src/core/registry/allocated-addresses.ts';
import { put, world } from '../../world.ts';
import { pod, service, serviceEntry, workloadEntry } from '../registry/fixtures.ts';
import { deletes, entryKey, rows, says, serviceKey, withMeta } from './rows.ts';

const EXT = entryKey('ext.com');
const TWO = entryKey('two.com');
const entry = (spec: JsonObject = {}): JsonObject =>
  serviceEntry('ext', { hosts: ['ext.com'], endpoints: [{ address: '1.1.1.1' }], ...spec });
const dns = (address: string, resolution = 'DNS'): JsonObject => entry({ resolution, endpoints: [{ address }] });
const empty = entry({ endpoints: [] });

describe('services of a ServiceEntry push:', () => {
  const both = entry({ hosts: ['ext.com', 'two.com'] });
  rows([
    ['an added one', [], says(entry()), `full endpoint+service ${EXT}`],
    ['one added without endpoints', [], says(empty), `full service ${EXT}`],
    ['a deleted one', [entry()], deletes(entry()), `full endpoint+service ${EXT}`],
    ['nothing if it is unchanged', [entry()], says(entry()), '-'],
    [
      'nothing for unrelated labels',
      [entry()],
      says(withMeta(entry(), { annotations: { 'example.com/a': 'b' } })),
      '-',
    ],
    ['an added host', [entry()], says(both), `full endpoint+service ${TWO}`],
    ['a removed host', [both], says(entry()), `full endpoint+service ${TWO}`],
    ['an address', [entry()], says(entry({ addresses: ['240.0.0.1'] })), `full service ${EXT}`],
    ['its location', [entry()], says(entry({ location: 'MESH_INTERNAL' })), `full service ${EXT}`],
    ['its visibility', [entry()], says(entry({ exportTo: ['.'] })), `full service ${EXT}`],
    [
      'its subjectAltNames',
      [entry()],
      says(entry({ subjectAltNames: ['spiffe://a/ns/b/sa/c'] })),
      `full service ${EXT}`,
    ],
    ['allocated addresses', [dns('a.com')], says({ ...dns('a.com'), status: ALLOCATED() }), `full service ${EXT}`],
    [
      'nothing for another status',
      [entry()],
      says({ ...entry(), status: { conditions: [{ type: 'Reconciled' }] } }),
      '-',
    ],
    ['nothing without hosts', [], says(serviceEntry('ext', { hosts: [] })), '-'],
  ]);
  function ALLOCATED(): JsonObject {
    return { addresses: [{ host: 'ext.com', value: '240.240.0.1' }] };
  }
});

describe('of a host that too many ServiceEntries name to compare them,', () => {
  const named = (count: number): JsonObject[] =>
    Array.from({ length: count }, (_, i) => withMeta(entry(), { name: `ext-${i}` }));
  const moved = withMeta(entry({ endpoints: [{ address: '2.2.2.2' }] }), { name: 'ext-0' });
  const all = `full endpoint+headlessendpoint+service ${EXT}`;
  const [last] = named(1);
  rows([
    [
      'the last one that is compared pushes what differs',
      named(PARTS_COMPARED_MAX),
      says(moved),
      `incremental endpoint ${EXT}`,
    ],
    ['one more pushes all', named(PARTS_COMPARED_MAX), says(entry()), all],
    ['a change pushes all', named(PARTS_COMPARED_MAX + 1), says(moved), all],
    ['its removal pushes all', named(PARTS_COMPARED_MAX + 1), deletes(last!), all],
    [
      'another host pushes what differs',
      named(PARTS_COMPARED_MAX + 1),
      says(serviceEntry('other', { hosts: ['two.com'] })),
      `full service ${TWO}`,
    ],
  ]);
});

describe('endpoints of a ServiceEntry push:', () => {
  rows([
    ['the first: full', [empty], says(entry()), `full endpoint ${EXT}`],
    [
      'other ones: incremental',
      [entry()],
      says(entry({ endpoints: [{ address: '2.2.2.2' }] })),
      `incremental endpoint ${EXT}`,
    ],
    [
      'one more: incremental',
      [entry()],
      says(entry({ endpoints: [{ address: '1.1.1.1' }, { address: '2.2.2.2' }] })),
      `incremental endpoint ${EXT}`,
    ],
    ['the last one removed: incremental', [entry()], says(empty), `incremental endpoint ${EXT}`],
    [
      'another weight: incremental',
      [entry()],
      says(entry({ endpoints: [{ address: '1.1.1.1', weight: 9 }] })),
      `incremental endpoint ${EXT}`,
    ],
    [
      'another account: full',
      [entry()],
      says(entry({ endpoints: [{ address: '1.1.1.1', serviceAccount: 'a' }] })),
      `full endpoint ${EXT}`,
    ],
    ['names that proxies resolve: full', [dns('a.com')], says(dns('b.com')), `full endpoint ${EXT}`],
    [
      'round robin over names: full',
      [dns('a.com', 'DNS_ROUND_ROBIN')],
      says(dns('b.com', 'DNS_ROUND_ROBIN')),
      `full endpoint ${EXT}`,
    ],
    [
      'a target port: full, for the service has it',
      [entry()],
      says(entry({ ports: [{ number: 80, name: 'http', protocol: 'HTTP', targetPort: 8080 }] })),
      `full endpoint+service ${EXT}`,
    ],
  ]);
});

describe('other objects with the host of a ServiceEntry push:', () => {
  const second = serviceEntry('second', { hosts: ['ext.com'], endpoints: [{ address: '3.3.3.3' }] });
  const elsewhere = serviceEntry(
    'ext',
    { hosts: ['ext.com'], endpoints: [{ address: '4.4.4.4' }] },
    { namespace: 'prod' },
  );
  rows([
    ['in the namespace: one more service and its endpoints', [entry()], says(second), `full endpoint+service ${EXT}`],
    [
      'in another namespace: a service of its own',
      [entry()],
      says(elsewhere),
      `full endpoint+service ${entryKey('ext.com', 'prod')}`,
    ],
    [
      'a Kubernetes service in the namespace gets the endpoints',
      [service('web')],
      says(entry({ hosts: ['web.default.svc.cluster.local'] })),
      `full endpoint+service ${serviceKey('web')}`,
    ],
  ]);
});

describe('workloads selected by a ServiceEntry push:', () => {
  const labels = { app: 'x' };
  const selecting = (selector: JsonObject): JsonObject =>
    serviceEntry('ext', { hosts: ['ext.com'], workloadSelector: { labels: selector } });
  const around = [pod('p', '10.0.0.1', { labels }), workloadEntry('vm', { address: '9.9.9.9', labels })];
  rows([
    ['one added after its workloads', around, says(selecting(labels)), `full endpoint+service ${EXT}`],
    ['another selector', [...around, selecting({ app: 'y' })], says(selecting(labels)), `full endpoint+service ${EXT}`],
  ]);
});

describe('ServiceEntries whose hosts are allocated addresses', () => {
  const allocated = (name: string, status: JsonObject = {}): JsonObject => ({
    ...serviceEntry(name, { hosts: [`${name}.com`], resolution: 'DNS' }),
    status,
  });
  rows([
    [
      'push a recorded address that changes',
      [allocated('one')],
      says(allocated('one', { addresses: [{ value: '240.240.0.9', host: 'one.com' }] })),
      `full service ${entryKey('one.com')}`,
    ],
  ]);

  test('are allocated none to tell what a change pushes, which would cost what all entries cost', () => {
    const allocations = vi.spyOn(AddressPool.prototype, 'next');
    const { state, push } = put(world([allocated('one'), allocated('two')]), allocated('three'));
    expect(push.configsUpdated).toEqual([entryKey('three.com')]);
    expect(allocations).not.toHaveBeenCalled();
    expect(untrackedReader(state).get(allocatedAddresses, 'default/three')).toHaveLength(2);
    expect(allocations).toHaveBeenCalled();
    allocations.mockRestore();
  });

  test('are written as text for the entries alone whose addresses are asked for', () => {
    const { state } = put(world([allocated('one'), allocated('two')]), allocated('three'));
    const texts = vi.spyOn(AddressPrefix.prototype, 'addressAt');
    expect(untrackedReader(state).get(allocatedAddresses, 'default/three')).toHaveLength(2);
    expect(texts).toHaveBeenCalledTimes(2);
    texts.mockRestore();
  });
});
