// The control plane of a simulation: everything that runtime/control-plane.ts starts except sockets and files, on a
// platter that outlives it. Killed, it neither writes, sends, nor hears a timer again.

import type { Event, Fact, Unrecorded } from '../../src/core/event.ts';
import { fold } from '../../src/core/fold/fold-event.ts';
import { defaultSettings } from '../../src/core/mesh/settings.ts';
import type { State } from '../../src/core/state.ts';
import type { Journal } from '../../src/journal/journal.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import { Snapshotter } from '../../src/runtime/snapshots.ts';
import { sinkOf, startWorld } from '../../src/runtime/start.ts';
import type { World } from '../../src/runtime/world.ts';
import { resourceSources } from '../../src/xds/assemble/types.ts';
import { Engine } from '../../src/xds/engine/engine.ts';
import { defaultScheduleSettings } from '../../src/xds/push/settings.ts';
import type { XdsHost } from '../../src/xds/serve/host.ts';
import { Hub } from '../../src/xds/serve/hub.ts';
import { defaultXdsLimits } from '../../src/xds/serve/limits.ts';
import type { Disk, Fate, Platter } from './disk.ts';
import type { FakeClock } from './fake-clock.ts';

export const SOURCE = 'file/Kubernetes';
export const SNAPSHOT_EVERY = 40;
/** States that are kept to look back at. */
const STATES_MAX = 500;

/** A mistake put in on purpose, to see that it is found. */
export type Canary =
  | 'receipt-skipped'
  | 'push-lost'
  | 'read-ahead'
  | 'seqs-shifted'
  | 'removal-lost'
  | 'routes-not-taken'
  | 'written-too-early';

export interface SimOptions {
  readonly platter: Platter;
  readonly clock: FakeClock;
  readonly fate: () => Fate;
  readonly boot: number;
  readonly strict: boolean;
  readonly canary: Canary | undefined;
  readonly log: (message: string) => void;
  /** One of several replicas: who records what the source says, made of the world and the clock of this process. */
  readonly replica?: (parts: ReplicaParts) => Pick<World, 'state' | 'recordNews'>;
  /** Of WorldOptions. */
  readonly restoredMin?: number;
}

export interface ReplicaParts {
  readonly world: World;
  readonly journal: Journal;
  readonly clock: Clock;
}

export class SimControlPlane {
  readonly hub: Hub;
  readonly world: World;
  readonly journal: Journal;
  /** Of the states that were served, by seq. */
  readonly states = new Map<number, State>();
  readonly #clock: MortalClock;
  readonly #sources: Pick<World, 'state' | 'recordNews'>;
  readonly #disk: Disk;
  readonly #snapshotter: Snapshotter;
  #ahead: ((state: State) => State) | undefined;
  ready: boolean;
  alive = true;

