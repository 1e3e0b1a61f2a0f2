// The state at any position is the fold of the journal up to there, however it is come by: from the start, from a
// checkpoint with the events between left out that others replaced, from a snapshot, in any order of asking.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Event, Unrecorded } from '../../src/core/event.ts';
import { SNAPSHOT_FORMAT, snapshotOf } from '../../src/core/fold/snapshot.ts';
import type { State } from '../../src/core/state.ts';
import { Checkpoints } from '../../src/history/checkpoints.ts';
import { History } from '../../src/history/history.ts';
import { resolvePosition } from '../../src/history/position.ts';
import type { Journal, Range } from '../../src/journal/journal.ts';
import { openMemoryJournal } from '../../src/journal/memory-journal.ts';
import { stateHash } from '../../src/offline/load-state.ts';
import { anyHistory } from '../../src/testing/facts.ts';
import { foldAll } from '../property/folding.ts';
import { parameters } from '../property/seed.ts';

const START = Date.UTC(2026, 2, 11, 9, 0, 0);

async function journalOf(events: readonly Unrecorded[], stepMs = 1_000): Promise<Journal> {
  let now = START - stepMs;
  const journal = await openMemoryJournal({
    clock: () => {
      now += stepMs;
      return now;
    },
  });
  for (const event of events) {
    const { seq: _seq, time: _time, ...fact } = event as Unrecorded & Partial<Event>;
    await journal.append([fact as Unrecorded]);
  }
  return journal;
}

async function writeSnapshot(journal: Journal, seq: number): Promise<void> {
  const facts = snapshotOf(await new History(journal).at(seq));
  await journal.snapshots.write({ seq, format: SNAPSHOT_FORMAT, facts });
}

function longest(histories: readonly (readonly Event[])[]): readonly Event[] {
  return histories.reduce((best, one) => (one.length > best.length ? one : best));
}

function timers(count: number): readonly Unrecorded[] {
  return Array.from({ length: count }, (_, i) => ({ source: 'runtime', kind: 'TimerFired', name: `t${i}` }));
}

async function everyState(journal: Journal): Promise<readonly string[]> {
  const hashes: string[] = [];
  const events: Event[] = [];
  for await (const page of journal.read({ from: 1 })) events.push(...page);
  for (let seq = 0; seq <= events.length; seq++) hashes.push(stateHash(foldAll(events.slice(0, seq)).state));
  return hashes;
}

async function* forgetting<E extends { readonly seq: number }>(
  pages: AsyncIterable<readonly E[]>,
  isForgotten = (seq: number): boolean => seq % 5 === 0,
): AsyncIterable<readonly E[]> {
  for await (const page of pages) yield page.filter(({ seq }) => !isForgotten(seq));
}

/** Sees that every position is as it should be, in an order that goes to and fro. */
async function visitAll(history: History, hashes: readonly string[]): Promise<readonly number[]> {
  const wrong: number[] = [];
  const order = [hashes.length - 1, ...hashes.keys(), ...[...hashes.keys()].reverse()];
  for (const seq of order) if (stateHash(await history.at(seq)) !== hashes[seq]) wrong.push(seq);
  return wrong;
}

