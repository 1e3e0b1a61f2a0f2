// Makes the views of the proxies that will probably connect first (expected-proxies.ts) before `/ready` turns true.
// Otherwise the first client of a fresh control plane would wait for everything that its neighbours share, and for code
// that is not compiled yet.
//
// Invariant: results are the same with and without it. It makes ordinary memoised values in the engine that serves;
// nothing is recorded, and unused values are swept like any others. All limits are counts, so where the work ends
// depends on the mesh alone.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ProxyRecord, Subscription } from '../core/model/proxy.ts';
import type { Resource } from '../core/model/resource.ts';
import type { State } from '../core/state.ts';
import { allOf } from '../offline/generate.ts';
import type { Engine } from '../xds/engine/engine.ts';
import type { ResourceSet } from '../xds/engine/resource-set.ts';
import { endpointNames, extensionNames, routeNames } from '../xds/generate/common/watched-names.ts';
import type { Cluster, Listener } from '../xds/proto/types.gen.ts';
import { ViewTurns } from '../xds/serve/view-turns.ts';
import { CDS, ECDS, EDS, LDS, NDS, RDS } from '../xds/session/types.ts';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';
import type { Readiness } from './sources.ts';

/** After this many runs of queries and generators no further view is started: about ten seconds. */
export const WARM_UP_RUNS_MAX = 200_000;
/** Units of work in one tick: fewer than while serving (SLICE_WORK), as code is slow before it is compiled. */
export const WARM_UP_SLICE = 100;
/** Sweeps that are skipped while no proxy has connected: five minutes. */
export const WARM_UP_SWEEPS_MAX = 10;
/** Interval of progress lines. */
const PROGRESS_MS = 1_000;

export interface WarmUpOptions {
  readonly engine: Engine;
  /** The newest state. */
  readonly state: () => State;
  readonly clock: Clock;
  readonly log: Log;
  readonly runsMax?: number;
  /** False: no views are made, and readiness does not wait. */
  readonly enabled?: boolean;
  /** Called after the views are made, before `/ready` turns true. */
  readonly tidy?: () => void;
}

/** PILOT_ENABLE_WARM_UP; a value that cannot be parsed counts as not set. */
export function warmUpEnabled(env: Readonly<Record<string, string | undefined>>): boolean {
  return !['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(env.PILOT_ENABLE_WARM_UP ?? '');
}

export class WarmUp {
  readonly #options: WarmUpOptions;
  readonly #turns = new ViewTurns(WARM_UP_SLICE);
  readonly #names = new WeakMap<readonly unknown[], Map<unknown, readonly string[]>>();
  #sweepsLeft = 0;
  #stopped = false;
  #done: boolean;

  constructor(options: WarmUpOptions) {
    this.#options = options;
    this.#done = options.enabled === false;
  }

  get done(): boolean {
    return this.#done;
  }

  /** The readiness of the sources, combined with that of the warm-up. */
  readiness(ofSources: Readiness): Readiness {
    if (!ofSources.ready || this.#done) return ofSources;
    return { ready: false, text: 'not ready: the first views are being made\n' };
  }

  /**
   * Makes everything that each of the proxies would subscribe to. Resolves when that is done, reached its limit, or
   * failed.
   */
  async run(expected: () => Promise<readonly ProxyRecord[]>): Promise<void> {
    if (this.#done) return;
    try {
      await this.#views(await expected());
      this.#options.tidy?.();
    } catch (error) {
      this.#options.log(
        'warn',
        `making first views ended early: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
    this.#sweepsLeft = WARM_UP_SWEEPS_MAX;
    this.#done = true;
  }

  async #views(expected: readonly ProxyRecord[]): Promise<void> {
    const { engine, clock, log, runsMax = WARM_UP_RUNS_MAX } = this.#options;
    const { stats } = engine.tracker;
    const [runsBefore, started] = [stats.runs + stats.generated, clock.now()];
    const runs = (): number => stats.runs + stats.generated - runsBefore;
    let reportedAt = started;
    let done = 0;
    for (const proxy of expected) {
      if (this.#stopped || runs() >= runsMax) break;
      try {
        await this.#view(proxy);
      } catch (error) {
        // Only debug: the proxy is a guess, and a real one logs the error when it connects.
        log('debug', `first view of ${proxy.facets.id}: ${error instanceof Error ? error.message : String(error)}`);
      }
      done++;
      if (clock.now() - reportedAt >= PROGRESS_MS) {
        reportedAt = clock.now();
        log('info', `making first views: ${done} of ${expected.length}`);
      }
    }
    if (done > 0) log('info', `first views of ${done} expected proxies: ${runs()} runs in ${clock.now() - started} ms`);
  }

  stop(): void {
    this.#stopped = true;
  }

  /**
   * True: skip this sweep, so that the views still exist when the first proxy connects. Call it once for each sweep.
   */
  holdsSweep(connected: boolean): boolean {
    if (connected) this.#sweepsLeft = 0;
    return this.#sweepsLeft-- > 0;
  }

  /** Subscribes as a proxy does: clusters and listeners first, then the names in them. */
  async #view(proxy: ProxyRecord): Promise<void> {
    await this.#look(proxy, { [CDS]: everything, [LDS]: everything });
    const [endpoints, routes, extensions] = [
      this.#namesIn<Cluster>(proxy, CDS, endpointNames),
      this.#namesIn<Listener>(proxy, LDS, routeNames),
      this.#namesIn<Listener>(proxy, LDS, extensionNames),
    ];
    const sets = await this.#look(proxy, {
      [CDS]: everything,
      [EDS]: { wildcard: false, names: endpoints },
      [LDS]: everything,
      [RDS]: { wildcard: false, names: routes },
      ...(extensions.length === 0 ? {} : { [ECDS]: { wildcard: false, names: extensions } }),
      ...(proxy.metadata.DNS_CAPTURE === undefined ? {} : { [NDS]: everything }),
    });
    for (const set of sets.values()) {
      await nextTurn();
      // Made on first use.
      void set.digest;
    }
  }

  async #look(
    proxy: ProxyRecord,
    subscriptions: Readonly<Record<string, Subscription>>,
  ): Promise<ReadonlyMap<string, ResourceSet>> {
    const { engine, state } = this.#options;
    const look = engine.look();
    const asking = { ...proxy, subscriptions };
    return await this.#turns.run(allowance => look(allowance, state(), asking));
  }

  /** The identical list for proxies with equal clusters or listeners. */
  #namesIn<T extends object>(
    proxy: ProxyRecord,
    url: string,
    namesOf: (messages: readonly T[]) => readonly string[],
  ): readonly string[] {
    const { engine, state } = this.#options;
    const made: readonly Resource<object>[] = allOf(engine.tracker, state(), proxy, url);
    const all = this.#names.get(made) ?? new Map<unknown, readonly string[]>();
    const names = all.get(namesOf) ?? namesOf(made.map(({ message }) => message as T));
    this.#names.set(made, all.set(namesOf, names));
    return names;
  }
}

const everything: Subscription = { wildcard: true, names: [] };
