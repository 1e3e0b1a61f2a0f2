// Notices that this replica's state is not what the log says: a bit that flipped in memory, or a mistake that one
// replica made. At each check point (an entry without facts) every replica takes the digest of its world, and beats
// carry it to the others. This decides; what withdrawing and coming back do to proxies, journal and leadership is the
// runtime's (runtime/replica-integrity.ts).
//
// Invariant: a replica that a majority contradicts serves no proxy until its mirror, folded again, gives what the
// majority has. Without a majority each replica folds its mirror again beside serving, and only one whose state differs
// from that withdraws: the chain of the journal vouches for the mirror, and nothing vouches for the memory.

import type { State } from '../core/state.ts';
import { worldDigestInTurns } from './world-digest.ts';

/** What a replica had at a check point. */
export interface Digest {
  readonly position: number;
  /** Hex sha256 (world-digest.ts). */
  readonly hash: string;
}

export interface Vote {
  readonly id: string;
  readonly digest?: Digest;
}

export interface IntegrityOptions {
  readonly id: string;
  /** The other replicas that are heard of. */
  readonly others: () => readonly Vote[];
  /** The state that the journal gives at a seq, folded from its beginning. */
  readonly foldAgain: (seq: number) => Promise<State>;
  /** Serves no proxy and writes nothing from now on. Resolves when no proxy is left. */
  readonly withdraw: (why: string) => Promise<void>;
  /** Goes on from a state that was folded again, with the events after it, and serves again. */
  readonly rejoin: (from: State) => Promise<void>;
  readonly say: (level: 'info' | 'warn' | 'error', message: string) => void;
}

export class Integrity {
  readonly #options: IntegrityOptions;
  #digest: Digest | undefined;
  /** At the check point of `#digest`. */
  #state: State | undefined;
  #doubted = 0;
  #last: Promise<void> = Promise.resolve();

  constructor(options: IntegrityOptions) {
    this.#options = options;
  }

  /** Of the newest check point, once it has been taken. */
  get digest(): Digest | undefined {
    return this.#digest;
  }

  /** The state at a check point, right after it was folded. */
  checkPoint(state: State): void {
    this.#then(async () => {
      const position = state.worldLog?.position ?? 0;
      if (position <= (this.#digest?.position ?? 0)) return;
      const hash = await worldDigestInTurns(state);
      this.#digest = { position, hash };
      this.#state = state;
      await this.#compare();
    });
  }

  /** Another replica was heard. */
  heard(): void {
    this.#then(() => this.#compare());
  }

  /** Resolves when nothing is being compared. */
  settled(): Promise<void> {
    return this.#last;
  }

  #then(run: () => Promise<void>): void {
    this.#last = this.#last.then(run).catch((error: unknown) => {
      this.#options.say('error', `the state could not be checked: ${error instanceof Error ? error.message : error}`);
    });
  }

  async #compare(): Promise<void> {
    const own = this.#digest;
    const state = this.#state;
    if (own === undefined || state === undefined || this.#doubted === own.position) return;
    const { id, others, say } = this.#options;
    const known = others();
    const voters = [{ id, digest: own }, ...known].filter(({ digest }) => digest?.position === own.position);
    const majority = majorityOf(voters, known.length + 1);
    if (majority === undefined && voters.length <= known.length) return;
    if (voters.every(({ digest }) => digest?.hash === own.hash)) return;
    this.#doubted = own.position;
    const odd = voters.filter(({ digest }) => digest?.hash !== (majority ?? own.hash)).map(voter => voter.id);
    say('error', `at position ${own.position} of the log the state of ${odd.join(', ')} is another one`);
    if (majority !== own.hash) await this.#doubt(own, state, majority);
  }

  async #doubt(own: Digest, state: State, majority: string | undefined): Promise<void> {
    const { withdraw, foldAgain, rejoin, say } = this.#options;
    const why = `its state at position ${own.position} of the log is not what the log says; its journal is folded again`;
    if (majority !== undefined) await withdraw(why);
    const again = await foldAgain(state.seq);
    const hash = await worldDigestInTurns(again);
    if (majority === undefined && hash === own.hash) return say('info', 'the state is what the journal gives');
    if (majority === undefined) await withdraw(why);
    if (majority !== undefined && hash !== majority) {
      return say('error', 'the journal gives it too: stop this replica, remove its mirror and start it again');
    }
    await rejoin(again);
    this.#digest = { ...own, hash };
    this.#state = again;
    return say('warn', `the state was mended by folding the journal again, and proxies are served again`);
  }
}

/** The hash that more than half of all replicas have. */
function majorityOf(voters: readonly Vote[], replicas: number): string | undefined {
  const counts = new Map<string, number>();
  for (const { digest } of voters) counts.set(digest?.hash ?? '', (counts.get(digest?.hash ?? '') ?? 0) + 1);
  return [...counts].find(([, count]) => count > replicas / 2)?.[0];
}