describe('history', () => {
  test('gives the fold up to any position, in any order of visits', async () => {
    await fc.assert(
      fc.asyncProperty(anyHistory(40), fc.integer({ min: 1, max: 4 }), async (events, spacing) => {
        const journal = await journalOf(events);
        const history = new History(journal, { checkpoints: new Checkpoints(4, spacing * 2) });
        expect(await visitAll(history, await everyState(journal))).toEqual([]);
      }),
      parameters(25),
    );
  });

  test('starts from snapshots with the same result', async () => {
    await fc.assert(
      fc.asyncProperty(anyHistory(30), fc.nat(), async (events, where) => {
        const journal = await journalOf(events);
        const hashes = await everyState(journal);
        const { seq } = journal.head();
        const at = seq === 0 ? 0 : 1 + (where % seq);
        if (at > 0) {
          const facts = snapshotOf(await new History(journal).at(at));
          await journal.snapshots.write({ seq: at, format: SNAPSHOT_FORMAT, facts });
        }
        expect(await visitAll(new History(journal, { checkpoints: new Checkpoints(2, 4) }), hashes)).toEqual([]);
      }),
      parameters(15),
    );
  });

  test('canary: one event left out too many is found', async () => {
    const journal = await journalOf(longest(fc.sample(anyHistory(60), { numRuns: 200, seed: 7 })));
    const hashes = await everyState(journal);
    const forgetful: Journal = Object.create(journal, {
      head: { value: () => journal.head() },
      base: { value: () => journal.base() },
      snapshots: { value: journal.snapshots },
      records: { value: journal.records.bind(journal) },
      seqsOf: { value: journal.seqsOf.bind(journal) },
      readUnparsed: { value: (range: Range) => forgetting(journal.readUnparsed(range)) },
    }) as Journal;
    expect((await visitAll(new History(forgetful), hashes)).length).toBeGreaterThan(0);
  });

  test('refuses a long fold in a serving process, and names the command for it', async () => {
    const journal = await journalOf(timers(60));
    const history = new History(journal, { foldMax: 10 });
    expect((await history.at(10)).seq).toBe(10);
    await expect(history.at(journal.head().seq)).rejects.toThrow(
      /folds at most 10 for a question; ask the journal itself/,
    );
  });

  test('has only a short way to any position once it is prepared, to the same states', async () => {
    await fc.assert(
      fc.asyncProperty(anyHistory(40), async events => {
        const journal = await journalOf(events);
        const history = new History(journal, { foldMax: 4, checkpoints: new Checkpoints(256, 4) });
        while (await history.prepare());
        expect(await visitAll(history, await everyState(journal))).toEqual([]);
        // What is recorded later is prepared at the next call.
        await journal.append(timers(20));
        while (await history.prepare());
        expect((await history.at(journal.head().seq - 3)).seq).toBe(journal.head().seq - 3);
      }),
      parameters(15),
    );
  });

  test('is the fold at every position while it is prepared, and what snapshots hold is not folded', async () => {
    const order = fc.array(fc.nat(), { minLength: 4, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(
        anyHistory(40),
        order,
        fc.array(fc.nat(), { maxLength: 3 }),
        async (events, asked, snapshots) => {
          const journal = await journalOf(events);
          const positions = journal.head().seq + 1;
          for (const at of snapshots) if (positions > 1) await writeSnapshot(journal, 1 + (at % (positions - 1)));
          const hashes = await everyState(journal);
          const history = new History(journal, { statesAWay: 0, checkpoints: new Checkpoints(256, 2) });
          let isMore = true;
          for (let i = 0; isMore || i < asked.length; i++) {
            const seq = asked[i % asked.length]! % positions;
            expect(stateHash(await history.at(seq))).toBe(hashes[seq]);
            isMore = await history.prepare();
          }
          expect(await visitAll(history, hashes)).toEqual([]);
        },
      ),
      parameters(15),
    );
  });

  test('canary: an event that preparing leaves out is detected', async () => {
    const journal = await journalOf(longest(fc.sample(anyHistory(60), { numRuns: 200, seed: 7 })));
    const hashes = await everyState(journal);
    const read = journal.readUnparsed.bind(journal);
    const history = new History(journal, { checkpoints: new Checkpoints(256, 2) });
    journal.readUnparsed = (range: Range) => forgetting(read(range), seq => seq % 2 === 1);
    while (await history.prepare());
    journal.readUnparsed = read;
    expect(await visitAll(history, hashes)).not.toEqual([]);
  });

  test('begins at a snapshot when that takes less than folding to it', async () => {
    const source = 'file/Kubernetes';
    const services = Array.from({ length: 100 }, (_, i): Unrecorded => {
      const object = { apiVersion: 'v1', kind: 'Service', metadata: { name: `s${i}`, namespace: 'one' }, spec: {} };
      return { source, kind: 'Add', object };
    });
    const journal = await journalOf([...services, ...timers(400)]);
    const history = new History(journal, { statesAWay: 0, checkpoints: new Checkpoints(8, 16) });
    await history.at(120);
    for (const seq of [350, 450]) await writeSnapshot(journal, seq);
    let first = Number.POSITIVE_INFINITY;
    const read = journal.readUnparsed.bind(journal);
    journal.readUnparsed = (range: Range) => {
      first = range.from;
      return read(range);
    };
    await history.at(360);
    expect(first).toBe(351);
    // A state is nearer than reading a hundred facts takes.
    await history.at(460);
    expect(first).toBe(361);
  });

  test('lets others go first between pages when it folds for later', async () => {
    const journal = await journalOf(timers(2_500));
    const history = new History(journal, { statesAWay: 0 });
    let pauses = 0;
    const pause = async (): Promise<void> => void pauses++;
    expect((await history.at(2_400, pause)).seq).toBe(2_400);
    expect(pauses).toBe(3);
    // From the beginning to the middle of what was not visited, a multiple of 512: events 1 to 1,024.
    expect(await history.prepare(pause)).toBe(true);
    expect(pauses).toBe(5);
    await history.at(2_300);
    expect(pauses).toBe(5);
  });

  test('leaves no states on its way if none are wanted, and comes to the same ones', async () => {
    const journal = await journalOf(longest(fc.sample(anyHistory(60), { numRuns: 200, seed: 7 })));
    const left = async (statesAWay: number): Promise<number> => {
      const checkpoints = new Checkpoints(256, 4);
      const history = new History(journal, { checkpoints, statesAWay });
      expect(stateHash(await history.at(journal.head().seq))).toBe((await everyState(journal)).at(-1));
      return checkpoints.size;
    };
    expect(await left(8)).toBeGreaterThan(2);
    expect(await left(0)).toBeLessThanOrEqual(1);
  });

  test('keeps few checkpoints, evenly spaced', () => {
    const checkpoints = new Checkpoints(8, 10);
    for (let seq = 1; seq <= 1_000; seq++) checkpoints.consider({ seq } as State);
    expect(checkpoints.size).toBeLessThanOrEqual(8);
    expect(checkpoints.spacing).toBe(160);
    expect(checkpoints.before(999)?.seq).toBe(960);
    expect(checkpoints.before(159)).toBeUndefined();
  });
});

describe('positions in a journal', () => {
  const facts = timers(60);

  test.each([
    ['17', 17],
    ['head', 60],
    ['head~3', 57],
    ['-10m', 50],
    ['-90s', 58],
    ['10m', 50],
    ['10m ago', 50],
    ['09:10', 11],
    ['9:10:30', 11],
    ['2026-03-11T09:10:00Z', 11],
    ['2026-03-11 09:10', 11],
    ['2026-03-11T10:10+01:00', 11],
    ['2027-01-01', 60],
  ])('of the form %s are resolved', async (text, seq) => {
    expect(await resolvePosition(await journalOf(facts, 60_000), text)).toBe(seq);
  });

  test.each([
    ['61', /goes from 0 to 60/],
    ['08:00', /begins at 2026-03-11T09:00:00.000Z; nothing is known of 2026-03-11T08:00/],
    ['yesterday', /is no position; one is/],
    ['25:00', /is no position/],
  ])('outside the journal or malformed are refused: %s', async (text, message) => {
    await expect(journalOf(facts, 60_000).then(journal => resolvePosition(journal, text))).rejects.toThrow(message);
  });
});
