// How fast events are folded at growing numbers of objects: from a journal file to the state, from memory to the state,
// and one by one with the effects of each. And how fast facts are appended. CPU time of all threads, the least of
// several rounds; memory of an object.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Event, Unrecorded } from '../src/core/event.ts';
import { fold } from '../src/core/fold/fold-event.ts';
import { Restoring } from '../src/core/fold/restore.ts';
import { SNAPSHOT_FORMAT, snapshotOf } from '../src/core/fold/snapshot.ts';
import { emptyState, type State } from '../src/core/state.ts';
import type { Journal } from '../src/journal/journal.ts';
import { openJournal } from '../src/journal/open.ts';
import { foldHistory } from '../src/offline/load-state.ts';
import {
  bytes,
  cpuMs,
  cpuMsOf,
  type Figure,
  type Figures,
  heapUsed,
  leastOf,
  medianOf,
  milliseconds,
  perSecond,
  times,
} from './measure.ts';
import { churn, meshFacts, OBJECTS_PER_SERVICE } from './mesh.ts';

const SIZES = [1_000, 10_000, 100_000] as const;
/** On the average; most of them are changes of endpoints. What is superseded is as much of the whole at every size. */
const CHANGES_PER_OBJECT = 2;
const CHANGES_ONE_BY_ONE = 20_000;
/**
 * A round folds a small mesh as often as makes it as many events as of the largest: garbage is collected now and then,
 * so the least of many short rounds would be one without, which a long round never is. And each time a copy of its
 * events, so that at every size as much memory is read for the first time: two thousand events that come a hundred
 * times would stay in the processor's caches.
 */
const OBJECTS_OF_A_ROUND = Math.max(...SIZES);
/** They are long. */
const ROUNDS = 3;
const BATCH = 1_000;
const APPENDED = { 1: 500, 100: 20_000 } as const;
const SERVICES = 1_000;

const noneRejected: ReadonlySet<number> = new Set();

export function numbered(facts: readonly Unrecorded[], from = 0): readonly Event[] {
  return facts.map((fact, i) => ({ ...fact, seq: from + i + 1, time: 1_750_000_000_000 + i }));
}

/** Throws if an event cannot be folded: a benchmark of failures has no meaning. */
export function foldAll(events: readonly Event[], from: State = emptyState): State {
  let state = from;
  for (const event of events) {
    const folded = fold(state, event, noneRejected);
    if (folded.failure !== undefined) throw new Error(`event ${event.seq}: ${folded.failure}`);
    state = folded.state;
  }
  return state;
}

function restored(events: readonly Event[], from: State = emptyState): State {
  const restoring = new Restoring(from);
  for (const event of events) {
    const failure = restoring.event(event, noneRejected);
    if (failure !== undefined) throw new Error(`event ${event.seq}: ${failure}`);
  }
  return restoring.finish();
}

/**
 * Rates at each size, and how often an event costs at the largest what it costs at the smallest: log n allows
 * ln(largest) / ln(smallest).
 */
export async function foldFigures(sizes: readonly number[] = SIZES): Promise<Figures> {
  const figures: Record<string, Figure> = {};
  const rates = new Map<string, number[]>();
  for (const objects of sizes) {
    for (const [what, figure] of Object.entries(await foldFiguresOf(objects))) {
      figures[`fold, ${objects} objects: ${what}`] = figure;
      if (figure.unit === 'events/s') rates.set(what, [...(rates.get(what) ?? []), figure.value]);
    }
  }
  if (sizes.length < 2) return figures;
  for (const [what, [smallest = 0, ...more]] of rates) {
    const name = `fold, cost of an event at ${sizes.at(-1)} objects to that at ${sizes[0]}: ${what}`;
    figures[name] = times(smallest / more.at(-1)!);
  }
  return figures;
}

async function foldFiguresOf(objects: number): Promise<Figures> {
  const services = Math.round(objects / OBJECTS_PER_SERVICE);
  const start = numbered(meshFacts(services));
  const makeChanges = (): readonly Event[] => numbered(churn(services, objects * CHANGES_PER_OBJECT), start.length);
  const few = numbered(churn(services, CHANGES_ONE_BY_ONE), start.length);
  const before = heapUsed();
  const loaded = restored(asParsed(start));
  const held = heapUsed() - before;
  const all = [...start, ...makeChanges()];
  const often = Math.max(1, Math.round(OBJECTS_OF_A_ROUND / objects));
  const fromFile = await withJournal(all, journal =>
    leastOfBoth(async () => {
      for (let i = 0; i < often; i++) await foldHistory(journal, { fromSnapshot: false });
    }),
  );
  return {
    'changes to the state': await memoryRate(copies(often, makeChanges), changes => restored(changes, loaded)),
    'every object once, from nothing': await memoryRate(
      copies(often, () => numbered(meshFacts(services))),
      once => restored(once),
    ),
    'changes one by one, with effects': await memoryRate([few], changes => foldAll(changes, loaded)),
    'journal file to state': perSecond(all.length * often, fromFile.cpuMs),
    'journal file to state, by the clock': perSecond(all.length * often, fromFile.ms),
    'memory of an object': bytes((held * 1024 * 1024) / loaded.records.size),
  };
}

