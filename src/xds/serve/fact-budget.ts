// What clients may make the journal grow by: characters of facts a minute, for each stream and for each address.
// Everything that a client sends and that is recorded (its node, its subscriptions, its refusals) is charged before it
// is recorded; a client past its budget is ended, and what it had stays recorded as it is.

import type { HostClock } from './host.ts';

/** Of one stream: some subscriptions to tens of thousands of names, or thousands of small ones. */
export const STREAM_CHARS_PER_MINUTE = 8 * 1024 * 1024;
/**
 * Of all streams of one address, such as a gateway or a balancer in front of thousands of proxies. One that starts in a
 * mesh of 500 services is charged some 40,000, and what it changes in a minute comes on top.
 */
export const PEER_CHARS_PER_MINUTE = 256 * 1024 * 1024;
/** A fact is charged at least this. */
export const FACT_CHARS_MIN = 1_024;
/** A node without its extensions; Istio's has a few thousand. */
export const NODE_CHARS_MAX = 512 * 1024;
/** The extensions that a node lists; stock Envoy's list has 100,000. */
export const EXTENSIONS_CHARS_MAX = 512 * 1024;
/** Of INSTANCE_IPS: a pod has two addresses, a machine one or two an interface. Each is parsed and compared. */
export const ADDRESSES_CHARS_MAX = 16 * 1024;
export const NODE_ID_CHARS_MAX = 1_024;
/** What is kept of the message of a refusal. */
export const NACK_CHARS_MAX = 16 * 1024;

const MINUTE_MS = 60_000;

/** Why a client is past its budget; undefined while it is not. */
export type Charge = (chars: number) => string | undefined;

export class FactBudget {
  readonly #clock: HostClock;
  readonly #overBudget: (peer: string, why: string) => void;
  #minute = Number.NaN;
  readonly #peers = new Map<string, number>();
  readonly #told = new Set<string>();
  /** Since the start. */
  readonly stats = { charged: 0, refused: 0 };

  /** `overBudget`: once a minute for each address. */
  constructor(clock: HostClock, overBudget: (peer: string, why: string) => void) {
    this.#clock = clock;
    this.#overBudget = overBudget;
  }

  /** The charges of one stream. */
  stream(peer: string): Charge {
    let minute = Number.NaN;
    let spent = 0;
    return chars => {
      const now = this.#minuteNow();
      if (minute !== now) [minute, spent] = [now, 0];
      const cost = Math.max(chars, FACT_CHARS_MIN);
      const before = this.#peers.get(peer) ?? 0;
      const why =
        spent + cost > STREAM_CHARS_PER_MINUTE
          ? `the stream makes the journal grow by more than ${mebibytes(STREAM_CHARS_PER_MINUTE)} MiB a minute`
          : before + cost > PEER_CHARS_PER_MINUTE
            ? `streams of ${peer} make the journal grow by more than ${mebibytes(PEER_CHARS_PER_MINUTE)} MiB a minute`
            : undefined;
      if (why !== undefined) return this.#refuse(peer, why);
      spent += cost;
      this.#peers.set(peer, before + cost);
      this.stats.charged += cost;
      return undefined;
    };
  }

  #refuse(peer: string, why: string): string {
    this.stats.refused++;
    if (!this.#told.has(peer)) this.#overBudget(peer, why);
    this.#told.add(peer);
    return why;
  }

  #minuteNow(): number {
    const minute = Math.floor(this.#clock.now() / MINUTE_MS);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#peers.clear();
      this.#told.clear();
    }
    return minute;
  }
}

function mebibytes(chars: number): number {
  return chars / 1024 / 1024;
}

/** Characters of names as a fact lists them. */
export function namesChars(names: readonly string[]): number {
  let chars = 0;
  for (const name of names) chars += name.length + 3;
  return chars;
}
