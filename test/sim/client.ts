// A simulated Envoy: asks for clusters and listeners, then for the endpoints and routes that they lead to, holds what
// it accepts, refuses when chance says so, and comes back with what it holds. It answers at once; the network decides
// when that arrives.

import type { JsonObject } from '../../src/core/base/json.ts';
import type { ClientRequest } from '../../src/xds/session/session.ts';
import { CDS, EDS, LDS, RDS } from '../../src/xds/session/types.ts';
import { type Content, decodeResponse } from './contents.ts';
import type { Wire } from './wire.ts';

export const TYPES = [CDS, EDS, LDS, RDS] as const;

export interface Holding {
  readonly version: string;
  readonly content: Content;
}

export class SimClient {
  readonly name: string;
  readonly protocol: 'sotw' | 'delta';
  readonly node: JsonObject;
  wire: Wire | undefined;
  readonly holds = new Map<string, Map<string, Holding>>(TYPES.map(type => [type, new Map()]));
  /** Names asked for beyond what clusters and listeners need. */
  readonly extra = new Map<string, Set<string>>([
    [EDS, new Set()],
    [RDS, new Set()],
  ]);
  /** Types whose last response was refused: what it holds of them is what it held before. */
  readonly refused = new Set<string>();
  refusals = 0;
  received = 0;
  /** What was last asked for on this stream; undefined: nothing yet. */
  readonly #asked = new Map<string, ReadonlySet<string>>();
  readonly #nonces = new Map<string, string>();
  #first = true;

  constructor(name: string, protocol: 'sotw' | 'delta', node: JsonObject) {
    this.name = name;
    this.protocol = protocol;
    this.node = node;
  }

  /** Everything it holds is asked for again on the new stream. */
  connect(wire: Wire): void {
    this.wire = wire;
    this.#asked.clear();
    this.#nonces.clear();
    this.refused.clear();
    this.#first = true;
    for (const type of TYPES) this.#subscribe(type);
  }

  /** What it wants of a type; undefined: everything. */
  wants(type: string): ReadonlySet<string> | undefined {
    if (type === CDS || type === LDS) return undefined;
    const parents = this.holds.get(type === EDS ? CDS : LDS)!;
    return new Set([...[...parents.values()].flatMap(({ content }) => content.needs), ...this.extra.get(type)!].sort());
  }

  /**
   * Reads one message, if there is one, and answers it. Mistakes on purpose: `removal-lost` keeps what is gone,
   * `routes-not-taken` says that it took listeners and routes over those that it has, and did not.
   */
  read(refuses: boolean, mistake?: 'removal-lost' | 'routes-not-taken'): boolean {
    const { wire } = this;
    const message = wire?.read();
    if (wire === undefined || message === undefined) return false;
    const { typeUrl, nonce, resources, removed } = decodeResponse(this.protocol, message);
    this.received++;
    this.#nonces.set(typeUrl, nonce);
    if (refuses) {
      this.refusals++;
      this.refused.add(typeUrl);
      this.#answer(typeUrl, nonce, `refused ${resources[0]?.content.name ?? 'nothing'}`);
      return true;
    }
    this.refused.delete(typeUrl);
    const wants = this.wants(typeUrl);
    const held =
      wants === undefined && this.protocol === 'sotw' ? new Map<string, Holding>() : this.holds.get(typeUrl)!;
    const stays = mistake === 'routes-not-taken' && (typeUrl === LDS || typeUrl === RDS);
    for (const one of resources) {
      if (stays && held.has(one.content.name)) continue;
      if (wants === undefined || wants.has(one.content.name)) held.set(one.content.name, one);
    }
    if (mistake !== 'removal-lost') for (const name of removed) held.delete(name);
    this.holds.set(typeUrl, held);
    this.#answer(typeUrl, nonce, undefined);
    if (typeUrl === CDS) this.#subscribe(EDS);
    if (typeUrl === LDS) this.#subscribe(RDS);
    return true;
  }

  /** Asks for, or stops asking for, a name that nothing leads to. */
  toggle(type: string, name: string): void {
    const extra = this.extra.get(type)!;
    if (!extra.delete(name)) extra.add(name);
    this.#subscribe(type);
  }

  #subscribe(type: string): void {
    const wants = this.wants(type);
    const asked = this.#asked.get(type);
    const now = wants ?? new Set<string>();
    const gone = [...this.holds.get(type)!.keys()].filter(name => wants !== undefined && !wants.has(name));
    for (const name of gone) this.holds.get(type)!.delete(name);
    if (asked === undefined && wants?.size === 0) return;
    if (asked !== undefined && (wants === undefined || sameNames(asked, now))) return;
    this.#asked.set(type, now);
    const nonce = this.protocol === 'sotw' ? (this.#nonces.get(type) ?? '') : '';
    const subscribe = [...now].filter(name => asked?.has(name) !== true);
    const unsubscribe = [...(asked ?? [])].filter(name => !now.has(name));
    const versions = [...this.holds.get(type)!].map(([name, { version }]) => [name, version] as const);
    const initial = new Map(asked === undefined ? versions : []);
    this.#send(
      this.protocol === 'sotw'
        ? { protocol: 'sotw', typeUrl: type, names: [...now], nonce }
        : { protocol: 'delta', typeUrl: type, subscribe, unsubscribe, initial, nonce },
    );
  }

  #answer(typeUrl: string, nonce: string, error: string | undefined): void {
    const refusal = error === undefined ? {} : { error };
    this.#send(
      this.protocol === 'sotw'
        ? { protocol: 'sotw', typeUrl, names: [...(this.#asked.get(typeUrl) ?? [])], nonce, ...refusal }
        : { protocol: 'delta', typeUrl, subscribe: [], unsubscribe: [], initial: new Map(), nonce, ...refusal },
    );
  }

  #send(request: ClientRequest): void {
    this.wire?.toServer.push({ node: this.#first ? this.node : undefined, request });
    this.#first = false;
  }
}

function sameNames(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every(name => b.has(name));
}
