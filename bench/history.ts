// How long it takes to go to a position of a long history: a million events of a mesh of 500 services, in a process that is warm.
// CPU seconds of this process; the cold figure is the first visit to the end, which folds everything and leaves the checkpoints.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { History } from '../src/history/history.ts';
import { openJournal } from '../src/journal/open.ts';
import { type Figures, heapUsed, megabytes, milliseconds } from './measure.ts';
import { churn, meshFacts } from './mesh.ts';

const EVENTS = 1_000_000;
const SERVICES = 500;
const BATCH = 2_000;
/** Visits measured: far enough apart that none helps another. */
const VISITS = 40;
/** A large odd number, to jump about. */
const STRIDE = 619_511;

export async function historyFigures(): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'periplus-bench-'));
  try {
    const path = join(folder, 'journal.db');
    await write(path);
    const journal = await openJournal(path, { readonly: true });
    const history = new History(journal);
    const before = heapUsed();
    const cold = await cpuMs(() => history.at(journal.head().seq));
    const visits: number[] = [];
    for (let i = 1; i <= VISITS; i++) visits.push(await cpuMs(() => history.at(1 + ((i * STRIDE) % (EVENTS - 1)))));
    visits.sort((a, b) => a - b);
    const heap = heapUsed() - before;
    await history.close();
    return {
      'history: first visit to the end of a million events': milliseconds(cold),
      'history: some position of a million, median': milliseconds(visits[VISITS / 2]!),
      'history: some position of a million, longest': milliseconds(visits.at(-1)!),
      'history: states kept': megabytes(heap),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function write(path: string): Promise<void> {
  let now = Date.UTC(2026, 0, 1);
  const journal = await openJournal(path, { durability: 'off', clock: () => ++now });
  const start = meshFacts(SERVICES);
  await journal.append(start);
  const changes = churn(SERVICES, EVENTS - start.length);
  for (let at = 0; at < changes.length; at += BATCH) await journal.append(changes.slice(at, at + BATCH));
  await journal.close();
}

async function cpuMs(run: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
