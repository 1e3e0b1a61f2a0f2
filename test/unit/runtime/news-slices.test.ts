// A source that lists everything again changes nothing, however long the comparison takes: others have their turns
// meanwhile.

import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../src/core/event.ts';
import { emptyState } from '../../../src/core/state.ts';
import { openMemoryJournal } from '../../../src/journal/memory-journal.ts';
import { collectFacts, NEWS_SLICE, NEWS_SLICE_MS, type News } from '../../../src/runtime/news.ts';
import { sinkOf } from '../../../src/runtime/start.ts';
import { World } from '../../../src/runtime/world.ts';
import { countLoopTurns } from '../loop-turns.ts';

const OBJECTS = 5_000;

const services: readonly Fact[] = Array.from({ length: OBJECTS }, (_, i) => ({
  kind: 'Add',
  object: {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: `s${i}`, namespace: 'ns' },
    spec: { clusterIP: '10.0.0.1', ports: [{ port: 80 }] },
  },
}));

describe('a large list', () => {
  it('is compared in slices, and facts recorded meanwhile are folded after it', async () => {
    const journal = openMemoryJournal();
    const clock = { now: () => 1, after: () => ({ cancel: () => undefined }) };
    const world = new World({ journal, state: emptyState, clock, strict: false, log: () => undefined });
    const sink = sinkOf(world, 'kube/Kubernetes');
    await sink.relist(services, []);
    const before = world.state;
    expect(before.objects.Service.size).toBe(OBJECTS);
    const loop = countLoopTurns();
    const again = sink.relist(services.slice(1), []);
    const other = sink.submit([
      { kind: 'Delete', ref: { apiVersion: 'v1', kind: 'Service', namespace: 'ns', name: 's1' } },
    ]);
    await Promise.all([again, other]);
    loop.stop();
    expect(loop.turns).toBeGreaterThanOrEqual(OBJECTS / NEWS_SLICE);
    const events = [];
    for await (const page of journal.read({ from: before.seq + 1 })) events.push(...page);
    expect(events.map(event => (event.kind === 'Delete' ? event.ref.name : event.kind))).toEqual([
      's0',
      'Synced',
      's1',
    ]);
    await world.stop();
    await journal.close();
  });
});

describe('objects that take long to compare', () => {
  it('have a turn each, and are encoded after it', async () => {
    const progress = { pause: () => new Promise<void>(resolve => setImmediate(resolve)) };
    let now = 0;
    const clock = { now: () => now };
    let examined = 0;
    const news: News = function* () {
      for (let i = 0; i < 3; i++) {
        now += NEWS_SLICE_MS;
        examined++;
        yield { source: 'kube/x', kind: 'Synced' };
      }
    };
    const seen: number[] = [];
    const loop = countLoopTurns(() => seen.push(examined));
    const facts = await collectFacts(news, emptyState, progress, clock);
    seen.push(examined);
    loop.stop();
    expect(facts).toHaveLength(3);
    expect([...new Set(seen)]).toEqual([1, 2, 3]);
    expect(seen.filter(count => count === 3).length).toBeGreaterThan(1);
  });
});
