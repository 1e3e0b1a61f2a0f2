// The journal over a store whose content the test makes: what no append would store, and more than a test can append.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/core/base/json.ts';
import { segmentHash, snapshotHash } from '../../../src/journal/chain.ts';
import { JournalOnStore } from '../../../src/journal/journal-on-store.ts';
import { MemoryStore } from '../../../src/journal/memory-store.ts';
import { SEGMENT_CHARS_MAX, segmentsOf, segmentText } from '../../../src/journal/segments.ts';
import type { Group, Row, StoredHead } from '../../../src/journal/store.ts';
import { Vault } from '../../../src/journal/vault.ts';
import { added, all } from './helpers.ts';

const VALUE = 'hunter2';
const PLAIN: JsonObject = { kind: 'Secret', metadata: { name: 's' }, data: { k: VALUE } };
const journalOn = (store: MemoryStore): JournalOnStore =>
  new JournalOnStore(store, new Vault({ keyFile: undefined, recorded: undefined, readonly: false }), () => 1);

/** As an import of an export that somebody wrote leaves it. */
async function withPlainSecrets(): Promise<MemoryStore> {
  const store = new MemoryStore();
  const body = JSON.stringify({ object: PLAIN });
  await store.commit({ firstSeq: 1, rows: [[1, 'x', 'Add', body]], keyCheck: undefined });
  const [segment] = [...segmentsOf([JSON.stringify({ source: 'x', fact: { kind: 'Add', object: PLAIN } })])];
  const hash = segmentHash(segment!.body);
  await store.writeSegment(1, { number: 1, body: segment!.body, hash }, undefined);
  const columns = { seq: 1, format: 1, time: 1, facts: 1, segments: 1, chain: store.hashAt(1)! };
  await store.writeSnapshot({ ...columns, hash: snapshotHash(columns, [hash]) });
  return store;
}

describe('a private value that is stored in the clear', () => {
  it('is redacted all the same, of events and of snapshots', async () => {
    const journal = journalOn(await withPlainSecrets());
    const snapshot = await journal.snapshots.read(1, 'redacted');
    const shown = [await all(journal.records({ from: 1, secrets: 'redacted' })), await all(snapshot!.facts)];
    for (const one of shown) {
      expect(one).toHaveLength(1);
      expect(JSON.stringify(one)).not.toContain(VALUE);
      expect(JSON.stringify(one)).toContain('redacted-');
    }
  });

  it('is read as it is, and exported as it is', async () => {
    const journal = journalOn(await withPlainSecrets());
    expect(await all(journal.read({ from: 1 }))).toMatchObject([{ object: PLAIN }]);
    for (const secrets of ['sealed', 'unsealed'] as const) {
      const facts = await all((await journal.snapshots.read(1, secrets))!.facts);
      expect(facts).toEqual([{ source: 'x', fact: { kind: 'Add', object: PLAIN } }]);
    }
  });
});

describe('the first private value of a journal', () => {
  it('has the check of its key recorded with its event, and with no later one', async () => {
    const checks: (string | undefined)[] = [];
    class Listening extends MemoryStore {
      override commit(group: Group): Promise<StoredHead> {
        checks.push(group.keyCheck);
        return super.commit(group);
      }
    }
    const journal = journalOn(new Listening());
    await journal.append([added('a')]);
    await journal.append([{ source: 'x', kind: 'Add', object: PLAIN }]);
    await journal.append([added('b')]);
    expect(checks).toEqual([undefined, journal.keyCheck(), undefined]);
    expect(journal.keyCheck()).toMatch(/^[0-9a-f]{32}$/);
  });

  it('has the check of its key recorded, also if it stands in a snapshot', async () => {
    const journal = journalOn(new MemoryStore());
    await journal.append([added('a')]);
    expect(journal.keyCheck()).toBeUndefined();
    await journal.snapshots.write({ seq: 1, format: 1, facts: [{ source: 'x', fact: { object: PLAIN } }] });
    expect(journal.keyCheck()).toMatch(/^[0-9a-f]{32}$/);
  });
});

/** Says that it has many events, and gives each that is asked for. */
class LongStore extends MemoryStore {
  readonly #length: number;

  constructor(length: number) {
    super();
    this.#length = length;
  }

