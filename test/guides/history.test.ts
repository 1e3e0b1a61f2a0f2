import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  bisect,
  clusterSubject,
  explainAbsence,
  type History,
  openHistory,
  proxyNamed,
  resolvePosition,
} from '../../src/history/main.ts';
import { importJournal } from '../../src/journal/main.ts';

const subset = 'outbound|9080|v3|reviews.shop.svc.cluster.local';
const journal = join(tmpdir(), `outage-${process.pid}.db`);
let history: History;

beforeAll(async () => {
  const lines = createInterface({ input: createReadStream('journal/fixtures/subset-outage.jsonl') });
  await importJournal(journal, lines, { durability: 'off' });
  history = await openHistory(journal);
});
afterAll(async () => {
  await history.close();
  await rm(journal);
});

test('productpage lost a cluster, and the history tells why and since when', async () => {
  const during = await history.at(await resolvePosition(history.journal, '10:20'));
  const absence = await explainAbsence(history, during, proxyNamed(during, 'productpage'), clusterSubject(subset));
  expect(absence.goneSince?.object).toBe('DestinationRule/shop/reviews');
  const { lastChange } = absence.goneSince!;
  expect(lastChange?.seq).toBe(absence.goneSince?.seq);
});

test('bisect finds the same event by a custom condition', async () => {
  const to = await resolvePosition(history.journal, '10:20');
  const lost = async (seq: number): Promise<boolean> => {
    const state = await history.at(seq);
    const proxy = proxyNamed(state, 'productpage');
    return clusterSubject(subset).answer(history.tracker, state, proxy) === undefined;
  };
  const from = await resolvePosition(history.journal, '10:00');
  const found = await bisect({ from, to }, lost);
  expect((await history.event(found!.seq)).kind).toBe('Update');
});
