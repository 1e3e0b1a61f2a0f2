// Logs which proxies an EnvoyFilter breaks, when it does: after a change of EnvoyFilters the patches of every connected
// proxy are judged again, and what is new is a warning. The judgement needs whole views of proxies, so it is made in
// slices between the turns of the event loop, with the values that serving has made already.
//
// A proxy that refuses for another reason, or connects later, is logged by its NACK (reporter.ts).

import { setImmediate as nextTurn } from 'node:timers/promises';
import { SliceGrowth } from '../core/query/slice-growth.ts';
import type { Tracker } from '../core/query/tracker.ts';
import { patchFindings } from '../core/select/patch/patch-findings.ts';
import type { State } from '../core/state.ts';
import { proxiesLookedAt, verdictsOn } from '../offline/patch-verdicts.ts';
import { type PatchEffects, patchEffects } from '../xds/assemble/patch/effects.ts';
import { SLICE_WORK } from '../xds/serve/view-turns.ts';
import type { Log } from './log.ts';

/** Verdicts that are logged after one change. */
export const PATCH_LINES_MAX = 100;

export interface PatchWatchOptions {
  readonly tracker: Tracker;
  /** The newest state. */
  readonly state: () => State;
  readonly log: Log;
  /** An evaluation for a proxy waits for its next slice. */
  readonly isBusy?: () => boolean;
}

export class PatchWatch {
  readonly #options: PatchWatchOptions;
  #filters: State['objects']['EnvoyFilter'] | undefined;
  #said: ReadonlySet<string> = new Set();
  #running = false;

  constructor(options: PatchWatchOptions) {
    this.#options = options;
  }

  /** Call after every fold: it costs nothing while no EnvoyFilter changes. Never rejects. */
  async consider(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    try {
      while (this.#hasNews()) await this.#judge();
    } catch (error) {
      this.#options.log('warn', `patches were not judged: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      this.#running = false;
    }
  }

  #hasNews(): boolean {
    const { EnvoyFilter: filters } = this.#options.state().objects;
    const before = this.#filters;
    this.#filters = filters;
    return before !== filters && (filters.size > 0 || this.#said.size > 0);
  }

  async #judge(): Promise<void> {
    const { tracker, state, log } = this.#options;
    const effects: (readonly [string, PatchEffects])[] = [];
    for (const { connection, facets } of proxiesLookedAt(state())) {
      const found = await this.#effectsOn(connection);
      if (found !== undefined) effects.push([facets.id, found]);
    }
    const verdicts = verdictsOn(tracker.get(state(), undefined, patchFindings, ''), effects);
    const grave = verdicts.filter(({ code }) => code === 'patch-refused' || code === 'patch-left-out');
    const lines = grave.map(
      ({ key, path, message }) => `EnvoyFilter/${key}${path === '' ? '' : ` ${path}`} ${message}`,
    );
    const news = lines.filter(line => !this.#said.has(line));
    for (const line of news.slice(0, PATCH_LINES_MAX)) log('warn', line);
    if (news.length > PATCH_LINES_MAX) {
      log('warn', `${news.length - PATCH_LINES_MAX} more verdicts on patches are in /debug/analysisz`);
    }
    this.#said = new Set(lines);
  }

  /**
   * undefined: the proxy has left. A slice that does not suffice is followed by a larger one. None falls into the turn
   * of a slice for serving.
   */
  async #effectsOn(connection: string): Promise<PatchEffects | undefined> {
    const { tracker, state, isBusy } = this.#options;
    const growth = new SliceGrowth();
    for (;;) {
      do await nextTurn();
      while (isBusy?.() === true);
      const now = state();
      const proxy = now.proxies.get(connection);
      if (proxy === undefined) return undefined;
      const slice = tracker.within(growth.budget(SLICE_WORK), () => tracker.get(now, proxy, patchEffects, ''));
      if (slice.value !== undefined) return slice.value;
      growth.cut(slice);
    }
  }
}
