// How fast events are folded, from memory and from a journal file, and how fast facts are appended to one.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Event, Unrecorded } from '../src/core/event.ts';
import { fold } from '../src/core/fold.ts';
import { emptyState, type State } from '../src/core/state.ts';
import type { Durability } from '../src/journal/journal.ts';
import { openJournal } from '../src/journal/open.ts';
import { foldHistory } from '../src/runtime/history.ts';
import { type Figure, type Figures, medianMs, medianOf, perSecond } from './measure.ts';
import { churn, meshFacts } from './mesh.ts';

const SERVICES = 1_000;
const CHANGES = 10_000;
const APPENDED = { 1: 500, 100: 20_000 } as const;

const noneRejected: ReadonlySet<number> = new Set();

export function numbered(facts: readonly Unrecorded[], from = 0): readonly Event[] {
  return facts.map((fact, i) => ({ ...fact, seq: from + i + 1, time: 1_750_000_000_000 + i }));
}

/** Throws if an event cannot be folded: a benchmark of failures says nothing. */
export function foldAll(events: readonly Event[], from: State = emptyState): State {
  let state = from;
  for (const event of events) {
    const folded = fold(state, event, noneRejected);
    if (folded.failure !== undefined) throw new Error(`event ${event.seq}: ${folded.failure}`);
    state = folded.state;
  }
  return state;
}

export async function foldFigures(): Promise<Figures> {
  const start = numbered(meshFacts(SERVICES));
  const changes = numbered(churn(SERVICES, CHANGES), start.length);
  const loaded = foldAll(start);
  const started = await medianMs(() => foldAll(start));
  const changed = await medianMs(() => foldAll(changes, loaded));
  return {
    'fold: 1000 services from nothing': perSecond(start.length, started),
    'fold: changes to 1000 services': perSecond(changes.length, changed),
  };
}

export async function replayFigures(): Promise<Figures> {
  const facts = [...meshFacts(SERVICES), ...churn(SERVICES, CHANGES)];
  const folder = mkdtempSync(join(tmpdir(), 'periplus-bench-'));
  try {
    const journal = await openJournal(join(folder, 'journal.db'), { durability: 'off' });
    for (let i = 0; i < facts.length; i += 1_000) await journal.append(facts.slice(i, i + 1_000));
    const ms = await medianMs(() => foldHistory(journal, { fromSnapshot: false }));
    await journal.close();
    return { 'replay: journal file to state': perSecond(facts.length, ms) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function appendFigures(): Promise<Figures> {
  const figures: Record<string, Figure> = {};
  for (const durability of ['full', 'normal'] as const) {
    for (const batch of [1, 100] as const) {
      figures[`append: ${durability}, ${batch} at a time`] = await appendFigure(durability, batch);
    }
  }
  return figures;
}

/** One caller that waits for each batch before the next: the slowest way to use a journal. */
async function appendFigure(durability: Durability, batch: 1 | 100): Promise<Figure> {
  const count = APPENDED[batch];
  const facts = churn(SERVICES, count);
  const folder = mkdtempSync(join(tmpdir(), 'periplus-bench-'));
  try {
    const ms = await medianOf(async round => {
      const journal = await openJournal(join(folder, `${round}.db`), { durability });
      const begin = performance.now();
      for (let i = 0; i < count; i += batch) await journal.append(facts.slice(i, i + batch));
      const taken = performance.now() - begin;
      await journal.close();
      return taken;
    });
    return perSecond(count, ms);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
