// A conforming client of a session: it applies responses and acknowledges them when the test says, and NACKs a response
// that has a resource with the version `bad`.

import type { Response, SessionEffect, Versions } from '../../src/xds/session/session.ts';
import { rulesOf } from '../../src/xds/session/types.ts';
import { type Config, World } from './world.ts';

export const BAD = 'bad';

interface Answering {
  readonly typeUrl: string;
  readonly nonce: string;
  readonly resources: Versions;
  readonly removed: readonly string[];
}

export class TestClient {
  readonly protocol: 'sotw' | 'delta';
  readonly config: Config;
  readonly holds = new Map<string, Map<string, string>>();
  /** undefined: everything. */
  readonly wants = new Map<string, Set<string> | undefined>();
  /** Responses it has read and not yet answered. */
  readonly inbox: Answering[] = [];
  refusals = 0;
  world: World;
  #streams = 0;
  #unread = 0;
  #reading = true;
  readonly #lastNonce = new Map<string, string>();

  constructor(protocol: 'sotw' | 'delta', config: Config) {
    this.protocol = protocol;
    this.config = config;
    this.world = new World(protocol, config, 'stream-0');
  }

  subscribe(typeUrl: string, names: readonly string[]): void {
    const before = this.wants.get(typeUrl);
    const known = this.wants.has(typeUrl);
    const wildcard = rulesOf(typeUrl).wildcard;
    this.wants.set(typeUrl, wildcard ? undefined : new Set(names));
    if (wildcard && known) return;
    if (this.protocol === 'sotw') {
      this.#ask(typeUrl, this.#lastNonce.get(typeUrl) ?? '');
      return;
    }
    const gone = [...(before ?? [])].filter(name => !names.includes(name));
    for (const name of gone) this.holds.get(typeUrl)?.delete(name);
    const added = names.filter(name => before?.has(name) !== true);
    this.#send({
      typeUrl,
      subscribe: known || !wildcard ? added : [],
      unsubscribe: gone,
      initial: new Map(),
      nonce: '',
    });
  }

  reconnect(): void {
    this.world = new World(this.protocol, this.config, `stream-${++this.#streams}`);
    this.inbox.length = 0;
    this.#unread = 0;
    this.#lastNonce.clear();
    for (const [typeUrl, names] of this.wants) {
      if (this.protocol === 'sotw') this.#ask(typeUrl, '');
      else {
        const initial = new Map(this.holds.get(typeUrl));
        this.#send({ typeUrl, subscribe: [...(names ?? [])], unsubscribe: [], initial, nonce: '' });
      }
    }
  }

  push(): void {
    this.#take(this.world.input({ kind: 'Push' }));
  }

  read(reading: boolean): void {
    this.#reading = reading;
    while (this.#reading && this.#unread > 0) {
      this.#unread--;
      this.#take(this.world.input({ kind: 'Sent' }));
    }
  }

  /** Answers the oldest response that waits; `refuses`: whatever is in it. */
  answer(refuses = false): void {
    const one = this.inbox.shift();
    if (one === undefined) return;
    const { typeUrl, nonce } = one;
    const refused = refuses || [...one.resources.values()].includes(BAD);
    if (refused) this.refusals++;
    else this.#apply(one);
    this.#lastNonce.set(typeUrl, nonce);
    const error = refused ? 'no' : undefined;
    if (this.protocol === 'sotw') this.#ask(typeUrl, nonce, error);
    else this.#send({ typeUrl, subscribe: [], unsubscribe: [], initial: new Map(), nonce, error });
  }

  settle(): void {
    this.read(true);
    while (this.inbox.length > 0) this.answer();
  }

  #apply({ typeUrl, resources, removed }: Answering): void {
    const names = this.wants.get(typeUrl);
    const whole = this.protocol === 'sotw' && rulesOf(typeUrl).wildcard;
    const held = whole ? new Map<string, string>() : (this.holds.get(typeUrl) ?? new Map<string, string>());
    // What was unsubscribed while the response was on its way is dropped.
    for (const [name, version] of resources) if (names === undefined || names.has(name)) held.set(name, version);
    for (const name of removed) held.delete(name);
    this.holds.set(typeUrl, held);
  }

  #ask(typeUrl: string, nonce: string, error?: string): void {
    const names = [...(this.wants.get(typeUrl) ?? [])];
    for (const name of this.holds.get(typeUrl)?.keys() ?? []) {
      if (this.wants.get(typeUrl) !== undefined && !names.includes(name)) this.holds.get(typeUrl)?.delete(name);
    }
    this.#take(this.world.input({ kind: 'Request', request: { protocol: 'sotw', typeUrl, names, nonce, error } }));
  }

  #send(request: {
    readonly typeUrl: string;
    readonly subscribe: readonly string[];
    readonly unsubscribe: readonly string[];
    readonly initial: Versions;
    readonly nonce: string;
    readonly error?: string | undefined;
  }): void {
    this.#take(this.world.input({ kind: 'Request', request: { protocol: 'delta', ...request } }));
  }

  #take(effects: readonly SessionEffect[]): void {
    for (const effect of effects) {
      if (effect.kind !== 'Respond') continue;
      this.inbox.push(this.#received(effect));
      if (this.#reading) this.#take(this.world.input({ kind: 'Sent' }));
      else this.#unread++;
    }
  }

  #received({ typeUrl, nonce, names, removed }: Response): Answering {
    const set = this.world.evaluated.sets.get(typeUrl) ?? new Map<string, string>();
    return { typeUrl, nonce, removed, resources: new Map(names.map(name => [name, set.get(name) ?? 'missing'])) };
  }
}
