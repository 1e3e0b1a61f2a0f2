// What the world log costs: a fact on its way through the leader into its mirror, and a new replica that folds a log from its beginning. The log
// is in memory, so what is measured is Periplus; a quorum's answer comes on top of the first (docs/scale.md). CPU time of all threads of this
// process; of a catch-up also the time that passes, because the writer of the journal is a thread of its own.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Unrecorded } from '../src/core/event.ts';
import { emptyState } from '../src/core/state.ts';
import { openMemoryJournal } from '../src/journal/memory-journal.ts';
import { openJournal } from '../src/journal/open.ts';
import { chainAfter, ENTRY_FORMAT, type EntryHeader, entryText } from '../src/replicas/entry.ts';
import { Replica } from '../src/replicas/replica.ts';
import type { Lease } from '../src/replicas/world-log.ts';
import { systemClock } from '../src/runtime/clock.ts';
import { World } from '../src/runtime/world.ts';
import { MemoryLog } from '../test/unit/replicas/memory-log.ts';
import { type Figures, perSecond } from './measure.ts';
import { churn, meshFacts } from './mesh.ts';

const SERVICES = 500;
const EVENTS = 100_000;
const START = Date.UTC(2026, 0, 1);
/** Facts of a log with one in each entry. */
const SINGLE = 50_000;
/** Facts of one call of a source. */
const BATCH = 200;

export async function replicaFigures(): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'periplus-bench-'));
  try {
    const log = new MemoryLog();
    const facts = [...meshFacts(SERVICES), ...churn(SERVICES, EVENTS)];
    const leader = await open(log, join(folder, 'leader.db'), true);
    const wrote = await cpuSeconds(async () => {
      for (let at = 0; at < facts.length; at += BATCH) {
        const batch: readonly Unrecorded[] = facts.slice(at, at + BATCH);
        await leader.replica.recordNews(() => batch);
      }
    });
    const position = await log.last();
    await leader.close();
    const behind = await catchUp(log, position, join(folder, 'follower.db'));
    const single = new MemoryLog();
    await writeEach(single, facts.slice(0, SINGLE));
    const each = await catchUp(single, SINGLE + 1, join(folder, 'single.db'));
    return {
      'replicas: facts written by a leader and folded': perSecond(facts.length, wrote * 1_000),
      'replicas: catch-up of a new replica': perSecond(facts.length, behind.ms),
      'replicas: catch-up of a new replica, CPU': perSecond(facts.length, behind.cpuMs),
      'replicas: catch-up, entries of one fact': perSecond(SINGLE, each.ms),
      'replicas: catch-up, entries of one fact, CPU': perSecond(SINGLE, each.cpuMs),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function catchUp(log: MemoryLog, position: number, path: string) {
  const begin = performance.now();
  const follower = await open(log, path, false);
  const cpu = await cpuSeconds(() => follower.reached(position));
  const ms = performance.now() - begin;
  await follower.close();
  return { ms, cpuMs: cpu * 1_000 };
}

/** A log as a leader writes it on a quiet day. */
async function writeEach(log: MemoryLog, facts: readonly Unrecorded[]): Promise<void> {
  const journal = openMemoryJournal();
  let chain = '';
  const write = async (lines: readonly string[], begins: boolean): Promise<void> => {
    const last = await log.last();
    const header: EntryHeader = {
      ...{ format: ENTRY_FORMAT, log: 'bench', id: `bench-${last}`, writer: 'bench', term: 1, time: START },
      ...(begins ? { begins: true as const } : {}),
      ...{ after: chain, facts: lines.length },
    };
    const text = entryText({ header, lines });
    chain = chainAfter(chain, text);
    await log.append(text, last);
  };
  await write([], true);
  for (const fact of facts) await write(journal.toLines([fact]), false);
  await journal.close();
}

async function open(log: MemoryLog, path: string, mayLead: boolean) {
  const journal = await openJournal(path, { durability: 'off' });
  const say = (): void => undefined;
  const world = new World({ journal, state: emptyState, clock: systemClock, strict: false, log: say });
  let lead: () => void = () => undefined;
  const leads = new Promise<void>(resolve => {
    lead = resolve;
  });
  const lease: Lease = mayLead ? log : { hold: async () => 'taken', release: async () => undefined };
  // A lease does not end while this process is busy.
  const clock = { now: () => START, after: systemClock.after };
  const replica = new Replica({
    ...{ id: path, log, lease, journal, world, clock, say },
    onLead: () => lead(),
    onFollow: () => undefined,
  });
  replica.start();
  if (mayLead) await leads;
  return {
    replica,
    reached: (position: number): Promise<void> =>
      new Promise(resolve => {
        const look = (): void => {
          if (replica.mirror.position.position >= position) resolve();
        };
        replica.mirror.listen(look);
        look();
      }),
    close: async (): Promise<void> => {
      await replica.stop();
      await world.stop();
      await journal.close();
    },
  };
}

async function cpuSeconds(run: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}
