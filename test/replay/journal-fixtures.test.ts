// Every recorded history in journal/fixtures is imported by this release with the chain it had when it was recorded,
// and read whole. The heads are committed apart from the histories, so that neither can be changed alone.

import { copyFileSync, createReadStream, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import type { Event } from '../../src/core/event.ts';
import { reduce } from '../../src/core/reduce.ts';
import { emptyState } from '../../src/core/state.ts';
import { exportJournal } from '../../src/journal/export.ts';
import { importJournal } from '../../src/journal/import.ts';
import { linesOf } from '../../src/journal/lines.ts';
import { openJournal } from '../../src/journal/open.ts';
import { foldHistory } from '../../src/offline/load-state.ts';

const FIXTURES = fileURLToPath(new URL('../../journal/fixtures', import.meta.url));
const heads = JSON.parse(readFileSync(join(FIXTURES, 'heads.json'), 'utf8')) as Record<
  string,
  { seq: number; hash: string }
>;
const names = readdirSync(FIXTURES).flatMap(file => (file.endsWith('.jsonl') ? [file.slice(0, -'.jsonl'.length)] : []));

test('every fixture has its head recorded, and every recorded head its fixture', () => {
  expect(names.length).toBeGreaterThan(0);
  expect(Object.keys(heads).sort()).toEqual([...names].sort());
});

test.each(names)('fixture %s folds to its recorded head', async name => {
  const directory = mkdtempSync(join(tmpdir(), 'periplus-fixture-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, 'j.db');
  const text = join(FIXTURES, `${name}.jsonl`);
  expect(await importJournal(path, linesOf(createReadStream(text, 'utf8')), { durability: 'off' })).toMatchObject(
    heads[name]!,
  );
  if (existsSync(join(FIXTURES, `${name}.key`))) copyFileSync(join(FIXTURES, `${name}.key`), `${path}.key`);

  const journal = await openJournal(path, { readonly: true });
  onTestFinished(() => journal.close());
  expect(await journal.verify()).toMatchObject({ ok: true, events: heads[name]!.seq });
  const events: Event[] = [];
  for await (const page of journal.read({ from: 1 })) events.push(...page);
  expect(events.map(event => event.seq)).toEqual(events.map((_, index) => index + 1));
  // Opened with the key that lies beside it: nothing is left sealed.
  expect(JSON.stringify(events)).not.toContain('sealed:v1:');

  // Whatever this release makes of them, every event can be folded.
  const failures: string[] = [];
  const { state } = await foldHistory(journal, {
    fromSnapshot: false,
    onFailure: (seq, message) => failures.push(`${seq}: ${message}`),
  });
  expect(failures).toEqual([]);
  expect(state.seq).toBe(heads[name]!.seq);

  const again: string[] = [];
  for await (const line of exportJournal(journal, { redact: false })) again.push(`${line}\n`);
  expect(again.join('')).toBe(readFileSync(text, 'utf8'));
});

test('a subscription by a list has the names of the list', async () => {
  const [, ...lines] = readFileSync(join(FIXTURES, '0002-listed-names.jsonl'), 'utf8').trim().split('\n');
  const events = lines.slice(0, -1).map(line => JSON.parse(line) as Event & { readonly body: object });
  const state = events.reduce((at, { body, ...head }) => reduce(at, { ...head, ...body } as Event)[0], emptyState);
  const namesOf = (n: number) => Object.values(state.proxies.get(`tug-${n}.harbour-1`)!.subscriptions)[0]!.names;
  expect([namesOf(1).length, namesOf(3).length]).toEqual([18, 18]);
  expect(namesOf(1).filter(name => !namesOf(3).includes(name))).toEqual([
    'outbound|9000||quay.harbour.svc.cluster.local',
  ]);
  expect([...state.nameLists.values()].map(({ uses }) => uses)).toEqual([1]);
});
