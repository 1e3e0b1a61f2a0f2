// Addresses of ServiceEntries: who gets which, what is kept, and what is written where an API server has the object.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import type { Unrecorded } from '../../../../src/core/event.ts';
import { defaultSettings, settingsToJson } from '../../../../src/core/mesh/settings.ts';
import { Tracker } from '../../../../src/core/query/tracker.ts';
import { allocatedAddresses } from '../../../../src/core/registry/allocated-addresses.ts';
import { planOf } from '../../../../src/core/wishes/plan.ts';
import { wishTable } from '../../../../src/core/wishes/table.ts';
import type { Wish } from '../../../../src/core/wishes/wish.ts';
import { foldFacts } from '../../../../src/offline/generate.ts';

type Address = readonly [host: string, value: string];
const SMALL = { PILOT_IP_AUTOALLOCATE_IPV4_PREFIX: '10.9.8.0/30', PILOT_IP_AUTOALLOCATE_IPV6_PREFIX: '2001:2::/126' };

function entry(
  name: string,
  spec: JsonObject,
  {
    given,
    day = 1,
    ...meta
  }: { given?: readonly Address[]; day?: number; uid?: string; labels?: JsonObject; namespace?: string } = {},
): JsonObject {
  return {
    apiVersion: 'networking.istio.io/v1',
    kind: 'ServiceEntry',
    metadata: {
      name,
      namespace: 'default',
      uid: `${name}-uid`,
      creationTimestamp: `2026-01-0${day}T00:00:00Z`,
      ...meta,
    },
    spec: { ports: [{ name: 'http', number: 80, protocol: 'HTTP' }], resolution: 'DNS', ...spec },
    ...(given === undefined ? {} : { status: { addresses: given.map(([host, value]) => ({ value, host })) } }),
  };
}

function world(objects: readonly JsonObject[], env: Record<string, string>) {
  const settings = settingsToJson({ ...defaultSettings, env });
  const facts: Unrecorded[] = [{ source: 'runtime', kind: 'Engine', settings }];
  for (const object of objects) facts.push({ source: 'kube/Kubernetes', kind: 'Add', object });
  return { tracker: new Tracker(), state: foldFacts(facts).state };
}

/** `host address address …` of one ServiceEntry. */
function addresses(
  name: string,
  objects: readonly JsonObject[],
  env: Record<string, string> = {},
  namespace = 'default',
): readonly string[] {
  const { tracker, state } = world(objects, env);
  return tracker
    .get(state, undefined, allocatedAddresses, `${namespace}/${name}`)
    .map(({ host, value }) => `${host} ${value}`);
}

function wishes(objects: readonly JsonObject[], env: Record<string, string> = {}): readonly Wish[] {
  const { tracker, state } = world(objects, env);
  return tracker.get(state, undefined, wishTable, '').wishes.filter(({ kind }) => kind === 'ServiceEntry');
}

const plan = (wish: Wish, live: JsonObject): string =>
  planOf(wish, live, 'networking.istio.io/v1', 'ServiceEntry').kind;

