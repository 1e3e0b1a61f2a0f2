// What was sent last, read back from a position: the same receipts as a search through everything finds, in any order of
// questions, whatever was kept between them.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Unrecorded } from '../../src/core/event.ts';
import type { ProxyRecord } from '../../src/core/model/proxy.ts';
import { LastSent } from '../../src/history/last-sent.ts';
import { openMemoryJournal } from '../../src/journal/memory-journal.ts';
import { parameters } from '../property/seed.ts';

const TYPES = ['CDS', 'LDS'] as const;
const CONNECTIONS = ['a', 'b', 'c'] as const;

const anyFact: fc.Arbitrary<Unrecorded> = fc.oneof(
  fc.constant<Unrecorded>({ source: 'runtime', kind: 'TimerFired', name: 't' }),
  fc
    .tuple(fc.subarray([...CONNECTIONS], { minLength: 1 }), fc.constantFrom(...TYPES), fc.nat(9))
    .map(([connections, typeUrl, count]): Unrecorded => {
      return { source: 'xds', kind: 'Receipt', typeUrl, connections, stateSeq: 1, digest: 'd', count };
    }),
);

function proxies(connectedAt: number): readonly ProxyRecord[] {
  const subscriptions = Object.fromEntries(TYPES.map(type => [type, { wildcard: true, names: [] }]));
  return CONNECTIONS.map(connection => ({ connection, connectedAt, subscriptions }) as unknown as ProxyRecord);
}

function expected(facts: readonly Unrecorded[], to: number, lookBack: number, connectedAt: number): unknown {
  const floor = Math.max(1, connectedAt, to - lookBack + 1);
  const found = new Map<string, number>();
  facts.forEach((fact, i) => {
    if (fact.kind !== 'Receipt' || i + 1 < floor || i + 1 > to) return;
    for (const connection of fact.connections) found.set(`${connection} ${fact.typeUrl}`, i + 1);
  });
  return [...found].sort();
}

describe('the last receipts before a position', () => {
  it.each([1_000, 3])('are those that a search finds, with %d of them kept', async newestMax => {
    const question = fc.tuple(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 60 }), fc.nat(30));
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyFact, { minLength: 60, maxLength: 60 }),
        fc.array(question),
        async (facts, asked) => {
          const journal = openMemoryJournal();
          await journal.append(facts);
          const lastSent = new LastSent(journal, 7, newestMax);
          for (const [to, lookBack, connectedAt] of asked) {
            await lastSent.prepare(connectedAt, to);
            const { sent, since } = await lastSent.to(to, proxies(connectedAt), lookBack);
            const found = [...sent].map(([name, { seq }]) => [name, seq]).sort();
            expect(found).toEqual(expected(facts, to, lookBack, connectedAt));
            expect(found.every(([, seq]) => Number(seq) >= since)).toBe(true);
          }
          await journal.close();
        },
      ),
      parameters(60),
    );
  });
});
