// How a replica withdraws whose state is doubted, and comes back: not ready, its proxies sent to the other replicas,
// its journal folded again, and snapshots of the doubted state replaced (replicas/integrity.ts decides when).

import { SNAPSHOT_FORMAT, snapshotOf } from '../core/fold/snapshot.ts';
import type { State } from '../core/state.ts';
import type { Journal } from '../journal/journal.ts';
import { foldHistory } from '../offline/load-state.ts';
import { Integrity } from '../replicas/integrity.ts';
import type { Peers } from '../replicas/peers.ts';
import type { Replica } from '../replicas/replica.ts';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';
import type { World } from './world.ts';

/** Wait for the proxies of a replica that withdraws; those that are left then are served on, and it tries again. */
export const DRAIN_MS_MAX = 30_000;
const DRAIN_LOOK_MS = 100;

export interface IntegrityParts {
  readonly id: string;
  readonly world: Pick<World, 'state' | 'goOnFrom'>;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly log: Log;
  readonly replica: () => Pick<Replica, 'pause' | 'resume'>;
  readonly peers: () => Pick<Peers, 'others'>;
}

export class ReplicaIntegrity {
  readonly watch: Integrity;
  readonly #parts: IntegrityParts;
  /** Ends a connection; set once there are any. */
  disconnect: (connection: string) => void = () => undefined;
  #withdrawn: string | undefined;

  constructor(parts: IntegrityParts) {
    this.#parts = parts;
    const { id, journal, log } = parts;
    this.watch = new Integrity({
      id,
      others: () => parts.peers().others(),
      foldAgain: async seq => (await foldHistory(journal, { fromSnapshot: false, to: seq })).state,
      withdraw: why => this.#withdraw(why),
      rejoin: from => this.#rejoin(from),
      say: log,
    });
  }

  /** Why no proxy is served; undefined: proxies are. */
  get withdrawn(): string | undefined {
    return this.#withdrawn;
  }

  async #withdraw(why: string): Promise<void> {
    const { replica, world, clock, log } = this.#parts;
    if (this.#withdrawn !== undefined) return;
    this.#withdrawn = why;
    log('error', `this replica serves no proxy: ${why}`);
    await replica().pause();
    const end = clock.now() + DRAIN_MS_MAX;
    while (world.state.proxies.size > 0 && clock.now() < end) {
      for (const connection of world.state.proxies.keys()) this.disconnect(connection);
      await new Promise<void>(resolve => clock.after(DRAIN_LOOK_MS, resolve));
    }
  }

  /**
   * Snapshots of the doubted state go first, so that a process that ends on the way begins with none of them. The state
   * that was folded again becomes the newest snapshot; then those go that were being written meanwhile.
   */
  async #rejoin(from: State): Promise<void> {
    const { world, replica, journal, log } = this.#parts;
    await this.#dropSnapshots();
    const state = await world.goOnFrom(from);
    try {
      await journal.snapshots.write({ seq: state.seq, format: SNAPSHOT_FORMAT, facts: snapshotOf(state) });
      await this.#dropSnapshots(state.seq);
    } catch (error) {
      log('warn', `no snapshot at ${state.seq}: ${error instanceof Error ? error.message : String(error)}`);
    }
    this.#withdrawn = undefined;
    replica().resume();
  }

  /** Those of events before `trusted`, which stays; default: all. */
  async #dropSnapshots(trusted = Number.POSITIVE_INFINITY): Promise<void> {
    const { journal } = this.#parts;
    const base = journal.base().seq;
    for (const { seq } of await journal.snapshots.list()) {
      // The one that a compacted journal begins with is what it was folded from.
      if (seq !== base + 1 && seq < trusted) await journal.snapshots.drop(seq);
    }
  }
}
