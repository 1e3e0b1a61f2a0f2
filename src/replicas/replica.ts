// One of several replicas: it folds the world log into its own journal, and while it leads it writes there what the
// sources say. The rest of the process sees a world as ever; only sinks of sources are given `recordNews` of here.

import type { State } from '../core/state.ts';
import type { Journal } from '../journal/journal.ts';
import { Leadership } from './leadership.ts';
import { Mirror, type MirrorClock, type MirrorWorld } from './mirror.ts';
import { type News, Proposals } from './proposals.ts';
import { isWorldFact } from './which-log.ts';
import type { Lease, WorldLog } from './world-log.ts';

export interface ReplicaOptions {
  /** Unique among the replicas. */
  readonly id: string;
  readonly log: WorldLog;
  readonly lease: Lease;
  readonly journal: Pick<Journal, 'toLines' | 'carriedFrom'>;
  readonly world: MirrorWorld;
  readonly clock: MirrorClock;
  readonly say: (level: 'info' | 'warn' | 'error', message: string) => void;
  /** Starts the sources. */
  readonly onLead: (term: number) => void;
  /** Stops them. */
  readonly onFollow: () => void;
  /** The furthest position that another replica says it has folded. Default: none is known. */
  readonly furthestPeer?: () => number;
  readonly newLogName?: () => string;
  /** See MirrorOptions. */
  readonly onCheckPoint?: (state: State) => void;
  readonly boot?: string;
}

export class Replica {
  readonly id: string;
  readonly mirror: Mirror;
  readonly #world: MirrorWorld;
  readonly #proposals: Proposals;
  readonly #leadership: Leadership;

  constructor(options: ReplicaOptions) {
    const {
      id,
      log,
      lease,
      journal,
      world,
      clock,
      say,
      onLead,
      onFollow,
      newLogName,
      boot,
      onCheckPoint,
      furthestPeer = () => 0,
    } = options;
    this.id = id;
    this.#world = world;
    this.mirror = new Mirror({ log, journal, world, clock, say, onCheckPoint });
    this.#leadership = new Leadership({
      ...{ id, lease, mirror: this.mirror, clock, say, onLead, onFollow, furthestPeer },
      lastInLog: () => log.last(),
      proposals: () => this.#proposals,
    });
    this.#proposals = new Proposals({
      ...{ id, log, mirror: this.mirror, journal, clock, newLogName, boot },
      state: () => world.state,
      term: () => this.#leadership.term,
    });
  }

  get state(): State {
    return this.#world.state;
  }

  /** The term in which this replica writes; undefined: it follows. */
  get term(): number | undefined {
    return this.#leadership.term;
  }

  /** As World.recordNews, for facts of the world. Rejects with NotLeading at a replica that follows. */
  recordNews(news: News): Promise<State> {
    return this.#proposals.recordNews(function* (state) {
      for (const fact of news(state)) {
        if (fact !== undefined && !isWorldFact(fact)) throw new Error(`a ${fact.kind} is no fact of the world`);
        yield fact;
      }
    });
  }

  /** Leads no more, until `resume`; what others write is folded on. */
  pause(): Promise<void> {
    return this.#leadership.pause();
  }

  resume(): void {
    this.#leadership.resume();
  }

  start(): void {
    this.mirror.start();
    this.#leadership.start();
  }

  async stop(): Promise<void> {
    this.#proposals.stop();
    await this.#leadership.stop();
    await this.mirror.stop();
  }
}
