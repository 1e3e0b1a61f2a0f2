// The process that law-7-crash.test.ts kills: it appends from several places at once and, when a batch is acknowledged,
// says so on standard output (synchronously, so that what was acknowledged before the kill has been said). Arguments:
// file, seed, durability.

import { createHash } from 'node:crypto';
import { writeSync } from 'node:fs';
import fc from 'fast-check';
import type { Json } from '../../src/core/base/json.ts';
import { canonicalJson } from '../../src/core/base/json.ts';
import type { Event, Unrecorded } from '../../src/core/event.ts';
import type { Durability, Journal } from '../../src/journal/journal.ts';
import { openJournal } from '../../src/journal/open.ts';

const APPENDERS = 6;
const SNAPSHOT_EVERY_BATCHES = 12;

/** The record of an acknowledged event, and what the parent computes from what it reads. */
export function eventDigest(event: Event): string {
  return createHash('sha256')
    .update(canonicalJson(event as unknown as Json))
    .digest('hex');
}

function batchOf(appender: number, count: number, sizes: readonly number[]): readonly Unrecorded[] {
  return sizes.map((size, index) => {
    const name = `a${appender}-${count}-${index}`;
    const isSecret = size % 5 === 0;
    const content = isSecret ? { data: { key: name } } : { spec: { padding: 'x'.repeat(size) } };
    const metadata = { name, namespace: 'default' };
    const object = { apiVersion: 'v1', kind: isSecret ? 'Secret' : 'Service', metadata, ...content };
    return { source: `file/${appender}`, kind: 'Add', object };
  });
}

async function append(journal: Journal, appender: number, seed: number): Promise<void> {
  const shape = fc.array(fc.integer({ min: 0, max: 20_000 }), { minLength: 1, maxLength: 20 });
  const shapes = fc.sample(shape, { seed: seed + appender, numRuns: 200 });
  for (let count = 0; ; count += 1) {
    const events = await journal.append(batchOf(appender, count, shapes[count % shapes.length]!));
    writeSync(1, `${events.map(event => `${event.seq} ${eventDigest(event)}`).join('\n')}\n`);
    if (appender > 0 || count % SNAPSHOT_EVERY_BATCHES > 0) continue;
    const facts = Array.from({ length: 1_000 }, (_, n) => ({ source: 'x', fact: { n } }));
    await journal.snapshots.write({ seq: events[0]!.seq, format: 1, facts });
  }
}

const [path, seed, durability] = process.argv.slice(2);
if (path?.endsWith('.db') === true && seed !== undefined) {
  const journal = await openJournal(path, { durability: durability as Durability });
  for (let appender = 0; appender < APPENDERS; appender += 1) void append(journal, appender, Number(seed));
}
