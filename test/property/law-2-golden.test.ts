// Law 2 over the golden worlds, whose objects refer to each other far more than objects that are put together by chance:
// objects leave and come back, the mesh configuration too, in any order; a fresh client gets, and a fresh writer wants,
// what those hold that lived through it. Every kind of client takes part: sidecars, gateways, waypoints, ztunnels, gRPC.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Effect } from '../../src/core/effect.ts';
import type { Unrecorded } from '../../src/core/event.ts';
import { rawRef } from '../../src/core/fold/novelty.ts';
import { Tracker } from '../../src/core/query/tracker.ts';
import type { State } from '../../src/core/state.ts';
import { wishTable } from '../../src/core/wishes/table.ts';
import { type Collected, collect } from '../../src/offline/collect.ts';
import { foldFacts, proxyFacts } from '../../src/offline/generate.ts';
import { type Case, type CaseProxy, listCases, readCase } from '../conformance/layout.ts';
import { parameters } from './seed.ts';

const root = join(import.meta.dirname, '../conformance/golden');
const names = listCases(root, []);
const CHANGES_MAX = 12;

/** Which fact of the world leaves or comes back, and whether the clients are looked at after it. */
interface Change {
  readonly at: number;
  readonly looks: boolean;
}

const changes = fc.array(fc.record({ at: fc.nat({ max: 1_000 }), looks: fc.boolean() }), {
  minLength: 1,
  maxLength: CHANGES_MAX,
});
const everyPush = (effect: Effect): boolean => effect.kind === 'Push';

/** The fact that takes back another one; undefined: none does. */
function withdrawalOf(fact: Unrecorded): Unrecorded | undefined {
  const { source } = fact;
  if (fact.kind === 'MeshConfig' || fact.kind === 'MeshNetworks') return { source, kind: fact.kind, value: null };
  const ref = fact.kind === 'Add' ? rawRef(fact.object) : undefined;
  return ref === undefined ? undefined : { source, kind: 'Delete', ref };
}

function collectedBy(tracker: Tracker, state: State, asked: CaseProxy): Collected {
  const failed = (what: string, error: unknown): void => {
    throw new Error(`${what}: ${String(error)}`);
  };
  return collect({ tracker, state, proxy: state.proxies.get(asked.name)!, failed }, asked);
}

/** Throws where a client or the writer has something else than a fresh one; `asks`: an effect makes clients look. */
function checked({ facts, proxies }: Case, list: readonly Change[], asks = everyPush): void {
  const connections = proxies.flatMap(({ name, node }) => proxyFacts(name, node));
  const movable = facts.filter(fact => withdrawalOf(fact) !== undefined);
  const away = new Set<Unrecorded>();
  const tracker = new Tracker();
  let { state } = foldFacts([...facts, ...connections]);
  const held = new Map<string, Collected>();
  let isDue = true;
  const look = (): void => {
    tracker.get(state, undefined, wishTable, '');
    if (isDue) for (const asked of proxies) held.set(asked.name, collectedBy(tracker, state, asked));
    isDue = false;
  };
  look();
  for (const { at, looks } of list) {
    const fact = movable[at % movable.length]!;
    const comesBack = away.delete(fact);
    if (!comesBack) away.add(fact);
    const folded = foldFacts([comesBack ? fact : withdrawalOf(fact)!], state);
    isDue ||= folded.effects.some(asks);
    state = folded.state;
    if (looks) look();
  }
  look();
  const fresh = foldFacts([...facts.filter(fact => !away.has(fact)), ...connections]).state;
  for (const asked of proxies) assert.deepEqual(held.get(asked.name), collectedBy(new Tracker(), fresh, asked));
  const wishes = tracker.get(state, undefined, wishTable, '');
  assert.deepEqual(wishes, new Tracker().get(fresh, undefined, wishTable, ''));
}

const worlds = new Map<string, Case>();

function worldOf(name: string): Case {
  const world = worlds.get(name) ?? readCase(join(root, name));
  worlds.set(name, world);
  return world;
}

const lives = fc.tuple(fc.constantFrom(...names), changes);

describe('law 2 over the golden worlds', () => {
  it('holds for clients and statuses while objects leave and come back', () => {
    fc.assert(
      fc.property(lives, ([name, list]) => checked(worldOf(name), list)),
      parameters(20),
    );
  });

  it('canary: a missing push is detected', () => {
    const deaf = (effect: Effect): boolean => effect.kind === 'Push' && !effect.request.full;
    const property = fc.property(lives, ([name, list]) => checked(worldOf(name), list, deaf));
    expect(fc.check(property, { numRuns: 20, seed: 1, endOnFailure: true }).failed).toBe(true);
  });
});