/** Of a round that folds each of the streams. */
async function memoryRate(
  streams: readonly (readonly Event[])[],
  run: (events: readonly Event[]) => unknown,
): Promise<Figure> {
  const round = (): void => {
    for (const events of streams) run(events);
  };
  const events = streams.reduce((sum, { length }) => sum + length, 0);
  return perSecond(events, await leastOf(() => cpuMs(round), ROUNDS));
}

/** None shares anything with another. */
function copies<T>(count: number, make: () => T): readonly T[] {
  return Array.from({ length: count }, make);
}

/** Threads of the process share the work, so that the clock sees less than all of them together. */
async function leastOfBoth(run: () => Promise<unknown>): Promise<{ readonly cpuMs: number; readonly ms: number }> {
  let ms = Number.POSITIVE_INFINITY;
  const cpu = await leastOf(async () => {
    const begin = performance.now();
    const used = await cpuMsOf(run);
    ms = Math.min(ms, performance.now() - begin);
    return used;
  }, ROUNDS);
  return { cpuMs: cpu, ms };
}

/** As they come from a journal: nothing shared between them, so that what an object weighs is all its own. */
function asParsed(events: readonly Event[]): readonly Event[] {
  return events.map(event => JSON.parse(JSON.stringify(event)) as Event);
}

/** A restart: the newest snapshot and what came after it. */
export async function restartFigures(): Promise<Figures> {
  const services = Math.round(10_000 / OBJECTS_PER_SERVICE);
  const facts = [...meshFacts(services), ...churn(services, CHANGES_ONE_BY_ONE)];
  const ms = await withJournal(facts, async journal => {
    const state = restored(numbered(facts));
    await journal.snapshots.write({ seq: state.seq, format: SNAPSHOT_FORMAT, facts: snapshotOf(state) });
    for (const batch of batches(churn(services, 2_000))) await journal.append(batch);
    return leastOf(() => cpuMsOf(() => foldHistory(journal, { fromSnapshot: true })));
  });
  return { 'restart, 10000 objects: snapshot and 2000 events': milliseconds(ms) };
}

function batches(facts: readonly Unrecorded[]): readonly (readonly Unrecorded[])[] {
  return Array.from({ length: Math.ceil(facts.length / BATCH) }, (_, i) => facts.slice(i * BATCH, (i + 1) * BATCH));
}

async function withJournal<T>(facts: readonly Unrecorded[], use: (journal: Journal) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'periplus-bench-'));
  try {
    const journal = await openJournal(join(folder, 'journal.db'), { durability: 'off' });
    for (const batch of batches(facts)) await journal.append(batch);
    const result = await use(journal);
    await journal.close();
    return result;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * One caller that waits for each batch before the next: the slowest way to use a journal. By the clock, and in CPU time
 * of both threads.
 */
export async function appendFigures(): Promise<Figures> {
  const figures: Record<string, Figure> = {};
  for (const durability of ['full', 'normal'] as const) {
    for (const batch of [1, 100] as const) {
      const facts = churn(SERVICES, APPENDED[batch]);
      const folder = mkdtempSync(join(tmpdir(), 'periplus-bench-'));
      const cpu: number[] = [];
      try {
        const ms = await medianOf(async round => {
          const journal = await openJournal(join(folder, `${round}.db`), { durability });
          const begin = performance.now();
          cpu.push(await cpuMsOf(() => appendAll(journal, facts, batch)));
          const taken = performance.now() - begin;
          await journal.close();
          return taken;
        });
        const name = `append: ${durability}, ${batch} at a time`;
        figures[name] = perSecond(facts.length, ms);
        figures[`${name}, in CPU time`] = perSecond(facts.length, Math.min(...cpu));
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    }
  }
  return figures;
}

async function appendAll(journal: Journal, facts: readonly Unrecorded[], batch: number): Promise<void> {
  for (let i = 0; i < facts.length; i += batch) await journal.append(facts.slice(i, i + batch));
}
