// Law 1: folding a journal twice gives equal state hashes, equal effects and byte-equal resources, and every receipt is
// reproduced. The histories go through a real journal (in memory), as JSON text, sealed and chained.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, type Json } from '../../src/core/base/json.ts';
import type { Fact } from '../../src/core/event.ts';
import type { State } from '../../src/core/state.ts';
import type { Journal } from '../../src/journal/journal.ts';
import { openMemoryJournal } from '../../src/journal/memory-journal.ts';
import { foldHistory, stateHash } from '../../src/offline/load-state.ts';
import { replay } from '../../src/offline/verify-receipts.ts';
import { anyFact, someConnected } from '../../src/testing/facts.ts';
import { CDS, LDS } from '../../src/xds/session/types.ts';
import { allHoldings, freshEngine, showHoldings } from './holdings.ts';
import { parameters } from './seed.ts';

type Said = { readonly source: string } & Fact;

const anyFacts = fc
  .tuple(someConnected, fc.array(anyFact, { maxLength: 40, size: 'max' }))
  .map(([first, facts]): readonly Said[] => [...first, ...facts]);

async function journalOf(facts: readonly Said[]): Promise<Journal> {
  let now = 1_000;
  const journal = openMemoryJournal({ clock: () => now++ });
  await journal.append(facts);
  return journal;
}

interface Outcome {
  readonly state: State;
  readonly hash: string;
  readonly effects: readonly string[];
  readonly resources: readonly string[];
}

async function foldOnce(journal: Journal): Promise<Outcome> {
  const effects: string[] = [];
  const { state } = await foldHistory(journal, {
    fromSnapshot: false,
    onEvent: (_before, _event, _after, caused) => {
      for (const effect of caused) effects.push(canonicalJson(plainly(effect)));
    },
  });
  return { state, hash: stateHash(state), effects, resources: showHoldings(allHoldings(state)) };
}

/** Maps and sets as lists in their own order, which counts. */
function plainly(value: unknown): Json {
  if (value instanceof Map || value instanceof Set) return [...value].map(plainly);
  if (Array.isArray(value)) return value.map(plainly);
  if (typeof value !== 'object' || value === null) return (value ?? null) as Json;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plainly(member)]));
}

const shown = ({ hash, effects, resources }: Outcome): object => ({ hash, effects, resources });

/** Subscriptions and receipts of all that is connected, as the server would record them now. */
async function recordReceipts(journal: Journal, spoil: (digest: string) => string): Promise<number> {
  const { state } = await foldHistory(journal, { fromSnapshot: false });
  const proxies = [...state.proxies.values()];
  const wildcard = { wildcard: true, subscribe: [], unsubscribe: [] };
  const types = [CDS, LDS];
  await journal.append(
    proxies.flatMap(({ connection }) =>
      types.map((typeUrl): Said => ({ source: 'xds', kind: 'ProxySubscribed', connection, typeUrl, ...wildcard })),
    ),
  );
  const after = (await foldHistory(journal, { fromSnapshot: false })).state;
  const engine = freshEngine();
  const receipts = proxies.flatMap(proxy =>
    types.map((typeUrl): Said => {
      const subscribed = after.proxies.get(proxy.connection)!;
      const held = engine.resourcesFor(after, subscribed, typeUrl, subscribed.subscriptions[typeUrl]!)!;
      const [connections, digest, count] = [[proxy.connection], spoil(held.digest), held.resources.size];
      return { source: 'xds', kind: 'Receipt', connections, typeUrl, stateSeq: after.seq, digest, count };
    }),
  );
  await journal.append(receipts);
  return receipts.length;
}

describe('law 1: replay', () => {
  it('gives equal state, effects and bytes in two folds of a journal', async () => {
    await fc.assert(
      fc.asyncProperty(anyFacts, async facts => {
        const journal = await journalOf(facts);
        expect(shown(await foldOnce(journal))).toEqual(shown(await foldOnce(journal)));
        await journal.close();
      }),
      parameters<[readonly Said[]]>(15),
    );
  });

  it('reproduces every receipt, independent of what is folded before and after', async () => {
    await fc.assert(
      fc.asyncProperty(anyFacts, fc.array(anyFact, { maxLength: 10 }), async (facts, later) => {
        const journal = await journalOf(facts);
        const sent = await recordReceipts(journal, digest => digest);
        await journal.append(later);
        const report = await replay(journal, { verify: true });
        expect(report).toMatchObject({ receipts: sent, reproduced: sent, different: 0, failures: [] });
        await journal.close();
      }),
      parameters<[readonly Said[], Said[]]>(15),
    );
  });

  it('canary: names a digest that no state gives', async () => {
    const [facts] = fc.sample(anyFacts, { numRuns: 1, seed: 1 });
    const journal = await journalOf(facts!);
    const sent = await recordReceipts(journal, digest => [...digest].reverse().join(''));
    const report = await replay(journal, { verify: true });
    expect(report.different).toBe(sent);
    expect(report.differences[0]?.typeUrl).toBe(CDS);
    await journal.close();
  });

  it('canary: gives another result for a history with one fact less', async () => {
    const [facts] = fc.sample(anyFacts, { numRuns: 1, seed: 2 });
    const [whole, less] = [await journalOf(facts!), await journalOf(facts!.slice(1))];
    expect(shown(await foldOnce(whole))).not.toEqual(shown(await foldOnce(less)));
    await Promise.all([whole.close(), less.close()]);
  });
});
