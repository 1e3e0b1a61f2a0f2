// The journal's promises over random histories: what is read is what was appended, every changed byte is found and
// named, an export is the journal, a redacted one holds nothing private.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Json, JsonObject } from '../../src/core/base/json.ts';
import type { Unrecorded } from '../../src/core/event.ts';
import { exportJournal } from '../../src/journal/export.ts';
import { importJournal } from '../../src/journal/import.ts';
import type { Finding, Journal } from '../../src/journal/journal.ts';
import { openJournal } from '../../src/journal/open.ts';
import { Sqlite } from '../../src/journal/sqlite-driver.ts';
import { parameters } from './seed.ts';

const json: fc.Arbitrary<Json> = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;
const text = fc.string({ unit: 'binary', maxLength: 12, size: 'max' });
const object: fc.Arbitrary<JsonObject> = fc.dictionary(text, json, { maxKeys: 5 });
const source = fc.constantFrom('file/Kubernetes', 'kube/cluster-1', 'xds', 'runtime', 'file/größe');
const fact: fc.Arbitrary<Unrecorded> = fc.oneof(
  fc.record({ source, kind: fc.constantFrom('Add' as const, 'Update' as const), object }),
  fc.record({ source, kind: fc.constant('MeshConfig' as const), value: json }),
  fc.record({ source, kind: fc.constant('Synced' as const) }),
  fc.record({
    source,
    kind: fc.constant('Malformed' as const),
    origin: fc.record({ file: text, line: fc.nat() }),
    reasons: fc.array(text),
  }),
);
const batches = fc.array(fc.array(fact, { maxLength: 6 }), { minLength: 1, maxLength: 8 });

/** Long enough not to be there by chance. */
const privateText = fc.string({ unit: 'grapheme-ascii', minLength: 12, maxLength: 40 });
const secretFact: fc.Arbitrary<Unrecorded> = fc.record({
  source,
  kind: fc.constant('Add' as const),
  object: fc.record({
    apiVersion: fc.constant('v1'),
    kind: fc.constant('Secret'),
    metadata: fc.record({ name: text, namespace: text }),
    data: fc.dictionary(text, privateText.map(base64), { maxKeys: 3 }),
    stringData: fc.dictionary(text, fc.oneof(privateText, privateText.map(pem)), { maxKeys: 3 }),
  }),
});

test('a journal returns what was appended and verifies, for any batches and any reopening between', async () => {
  await fc.assert(
    fc.asyncProperty(batches, fc.nat({ max: 7 }), (all, reopenAfter) =>
      inDirectory(async path => {
        let journal = await openFast(path);
        const events: unknown[] = [];
        const given: unknown[] = [];
        for (const [index, batch] of all.entries()) {
          events.push(...(await journal.append(batch)));
          given.push(...batch);
          if (index !== reopenAfter) continue;
          await journal.close();
          journal = await openFast(path);
        }
        const read = await collect(journal.read({ from: 1 }));
        expect(read).toEqual(events);
        expect(read.map(({ seq: _seq, time: _time, ...rest }) => rest)).toEqual(JSON.parse(JSON.stringify(given)));
        expect(read.map(event => event.seq)).toEqual(given.map((_, index) => index + 1));
        expect((await journal.verify()).findings).toEqual([]);
        await journal.close();
      }),
    ),
    parameters(10),
  );
});

const COLUMNS = ['seq', 'time', 'source', 'kind', 'body', 'sums', 'hash'] as const;

interface Change {
  readonly column: (typeof COLUMNS)[number];
  readonly row: number;
  readonly at: number;
  readonly mask: number;
}

const change: fc.Arbitrary<Change> = fc.record({
  column: fc.constantFrom(...COLUMNS),
  row: fc.nat(),
  at: fc.nat(),
  mask: fc.integer({ min: 1, max: 255 }),
});

