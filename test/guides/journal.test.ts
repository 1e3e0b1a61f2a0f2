import { expect, test } from 'vitest';
import { type Event, exportJournal, openMemoryJournal } from '../../src/journal/main.ts';

const namespace = (name: string) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

test('appended facts are read back in order and chained', async () => {
  const journal = openMemoryJournal();
  const source = 'file/Kubernetes';
  await journal.append([
    { source, kind: 'Add', object: namespace('shop') },
    { source, kind: 'Add', object: namespace('bank') },
    { source, kind: 'Synced' },
  ]);

  const events: Event[] = [];
  for await (const page of journal.read({ from: 1 })) events.push(...page);
  expect(events.map(({ seq, kind }) => `${seq} ${kind}`)).toEqual(['1 Add', '2 Add', '3 Synced']);
  expect((await journal.verify()).ok).toBe(true);

  const lines: string[] = [];
  for await (const line of exportJournal(journal, { redact: true })) lines.push(line);
  expect(lines).toHaveLength(5);
  await journal.close();
});
