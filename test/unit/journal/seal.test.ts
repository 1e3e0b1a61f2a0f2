// Sealing: no private value is stored in the clear, equal values stay equal, and a wrong or lost key is another error
// than damage.

import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/base/json.ts';
import type { Unrecorded } from '../../../src/core/event.ts';
import { openJournal } from '../../../src/journal/open.ts';
import { mapPrivate, SEALED_PREFIX } from '../../../src/journal/private-values.ts';
import { createKeyFile, randomKey, readKeyFile, sealerOf } from '../../../src/journal/seal.ts';
import { added, all, openHere, secret, temporaryDirectory } from './helpers.ts';

const PLAIN = 'SuperSecretPlainText';
const path = () => join(temporaryDirectory(), 'j.db');

test('sealing is deterministic, and only the same key at the same place opens it', () => {
  const [sealer, other] = [sealerOf(randomKey()), sealerOf(randomKey())];
  const sealed = sealer.seal(PLAIN, 'Secret/a/b:/data/k');
  expect(sealed).toBe(sealer.seal(PLAIN, 'Secret/a/b:/data/k'));
  expect(sealed).not.toBe(sealer.seal(PLAIN, 'Secret/a/c:/data/k'));
  expect(sealed).not.toBe(other.seal(PLAIN, 'Secret/a/b:/data/k'));
  expect(sealed).toMatch(/^sealed:v1:[A-Za-z0-9+/]+=*$/);
  expect(sealer.unseal(sealed, 'Secret/a/b:/data/k')).toBe(PLAIN);
  expect(sealer.unseal(sealed, 'Secret/a/c:/data/k')).toBeUndefined();
  expect(other.unseal(sealed, 'Secret/a/b:/data/k')).toBeUndefined();
  for (const broken of ['sealed:v1:', 'sealed:v1:AAAA', `${sealed.slice(0, -6)}AAAA==`, PLAIN]) {
    expect(sealer.unseal(broken, 'Secret/a/b:/data/k')).toBeUndefined();
  }
});

test.each<[string, JsonObject]>([
  ['data', { kind: 'Secret', data: { k: PLAIN } }],
  ['stringData', { kind: 'Secret', stringData: { k: PLAIN } }],
  ['data that is not an object', { kind: 'Secret', data: [PLAIN] }],
  ['data whose members are not strings', { kind: 'Secret', data: { k: { deep: [PLAIN] } } }],
  ['inside a list', { kind: 'List', items: [{ kind: 'Secret', data: { k: PLAIN } }] }],
  ['an annotation that quotes the object', annotated({ last: `{"data":{"k":"${PLAIN}"}}` })],
  ['a long annotation', annotated({ packed: PLAIN.repeat(10) })],
  ['a text that already looks sealed', { kind: 'ConfigMap', data: { k: `${SEALED_PREFIX}${PLAIN}` } }],
  ['a name that looks sealed', { kind: 'Secret', metadata: { name: 'sealed:v1:x' }, data: { k: PLAIN } }],
  ['odd keys', JSON.parse(`{"kind":"Secret","data":{"__proto__":"${PLAIN}","a/b~c":"${PLAIN}"}}`) as JsonObject],
])('the private value of %s is sealed in the file, and the reader gets it back', async (_what, object) => {
  const file = path();
  const journal = await openJournal(file);
  const events = await journal.append([{ source: 'file/x', kind: 'Add', object }]);
  await journal.close();
  expect(readFileSync(file).includes(PLAIN)).toBe(false);
  const again = await openHere(file);
  const read = await all(again.read({ from: 1 }));
  expect(read).toEqual(events);
  expect(read[0]).toMatchObject({ object });
  expect(JSON.stringify(read[0])).toContain(PLAIN);
});

test('sealing leaves other values alone', async () => {
  const file = path();
  const object = { ...annotated({ note: 'short' }), type: 'Opaque', data: { k: PLAIN } };
  const journal = await openHere(file);
  await journal.append([{ source: 'file/x', kind: 'Add', object }]);
  const [stored] = await all(journal.records({ from: 1 }));
  expect(stored!.body).toContain('"note":"short"');
  expect(stored!.body).toContain('"type":"Opaque"');
  expect(stored!.body).toContain('"k":"sealed:v1:');
});