  private constructor(
    options: SimOptions,
    parts: { journal: Journal; disk: Disk; clock: MortalClock; world: World; snapshot: number },
  ) {
    const { world, journal, clock } = parts;
    this.world = world;
    this.journal = journal;
    this.#sources = options.replica?.(parts) ?? world;
    this.#disk = parts.disk;
    this.#clock = clock;
    this.#snapshotter = new Snapshotter(
      journal,
      parts.snapshot,
      (_level, message) => options.log(message),
      SNAPSHOT_EVERY,
    );
    this.ready = world.state.synced.has(SOURCE);
    this.states.set(world.state.seq, world.state);
    const engine = new Engine(resourceSources);
    const host = this.#host(options);
    // Streams are never too many and never too fast here: the gate has its own tests.
    const limits = { ...defaultXdsLimits, newStreamsPerSecond: 1_000, writesMax: 3 };
    const schedule = { ...defaultScheduleSettings, windowSize: 2 };
    this.hub = new Hub({ host, engine, limits, schedule });
    let pushes = 0;
    world.listen({
      onFolded: (state, request) => {
        this.#remember(state);
        if (options.replica !== undefined) this.ready = state.synced.has(SOURCE);
        if (options.canary !== 'push-lost' || ++pushes % 2 !== 0) this.hub.push(request);
        if (world.durable) this.#snapshotter.consider(state);
        if (state.seq % 64 === 0) engine.sweep();
      },
    });
  }

  static async start(options: SimOptions): Promise<SimControlPlane> {
    const clock = new MortalClock(options.clock);
    const opened = options.platter.open(() => clock.now(), options.fate);
    const journal = options.canary === 'seqs-shifted' ? shifted(opened.journal) : opened.journal;
    const { world, snapshot } = await startWorld(journal, {
      settings: defaultSettings,
      strict: options.strict,
      clock,
      log: (_level, message) => options.log(message),
      isReplica: options.replica !== undefined,
      restoredMin: options.restoredMin,
    });
    return new SimControlPlane(options, { journal, disk: opened.disk, clock, world, snapshot });
  }

  async submit(batch: readonly Fact[], canary: Canary | undefined): Promise<void> {
    if (canary === 'read-ahead') this.#ahead = state => ahead(state, batch);
    await sinkOf(this.#sources, SOURCE).submit(batch);
    this.#ahead = undefined;
  }

  async relist(all: readonly Fact[]): Promise<void> {
    await sinkOf(this.#sources, SOURCE).relist(all, []);
    this.ready = true;
  }

  /** kill -9. */
  kill(): void {
    this.alive = false;
    this.#clock.dead = true;
    this.#disk.switchOff();
  }

  /** SIGTERM. */
  async stop(): Promise<void> {
    await this.hub.stop(10_000);
    await this.world.stop();
    await this.#snapshotter.finish(this.world.state);
    await this.journal.close();
    this.kill();
  }

  #remember(state: State): void {
    this.states.set(state.seq, state);
    if (this.states.size > STATES_MAX) this.states.delete(this.states.keys().next().value!);
  }

  #host(options: SimOptions): XdsHost {
    let connections = 0;
    const record = (facts: readonly Unrecorded[]): Promise<State> =>
      this.world.record(options.canary === 'receipt-skipped' ? withoutSomeReceipts(facts, this.world.state) : facts);
    return {
      clock: this.#clock,
      record,
      state: () => this.#ahead?.(this.world.state) ?? this.world.state,
      ready: () => this.ready,
      connectionName: proxyId => `${proxyId}-${options.boot}-${++connections}`,
      log: (_level, message) => options.log(message),
    };
  }
}

class MortalClock implements Clock {
  readonly #clock: FakeClock;
  dead = false;

  constructor(clock: FakeClock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#clock.now();
  }

  after(ms: number, run: () => void): { cancel(): void } {
    if (this.dead) return { cancel: () => undefined };
    return this.#clock.after(ms, run);
  }
}

function withoutSomeReceipts(facts: readonly Unrecorded[], state: State): readonly Unrecorded[] {
  return facts.filter(fact => fact.kind !== 'Receipt' || state.seq % 5 !== 0);
}

/** What a reader sees that does not wait for the journal. */
function ahead(state: State, batch: readonly Fact[]): State {
  let next = state;
  for (const fact of batch) {
    const event: Event = { ...fact, source: SOURCE, seq: next.seq + 1, time: next.time };
    next = fold(next, event, new Set()).state;
  }
  return { ...next, seq: state.seq };
}

/** A journal that puts something of its own before what is recorded late. */
function shifted(journal: Journal): Journal {
  return new Proxy(journal, {
    get(target, key) {
      if (key !== 'append') {
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === 'function' ? value.bind(target) : value;
      }
      return async (batch: readonly Unrecorded[]) => {
        if (batch[0]?.kind !== 'Gap') return target.append(batch);
        await target.append([{ source: 'runtime', kind: 'TimerFired', name: 'gap' }]);
        return target.append(batch);
      };
    },
  });
}
