// Law 7, crash anywhere: a process that appends under load is killed (SIGKILL) at random points; the journal opens, its
// chain verifies, it has no hole, and every event that was acknowledged is there with the same content. PERIPLUS_SEED
// replays the choice of points.

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { openJournal } from '../../src/journal/open.ts';
import { Sqlite } from '../../src/journal/sqlite-driver.ts';
import { eventDigest } from './crash-child.ts';
import { seed } from './seed.ts';

const CHILD = fileURLToPath(new URL('./crash-child.ts', import.meta.url));
const ROUNDS = 6;
const ROUNDS_AT_START = 3;

interface Kill {
  readonly durability: 'full' | 'normal' | 'off';
  /** The child is killed so long after that many events were acknowledged. */
  readonly afterEvents: number;
  readonly afterMs: number;
  readonly childSeed: number;
}

const kills: fc.Arbitrary<Kill> = fc.record({
  durability: fc.constantFrom('full', 'normal', 'off'),
  afterEvents: fc.integer({ min: 1, max: 2_000 }),
  afterMs: fc.integer({ min: 0, max: 40 }),
  childSeed: fc.nat(),
});

const directory = mkdtempSync(join(tmpdir(), 'periplus-crash-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** seq → digest of what was acknowledged. */
type Acknowledged = Map<number, string>;

describe(`law 7: crash anywhere (PERIPLUS_SEED=${seed})`, () => {
  const path = join(directory, 'j.db');
  const acknowledged: Acknowledged = new Map();

  test(`killed ${ROUNDS} times under load, nothing acknowledged is lost and the chain is whole`, async () => {
    for (const [round, kill] of fc.sample(kills, { seed, numRuns: ROUNDS }).entries()) {
      const before = acknowledged.size;
      await runAndKill(path, kill, acknowledged);
      expect(acknowledged.size, `round ${round} acknowledged nothing`).toBeGreaterThan(before);
      expect(await complaints(path, acknowledged), `seed ${seed}, round ${round}, ${JSON.stringify(kill)}`).toEqual([]);
    }
  });

  test('opens a journal, or finds none yet, after a kill during the start', async () => {
    const delays = fc.sample(fc.integer({ min: 100, max: 900 }), { seed, numRuns: ROUNDS_AT_START });
    for (const [round, afterMs] of delays.entries()) {
      const fresh = join(directory, `start-${round}.db`);
      const acks: Acknowledged = new Map();
      await runAndKill(fresh, { durability: 'full', afterEvents: 0, afterMs, childSeed: round }, acks);
      if (!existsSync(fresh)) expect(acks.size).toBe(0);
      expect(await complaints(fresh, acks), `seed ${seed}, killed ${afterMs} ms after the start`).toEqual([]);
    }
  });

  test.each([
    ['a row is missing', 'DELETE FROM event WHERE seq = 2'],
    ['a byte was changed', "UPDATE event SET body = body || ' ' WHERE seq = 2"],
    [
      'the tail was lost without a trace in the chain',
      `DELETE FROM event WHERE seq > 1;
       UPDATE meta SET value = 1 WHERE key = 'head_seq';
       UPDATE meta SET value = (SELECT hash FROM event WHERE seq = 1) WHERE key = 'head_hash';
       UPDATE meta SET value = (SELECT time FROM event WHERE seq = 1) WHERE key = 'head_time';
       DELETE FROM snapshot WHERE seq > 1`,
    ],
    ['a snapshot is broken', 'UPDATE snapshot SET facts = facts + 1'],
  ])('canary: detects that %s', async (what, damage) => {
    const copy = join(directory, `${what}.db`);
    // The last round left the journal closed, so it is one file.
    new Sqlite(path).exec(`VACUUM INTO '${copy}'`).close();
    const db = new Sqlite(copy);
    db.exec(damage);
    db.close();
    expect(await complaints(copy, acknowledged)).not.toEqual([]);
  });
});

async function runAndKill(path: string, kill: Kill, acknowledged: Acknowledged): Promise<void> {
  const args = ['--import', 'tsx', CHILD, path, String(kill.childSeed), kill.durability];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let errors = '';
  let seen = 0;
  const exited = new Promise<string | null>(resolve => child.once('close', (_code, signal) => resolve(signal)));
  const reached = new Promise<void>(resolve => {
    if (kill.afterEvents === 0) resolve();
    child.once('close', () => resolve());
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString('latin1');
      for (const byte of chunk) if (byte === 10) seen += 1;
      if (seen >= kill.afterEvents) resolve();
    });
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString('utf8');
  });
  await reached;
  await new Promise(resolve => setTimeout(resolve, kill.afterMs));
  child.kill('SIGKILL');
  expect(await exited, `the child ended by itself: ${errors}`).toBe('SIGKILL');
  // What follows the last newline was cut off by the kill.
  for (const line of output.split('\n').slice(0, -1)) {
    const [seq, digest] = line.split(' ');
    acknowledged.set(Number(seq), digest!);
  }
}

/** Everything that law 7 forbids, found in this file. */
async function complaints(path: string, acknowledged: Acknowledged): Promise<readonly string[]> {
  const found: string[] = [];
  // For writing if possible: that is what a restart does.
  const opened = await openJournal(path).catch((fault: unknown) => {
    found.push(`does not open: ${String(fault)}`);
    return openJournal(path, { readonly: true });
  });
  try {
    const verdict = await opened.verify();
    found.push(...verdict.findings.map(finding => finding.message));
    let next = 1;
    for await (const page of opened.read({ from: 1 })) {
      for (const event of page) {
        if (event.seq !== next) found.push(`seq ${next} expected, ${event.seq} found`);
        next = event.seq + 1;
        const digest = acknowledged.get(event.seq);
        if (digest !== undefined && digest !== eventDigest(event))
          found.push(`seq ${event.seq} is not what was acknowledged`);
      }
    }
    for (const seq of acknowledged.keys()) if (seq >= next) found.push(`seq ${seq} was acknowledged and is gone`);
  } catch (error) {
    found.push(String(error));
  } finally {
    await opened.close();
  }
  return found;
}
