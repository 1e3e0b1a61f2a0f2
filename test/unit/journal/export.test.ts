// Export, redaction, import.

import { generateKeyPairSync } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { exportJournal } from '../../../src/journal/export.ts';
import { importJournal } from '../../../src/journal/import.ts';
import type { Journal } from '../../../src/journal/journal.ts';
import { openMemoryJournal } from '../../../src/journal/memory-journal.ts';
import { added, all, lines, openHere, secret, temporaryDirectory, tickingClock } from './helpers.ts';

const path = () => join(temporaryDirectory(), 'j.db');
const PEM = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
}).privateKey;
const base64 = (text: string) => Buffer.from(text, 'utf8').toString('base64');
const TLS = { 'tls.key': base64(PEM), 'tls.crt': base64(PEM + PEM), password: base64('hunter2'), odd: '*not base64*' };

test('an import of an export is the same journal, sealed values included', async () => {
  const [file, copy] = [path(), path()];
  const journal = await openHere(file, { clock: tickingClock() });
  const events = await journal.append([added('a'), secret('s', TLS), added('b')]);
  const head = await importJournal(copy, exportJournal(journal, { redact: false }));
  expect(head).toEqual(journal.head());
  const imported = await openHere(copy, { keyFile: `${file}.key` });
  expect(imported.head()).toEqual(journal.head());
  expect(await all(imported.read({ from: 1 }))).toEqual(events);
  expect((await imported.verify()).ok).toBe(true);
  expect(await lines(exportJournal(imported, { redact: false }))).toEqual(
    await lines(exportJournal(journal, { redact: false })),
  );
  expect(await imported.append([added('c')])).toMatchObject([{ seq: 4 }]);
});

test('an empty journal can be exported and imported', async () => {
  const copy = path();
  await importJournal(copy, exportJournal(openMemoryJournal(), { redact: false }));
  expect((await openHere(copy)).head().seq).toBe(0);
});

test('a redacted export has the structure without values, and a chain of its own', async () => {
  const journal = await openHere(path(), { clock: tickingClock() });
  await journal.append([
    secret('s', TLS),
    added('a'),
    secret('s', TLS),
    secret('s', { ...TLS, password: base64('other') }),
  ]);
  const text = await lines(exportJournal(journal, { redact: true }));
  const whole = text.join('\n');
  for (const value of [...Object.values(TLS), 'sealed:v1:', journal.keyCheck()!]) expect(whole).not.toContain(value);
  expect(JSON.parse(text[0]!)).toMatchObject({ redacted: true });

  const copy = path();
  await importJournal(copy, text);
  const imported = await openHere(copy);
  expect((await imported.verify()).ok).toBe(true);
  expect(imported.keyCheck()).toBeUndefined();
  const [first, , same, changed] = (await all(imported.read({ from: 1 }))).map(event => dataOf(event));
  expect(same).toEqual(first);
  expect({ ...changed, password: '' }).toEqual({ ...first, password: '' });
  expect(changed!.password).not.toBe(first!.password);
  const key = Buffer.from(first!['tls.key']!, 'base64').toString('utf8');
  expect(key).toMatch(/^-----BEGIN PRIVATE KEY-----\n[A-Za-z0-9+/=\n]+\n-----END PRIVATE KEY-----\n$/);
  expect(Math.abs(key.length - PEM.length)).toBeLessThan(8);
  expect(
    Buffer.from(first!['tls.crt']!, 'base64')
      .toString('utf8')
      .match(/-----BEGIN/g),
  ).toHaveLength(2);
  expect(Buffer.from(first!.password!, 'base64').toString('utf8')).toMatch(/^redacted-[0-9a-f]{16}$/);
  expect(first!.odd).toMatch(/^redacted-[0-9a-f]{16}$/);
});

test('a redacted export needs no key', async () => {
  const file = path();
  const journal = await openHere(file);
  await journal.append([secret('s', TLS)]);
  const reader = await openHere(file, { readonly: true, keyFile: join(dirname(file), 'none') });
  expect((await lines(exportJournal(reader, { redact: true }))).join()).not.toContain('sealed:v1:');
});

test.each<[string, (text: string[]) => string[], string, number | undefined]>([
  ['cut off', text => text.slice(0, -1), 'cut off', undefined],
  ['a line missing', text => text.toSpliced(2, 1), 'seq 2 expected, 3 found', 3],
  ['a changed body', text => text.with(2, text[2]!.replace('"b"', '"x"')), 'the chain breaks', 3],
  ['a changed time', text => text.with(2, text[2]!.replace(/"time":\d/, '"time":2')), 'the chain breaks', 3],
  ['a time that goes back', text => text.with(2, text[2]!.replace(/"time":\d+/, '"time":1')), 'goes back', 3],
  ['a broken line', text => text.with(1, text[1]!.slice(0, 30)), 'not JSON', 2],
  ['no header', text => text.slice(1), 'not an exported Periplus journal', 1],
  ['a newer version', text => text.with(0, text[0]!.replace('"version":1', '"version":3')), 'version 3', 1],
  ['two exports in one', text => [...text, ...text], 'more after the end', 6],
  ['nothing', () => [], 'cut off', undefined],
])('an import refuses %s, with the line, and leaves no file', async (_what, damage, message, line) => {
  const copy = path();
  const text = damage(await lines(exportJournal(await small(), { redact: false })));
  const importing = importJournal(copy, text);
  await expect(importing).rejects.toMatchObject({ code: 'bad-import', ...(line === undefined ? {} : { line }) });
  await expect(importing).rejects.toThrow(message);
  expect(existsSync(copy)).toBe(false);
  expect(readdirSync(dirname(copy))).toEqual([]);
});

test('an import does not overwrite a file', async () => {
  const journal = await openHere(path());
  const importing = importJournal(journal.path, exportJournal(journal, { redact: false }));
  await expect(importing).rejects.toMatchObject({ code: 'cannot-open', path: journal.path });
});

async function small(): Promise<Journal> {
  const journal = openMemoryJournal({ clock: tickingClock() });
  await journal.append([added('a'), added('b'), added('c')]);
  return journal;
}

function dataOf(event: object): Readonly<Record<string, string>> | undefined {
  return (event as { object?: { data?: Readonly<Record<string, string>> } }).object?.data;
}
