// States kept for the next process: equal to what folding gives, of this journal only, without private values, and
// never needed.

import { createHmac } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Unrecorded } from '../../src/core/event.ts';
import { SNAPSHOT_FORMAT, snapshotOf } from '../../src/core/fold/snapshot.ts';
import { History, openHistory, STATE_EVENTS_MAX } from '../../src/history/history.ts';
import { CODE_BYTES, keyIn, STATE_FILES_MAX, StateCache, stateCacheOf } from '../../src/history/state-cache.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { openMemoryJournal } from '../../src/journal/memory-journal.ts';
import { openJournal } from '../../src/journal/open.ts';
import type { PrivatePaths } from '../../src/journal/vault.ts';
import { foldHistory, stateHash } from '../../src/offline/load-state.ts';

const PRIVATE = 'c2VjcmV0LXZhbHVl';
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'periplus-states-'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

function service(name: string, app: string, port: number | string = 80): Unrecorded {
  const object = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'shop' },
    spec: { selector: { app }, ports: [{ name: 'http', port }] },
  };
  return { source: 'file/Kubernetes', kind: 'Update', object };
}

function secret(value: string): Unrecorded {
  const object = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'cert', namespace: 'shop' },
    data: { 'tls.key': value },
  };
  return { source: 'file/Kubernetes', kind: 'Add', object };
}

async function journalOf(facts: readonly Unrecorded[]): Promise<Journal> {
  let now = 0;
  const journal = await openMemoryJournal({ clock: () => ++now });
  await journal.append(facts);
  return journal;
}

const KEY = Buffer.alloc(32, 1);

function cacheOf(journal: Journal, folders: readonly string[] = [folder]): StateCache {
  return new StateCache(journal, folders, async () => KEY);
}

/** Of a file, without its code. */
function textOf(path: string): string {
  return gunzipSync(readFileSync(path).subarray(CODE_BYTES)).toString('utf8');
}

async function kept(journal: Journal, folders: readonly string[], seq = journal.head().seq): Promise<StateCache> {
  const cache = cacheOf(journal, folders);
  cache.offer(await new History(journal).at(seq));
  await cache.write();
  return cache;
}

const facts = [service('a', 'one'), secret(PRIVATE), service('b', 'two'), service('a', 'three')];

describe('a kept state', () => {
  test('is the state that folding gives', async () => {
    const journal = await journalOf(facts);
    const state = await (await kept(journal, [folder])).nearest(4, 0);
    expect(stateHash(state!)).toBe(stateHash((await foldHistory(journal, { fromSnapshot: false })).state));
  });

  test('is the newest between the two positions', async () => {
    const journal = await journalOf(facts);
    for (const seq of [2, 3, 4]) await kept(journal, [folder], seq);
    const cache = cacheOf(journal);
    expect((await cache.nearest(3, 0))?.seq).toBe(3);
    expect(await cache.nearest(1, 0)).toBeUndefined();
    expect(await cache.nearest(9, 5)).toBeUndefined();
  });

  test('holds no private value: the journal alone has it', async () => {
    const journal = await journalOf(facts);
    await kept(journal, [folder]);
    const [file = ''] = readdirSync(folder);
    const text = textOf(join(folder, file));
    expect(text).toContain('three');
    expect(text).not.toContain(PRIVATE);
    expect(text).not.toContain('sealed:');
  });

  describe('of a journal with values that its writer marked as private', () => {
    const marks: PrivatePaths = ({ kind }) =>
      kind === 'MeshConfig' ? [['value', 'accessLogFile']] : [['object', 'spec', 'selector', 'app']];
    const marked = async (facts: readonly Unrecorded[]): Promise<Journal> => {
      const journal = openMemoryJournal({ privatePaths: marks, clock: () => 1 });
      await journal.append(facts);
      return journal;
    };
    const texts = (): readonly string[] => readdirSync(folder).map(file => textOf(join(folder, file)));

    test('names their events instead of copying them', async () => {
      const journal = await marked([service('a', 'once'), service('b', PRIVATE), service('a', PRIVATE)]);
      const cache = await kept(journal, [folder]);
      expect(texts()).toHaveLength(1);
      expect(texts()[0]).not.toContain(PRIVATE);
      const state = await cache.nearest(3, 0);
      expect(stateHash(state!)).toBe(stateHash((await foldHistory(journal, { fromSnapshot: false })).state));
    });

    test('is not there where no event of an object can be named', async () => {
      const mesh: Unrecorded = { source: 'file/Kubernetes', kind: 'MeshConfig', value: { accessLogFile: PRIVATE } };
      await kept(await marked([service('a', 'one'), mesh]), [folder]);
      expect(texts()).toEqual([]);
      await kept(await marked([service('a', 'one'), service('a', PRIVATE, 'none')]), [folder]);
      expect(texts()).toEqual([]);
    });

    test('is not there after a compaction that left some in a snapshot', async () => {
      const journal = await marked([service('a', PRIVATE), service('b', 'two'), service('b', 'three')]);
      const facts = snapshotOf(await new History(journal).at(2));
      await journal.snapshots.write({ seq: 2, format: SNAPSHOT_FORMAT, facts });
      await journal.compact(2);
      await kept(journal, [folder]);
      expect(texts().filter(text => text.includes(PRIVATE))).toEqual([]);
    });
  });

  test('is not taken for that of another journal', async () => {
    await kept(await journalOf(facts), [folder]);
    const other = await journalOf([...facts.slice(0, 3), service('a', 'four')]);
    expect(await cacheOf(other).nearest(4, 0)).toBeUndefined();
  });

  test('is not taken from a file that came with the journal', async () => {
    const journal = await journalOf(facts);
    await kept(journal, [folder]);
    const path = join(folder, '4.facts');
    const forged = gzipSync(textOf(path).replaceAll('three', 'forged'));
    const codes = [
      readFileSync(path).subarray(0, CODE_BYTES),
      createHmac('sha256', Buffer.alloc(32, 2)).update(forged).digest(),
    ];
    for (const code of codes) {
      writeFileSync(path, Buffer.concat([code, forged]));
      expect(await cacheOf(journal).nearest(4, 0)).toBeUndefined();
    }
    const own = createHmac('sha256', KEY).update(forged).digest();
    writeFileSync(path, Buffer.concat([own, forged]));
    expect((await cacheOf(journal).nearest(4, 0))?.seq).toBe(4);
  });

  test('is neither written nor read without a key', async () => {
    const journal = await journalOf(facts);
    const none = new StateCache(journal, [folder], async () => undefined);
    none.offer(await new History(journal).at(4));
    await none.write();
    expect(readdirSync(folder)).toEqual([]);
    await kept(journal, [folder]);
    expect(await none.nearest(4, 0)).toBeUndefined();
  });

  test('that is damaged is passed over for an older one', async () => {
    const journal = await journalOf(facts);
    await kept(journal, [folder], 2);
    await kept(journal, [folder]);
    truncateSync(join(folder, '4.facts'), 100);
    expect((await cacheOf(journal).nearest(4, 0))?.seq).toBe(2);
  });

  test('goes to the second folder where the first cannot be written', async () => {
    const journal = await journalOf(facts);
    const barred = join(folder, 'barred');
    writeFileSync(barred, '');
    const second = join(folder, 'second');
    expect((await (await kept(journal, [barred, second])).nearest(4, 0))?.seq).toBe(4);
    expect(readdirSync(second)).toEqual(['4.facts']);
  });

  test('makes room for newer ones', async () => {
    const journal = await journalOf(Array.from({ length: STATE_FILES_MAX + 3 }, (_, i) => service('a', `app-${i}`)));
    for (let seq = 1; seq <= STATE_FILES_MAX + 3; seq++) await kept(journal, [folder], seq);
    expect(readdirSync(folder)).toHaveLength(STATE_FILES_MAX);
  });
});

