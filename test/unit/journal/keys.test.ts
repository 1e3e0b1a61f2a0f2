// Key files and the vault: which key is used when, what is refused, and that no message quotes a key.

import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/core/base/json.ts';
import { openMemoryJournal } from '../../../src/journal/memory-journal.ts';
import { createKeyFile, KEY_BYTES, randomKey, readKeyFile, sealerOf } from '../../../src/journal/seal.ts';
import { Vault } from '../../../src/journal/vault.ts';
import { added, all, openHere, secret, temporaryDirectory } from './helpers.ts';

const path = () => join(temporaryDirectory(), 'j.key');
const MAGIC = 'periplus-journal-key-v1';
const KEY = Buffer.alloc(KEY_BYTES, 7);
const VALUE = 'hunter2-hunter2';
const fact: JsonObject = { kind: 'Secret', metadata: { name: 's' }, data: { k: VALUE } };

describe('a key file', () => {
  it('is one line, made once', () => {
    const file = path();
    const key = createKeyFile(file);
    expect(key).toHaveLength(KEY_BYTES);
    expect(readFileSync(file, 'utf8')).toBe(`${MAGIC} ${key.toString('base64')}\n`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(dirname(file))).toEqual(['j.key']);
    expect(createKeyFile(file)).toEqual(key);
    expect(readKeyFile(file)).toEqual(key);
    expect(readdirSync(dirname(file))).toEqual(['j.key']);
  });

  it('may have blanks around its two words', () => {
    const file = path();
    writeFileSync(file, `\n ${MAGIC}\t  ${KEY.toString('base64')}\n\n`);
    expect(readKeyFile(file)).toEqual(KEY);
  });

  it.each([
    ['another magic', `other ${KEY.toString('base64')}`],
    ['no key', MAGIC],
    ['a key that is too short', `${MAGIC} ${KEY.subarray(1).toString('base64')}`],
    ['a key that is too long', `${MAGIC} ${Buffer.alloc(KEY_BYTES + 1).toString('base64')}`],
    ['a third word', `${MAGIC} ${KEY.toString('base64')} more`],
    ['nothing', ''],
  ])('with %s is refused without being quoted', (_what, text) => {
    const file = path();
    writeFileSync(file, text);
    const reading = (): unknown => readKeyFile(file);
    expect(reading).toThrow(expect.objectContaining({ code: 'wrong-key', path: file }));
    expect(reading).not.toThrow(KEY.toString('base64').slice(0, 8));
    expect(reading).toThrow(`not a journal key: expected one line "${MAGIC}" and ${KEY_BYTES} bytes`);
  });

  it('that cannot be read or made is named', () => {
    const folder = path();
    mkdirSync(folder);
    expect(() => readKeyFile(folder)).toThrow(expect.objectContaining({ code: 'cannot-open', path: folder }));
    expect(() => readKeyFile(folder)).toThrow(`${folder}: the key file cannot be read (EISDIR`);
    const below = join(dirname(folder), 'none', 'j.key');
    expect(readKeyFile(below)).toBeUndefined();
    expect(() => createKeyFile(below)).toThrow(expect.objectContaining({ code: 'cannot-open', path: below }));
    expect(() => createKeyFile(below)).toThrow('make its directory writable or give another key file');
  });
});

describe('a sealed value', () => {
  it('is what it was in every release, so that older journals open', () => {
    const sealer = sealerOf(KEY);
    const sealed = 'sealed:v1:XcARIYBN73niPpL3RcHXBst8HzCpy1XWlmhEDHxxM/ezQ6jEig==';
    expect(sealer.check).toBe('4c3976554586a33800e7c5793ca13683');
    expect(sealer.seal('hunter2', 'Secret/a/b:/data/k')).toBe(sealed);
    expect(sealer.unseal(sealed, 'Secret/a/b:/data/k')).toBe('hunter2');
  });
});