describe('the addresses of a ServiceEntry', () => {
  it('are one of each family for each host, once', () => {
    const found = addresses('e', [entry('e', { hosts: ['b.com', 'a.com', 'b.com'] })]);
    expect(found.map(line => line.split(' ')[0])).toEqual(['b.com', 'b.com', 'a.com', 'a.com']);
    for (const [i, line] of found.entries()) expect(line).toMatch(i % 2 === 0 ? / 240\.240\.\d+\.\d+$/ : / 2001:2::/);
    expect(new Set(found).size).toBe(4);
  });

  it('are not given where there are some, where nothing is resolved, or where the author wants none', () => {
    const hosts = ['a.com'];
    const label = { 'networking.istio.io/enable-autoallocate-ip': 'FALSE' };
    expect(addresses('e', [entry('e', { hosts, addresses: ['1.1.1.1'] })])).toEqual([]);
    expect(addresses('e', [entry('e', { hosts, resolution: 'NONE' })])).toEqual([]);
    expect(addresses('e', [entry('e', { hosts }, { labels: label })])).toEqual([]);
  });

  it('are given to a wildcard only where its names are resolved one by one', () => {
    expect(addresses('e', [entry('e', { hosts: ['*.a.com'], resolution: 'STATIC' })])).toEqual([]);
    expect(addresses('e', [entry('e', { hosts: ['*.a.com'], resolution: 'DYNAMIC_DNS' })])).toHaveLength(2);
  });

  it('stay with the hosts that have them when other hosts come and go', () => {
    const given: readonly Address[] = [
      ['gone.com', '240.240.0.1'],
      ['a.com', '240.240.0.2'],
      ['a.com', '2001:2::2'],
    ];
    const found = addresses('e', [entry('e', { hosts: ['new.com', 'a.com'] }, { given })]);
    expect(found.slice(2)).toEqual(['a.com 240.240.0.2', 'a.com 2001:2::2']);
    expect(found.slice(0, 2).every(line => line.startsWith('new.com '))).toBe(true);
  });

  it('stay as they are recorded, whatever the order of hosts, and go with the last host that has them', () => {
    const given: readonly Address[] = [
      ['b.com', '240.240.0.1'],
      ['a.com', '240.240.0.2'],
    ];
    const hosts = ['a.com', 'b.com'];
    expect(addresses('e', [entry('e', { hosts }, { given })])).toEqual(['b.com 240.240.0.1', 'a.com 240.240.0.2']);
    expect(addresses('e', [entry('e', { hosts: ['a.com'] }, { given })])).toEqual(['a.com 240.240.0.2']);
  });

  it('are those that a hash of namespace and host gives, so that every control plane gives the same', () => {
    expect(addresses('e', [entry('e', { hosts: ['a.com'] })])).toEqual([
      'a.com 240.240.244.114',
      'a.com 2001:2::f18c:2e6',
    ]);
    const shop = { namespace: 'shop' };
    expect(addresses('e', [entry('e', { hosts: ['a.com'] }, shop)], {}, 'shop')[0]).toBe('a.com 240.240.202.208');
  });

  it('of two ServiceEntries with one address stay with the older', () => {
    const given: readonly Address[] = [['a.com', '240.240.0.2']];
    const all = [
      entry('a-young', { hosts: ['a.com'] }, { given, day: 2 }),
      entry('z-old', { hosts: ['a.com'] }, { given, day: 1 }),
    ];
    expect(addresses('z-old', all)).toEqual(['a.com 240.240.0.2']);
    const young = addresses('a-young', all);
    expect(young).toHaveLength(2);
    expect(young).not.toContain('a.com 240.240.0.2');
  });

  it('yield to an address that an author chose, however it is written', () => {
    const given: readonly Address[] = [
      ['a.com', '240.240.0.2'],
      ['a.com', '2001:2::2'],
    ];
    const chosen = entry('chosen', { hosts: ['b.com'], addresses: ['2001:0002:0::2'] }, { day: 9 });
    expect(addresses('e', [entry('e', { hosts: ['a.com'] }, { given }), chosen])).not.toContain('a.com 2001:2::2');
  });

  it('never meet, and run out only when the prefix has', () => {
    const hosts = ['a.com', 'b.com', 'c.com', 'd.com'];
    const found = addresses('e', [entry('e', { hosts })], SMALL);
    expect([...found].map(line => line.split(' ')[1]).sort()).toEqual([
      '10.9.8.1',
      '10.9.8.2',
      '10.9.8.3',
      '2001:2::1',
      '2001:2::2',
      '2001:2::3',
    ]);
    expect(found.filter(line => line.startsWith('d.com'))).toEqual([]);
  });

  it('have one family where the other prefix is none', () => {
    const env = { PILOT_IP_AUTOALLOCATE_IPV6_PREFIX: '10.0.0.0/8' };
    expect(addresses('e', [entry('e', { hosts: ['a.com'] })], env)).toHaveLength(1);
  });
});

describe('the status of a ServiceEntry', () => {
  it('is wished with the addresses, by the holder of the election', () => {
    const [wish, ...more] = wishes([entry('e', { hosts: ['a.com'] })]);
    expect(more).toEqual([]);
    expect(wish).toMatchObject({ subresource: 'status', gate: 'istio-ip-autoallocate', verb: 'merge' });
    const given = addresses('e', [entry('e', { hosts: ['a.com'] })]);
    const { status } = wish!.fields as { readonly status: { readonly addresses: readonly JsonObject[] } };
    expect(status.addresses.map(({ host, value }) => `${String(host)} ${String(value)}`)).toEqual(given);
  });

  it('is not wished of an object that no API server stored, nor with the feature off', () => {
    expect(wishes([entry('e', { hosts: ['a.com'] }, { uid: '' })])).toEqual([]);
    expect(wishes([entry('e', { hosts: ['a.com'] })], { PILOT_ENABLE_IP_AUTOALLOCATE: 'false' })).toEqual([]);
  });

  it('is fulfilled once written, and asks for nothing new then', () => {
    const [wish] = wishes([entry('e', { hosts: ['a.com'] })]);
    const live = { metadata: { uid: 'e-uid', resourceVersion: '1' } };
    expect(plan(wish!, live)).toBe('merge');
    const { status } = wish!.fields as { readonly status: JsonObject };
    const [again] = wishes([{ ...entry('e', { hosts: ['a.com'] }), status }]);
    expect(again!.fields).toEqual(wish!.fields);
    expect(plan(again!, { ...live, status })).toBe('none');
  });

  it('waits while the object has addresses that were not folded yet', () => {
    const [wish] = wishes([entry('e', { hosts: ['a.com'] })]);
    const status = { addresses: [{ value: '240.240.0.9', host: 'a.com' }] };
    expect(plan(wish!, { metadata: { uid: 'e-uid', resourceVersion: '1' }, status })).toBe('none');
    expect(plan(wish!, { metadata: { uid: 'e-uid', resourceVersion: '1' }, status: { addresses: [] } })).toBe('merge');
  });

  it('loses its addresses when the author gives one', () => {
    const given: readonly Address[] = [['a.com', '240.240.0.2']];
    const [wish] = wishes([entry('e', { hosts: ['a.com'], addresses: ['1.1.1.1'] }, { given })]);
    expect(wish!.fields).toEqual({ status: { addresses: [] } });
  });
});