/** Counterexamples found before, replayed first: a position that another event has. */
const takenPosition: [readonly Unrecorded[], readonly Change[]] = [
  [
    { source: 'file/Kubernetes', kind: 'Synced' },
    { source: 'file/Kubernetes', kind: 'Add', object: {} },
  ],
  [{ column: 'seq', row: 0, at: 0, mask: 3 }],
];

test('a journal names the event in which any byte of any column changes', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fact, { minLength: 1, maxLength: 12 }),
      fc.array(change, { minLength: 1, maxLength: 8 }),
      (facts: readonly Unrecorded[], changes: readonly Change[]) =>
        inDirectory(async path => {
          const journal = await openFast(path);
          await journal.append(facts);
          await journal.close();
          for (const { column, row, at, mask } of changes) {
            const seq = (row % facts.length) + 1;
            const undo = changeByte(path, 'event', seq, column, at, mask);
            const findings = await verifyFile(path);
            expect(findings.length, `${column} of seq ${seq}`).toBeGreaterThan(0);
            expect(
              named(findings, `event.${column}`, seq),
              `${column} of seq ${seq}: ${JSON.stringify(findings)}`,
            ).toBe(true);
            undo();
          }
          expect(await verifyFile(path)).toEqual([]);
        }),
    ),
    parameters(10, [takenPosition]),
  );
});

const SNAPSHOT_COLUMNS = {
  snapshot: ['seq', 'format', 'time', 'facts', 'segments', 'chain', 'hash'],
  snapshot_segment: ['seq', 'number', 'body', 'hash'],
} as const;

test('a journal names the snapshot in which any byte changes', async () => {
  const places = Object.entries(SNAPSHOT_COLUMNS).flatMap(([table, columns]) =>
    columns.map(column => ({ table, column })),
  );
  await inDirectory(async path => {
    const journal = await openFast(path);
    await journal.append([{ source: 'x', kind: 'Synced' }]);
    const facts = Array.from({ length: 250 }, (_, n) => ({ source: 'x', fact: { n } }));
    await journal.snapshots.write({ seq: 1, format: 4, facts });
    await journal.close();
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...places),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        async ({ table, column }, at, mask) => {
          // 1 would become 2, which is there: the file itself does not have it.
          fc.pre(column !== 'number' || mask !== 3);
          const undo = changeByte(path, table, 1, column, at, mask);
          const findings = await verifyFile(path);
          undo();
          expect(findings.length, `${table}.${column}`).toBeGreaterThan(0);
          // A moved row shows where it is missing; elsewhere the column itself is named.
          const moved = column === 'seq' || column === 'number';
          if (!moved) expect(findings.map(finding => finding.column)).toContain(`${table}.${column}`);
          expect(findings[0]).toMatchObject({ kind: 'snapshot' });
        },
      ),
      parameters(60),
    );
    expect(await verifyFile(path)).toEqual([]);
  });
});

test('an import of an export verifies and is equal; of a redacted one it verifies and has no private value', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(fact, secretFact), { minLength: 1, maxLength: 10 }), facts =>
      inDirectory(async path => {
        const journal = await openFast(path);
        const events = await journal.append(facts);
        await importJournal(`${path}.copy`, exportJournal(journal, { redact: false }), { durability: 'off' });
        const copy = await openFast(`${path}.copy`, `${path}.key`);
        expect(copy.head()).toEqual(journal.head());
        expect(await collect(copy.read({ from: 1 }))).toEqual(events);
        expect((await copy.verify()).findings).toEqual([]);
        await copy.close();

        const redacted: string[] = [];
        for await (const line of exportJournal(journal, { redact: true })) redacted.push(line);
        await importJournal(`${path}.redacted`, redacted, { durability: 'off' });
        expect(await verifyFile(`${path}.redacted`)).toEqual([]);
        const whole = redacted.join('\n');
        for (const value of privateValues(facts)) expect(whole).not.toContain(JSON.stringify(value).slice(1, -1));
        await journal.close();
      }),
    ),
    parameters(10),
  );
});

