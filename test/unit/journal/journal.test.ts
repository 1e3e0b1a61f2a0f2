// What every journal does, the file and the one in memory alike.

import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Json } from '../../../src/core/base/json.ts';
import type { Event, Unrecorded } from '../../../src/core/event.ts';
import type { Clock, Journal } from '../../../src/journal/journal.ts';
import { BODY_DEPTH_MAX, QUEUE_EVENTS_MAX, QUEUE_WAITING_MAX } from '../../../src/journal/journal.ts';
import { openMemoryJournal } from '../../../src/journal/memory-journal.ts';
import { added, all, bySeq, openHere, secret, temporaryDirectory, tickingClock, until } from './helpers.ts';

type Open = (clock: Clock) => Promise<Journal>;

const implementations: readonly (readonly [string, Open])[] = [
  ['sqlite', clock => openHere(join(temporaryDirectory(), 'j.db'), { clock })],
  [
    'memory',
    async clock => {
      const journal = openMemoryJournal({ clock });
      onTestFinished(() => journal.close());
      return journal;
    },
  ],
];

describe.each(implementations)('a journal (%s)', (_name, open) => {
  test('gives dense seqs and reads back what append gave', async () => {
    const journal = await open(tickingClock());
    const first = await journal.append([added('a'), added('b')]);
    const second = await journal.append([added('c')]);
    expect(bySeq([...first, ...second])).toEqual([1, 2, 3]);
    expect(await all(journal.read({ from: 1 }))).toEqual([...first, ...second]);
    expect(await all(journal.read({ from: 2, to: 2 }))).toEqual([first[1]]);
    expect(await all(journal.read({ from: 4 }))).toEqual([]);
    expect(journal.head()).toMatchObject({ seq: 3, time: second[0]!.time });
  });

  test('reads objects unparsed, and parses them on access', async () => {
    const journal = await open(tickingClock());
    const synced: Unrecorded = { source: 'file/x', kind: 'Synced' };
    const stored = await journal.append([added('a'), secret('s', { password: 'hunter2' }), synced]);
    const [object, sealed, other, ...rest] = await all(journal.readUnparsed({ from: 1 }));
    const seen = (event: unknown): unknown => {
      const { seq, time, source, object: looked, origin } = event as Event & { readonly kind: 'Add' };
      return { seq, time, source, kind: 'Add', object: looked, ...(origin && { origin }) };
    };
    expect(object).toMatchObject({ kind: 'Unread', ref: { name: 'a' } });
    // What is sealed is opened then, too.
    expect(sealed).toMatchObject({ kind: 'Unread', ref: { kind: 'Secret', name: 's' } });
    expect([object, sealed].map(seen)).toEqual(stored.slice(0, 2));
    // Whatever is no object is parsed at once.
    expect([other, ...rest]).toEqual(stored.slice(2));
  });

  test('is empty at first, and unchanged by an empty batch', async () => {
    const journal = await open(tickingClock());
    expect(await journal.append([])).toEqual([]);
    expect(journal.head()).toMatchObject({ seq: 0, time: 0, hash: journal.base().hash });
    expect(await all(journal.read({ from: 1 }))).toEqual([]);
    expect(await journal.verify()).toMatchObject({ ok: true, events: 0 });
  });

  test('never lets time go back, for any clock', async () => {
    const says = [50, 40, Number.NaN, 60, Number.POSITIVE_INFINITY, 60.9];
    let at = 0;
    const journal = await open(() => says[at++]!);
    const events: Event[] = [];
    for (const name of 'abcdef') events.push(...(await journal.append([added(name)])));
    expect(events.map(event => event.time)).toEqual([50, 50, 50, 60, 60, 60]);
  });

  test('keeps the order of concurrent appends, and resolves in that order', async () => {
    const journal = await open(tickingClock());
    const resolved: number[] = [];
    await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        journal.append([added(`s${index}`), added(`t${index}`)]).then(([event]) => resolved.push(event!.seq)),
      ),
    );
    expect(resolved).toEqual(Array.from({ length: 200 }, (_, index) => index * 2 + 1));
    const names = (await all(journal.read({ from: 1 }))).map(nameOf);
    expect(names).toEqual(Array.from({ length: 200 }, (_, index) => [`s${index}`, `t${index}`]).flat());
  });

  test('returns the stored JSON where the given value cannot be represented', async () => {
    const journal = await open(tickingClock());
    const given = { inf: Number.POSITIVE_INFINITY, zero: -0, gone: undefined, list: [undefined] } as unknown as Json;
    const [event] = await journal.append([{ source: 'file/x', kind: 'MeshConfig', value: given }]);
    const [read] = await all(journal.read({ from: 1 }));
    expect(read).toStrictEqual(event);
    expect(event).toMatchObject({ value: { inf: null, zero: 0, list: [null] } });
    expect(Object.keys((event as unknown as { value: object }).value)).not.toContain('gone');
  });

  test('keeps odd but legal JSON', async () => {
    const journal = await open(tickingClock());
    const value = JSON.parse(
      '{"__proto__":{"a":1},"constructor":null,"":[],"1":1,"\\u0000":"\\ud800 \\u2028 \\ud83d\\ude00","n":[1e21,5e-324,0.1]}',
    ) as Json;
    const [event] = await journal.append([{ source: 'file/x', kind: 'MeshConfig', value }]);
    const [read] = await all(journal.read({ from: 1 }));
    expect(read).toStrictEqual(event);
    expect(JSON.stringify((read as unknown as { value: Json }).value)).toContain('"__proto__":{"a":1}');
    expect((await journal.verify()).ok).toBe(true);
  });

  test.each<[string, unknown]>([
    ['a cycle', cyclic()],
    ['too deep', deep(BODY_DEPTH_MAX + 1)],
    ['a bigint', { n: 1n }],
    ['a function', { f: () => 1 }],
  ])('refuses %s and stores nothing of the batch', async (_what, value) => {
    const journal = await open(tickingClock());
    const bad = { source: 'file/x', kind: 'MeshConfig', value } as Unrecorded;
    await expect(journal.append([added('good'), bad])).rejects.toMatchObject({ code: 'unfit-fact' });
    expect(journal.head().seq).toBe(0);
    expect(bySeq(await journal.append([added('next')]))).toEqual([1]);
  });

  test.each([
    ['empty', ''],
    ['line', 'a\nb'],
    ['long', 'x'.repeat(600)],
    ['surrogate', 'a\ud800'],
  ])('refuses a source that is %s', async (_what, source) => {
    const journal = await open(tickingClock());
    const fact: Unrecorded = { source, kind: 'Synced' };
    await expect(journal.append([fact])).rejects.toMatchObject({ code: 'unfit-fact' });
  });

  test('delays callers above the queue limit and loses nothing', async () => {
    const journal = await open(tickingClock());
    const size = QUEUE_EVENTS_MAX / 4;
    const batch: readonly Unrecorded[] = Array.from({ length: size }, () => ({ source: 'x', kind: 'Synced' }));
    const results = await Promise.all(Array.from({ length: 9 }, () => journal.append(batch)));
    expect(results.map(events => events[0]!.seq)).toEqual(Array.from({ length: 9 }, (_, index) => index * size + 1));
    expect(journal.head().seq).toBe(9 * size);
  });

  test('refuses callers that do not wait', async () => {
    const journal = await open(tickingClock());
    const batch: readonly Unrecorded[] = Array.from({ length: QUEUE_EVENTS_MAX }, () => ({
      source: 'x',
      kind: 'Synced',
    }));
    const full = journal.append(batch);
    const waiting = Array.from({ length: QUEUE_WAITING_MAX }, (_, index) => journal.append([added(`w${index}`)]));
    await expect(journal.append([added('one too many')])).rejects.toMatchObject({ code: 'overloaded' });
    await full;
    const seqs = bySeq((await Promise.all(waiting)).flat());
    expect(seqs).toEqual(Array.from({ length: QUEUE_WAITING_MAX }, (_, index) => QUEUE_EVENTS_MAX + index + 1));
  });

  test('can be followed: existing events, then new ones, each once and in order', async () => {
    const journal = await open(tickingClock());
    await journal.append([added('a'), added('b')]);
    const seen: Event[] = [];
    const follow = journal.follow(2, events => void seen.push(...events));
    for (let index = 0; index < 30; index += 1) {
      await Promise.all([journal.append([added(`x${index}`)]), journal.append([added(`y${index}`)])]);
    }
    await until(() => seen.length === 61);
    await follow.stop();
    await journal.append([added('unseen')]);
    expect(bySeq(seen)).toEqual(Array.from({ length: 61 }, (_, index) => index + 2));
    expect(seen).toEqual(await all(journal.read({ from: 2, to: 62 })));
  });

  test('waits for a slow follower and then gives it everything it missed', async () => {
    const journal = await open(tickingClock());
    let release = () => {};
    const seen: number[] = [];
    const follow = journal.follow(1, async events => {
      if (seen.length === 0) await new Promise<void>(resolve => (release = resolve));
      seen.push(...bySeq(events));
    });
    for (let index = 0; index < 60; index += 1) {
      await journal.append(Array.from({ length: 100 }, (_, each) => added(`${index}-${each}`)));
    }
    expect(seen).toEqual([]);
    release();
    await until(() => seen.length === 6_000);
    await follow.stop();
    expect(seen).toEqual(Array.from({ length: 6_000 }, (_, index) => index + 1));
  });

  test('reports an exception of a follower to it', async () => {
    const journal = await open(tickingClock());
    const follow = journal.follow(1, () => {
      throw new Error('mine');
    });
    const failed = expect(follow.done).rejects.toThrow('mine');
    await journal.append([added('a')]);
    await failed;
    expect((await journal.append([added('b')]))[0]!.seq).toBe(2);
  });

  test('finds events by a text in them, whatever signs it has, and leaves out objects of other groups', async () => {
    const journal = await open(tickingClock());
    const object = (apiVersion: string, host: string): Unrecorded => ({
      source: 'file/a',
      kind: 'Add',
      object: { apiVersion, kind: 'K', metadata: { name: 'n', namespace: 's' }, spec: { host } },
    });
    const deleted: Unrecorded = {
      source: 'file/a',
      kind: 'Delete',
      ref: { apiVersion: 'v1', kind: 'K', namespace: 's', name: '*.a' },
    };
    const hosts = ['*.a', 'b.a', '[x]?', 'X.a'];
    const slice: Unrecorded = {
      source: 'file/a',
      kind: 'Add',
      object: {
        addressType: 'FQDN',
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: { name: '*.a' },
      },
    };
    const others = [object('v1', '*.a'), deleted, slice];
    await journal.append([...hosts.map(host => object('networking.istio.io/v1', host)), ...others]);
    const found = async (containing: string, group?: string): Promise<readonly number[]> =>
      (await all(journal.records({ from: 1, containing, ...(group === undefined ? {} : { group }) }))).map(
        ({ seq }) => seq,
      );
    expect(await found('"*.a')).toEqual([1, 5, 6, 7]);
    expect(await found('"*.a', 'networking.istio.io')).toEqual([1, 6]);
    expect(await found('"*.a', 'networking.istio')).toEqual([6]);
    expect(await found('[x]?')).toEqual([3]);
    expect(await found('x.a')).toEqual([]);
  });

  test('opens sealed values: same facts for the reader, nothing private in the record', async () => {
    const journal = await open(tickingClock());
    const facts = [secret('tls', { 'tls.key': 'c2VjcmV0', empty: '' }), secret('other', { 'tls.key': 'c2VjcmV0' })];
    const events = await journal.append([...facts, ...facts]);
    expect(await all(journal.read({ from: 1 }))).toEqual(events);
    expect(events[0]).toMatchObject(facts[0]!);
    const bodies = (await all(journal.records({ from: 1 }))).map(stored => stored.body);
    for (const body of bodies) expect(body).not.toContain('c2VjcmV0');
    expect([bodies[0], bodies[1]]).toEqual([bodies[2], bodies[3]]);
    expect(bodies[0]).not.toBe(bodies[1]);
    expect((await journal.verify()).ok).toBe(true);
  });

  test('commits queued batches before it closes, and reports that it is closed', async () => {
    const journal = await open(tickingClock());
    const queued = journal.append([added('a')]);
    const follow = journal.follow(1, () => undefined);
    await journal.close();
    await journal.close();
    expect(bySeq(await queued)).toEqual([1]);
    await follow.done;
    await expect(journal.append([added('b')])).rejects.toMatchObject({ code: 'closed' });
    await expect(all(journal.read({ from: 1 }))).rejects.toMatchObject({ code: 'closed' });
    await expect(journal.snapshots.list()).rejects.toMatchObject({ code: 'closed' });
  });
});

function nameOf(event: Event): unknown {
  return (event as unknown as { object: { metadata: { name: string } } }).object.metadata.name;
}

function cyclic(): unknown {
  const value: Record<string, unknown> = {};
  value.self = value;
  return value;
}

function deep(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}
