// The tracker by hand, what it keeps: what generators made, what a value rests on, and what a sweep forgets.

import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import type { Derivation, Query } from '../../../../src/core/query/reader.ts';
import { Tracker } from '../../../../src/core/query/tracker.ts';
import { put } from '../../world.ts';
import { authentication, changedMesh, modeOf, proxy, query, runsOf, start } from './tracker-scene.ts';

describe('a generator', () => {
  const generator = {
    name: 'pair',
    run: (inputs: { readonly a: unknown; readonly list?: readonly unknown[] }) => ({ made: inputs.a }),
  };

  it('runs once for equal inputs, whichever proxy and query selected them', () => {
    const tracker = new Tracker();
    const one = query('one', reader => {
      const found = reader.object('PeerAuthentication', 'prod/one');
      return [reader.facet('namespace'), reader.make(generator, { a: found, list: [1, found] })] as const;
    });
    const two = query('two', reader => {
      const found = reader.object('PeerAuthentication', 'prod/one');
      return reader.make(generator, { list: [1, found], a: found });
    });
    const [, first] = tracker.get(start, proxy('a', { namespace: 'prod' }), one, '');
    const [, second] = tracker.get(start, proxy('b', { namespace: 'test' }), one, '');
    expect(second).toBe(first);
    expect(tracker.get(start, undefined, two, '')).toBe(first);
    expect(tracker.stats.generated).toBe(1);
    const changed = put(start, authentication('one', 'DISABLE')).state;
    expect(tracker.get(changed, undefined, two, '')).not.toBe(first);
    expect(tracker.stats.generated).toBe(2);
  });

  it('distinguishes inputs by type, length and identity, functions included', () => {
    const inputs: readonly { readonly a: unknown; readonly list?: readonly unknown[] }[] = [
      { a: 1 },
      { a: '1' },
      { a: true },
      { a: 'true' },
      { a: null },
      { a: ['1'] },
      { a: ['1', '1'] },
      { a: [['1'], '1'] },
      { a: '', list: [] },
      { a: {} },
      { a: {} },
      { a: new Map() },
      ...[1, 2].map(n => ({ a: () => n })),
    ];
    const tracker = new Tracker();
    const all = query('all', reader => inputs.map(input => reader.make(generator, input)));
    expect(new Set(tracker.get(start, undefined, all, '')).size).toBe(inputs.length);
  });
});

describe('a value', () => {
  const VALUES = 10_000;
  /** Entry, variants, key, read and call: 545 bytes on Node 20; 798 with room for more in the lists. */
  const BYTES_MAX = 670;

  it('keeps no room for more reads and calls than its run made', () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('globalThis.gc') as () => void;
    setFlagsFromString('--no-expose-gc');
    const used = (): number => {
      collect();
      return getHeapStatistics().used_heap_size;
    };
    const one = query('one', reader => reader.object('PeerAuthentication', 'prod/one'));
    const each: Query<string, unknown> = {
      name: 'each',
      run: reader => [reader.object('PeerAuthentication', 'prod/two'), reader.get(one, '')].length,
    };
    const tracker = new Tracker();
    tracker.get(start, undefined, each, 'first');
    const before = used();
    for (let i = 0; i < VALUES; i++) tracker.get(start, undefined, each, `${i}`);
    expect((used() - before) / VALUES).toBeLessThan(BYTES_MAX);
    expect(tracker.size.queries).toBe(VALUES + 2);
  });
});

describe('provenance', () => {
  it('names objects found and objects missed, through queries and derived facets', () => {
    const tracker = new Tracker();
    const client = proxy('client', { namespace: 'prod' });
    const derived: Derivation<string> = { name: 'mode', run: reader => reader.get(modeOf, 'prod/two') ?? '' };
    const top = query('top', reader => [
      reader.get(modeOf, 'prod/one'),
      reader.get(modeOf, 'prod/three'),
      reader.objects('Gateway', 'prod/').length,
      reader.derived(derived),
    ]);
    expect(tracker.provenance(start, client, top, '')).toEqual({
      found: ['PeerAuthentication/prod/one', 'PeerAuthentication/prod/two'],
      missed: ['Gateway/prod/*', 'PeerAuthentication/prod/three'],
    });
  });

  it('is current even if the value kept its identity', () => {
    const tracker = new Tracker();
    const any = query('any', reader => reader.objects('PeerAuthentication').length > 0);
    const shown = query('shown', reader => [reader.get(any, '')]);
    tracker.get(start, undefined, shown, '');
    const more = put(start, authentication('three')).state;
    expect(tracker.provenance(more, undefined, shown, '').found).toContain('PeerAuthentication/prod/three');
  });

  it('of one part is that of the queries that produced it', () => {
    const tracker = new Tracker();
    const part = query('part', (reader, key) => ({ mode: reader.object('PeerAuthentication', key)?.labels.mode }));
    const both = query('both', reader => ['prod/one', 'prod/two'].map(key => reader.get(part, key)));
    const [, second] = tracker.get(start, undefined, both, '');
    const { found } = tracker.provenance(start, undefined, both, '', value => value === second);
    expect(found).toEqual(['PeerAuthentication/prod/two']);
  });

  it('of one part that a selection made is that of its item too, and of no other item', () => {
    const tracker = new Tracker();
    const read = query('read', (reader, key) => ({ mode: reader.object('PeerAuthentication', key)?.labels.mode }));
    const plans = query('plans', (reader, key) => [{ of: reader.get(read, key) }]);
    const part = {
      name: 'part',
      run: (_: unknown, { of: { mode } }: { of: { mode?: string } }) => [`made of ${mode}`],
    };
    const all = query('all', reader => {
      const items = ['prod/one', 'prod/two'].map(key => reader.get(plans, key)[0]!);
      return reader.selectEach(part as never, items);
    });
    const other = put(start, authentication('two', 'DISABLE')).state;
    const [, second] = tracker.get(other, undefined, all, '');
    const { found } = tracker.provenance(other, undefined, all, '', value => value === second);
    expect(found).toEqual(['PeerAuthentication/prod/two']);
  });
});

