// A session and its surroundings: generation as plain maps, and subscriptions as the recorded facts give them (not as
// the session remembers them), so that a missing or wrong fact shows.

import {
  openSession,
  type Session,
  type SessionEffect,
  type SessionInput,
  type Versions,
  type View,
} from '../../src/xds/session/session.ts';
import { step } from '../../src/xds/session/step.ts';

export interface Recorded {
  readonly wildcard: boolean;
  readonly names: ReadonlySet<string>;
}

/** typeUrl → resource name → version; a type that is missing cannot be served. */
export type Config = Map<string, Map<string, string>>;

export class World {
  session: Session;
  readonly config: Config;
  /** What responses are made of. */
  evaluated: View = { stateSeq: 0, sets: new Map() };
  readonly recorded = new Map<string, Recorded>();
  #seq = 1;
  #viewOf: (typeUrl: string, set: Versions) => Versions;

  constructor(protocol: 'sotw' | 'delta', config: Config, stream = 's', viewOf = (_: string, set: Versions) => set) {
    this.session = openSession(protocol, stream);
    this.config = config;
    this.#viewOf = viewOf;
  }

  /** Every effect but `Evaluate`, which is answered at once. */
  input(input: SessionInput): SessionEffect[] {
    const shown: SessionEffect[] = [];
    const inputs: SessionInput[] = [input];
    while (inputs.length > 0) {
      const [next, effects] = step(this.session, inputs.shift()!);
      this.session = next;
      for (const effect of effects) {
        if (effect.kind === 'Subscribed') this.#record(effect);
        if (effect.kind === 'Evaluate') {
          this.evaluated = this.view();
          inputs.push({ kind: 'Evaluated', evaluation: effect.evaluation, view: this.evaluated });
        } else shown.push(effect);
      }
    }
    return shown;
  }

  changed(): void {
    this.#seq++;
  }

  view(): View {
    const sets = new Map<string, Versions>();
    for (const [typeUrl, subscription] of this.recorded) {
      const set = this.expected(typeUrl, subscription);
      if (set !== undefined) sets.set(typeUrl, set);
    }
    return { stateSeq: this.#seq, sets };
  }

  /** What a client with that subscription has to hold, in name order. */
  expected(typeUrl: string, subscription: Recorded): Versions | undefined {
    const all = this.config.get(typeUrl);
    if (all === undefined) return undefined;
    const wanted = [...all].filter(([name]) => subscription.wildcard || subscription.names.has(name));
    return this.#viewOf(typeUrl, new Map(wanted.sort(([a], [b]) => (a < b ? -1 : 1))));
  }

  #record(fact: SessionEffect & { readonly kind: 'Subscribed' }): void {
    const names = new Set(this.recorded.get(fact.typeUrl)?.names ?? []);
    for (const name of fact.subscribe) names.add(name);
    for (const name of fact.unsubscribe) names.delete(name);
    this.recorded.set(fact.typeUrl, { wildcard: fact.wildcard, names });
    this.#seq++;
  }
}