test('canary: private values are found in an export that seals nothing', async () => {
  const facts: readonly Unrecorded[] = [
    { source: 'x', kind: 'Add', object: { kind: 'Secret', stringData: { k: 'plain-as-can-be' } } },
  ];
  const whole = JSON.stringify(facts);
  expect(privateValues(facts).some(value => whole.includes(value))).toBe(true);
});

/** Changes one byte of a value as it is stored; the returned function puts it back. */
function changeByte(path: string, table: string, seq: number, column: string, at: number, mask: number): () => void {
  const db = new Sqlite(path);
  db.defaultSafeIntegers(true);
  const where = table === 'snapshot_segment' ? 'seq = ? AND number = 1' : 'seq = ?';
  const before = db.prepare(`SELECT ${column} FROM ${table} WHERE ${where}`).pluck().get(seq) as
    | bigint
    | string
    | Buffer;
  // A position that another event has is one that the file cannot hold twice.
  const taken = (value: bigint | string | Buffer): boolean =>
    column === 'seq' && table === 'event' && db.prepare('SELECT 1 FROM event WHERE seq = ?').get(value) !== undefined;
  let after = flipped(before, at, mask);
  for (let other = mask; taken(after); after = flipped(before, at, other)) other = (other % 255) + 1;
  const set = typeof before === 'string' ? 'CAST(? AS TEXT)' : '?';
  const rowid = db.prepare(`SELECT rowid FROM ${table} WHERE ${where}`).pluck().get(seq) as bigint;
  db.prepare(`UPDATE ${table} SET ${column} = ${set} WHERE ${where}`).run(after, seq);
  db.close();
  return () => {
    const again = new Sqlite(path);
    again.defaultSafeIntegers(true);
    const moved = column === 'seq' && table !== 'snapshot_segment' ? (after as bigint) : rowid;
    again.prepare(`UPDATE ${table} SET ${column} = ? WHERE rowid = ?`).run(before, moved);
    again.close();
  };
}

function flipped(value: bigint | string | Buffer, at: number, mask: number): bigint | Buffer {
  if (typeof value === 'bigint') return value ^ (BigInt(mask) << BigInt((at % 6) * 8));
  const bytes = Buffer.from(value as string);
  // An empty text has no byte to change: it gets one.
  if (bytes.length === 0) return Buffer.from([mask]);
  bytes[at % bytes.length] = bytes[at % bytes.length]! ^ mask;
  return bytes;
}

function named(findings: readonly Finding[], column: string, seq: number): boolean {
  return findings.some(
    finding =>
      finding.seq === seq && (finding.column === column || (column === 'event.seq' && finding.kind === 'lost-tail')),
  );
}

async function verifyFile(path: string): Promise<readonly Finding[]> {
  const journal = await openJournal(path, { readonly: true });
  const { findings } = await journal.verify();
  await journal.close();
  return findings;
}

function privateValues(facts: readonly Unrecorded[]): readonly string[] {
  return facts.flatMap(each => {
    const { data, stringData } = ((each as { object?: JsonObject }).object ?? {}) as {
      data?: Record<string, string>;
      stringData?: Record<string, string>;
    };
    const isSecret = (each as { object?: JsonObject }).object?.kind === 'Secret';
    return isSecret ? [...Object.values(data ?? {}), ...Object.values(stringData ?? {})] : [];
  });
}

function openFast(path: string, keyFile?: string): Promise<Journal> {
  return openJournal(path, { durability: 'off', ...(keyFile === undefined ? {} : { keyFile }) });
}

async function collect<A>(pages: AsyncIterable<readonly A[]>): Promise<A[]> {
  const found: A[] = [];
  for await (const page of pages) found.push(...page);
  return found;
}

async function inDirectory(work: (path: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'periplus-journal-'));
  try {
    await work(join(directory, 'j.db'));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function base64(value: string): string {
  return Buffer.from(value, 'utf8').toString('base64');
}

function pem(value: string): string {
  return `-----BEGIN PRIVATE KEY-----\n${base64(value)}\n-----END PRIVATE KEY-----\n`;
}
