// Shared by the journal's tests: a directory that goes away, a clock that ticks, facts of every shape, and collecting
// pages.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { JsonObject } from '../../../src/core/base/json.ts';
import type { Event, Unrecorded } from '../../../src/core/event.ts';
import type { Journal } from '../../../src/journal/journal.ts';
import type { OpenOptions } from '../../../src/journal/open.ts';
import { openJournal } from '../../../src/journal/open.ts';

export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'periplus-journal-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Closed when the test is over, if the test has not done so. */
export async function openHere(path: string, options: OpenOptions = {}): Promise<Journal> {
  const journal = await openJournal(path, { durability: 'off', ...options });
  onTestFinished(() => journal.close());
  return journal;
}

export function tickingClock(start = 1_700_000_000_000): () => number {
  let now = start;
  return () => {
    now += 1;
    return now;
  };
}

export function added(name: string, spec: JsonObject = {}): Unrecorded {
  return {
    source: 'file/Kubernetes',
    kind: 'Add',
    object: { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace: 'default' }, spec },
  };
}

export function secret(name: string, data: Readonly<Record<string, string>>): Unrecorded {
  return {
    source: 'file/Kubernetes',
    kind: 'Add',
    object: {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace: 'default' },
      type: 'kubernetes.io/tls',
      data,
    },
  };
}

export async function all<A>(pages: AsyncIterable<readonly A[]>): Promise<A[]> {
  const found: A[] = [];
  for await (const page of pages) found.push(...page);
  return found;
}

export async function lines(source: AsyncIterable<string>): Promise<string[]> {
  const found: string[] = [];
  for await (const line of source) found.push(line);
  return found;
}

export function bySeq(events: readonly Event[]): readonly number[] {
  return events.map(event => event.seq);
}

/** Far above what a loaded machine needs; the test's own time limit may come first. */
const WAIT_MS_MAX = 60_000;

/** Resolves when `condition` holds; a wait for what never comes ends, also when its test is over. */
export async function until(condition: () => boolean): Promise<void> {
  const end = Date.now() + WAIT_MS_MAX;
  while (!condition()) {
    if (Date.now() > end) throw new Error(`still not after ${WAIT_MS_MAX} ms: ${condition.toString()}`);
    await new Promise(resolve => setTimeout(resolve, 5));
  }
}