describe('states of a journal in memory, and with PERIPLUS_NO_CACHE,', () => {
  test('are not kept', async () => {
    const path = join(folder, 'journal.db');
    const journal = await openJournal(path);
    expect(stateCacheOf(await journalOf(facts), {})).toBeUndefined();
    expect(stateCacheOf(journal, { PERIPLUS_NO_CACHE: '1' })).toBeUndefined();
    expect(stateCacheOf(journal, {})).toBeDefined();
    await journal.close();
  });
});

describe('a long journal without snapshots', () => {
  test('is folded once, and the next process starts from the kept states', async () => {
    vi.stubEnv('XDG_CACHE_HOME', join(folder, 'cache'));
    const path = join(folder, 'journal.db');
    const writing = await openJournal(path, { durability: 'off' });
    const versions = Array.from({ length: STATE_EVENTS_MAX + 500 }, (_, i) => service(`s-${i % 7}`, `app-${i}`));
    await writing.append(versions);
    await writing.close();
    const first = await openHistory(path, { keepStates: true });
    const wanted = stateHash(await first.at(versions.length));
    await first.close();
    expect(readdirSync(`${path}.states`).sort()).toEqual([`${STATE_EVENTS_MAX}.facts`, `${versions.length}.facts`]);
    const seen: number[] = [];
    const next = await openHistory(path, { keepStates: true, onProgress: seq => seen.push(seq) });
    expect(stateHash(await next.at(versions.length))).toBe(wanted);
    expect(seen).toEqual([]);
    expect((await next.at(STATE_EVENTS_MAX + 10)).seq).toBe(STATE_EVENTS_MAX + 10);
    expect(seen).toEqual([STATE_EVENTS_MAX + 10]);
    await next.close();
  });
});

describe('the key of a user', () => {
  test('is made once, readable for the user alone', async () => {
    const [one, other] = await Promise.all([keyIn(folder), keyIn(folder)]);
    expect(one).toHaveLength(32);
    expect([other, await keyIn(folder)]).toEqual([one, one]);
    expect(readdirSync(folder)).toEqual(['states.key']);
    expect(statSync(join(folder, 'states.key')).mode & 0o777).toBe(0o600);
  });

  test('is none where it is no key, or nothing can be kept', async () => {
    writeFileSync(join(folder, 'states.key'), 'short');
    expect(await keyIn(folder)).toBeUndefined();
    writeFileSync(join(folder, 'file'), '');
    expect(await keyIn(join(folder, 'file', 'below'))).toBeUndefined();
  });
});