describe('a sweep', () => {
  it('drops values unused for two sweeps, but none that a used value depends on', () => {
    const tracker = new Tracker();
    const made = { name: 'made', run: (inputs: { readonly mode: string | undefined }) => [inputs.mode] };
    const below = query('below', (reader, key) => [reader.make(made, { mode: reader.get(modeOf, key) })]);
    const above = query('above', reader => [reader.get(below, 'prod/one')]);
    const value = tracker.get(start, undefined, above, '');
    tracker.get(start, undefined, below, 'prod/three');
    expect(tracker.size).toEqual({ queries: 5, generated: 2 });
    for (let i = 0; i < 4; i++) {
      tracker.sweep();
      expect(tracker.get(start, undefined, above, '')).toBe(value);
    }
    expect(tracker.size).toEqual({ queries: 3, generated: 1 });
    const other = put(start, authentication('two', 'DISABLE')).state;
    expect(runsOf(tracker, () => expect(tracker.get(other, undefined, above, '')).toBe(value))).toBe(0);
    for (let i = 0; i < 5; i++) tracker.sweep();
    expect(tracker.size).toEqual({ queries: 0, generated: 0 });
    expect(tracker.get(other, undefined, above, '')).toEqual(value);
  });

  it('drops the callees of a dropped value in the same sweep, at any depth', () => {
    const tracker = new Tracker();
    const one = query('one', reader => reader.get(modeOf, 'prod/one'));
    const two = query('two', reader => [reader.get(one, '')]);
    const three = query('three', reader => [reader.get(two, '')]);
    tracker.get(start, undefined, three, '');
    expect(tracker.size.queries).toBe(4);
    for (let i = 0; i < 2; i++) tracker.sweep();
    expect(tracker.size.queries).toBe(4);
    tracker.sweep();
    expect(tracker.size.queries).toBe(0);
    expect(tracker.stats.swept).toBe(4);
  });

  it('keeps a value whose handle is touched, with all that it depends on', () => {
    const tracker = new Tracker();
    const one = proxy('one');
    const below = query('below', reader => reader.get(modeOf, 'prod/one'));
    const above = query('above', reader => [reader.get(below, '')]);
    const held = tracker.handle(start, one, above, '');
    for (let i = 0; i < 6; i++) {
      tracker.touch(held);
      tracker.sweep();
    }
    expect(runsOf(tracker, () => expect(tracker.get(start, one, above, '')).toBe(held.value))).toBe(0);
    for (let i = 0; i < 3; i++) tracker.sweep();
    expect(tracker.size.queries).toBe(0);
  });

  it('drops derived facets that are no longer asked for, though their proxy stays', () => {
    const tracker = new Tracker();
    const one = proxy('one');
    const kept: Derivation<string> = { name: 'kept', run: reader => reader.get(modeOf, 'prod/one') ?? '' };
    const held = tracker.handle(
      start,
      one,
      query('top', reader => [reader.derived(kept)]),
      '',
    );
    const { queries } = tracker.size;
    for (let i = 0; i < 5; i++) {
      const other: Derivation<string> = { name: `other ${i}`, run: reader => reader.get(modeOf, 'prod/two') ?? '' };
      tracker.get(
        start,
        one,
        query(`asks ${i}`, reader => [reader.derived(other)]),
        '',
      );
    }
    expect(tracker.size.queries).toBeGreaterThan(queries + 5);
    for (let i = 0; i < 6; i++) {
      tracker.touch(held);
      tracker.sweep();
    }
    expect(tracker.size.queries).toBe(queries);
    expect(tracker.isCurrent(start, one, held)).toBe(true);
  });

  it('keeps the callees of the last verification, not those of the run', () => {
    const tracker = new Tracker();
    const count = query('count', reader => reader.objects('PeerAuthentication').length > 0);
    const shown = query('shown', reader => [reader.get(count, '')]);
    tracker.get(start, undefined, shown, '');
    const more = put(start, authentication('three')).state;
    for (let i = 0; i < 4; i++) {
      tracker.get(more, undefined, shown, '');
      tracker.sweep();
    }
    const after = changedMesh(more, { accessLogFile: '/dev/stdout' });
    expect(runsOf(tracker, () => tracker.get(after, undefined, shown, ''))).toBe(0);
  });
});

it('facet values of a proxy are evaluated again when a sweep in progress drops an entry they came from', () => {
  const tracker = new Tracker();
  const mode: Derivation<string> = {
    name: 'mode of one',
    run: reader => reader.object('PeerAuthentication', 'prod/one')?.labels.mode ?? '',
  };
  const asking = query('asking', reader => reader.derived(mode));
  const client = proxy('client');
  expect(tracker.get(start, client, asking, '')).toBe('STRICT');
  tracker.sweep();
  tracker.sweep();
  const pieces = tracker.sweeping();
  while (tracker.stats.swept === 0) pieces.next();
  expect(tracker.get(start, client, asking, '')).toBe('STRICT');
  const changed = put(start, authentication('one', 'DISABLE')).state;
  expect(tracker.get(changed, client, asking, '')).toBe('DISABLE');
});