test('sealing covers values that a caller marks, but no name', async () => {
  const file = path();
  const fact: Unrecorded = { source: 'x', kind: 'MeshConfig', value: { token: PLAIN, name: 'n' } };
  const journal = await openHere(file, { privatePaths: () => [['value', 'token']] });
  const events = await journal.append([fact]);
  expect((await all(journal.records({ from: 1 })))[0]!.body).toMatch(/^\{"value":\{"name":"n","token":"sealed:v1:/);
  expect(await all(journal.read({ from: 1 }))).toEqual(events);
  expect(() => mapPrivate({}, [['value', 'name']], value => value)).toThrow('must not end in "name"');
});

test('the key file is created with the first secret, for its owner only, and is never overwritten', async () => {
  const file = path();
  const journal = await openHere(file);
  await journal.append([added('a')]);
  expect(readKeyFile(`${file}.key`)).toBeUndefined();
  await journal.append([secret('s', { k: PLAIN })]);
  expect(statSync(`${file}.key`).mode & 0o777).toBe(0o600);
  const key = readKeyFile(`${file}.key`);
  expect(createKeyFile(`${file}.key`)).toEqual(key);
});

test('without the key a reader sees sealed text and can verify, and a writer is refused', async () => {
  const file = await sealedJournal();
  renameSync(`${file}.key`, `${file}.away`);
  const reader = await openHere(file, { readonly: true });
  const [event] = await all(reader.read({ from: 1 }));
  expect(JSON.stringify(event)).toContain(SEALED_PREFIX);
  expect((await reader.verify()).ok).toBe(true);
  await expect(openJournal(file)).rejects.toMatchObject({ code: 'key-missing', path: `${file}.key` });
  const writer = await openHere(file, { keyFile: `${file}.away` });
  expect(JSON.stringify(await all(writer.read({ from: 1 })))).toContain(PLAIN);
});

test.each([true, false])('a wrong key is reported with the name of its file (readonly %s)', async readonly => {
  const file = await sealedJournal();
  rmSync(`${file}.key`);
  createKeyFile(`${file}.key`);
  const opening = openJournal(file, { readonly });
  await expect(opening).rejects.toMatchObject({ code: 'wrong-key', path: `${file}.key` });
  await expect(opening).rejects.not.toThrow(PLAIN);
});

test('the parts of a key file may be apart by any blanks', async () => {
  const file = await sealedJournal();
  const text = readFileSync(`${file}.key`, 'utf8');
  writeFileSync(`${file}.key`, `\n${text.replace(' ', ' \t ')}\n\n`);
  const journal = await openHere(file);
  expect(JSON.stringify(await all(journal.read({ from: 1 })))).toContain(PLAIN);
});

test('a malformed key file is reported without quoting it', async () => {
  const file = await sealedJournal();
  writeFileSync(`${file}.key`, PLAIN);
  const opening = openJournal(file);
  await expect(opening).rejects.toMatchObject({ code: 'wrong-key', path: `${file}.key` });
  await expect(opening).rejects.not.toThrow(PLAIN);
});

test('a reference to a Secret creates no key', async () => {
  const file = path();
  const journal = await openHere(file);
  const ref = { apiVersion: 'v1', kind: 'Secret', namespace: 'a', name: 'b' };
  await journal.append([{ source: 'x', kind: 'Delete', ref }]);
  expect(readKeyFile(`${file}.key`)).toBeUndefined();
  expect(journal.keyCheck()).toBeUndefined();
});

function annotated(annotations: JsonObject): JsonObject {
  return { kind: 'Secret', metadata: { name: 's', namespace: 'n', annotations } };
}

async function sealedJournal(): Promise<string> {
  const file = path();
  const journal = await openJournal(file, { durability: 'off' });
  await journal.append([secret('s', { k: PLAIN })]);
  await journal.close();
  return file;
}
