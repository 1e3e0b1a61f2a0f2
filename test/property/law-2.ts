// Law 2 as functions: a random history of a mesh, the proxies that live through it, and the checks that what a client
// holds through pushes equals what a fresh client gets. One engine lives through the history, is asked at any points,
// by any of the connected proxies, and swept in between; proxies are told of a change only when the fold asked for a
// push. The test holds them for its seeds, the shards (test/long/shards.ts) for as many as there is time for.

import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Effect } from '../../src/core/effect.ts';
import type { Event, Unrecorded } from '../../src/core/event.ts';
import { fold } from '../../src/core/fold/fold-event.ts';
import { emptyState, type State } from '../../src/core/state.ts';
import { anyFact, numbered, someConnected } from '../../src/testing/facts.ts';
import { meshLife } from '../../src/testing/life.ts';
import { reordered } from '../../src/testing/perturbations.ts';
import type { Engine } from '../../src/xds/engine/engine.ts';
import { clusterSetHistory } from './cluster-set.ts';
import { allHoldings, freshEngine, type Holdings, holdingsOf, showHoldings } from './holdings.ts';

/** What the runtime does after an event: wait for more, push to those that something changed for, check, forget. */
type Then = 'wait' | 'push' | 'check' | 'sweep';
export interface Moment {
  readonly event: Event;
  readonly next: Then;
}

/** The life of a mesh, its stories at the same time. */
const order = fc.array(fc.nat({ max: 1_000 }), { maxLength: 100, size: 'max' });
const shuffled = ([facts, choices]: [readonly Unrecorded[], readonly number[]]): readonly Unrecorded[] =>
  reordered(facts, choices);

export function anyMoments(maxLength: number): fc.Arbitrary<readonly Moment[]> {
  const next = fc.oneof(
    { weight: 9, arbitrary: fc.constant<Then>('wait') },
    { weight: 3, arbitrary: fc.constant<Then>('push') },
    { weight: 1, arbitrary: fc.constantFrom<Then>('sweep', 'check') },
  );
  return fc
    .tuple(
      someConnected,
      fc.oneof(
        fc.array(anyFact, { minLength: 5, maxLength, size: 'max' }),
        fc.tuple(meshLife(4), order).map(shuffled),
        clusterSetHistory(maxLength),
      ),
    )
    .map(([first, facts]) => numbered([...first, ...facts]))
    .chain(events => fc.tuple(...events.map(event => next.map((then): Moment => ({ event, next: then })))));
}

/** The proxies of a control plane: what each holds, and who has to be looked at again. */
class Clients {
  state: State = emptyState;
  readonly #engine: Engine;
  readonly #asks: (effect: Effect) => boolean;
  readonly #held = new Map<string, Holdings>();
  readonly #due = new Set<string>();

  /** `asks`: whether an effect makes the proxies be looked at. */
  constructor(engine: Engine, asks: (effect: Effect) => boolean) {
    this.#engine = engine;
    this.#asks = asks;
  }

  live({ event, next }: Moment): void {
    const folded = fold(this.state, event, new Set());
    this.state = folded.state;
    if (folded.effects.some(this.#asks)) for (const connection of this.state.proxies.keys()) this.#due.add(connection);
    if (event.kind === 'ProxyConnected') this.#due.add(event.connection);
    if (next === 'push') this.push();
    if (next === 'sweep') this.#engine.sweep();
  }

  push(): void {
    for (const connection of this.#due) {
      const proxy = this.state.proxies.get(connection);
      if (proxy !== undefined) this.#held.set(connection, holdingsOf(this.#engine, this.state, proxy));
    }
    this.#due.clear();
  }

  held(): readonly string[] {
    this.push();
    const connected = [...this.state.proxies.keys()].map(
      connection => [connection, this.#held.get(connection)!] as const,
    );
    return showHoldings(new Map(connected));
  }
}

export const everyPush = (effect: Effect): boolean => effect.kind === 'Push';

/** Throws at the first check at which some proxy holds something else than it would get as a new client. */
export function checked(moments: readonly Moment[], asks = everyPush, makeEngine = freshEngine): void {
  const clients = new Clients(makeEngine(), asks);
  const check = (): void => assert.deepEqual(clients.held(), showHoldings(allHoldings(clients.state, makeEngine())));
  for (const moment of moments) {
    clients.live(moment);
    if (moment.next === 'check') check();
  }
  check();
}

/** Throws if something changed for a connected proxy although the fold requested no push. */
export function checkedSilence(events: readonly Event[], asks = everyPush): void {
  const engine = freshEngine();
  let state = emptyState;
  for (const event of events) {
    const before = state;
    const folded = fold(before, event, new Set());
    state = folded.state;
    if (folded.effects.some(asks) || sameInputs(before, state)) continue;
    assert.deepEqual(showHoldings(allHoldings(state, engine)), showHoldings(allHoldings(before, engine)));
  }
}

/** Facts about proxies change nothing that is generated for others. */
function sameInputs(a: State, b: State): boolean {
  return (
    a.objects === b.objects &&
    a.settings === b.settings &&
    a.mesh.effective === b.mesh.effective &&
    a.networks.effective === b.networks.effective
  );
}

export const anyEvents = (maxLength: number): fc.Arbitrary<readonly Event[]> =>
  anyMoments(maxLength).map(moments => moments.map(({ event }) => event));
