// Backup and restore with the commands of docs/guides/backup.md, beside a journal that stays open for writing.

import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Obj } from '../../src/core/model/object.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { openJournal } from '../../src/journal/open.ts';
import { foldHistory, stateHash } from '../../src/offline/load-state.ts';
import { periplus } from './running.ts';

const FIXTURES = join(import.meta.dirname, '../../journal/fixtures');
const PASSWORD = Buffer.from('open sesame').toString('base64');
let folder: string;
let journal: Journal;
const at = (name: string): string => join(folder, name);

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'periplus-backup-'));
  journal = await openJournal(at('live.db'), { durability: 'off' });
  const source = 'kube/Kubernetes';
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: 'shop', name: 'tls' } };
  await journal.append([
    { source, kind: 'Add', object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } } },
    { source, kind: 'Add', object: { ...secret, type: 'Opaque', data: { 'tls.key': PASSWORD } } },
    { source, kind: 'Synced' },
  ]);
});

afterAll(async () => {
  await journal.close();
  rmSync(folder, { recursive: true, force: true });
});

async function folded(path: string) {
  const opened = await openJournal(path, { readonly: true });
  try {
    return (await foldHistory(opened, { fromSnapshot: true })).state;
  } finally {
    await opened.close();
  }
}

describe('a backup', () => {
  it('of a journal that is being written restores to the same state, and its secrets open with the key', async () => {
    const before = stateHash(await folded(at('live.db')));
    expect((await periplus('journal', 'export', '--journal', at('live.db'), '--file', at('b.jsonl.gz'))).code).toBe(0);
    copyFileSync(at('live.db.key'), at('kept.key'));
    expect(gunzipSync(readFileSync(at('b.jsonl.gz'))).toString()).not.toContain(PASSWORD);

    expect((await periplus('journal', 'import', at('b.jsonl.gz'), '--journal', at('restored.db'))).code).toBe(0);
    copyFileSync(at('kept.key'), at('restored.db.key'));
    expect((await periplus('journal', 'verify', '--journal', at('restored.db'))).out).toMatch(/^ok: 3 events/);
    const state = await folded(at('restored.db'));
    expect(stateHash(state)).toBe(before);
    const secret = state.objects.Secret.get('Kubernetes/shop/tls') as Obj<'Secret'> | undefined;
    expect(secret?.spec.data['tls.key']).toBe(PASSWORD);
  });

  it('never replaces a journal that is there', async () => {
    const { code, err } = await periplus('journal', 'import', at('b.jsonl.gz'), '--journal', at('live.db'));
    expect([code, err]).toEqual([1, expect.stringContaining('live.db')]);
  });

  it('without its key is refused for writing, by the name of the key that is missing', async () => {
    expect((await periplus('journal', 'import', at('b.jsonl.gz'), '--journal', at('keyless.db'))).code).toBe(0);
    expect(existsSync(at('keyless.db.key'))).toBe(false);
    await expect(openJournal(at('keyless.db'))).rejects.toMatchObject({ code: 'key-missing' });
  });
});

describe('a journal file of format 1', () => {
  it('is opened by this release, and written on', async () => {
    writeFileSync(at('old.db'), gunzipSync(readFileSync(join(FIXTURES, 'format-1.db.gz'))));
    copyFileSync(join(FIXTURES, '0001-small-mesh.key'), at('old.db.key'));
    const heads = JSON.parse(readFileSync(join(FIXTURES, 'heads.json'), 'utf8')) as Record<string, { seq: number }>;
    const old = await openJournal(at('old.db'), { durability: 'off' });
    expect(await old.verify()).toMatchObject({ ok: true, events: heads['0001-small-mesh']?.seq });
    await old.append([{ source: 'kube/Kubernetes', kind: 'Synced' }]);
    expect(old.head().seq).toBe(heads['0001-small-mesh']!.seq + 1);
    await old.close();
  });
});