  override head(): StoredHead {
    return { ...super.head(), seq: this.#length };
  }

  #between(from: number, to: number): readonly Row[] {
    return Array.from({ length: to - from + 1 }, (_, i) => ({
      seq: from + i,
      time: 1,
      source: 'x',
      kind: 'Synced',
      body: '{}',
      hash: '',
    }));
  }

  override ofKinds(_kinds: readonly string[], from: number, to: number): readonly Row[] {
    return this.#between(from, to);
  }

  override containing(_text: string, from: number, to: number): readonly Row[] {
    return this.#between(from, to);
  }

  override seqsOf(_kind: string, from: number, to: number): readonly number[] {
    return this.#between(from, to).map(({ seq }) => seq);
  }
}

describe('a long journal', () => {
  const length = 45_000;
  const every = (from: number, to: number): readonly number[] =>
    Array.from({ length: to - from + 1 }, (_, i) => from + i);

  it('is searched in parts that leave no event out and name none twice', async () => {
    const journal = journalOn(new LongStore(length));
    const seqs = async (rows: AsyncIterable<readonly { readonly seq: number }[]>): Promise<readonly number[]> =>
      (await all(rows)).map(({ seq }) => seq);
    expect(await seqs(journal.records({ from: 1, kind: 'Synced' }))).toEqual(every(1, length));
    expect(await seqs(journal.records({ from: 7, to: length - 7, containing: '{' }))).toEqual(every(7, length - 7));
    expect(await journal.seqsOf('Synced', { from: 1 })).toEqual(every(1, length));
    expect(await journal.seqsOf('Synced', { from: 7, to: length - 7 })).toEqual(every(7, length - 7));
  });
});

describe('the records of a kind', () => {
  it('are those whose kind has that name, down to a range of one', async () => {
    const store = new MemoryStore();
    const rows = ['Sync', 'Synced', 'Synced'].map(kind => [1, 'x', kind, '{}'] as const);
    await store.commit({ firstSeq: 1, rows, keyCheck: undefined });
    const journal = journalOn(store);
    expect((await all(journal.records({ from: 1, kind: 'Synced' }))).map(({ seq }) => seq)).toEqual([2, 3]);
    expect((await all(journal.records({ from: 3, to: 3, kind: 'Synced' }))).map(({ seq }) => seq)).toEqual([3]);
  });
});

describe('what was acknowledged and is not in the store', () => {
  class Behind extends MemoryStore {
    readonly #acknowledged: number | undefined;

    constructor(acknowledged: number | undefined) {
      super();
      this.#acknowledged = acknowledged;
    }

    override acknowledged(): number | undefined {
      return this.#acknowledged;
    }
  }

  it.each([
    [undefined, undefined],
    [0, undefined],
    [1, { from: 1, to: 1 }],
    [3, { from: 1, to: 3 }],
  ])('is lost: with %j acknowledged of an empty store', async (acknowledged, lost) => {
    const journal = journalOn(new Behind(acknowledged));
    expect(journal.lost()).toEqual(lost);
    // Later events get these seqs; the journal has lost events all the same.
    await journal.append([added('a')]);
    expect(journal.lost()).toEqual(lost);
  });
});

describe('a segment of a snapshot', () => {
  const where = { path: 'j.db', seq: 7 };

  it('is the text itself in older journals', () => {
    expect(segmentText(Buffer.from('["wörd"]'), where)).toBe('["wörd"]');
    const [segment] = segmentsOf(['"wörd"']);
    expect(segmentText(Buffer.from(segment!.body), where)).toBe('["wörd"]');
  });

  it('ends with the fact that brings it to its limit', () => {
    const facts = ['x'.repeat(SEGMENT_CHARS_MAX), '1', '2'];
    expect([...segmentsOf(facts)].map(segment => segment.facts)).toEqual([1, 2]);
  });

  it('that cannot be inflated is damage, with its place', () => {
    expect(() => segmentText(Buffer.from('AAAA'), where)).toThrow(
      expect.objectContaining({
        code: 'damaged',
        message: expect.stringMatching(
          /^j\.db, seq 7: a segment of the snapshot cannot be inflated \(Z_DATA_ERROR.*\)$/,
        ) as string,
      }),
    );
  });
});
