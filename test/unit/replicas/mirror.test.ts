// The mirror: entries of the world log on their way into a replica's own journal.

import { describe, expect, it } from 'vitest';
import type { Unrecorded } from '../../../src/core/event.ts';
import { emptyState } from '../../../src/core/state.ts';
import type { Journal } from '../../../src/journal/journal.ts';
import { openMemoryJournal } from '../../../src/journal/memory-journal.ts';
import { chainAfter, ENTRY_FORMAT, type EntryHeader, entryText } from '../../../src/replicas/entry.ts';
import { Mirror, TO_COME_MS_MAX } from '../../../src/replicas/mirror.ts';
import type { FollowEvents, LogEntry, WorldLog } from '../../../src/replicas/world-log.ts';
import { World } from '../../../src/runtime/world.ts';
import { FakeClock, settle } from '../../sim/fake-clock.ts';

/** A log whose entries a test hands out. */
class HandLog implements WorldLog {
  readonly name = 'a log';
  readonly entries: LogEntry[] = [];
  readonly #journal: Journal;
  #chain = '';
  #events: FollowEvents | undefined;

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  write(facts: readonly Unrecorded[], more: Partial<EntryHeader> = {}): void {
    const position = this.entries.length + 1;
    const lines = this.#journal.toLines(facts);
    const header: EntryHeader = {
      ...{ format: ENTRY_FORMAT, log: 'log', id: `e-${position}`, writer: 'east', term: 1, time: 1_000 * position },
      ...{ after: this.#chain, facts: lines.length, ...more },
    };
    const text = entryText({ header, lines });
    this.#chain = chainAfter(this.#chain, text);
    this.entries.push({ position, text });
  }

  hand(position: number, behind: number, text = this.entries[position - 1]!.text): void {
    void this.#events?.onEntry({ position, text }, behind);
  }

  follow(_after: number, events: FollowEvents) {
    this.#events = events;
    return { stop: async () => undefined };
  }

  async at(position: number) {
    return this.entries[position - 1];
  }

  async last() {
    return this.entries.length;
  }

  async append() {
    return { kind: 'unknown' as const, why: 'only read here' };
  }
}

const entryOf = (name: string, address: string): Unrecorded => ({
  source: 'file/Kubernetes',
  kind: 'Add',
  object: {
    apiVersion: 'networking.istio.io/v1',
    kind: 'ServiceEntry',
    metadata: { name, namespace: 'shop' },
    spec: {
      hosts: [`${name}.example.com`],
      ports: [{ number: 80, name: 'http', protocol: 'HTTP' }],
      resolution: 'STATIC',
      endpoints: [{ address }],
    },
  },
});

async function following(restoredMin: number, count: number) {
  const clock = new FakeClock();
  const journal = openMemoryJournal({ clock: () => clock.now() });
  const world = new World({ journal, state: emptyState, clock, strict: false, restoredMin, log: () => undefined });
  const log = new HandLog(journal);
  log.write([], { begins: true });
  for (let i = 1; i < count; i++) log.write([entryOf('a', `10.0.0.${i}`), entryOf(`b-${i}`, '10.0.1.1')]);
  const mirror = new Mirror({ log, journal, world, clock, say: () => undefined });
  mirror.start();
  await settle();
  return { clock, journal, world, log, mirror };
}

describe('a mirror', () => {
  it('folds what a log holds at once, and stands where the log ends when the last entry has come', async () => {
    const { log, world, mirror } = await following(5, 10);
    for (let i = 1; i <= 9; i++) log.hand(i, 10 - i);
    await settle();
    expect(mirror.position.position).toBe(0);
    log.hand(10, 0);
    await settle();
    expect(mirror.position).toMatchObject({ position: 10, term: 1, leader: 'east', facts: 18 });
    expect(world.state.objects.ServiceEntry.size).toBe(10);
  });

  it('does not wait for entries that were announced and do not come', async () => {
    const { log, mirror, clock } = await following(5, 10);
    for (let i = 1; i <= 6; i++) log.hand(i, 10 - i);
    await settle();
    clock.next(clock.now() + TO_COME_MS_MAX);
    await settle();
    expect(mirror.position.position).toBe(6);
  });

  it('folds what came before an entry that does not fit, and nothing after it', async () => {
    const { log, mirror } = await following(1_000, 10);
    for (let i = 1; i <= 4; i++) log.hand(i, 0);
    log.hand(5, 0, log.entries[4]!.text.replace('10.0.0.4', '10.0.0.9'));
    for (let i = 6; i <= 9; i++) log.hand(i, 0);
    await settle();
    expect(mirror.position.position).toBe(5);
    expect(mirror.lost).toContain('the entry at 6: it follows');
  });

  it.each([1, 1_000])(
    'refuses an entry with a fact that cannot be read, restoring from %i facts on',
    async restored => {
      const { log, mirror, journal } = await following(restored, 4);
      log.hand(1, 3);
      const torn = log.entries[1]!.text.replace('"endpoints":[', '"endpoints":');
      log.hand(2, 2, torn);
      await settle();
      expect(mirror.lost).toContain('the entry at 2');
      expect(mirror.position.position).toBe(1);
      expect(journal.head().seq).toBe(1);
    },
  );

  it('tells a writer what became of its entry once that is in the state', async () => {
    const { log, mirror, world } = await following(5, 6);
    const { fate } = mirror.await('e-3');
    const seen: number[] = [];
    void fate.then(() => seen.push(world.state.worldLog?.position ?? 0));
    for (let i = 1; i <= 5; i++) log.hand(i, 6 - i);
    await settle();
    expect(seen).toEqual([]);
    log.hand(6, 0);
    await settle();
    expect(seen).toEqual([6]);
    expect(await fate).toBe('folded');
  });

  it('records an entry of a term that is over, and none of its facts', async () => {
    const { log, mirror, world } = await following(1, 2);
    log.write([], { begins: true, term: 2, writer: 'west' });
    log.write([entryOf('late', '10.0.0.1')]);
    for (let i = 1; i <= 4; i++) log.hand(i, 4 - i);
    await settle();
    expect(mirror.position).toMatchObject({ position: 4, term: 2, leader: 'west', facts: 2 });
    expect(world.state.objects.ServiceEntry.has('shop/late')).toBe(false);
  });
});