describe('a vault', () => {
  const options = { keyFile: undefined, recorded: undefined, readonly: false };

  it('makes its key file with the first private value', () => {
    const keyFile = path();
    const vault = new Vault({ ...options, keyFile });
    expect(vault.seal({ kind: 'Pod', data: { k: VALUE } })).toEqual({ kind: 'Pod', data: { k: VALUE } });
    expect([vault.check, existsSync(keyFile)]).toEqual([undefined, false]);
    const sealed = vault.seal(fact);
    expect(JSON.stringify(sealed)).not.toContain(VALUE);
    expect(vault.check).toBe(sealerOf(readKeyFile(keyFile)!).check);
    expect(vault.check).toMatch(/^[0-9a-f]{32}$/);
    expect(vault.openFact(sealed, 1)).toEqual(fact);
  });

  it('uses a key file that is there', () => {
    const keyFile = path();
    const key = createKeyFile(keyFile);
    const vault = new Vault({ ...options, keyFile });
    vault.seal(fact);
    expect(vault.check).toBe(sealerOf(key).check);
  });

  it('seals with no other key than that of the journal', () => {
    const { check } = sealerOf(randomKey());
    const keyFile = path();
    expect(() => new Vault({ keyFile, recorded: check, readonly: false })).toThrow(
      expect.objectContaining({ code: 'key-missing', path: keyFile }),
    );
    const reader = new Vault({ keyFile, recorded: check, readonly: true });
    expect(reader.check).toBe(check);
    expect(() => reader.seal(fact)).toThrow('no key to seal with');
    createKeyFile(keyFile);
    for (const readonly of [true, false]) {
      expect(() => new Vault({ keyFile, recorded: check, readonly })).toThrow(
        expect.objectContaining({
          code: 'wrong-key',
          message: `${keyFile}: this is not the key that the journal was sealed with`,
        }),
      );
    }
  });

  it('makes no key for a reader', () => {
    const keyFile = path();
    const reader = new Vault({ ...options, keyFile, readonly: true });
    expect(() => reader.seal(fact)).toThrow(expect.objectContaining({ code: 'key-missing', path: keyFile }));
    expect(existsSync(keyFile)).toBe(false);
  });

  it('opens what its key file sealed outside of the journal, before anything was sealed in it', () => {
    const keyFile = path();
    const sealed = new Vault({ ...options, keyFile }).seal(fact);
    expect(new Vault({ ...options, keyFile }).openSpilled(sealed)).toEqual(fact);
    const other = path();
    expect(() => new Vault({ ...options, keyFile: other }).openSpilled(sealed)).toThrow(
      expect.objectContaining({ code: 'damaged' }),
    );
    const unused = path();
    expect(new Vault({ ...options, keyFile: unused }).openSpilled({ kind: 'Synced' })).toEqual({ kind: 'Synced' });
    expect(existsSync(unused)).toBe(false);
  });

  it('names the event and the place of a value that does not open', () => {
    const vault = new Vault(options);
    vault.seal(fact);
    const bad = new Vault(options).seal(fact);
    expect(() => vault.openFact(bad, 12)).toThrow(expect.objectContaining({ code: 'damaged', seq: 12 }));
    expect(() => vault.openFact(bad, 12)).toThrow('the sealed value at Secret//s:/data/k does not open');
    expect(() => vault.open(JSON.stringify(bad), 13)).toThrow(expect.objectContaining({ seq: 13 }));
    expect(vault.open('{"data":{"k":"plain"},"kind":"Secret"}', 1)).toEqual({ data: { k: 'plain' }, kind: 'Secret' });
  });

  it('redacts without a key, and values that were never sealed', () => {
    const vault = new Vault(options);
    const sealed = vault.seal(fact);
    const dataOf = (shown: JsonObject): string => JSON.stringify(shown.data);
    const shown = dataOf(new Vault(options).redact(sealed));
    expect(shown).toMatch(/^\{"k":"redacted-[0-9a-f]{16}"\}$/);
    expect(dataOf(vault.redact(sealed))).toBe(shown);
    expect(dataOf(vault.redact(fact))).toMatch(/^\{"k":"redacted-[0-9a-f]{16}"\}$/);
    // By the place alone, so that it tells nothing about the value.
    expect(vault.redact({ ...fact, data: { k: 'other' } })).toEqual(vault.redact(fact));
    expect(vault.redact({ ...fact, data: { k: 7 } })).toEqual(vault.redact(fact));
    expect(dataOf(vault.redact({ ...fact, data: { l: VALUE } }))).not.toContain(shown.slice(6));
  });

  it('seals what its owner marks, beside the values of Secrets', () => {
    const vault = new Vault({ ...options, privatePaths: ({ kind }) => (kind === 'Mesh' ? [['a/b', 'c~d']] : []) });
    const mesh = { kind: 'Mesh', 'a/b': { 'c~d': VALUE, other: 'x' } };
    const sealed = vault.seal(mesh);
    expect(JSON.stringify(sealed)).toMatch(/^\{"kind":"Mesh","a\/b":\{"c~d":"sealed:v1:[^"]+","other":"x"\}\}$/);
    expect(vault.openFact(sealed, 1)).toEqual(mesh);
    expect(vault.marked({ kind: 'Pod' })).toEqual([]);
    expect(new Vault(options).marked(mesh)).toEqual([]);
  });
});

describe('a journal in memory', () => {
  it('seals with a key file that it is given, and what its owner marks', async () => {
    const keyFile = path();
    const key = createKeyFile(keyFile);
    const privatePaths = () => [['value', 'token']];
    const journal = openMemoryJournal({ keyFile, privatePaths });
    await journal.append([{ source: 'x', kind: 'MeshConfig', value: { token: VALUE } }]);
    expect(journal.keyCheck()).toBe(sealerOf(key).check);
    expect((await all(journal.records({ from: 1 })))[0]?.body).toMatch(/^\{"value":\{"token":"sealed:v1:[^"]+"\}\}$/);
    expect(await all(journal.read({ from: 1 }))).toMatchObject([{ value: { token: VALUE } }]);
  });
});

describe('a reader of a journal', () => {
  it('opened before the first sealed value opens the later ones', async () => {
    const file = join(temporaryDirectory(), 'j.db');
    const writer = await openHere(file);
    await writer.append([added('a')]);
    const reader = await openHere(file, { readonly: true });
    expect(await all(reader.read({ from: 1 }))).toHaveLength(1);
    expect(reader.keyCheck()).toBeUndefined();
    await writer.append([secret('s', { k: VALUE })]);
    expect(await all(reader.read({ from: 2 }))).toMatchObject([{ object: { data: { k: VALUE } } }]);
    expect(reader.keyCheck()).toBe(writer.keyCheck());
    const redacted = { from: 2, secrets: 'redacted' } as const;
    expect(await all(reader.records(redacted))).toEqual(await all(writer.records(redacted)));
  });

  it('opened before the first sealed value refuses another key, and without one shows sealed text', async () => {
    const file = join(temporaryDirectory(), 'j.db');
    const writer = await openHere(file);
    await writer.append([added('a')]);
    const others = await openHere(file, { readonly: true, keyFile: path() });
    const other = path();
    createKeyFile(other);
    const wrong = await openHere(file, { readonly: true, keyFile: other });
    await writer.append([secret('s', { k: VALUE })]);
    expect(JSON.stringify(await all(others.read({ from: 2 })))).toContain('"sealed:v1:');
    await expect(all(wrong.read({ from: 2 }))).rejects.toMatchObject({ code: 'wrong-key', path: other });
  });
});

describe('the vault of a journal', () => {
  const sealing = (keyFile: string): Vault => new Vault({ keyFile, recorded: undefined, readonly: false });

  it('gives a reader facts as they are while no key is recorded', () => {
    const keyFile = path();
    sealing(keyFile).seal(fact);
    const reader = new Vault({ keyFile, recorded: undefined, readonly: true, recordedLater: () => undefined });
    expect(reader.openFact(fact, 1)).toBe(fact);
    expect(reader.check).toBeUndefined();
  });

  it('makes no other key if one is recorded', () => {
    const vault = new Vault({ keyFile: undefined, recorded: '0'.repeat(32), readonly: false });
    expect(() => vault.seal(fact)).toThrow(expect.objectContaining({ code: 'key-missing' }));
    expect(vault.check).toBe('0'.repeat(32));
  });

  it('leaves a private value that is neither sealed nor a text as it is', () => {
    const vault = sealing(path());
    const mixed: JsonObject = { ...fact, data: { k: VALUE, n: 5, none: null } };
    const sealed = vault.seal(fact);
    expect(vault.openFact(mixed, 1)).toEqual(mixed);
    expect(vault.openFact(sealed, 1)).toEqual(fact);
  });
});
