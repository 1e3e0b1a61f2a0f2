// Logs verdicts for the authors of configuration: refused objects with file:line:column, unreadable files, NACKs with
// Envoy's message and the objects that the resource was made from.

import type { Adapter } from '../adapters/adapter.ts';
import { type Origin, type Problem, showOrigin } from '../core/base/problem.ts';
import type { Effect } from '../core/effect.ts';
import type { State } from '../core/state.ts';
import type { Nack } from '../xds/serve/host.ts';
import type { Log } from './log.ts';

/** Most problems of one object that are logged. */
export const PROBLEMS_SHOWN_MAX = 10;
/** Most objects that are named for a NACK. */
export const OBJECTS_SHOWN_MAX = 20;

export class Reporter {
  readonly #log: Log;
  readonly #adapters: readonly Adapter[];
  #malformed: State['malformed'] | undefined;

  constructor(log: Log, adapters: readonly Adapter[]) {
    this.#log = log;
    this.#adapters = adapters;
  }

  folded(state: State, effects: readonly Effect[]): void {
    for (const effect of effects) if (effect.kind === 'Verdict') void this.#verdict(effect);
    if (state.malformed !== this.#malformed) this.#files(state);
    this.#malformed = state.malformed;
  }

  nacked(nack: Nack, objects: readonly string[]): void {
    const what =
      nack.resources.length === 0 ? nack.typeUrl.slice(nack.typeUrl.lastIndexOf('.') + 1) : nack.resources.join(', ');
    const shown = objects.slice(0, OBJECTS_SHOWN_MAX);
    const from =
      shown.length === 0 ? '' : `; made from ${shown.join(', ')}${objects.length > shown.length ? ', …' : ''}`;
    this.#log('error', `${nack.connection} refused ${what}: ${nack.message.trim()}${from}`);
  }

  async #verdict(effect: Effect & { readonly kind: 'Verdict' }): Promise<void> {
    const { object, origin, accepted, problems } = effect;
    if (accepted && problems.length === 0) {
      const place = origin === undefined ? '' : `${showOrigin(origin)}: `;
      return this.#log('info', `${place}${object} is accepted again`);
    }
    for (const problem of problems.slice(0, PROBLEMS_SHOWN_MAX)) {
      const place = await this.#placeOf(origin, problem);
      const path = problem.path === '' ? '' : `${problem.path}: `;
      if (accepted) this.#log('warn', `${place}${object}: ${path}${problem.message}`);
      else
        this.#log(
          'error',
          `${place}${object} is refused: ${path}${problem.message}; the version accepted before, if any, stays in force`,
        );
    }
    return undefined;
  }

  async #placeOf(origin: Origin | undefined, problem: Problem): Promise<string> {
    if (origin === undefined) return '';
    for (const adapter of this.#adapters) {
      const exact = await adapter.locate?.(origin, problem.path);
      if (exact !== undefined) return `${showOrigin(exact)}: `;
    }
    return `${showOrigin(origin)}: `;
  }

  #files(state: State): void {
    for (const [key, { origin, reasons, ignored = [] }] of state.malformed.entries()) {
      const before = this.#malformed?.get(key);
      if (before?.reasons !== reasons) for (const reason of reasons) this.#log('error', `${origin.file}:${reason}`);
      const known = new Set(before?.ignored);
      for (const one of ignored) if (!known.has(one)) this.#log('warn', `${origin.file}:${one}`);
    }
    for (const [key, { origin, reasons }] of this.#malformed?.entries() ?? []) {
      const isRead = (state.malformed.get(key)?.reasons ?? []).length === 0;
      if (reasons.length > 0 && isRead) this.#log('info', `${origin.file} can be read again`);
    }
  }
}
