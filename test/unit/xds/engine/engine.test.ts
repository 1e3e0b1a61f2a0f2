// The engine's sharing: equal proxies share sets, facts about proxies cost no generation, an unchanged resource keeps
// its bytes, and digests depend on names and contents only.

import { beforeEach, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { encodeResource } from '../../../../src/xds/engine/encode.ts';
import { Engine } from '../../../../src/xds/engine/engine.ts';
import { digestOf } from '../../../../src/xds/engine/resource-set.ts';
import { receiptsOf } from '../../../../src/xds/serve/receipts.ts';
import { CDS, EDS, LDS, RDS } from '../../../../src/xds/session/types.ts';
import { MemoryHost, testSources } from '../../../protocol/memory-host.ts';

const nodeOf = (name: string): JsonObject => ({ id: `sidecar~10.0.0.1~${name}.ns~ns.svc.cluster.local` });

let host: MemoryHost;
let engine: Engine;

beforeEach(async () => {
  host = new MemoryHost();
  engine = new Engine(testSources);
  await host.set('cds', { b: '1', a: '1' });
  await host.set('eds', { a: '1', b: '1', c: '1' });
  for (const connection of ['one', 'two']) {
    await host.record([
      { source: 'xds', kind: 'ProxyConnected', connection, node: nodeOf(connection), protocol: 'delta' },
      {
        source: 'xds',
        kind: 'ProxySubscribed',
        connection,
        typeUrl: CDS,
        subscribe: [],
        unsubscribe: [],
        wildcard: true,
      },
      {
        source: 'xds',
        kind: 'ProxySubscribed',
        connection,
        typeUrl: EDS,
        subscribe: ['c', 'a', 'none'],
        unsubscribe: [],
        wildcard: false,
      },
    ]);
  }
});

const setOf = (connection: string, typeUrl: string) => {
  const proxy = host.state().proxies.get(connection)!;
  return engine.resourcesFor(host.state(), proxy, typeUrl, proxy.subscriptions[typeUrl]!);
};

describe('the engine', () => {
  test('gives names in order, omits absent ones, and gives undefined for unknown types', () => {
    expect([...setOf('one', CDS)!.versions.keys()]).toEqual(['a', 'b']);
    expect([...setOf('one', EDS)!.versions.keys()]).toEqual(['a', 'c']);
    const proxy = host.state().proxies.get('one')!;
    expect(engine.resourcesFor(host.state(), proxy, LDS, { wildcard: true, names: [] })).toBeUndefined();
    expect([...engine.viewOf(host.state(), proxy).keys()].sort()).toEqual([CDS, EDS].sort());
    const named = engine.resourcesFor(host.state(), proxy, CDS, { wildcard: false, names: ['b', 'x'] });
    expect([...named!.versions.keys()]).toEqual(['b']);
    expect(engine.resourcesFor(host.state(), proxy, RDS, { wildcard: false, names: [] })!.size).toBe(0);
  });

  test('shares sets between equal proxies, and keeps the bytes of unchanged resources', async () => {
    const before = setOf('one', CDS)!;
    expect(setOf('two', CDS)).toBe(before);
    expect(setOf('two', EDS)).toBe(setOf('one', EDS));
    await host.set('cds', { a: '1', b: '2' });
    const after = setOf('one', CDS)!;
    expect(after.resources.get('a')).toBe(before.resources.get('a'));
    expect(after.versions.get('b')).not.toBe(before.versions.get('b'));
    expect(setOf('one', EDS)!.digest).toBe(setOf('two', EDS)!.digest);
  });

  test('runs no query for facts about proxies', async () => {
    setOf('one', CDS);
    setOf('one', EDS);
    const { runs, verifications } = engine.tracker.stats;
    await host.record([{ source: 'xds', kind: 'ProxyNacked', connection: 'two', typeUrl: CDS, message: 'no' }]);
    setOf('one', CDS);
    setOf('two', EDS);
    expect(engine.tracker.stats).toMatchObject({ runs, verifications });
  });

  test('serves the same after a sweep', async () => {
    const before = setOf('one', CDS)!.digest;
    for (let i = 0; i < 4; i++) engine.sweep();
    expect(setOf('one', CDS)!.digest).toBe(before);
    await host.set('cds', { a: '9' });
    expect(setOf('one', CDS)!.digest).not.toBe(before);
  });

  test('sweeps values that no connected proxy holds, and no others', async () => {
    for (const connection of ['one', 'two']) for (const type of [CDS, EDS]) setOf(connection, type);
    const { queries } = engine.tracker.size;
    const one = [host.state().proxies.get('one')!];
    for (let i = 0; i < 10; i++) engine.sweep(one);
    await host.set('cds', { a: '9', b: '1' });
    const { runs, generated } = engine.tracker.stats;
    setOf('one', CDS);
    setOf('one', EDS);
    // The list of clusters and the one that changed.
    expect(engine.tracker.stats.runs - runs).toBe(1);
    expect(engine.tracker.stats.generated - generated).toBe(1);
    expect(engine.tracker.size.queries).toBe(queries);
    for (let i = 0; i < 6; i++) engine.sweep();
    expect(engine.tracker.size).toEqual({ queries: 0, generated: 0 });
  });

  test('does not walk again through the names that earlier slices of a look have made', async () => {
    const count = 400;
    const names = Array.from({ length: count }, (_, i) => `n${i}`);
    await host.set('rds', Object.fromEntries(names.map(name => [name, '1'])));
    await host.record([
      {
        source: 'xds',
        kind: 'ProxySubscribed',
        connection: 'one',
        typeUrl: RDS,
        subscribe: names,
        unsubscribe: [],
        wildcard: false,
      },
    ]);
    const look = engine.look();
    const proxy = host.state().proxies.get('one')!;
    const { hits } = engine.tracker.stats;
    let slices = 1;
    while (look(10, host.state(), proxy).value === undefined) slices++;
    expect(slices).toBeGreaterThan(count / 10);
    expect(engine.tracker.stats.hits - hits).toBeLessThan(10 * count);
    expect([...setOf('one', RDS)!.versions.keys()]).toEqual([...names].sort());
  });

  test('goes through finished parts in slices of one size', () => {
    const names = Array.from({ length: 900 }, (_, i) => `n${i}`);
    const own = new Engine([
      { url: RDS, named: { name: 'test/one', run: (_, name) => ({ name, message: { name }, problems: [] }) } },
    ]);
    const proxy = host.state().proxies.get('one')!;
    own.resourcesFor(host.state(), proxy, RDS, { wildcard: false, names });
    const more = { wildcard: false, names: [...names, 'x', 'y'] };
    const look = own.look();
    let slices = 1;
    while (look(1, host.state(), { ...proxy, subscriptions: { [RDS]: more } }).value === undefined) slices++;
    expect(slices).toBeGreaterThan(names.length / 32);
  });

  test('asks for resources of many names in blocks', async () => {
    const names = Array.from({ length: 1_280 }, (_, i) => `n${i}`);
    const subscribed = (count: number): number => {
      const proxy = host.state().proxies.get('one')!;
      const own = new Engine([
        { url: RDS, named: { name: 'test/one', run: (_, name) => ({ name, message: { name }, problems: [] }) } },
      ]);
      const set = own.resourcesFor(host.state(), proxy, RDS, { wildcard: false, names: names.slice(0, count) })!;
      expect([...set.resources.keys()]).toEqual(names.slice(0, count).sort());
      return own.tracker.stats.runs - count;
    };
    expect([subscribed(1_024), subscribed(1_280)]).toEqual([1, 1 + 1_280 / 256]);
  });

  test('encodes a long list in slices of one size', async () => {
    const count = 400;
    await host.set('cds', Object.fromEntries(Array.from({ length: count }, (_, i) => [`n${i}`, '1'])));
    const look = engine.look();
    const proxy = host.state().proxies.get('one')!;
    let slices = 1;
    while (look(10, host.state(), proxy).value === undefined) slices++;
    expect(slices).toBeGreaterThan(count / 10);
    expect(setOf('one', CDS)!.size).toBe(count);
  });

  test('makes a set of a long list in a slice after those that encode it', () => {
    const made = Array.from({ length: 20_000 }, (_, i) => ({
      name: `n${i}`,
      message: { name: `n${i}` },
      problems: [],
    }));
    const own = new Engine([{ url: CDS, all: { name: 'test/many', run: () => made } }]);
    const proxy = host.state().proxies.get('one')!;
    const look = own.look();
    expect(look(1_000_000, host.state(), proxy).value).toBeUndefined();
    expect(look(1_000_000, host.state(), proxy).value!.get(CDS)!.size).toBe(made.length);
  });

  test('goes through a long list whose resources other lists have in slices, and makes its set in one of its own', () => {
    const made = Array.from({ length: 40_000 }, (_, i) => ({
      name: `n${i}`,
      message: { name: `n${i}` },
      problems: [],
    }));
    for (const { name, message } of made) encodeResource(CDS, name, message);
    const proxy = host.state().proxies.get('one')!;
    const slicesOf = (allowance: number): number => {
      const look = new Engine([{ url: CDS, all: { name: 'test/same', run: () => made } }]).look();
      let slices = 1;
      while (slices < 50 && look(allowance, host.state(), proxy).value === undefined) slices++;
      return slices;
    };
    expect(slicesOf(1_000_000)).toBe(2);
    expect(slicesOf(100)).toBeGreaterThan(made.length / 32 / (4 * 100));
    expect(slicesOf(100)).toBeLessThan(50);
  });

  test('goes through parts that others have made in slices of one size', async () => {
    const names = Array.from({ length: 5_000 }, (_, i) => `n${String(i).padStart(4, '0')}`);
    const own = new Engine([
      { url: RDS, named: { name: 'test/one', run: (_, name) => ({ name, message: { name }, problems: [] }) } },
    ]);
    const proxy = host.state().proxies.get('one')!;
    const asking = (of: readonly string[]) => ({ ...proxy, subscriptions: { [RDS]: { wildcard: false, names: of } } });
    own.viewOf(host.state(), asking(names));
    const look = own.look();
    let slices = 1;
    while (slices < 200 && look(20, host.state(), asking(names.slice(1))).value === undefined) slices++;
    expect(slices).toBeLessThan(200);
    expect(slices).toBeGreaterThan(names.length / 8 / 20 / 2);
  });

  test('asks for the parts of many names in blocks, each of which stays made', async () => {
    const names = Array.from({ length: 3_000 }, (_, i) => `n${String(i).padStart(4, '0')}`);
    await host.record([
      {
        source: 'xds',
        kind: 'ProxySubscribed',
        connection: 'one',
        typeUrl: RDS,
        subscribe: names,
        unsubscribe: [],
        wildcard: false,
      },
    ]);
    const asked: number[] = [];
    const own = new Engine([
      {
        url: RDS,
        named: { name: 'test/named', run: () => undefined },
        pieces: [
          {
            list: (_, of) => {
              asked.push(of.length);
              return of.map(name => ({ name }));
            },
            each: { name: 'test/each', run: (_, piece) => ({ ...piece, message: { ...piece }, problems: [] }) },
          },
        ],
      },
    ]);
    const look = own.look();
    const proxy = host.state().proxies.get('one')!;
    let view = look(100, host.state(), proxy).value;
    while (view === undefined) view = look(100, host.state(), proxy).value;
    expect([...view.get(RDS)!.resources.keys()]).toEqual(names);
    expect(Math.max(...asked)).toBe(256);
    // Interrupted runs of one block at most.
    expect(asked.reduce((sum, count) => sum + count, 0)).toBeLessThan(10 * names.length);
  });

  test('encodes one large resource in slices of one size', async () => {
    const megabytes = 10;
    const text = 'x'.repeat(1_024);
    const filters = Array.from({ length: megabytes * 1_024 }, (_, i) => ({ name: `${i}${text}` }));
    const large = { name: 'large', message: { name: 'large', filters }, problems: [] };
    const look = new Engine([{ url: CDS, all: { name: 'test/large', run: () => [large] } }]).look();
    const proxy = host.state().proxies.get('one')!;
    const units = (megabytes * 1_024 * 1_024) / 4_096;
    let slices = 1;
    while (look(100, host.state(), proxy).value === undefined) slices++;
    // A slice ends within the part with which it has spent its allowance, of 64 units.
    expect(slices).toBeGreaterThan(units / (100 + 64));
    expect(slices).toBeLessThan(units / 50);
  });

  test('makes digests of names and versions, in name order', () => {
    const versions = new Map([
      ['a', '1'],
      ['b', '2'],
    ]);
    expect(digestOf(versions)).toBe('0f39ea14af60849a2d08a529c7f2cba97ee952e58e2c78464bb62c71af904d9d');
    expect(digestOf(new Map())).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  });
});

describe('receipts', () => {
  test('are one for each type, state and digest, with sorted connections', () => {
    const of = (connection: string, digest: string) => ({ connection, typeUrl: CDS, stateSeq: 7, digest, count: 2 });
    const receipts = receiptsOf([of('b', 'x'), of('c', 'y'), of('a', 'x'), of('b', 'x')]);
    expect(receipts.map(({ connections, digest }) => [connections, digest])).toEqual([
      [['a', 'b'], 'x'],
      [['c'], 'y'],
    ]);
  });
});
