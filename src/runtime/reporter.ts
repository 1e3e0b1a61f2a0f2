// Logs verdicts for the authors of configuration: refused objects with file:line:column, unreadable files, NACKs with
// Envoy's message and the objects that the resource was made from.

import type { Adapter } from '../adapters/adapter.ts';
import { type Origin, showOrigin } from '../core/base/problem.ts';
import type { Effect } from '../core/effect.ts';
import { Tracker } from '../core/query/tracker.ts';
import { policyFindings } from '../core/select/policy/policy-findings.ts';
import type { State } from '../core/state.ts';
import type { Nack } from '../xds/serve/host.ts';
import type { Log } from './log.ts';

/** Most problems of one object that are logged. */
export const PROBLEMS_SHOWN_MAX = 10;
/** Most objects that are named for a NACK. */
export const OBJECTS_SHOWN_MAX = 20;

/** Lines about what one change came to. */
export const VERDICT_LINES_MAX = 1_000;

type Verdict = Effect & { readonly kind: 'Verdict' };

interface Line {
  readonly level: 'info' | 'warn' | 'error';
  readonly verdict: Verdict;
  /** In the object; undefined: the object as a whole. */
  readonly path?: string;
  readonly text: string;
}

export class Reporter {
  readonly #log: Log;
  readonly #adapters: readonly Adapter[];
  readonly #tracker = new Tracker();
  #malformed: State['malformed'] | undefined;
  #policies: readonly unknown[] = [];
  #refusing: ReadonlySet<string> = new Set();
  #writing: Promise<void> = Promise.resolve();

  constructor(log: Log, adapters: readonly Adapter[]) {
    this.#log = log;
    this.#adapters = adapters;
  }

  folded(state: State, effects: readonly Effect[]): void {
    const verdicts = effects.filter(effect => effect.kind === 'Verdict');
    // One after the other: lines stay in the order of what they are about.
    if (verdicts.length > 0) this.#writing = this.#writing.then(() => this.#verdicts(verdicts));
    this.#unenforceable(state);
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

  /** Policies that refuse because they cannot be enforced, each when it begins. */
  #unenforceable(state: State): void {
    const { AuthorizationPolicy: policies, Service, ServiceEntry } = state.objects;
    const read = [policies, Service, ServiceEntry, state.mesh];
    if (policies.size === 0 || read.every((table, i) => table === this.#policies[i])) return;
    this.#policies = read;
    const refusing = new Map(
      this.#tracker
        .get(state, undefined, policyFindings, '')
        .flatMap(({ kind, key, effect, message }) =>
          effect === 'refuses' ? [[`${kind}/${key}`, message] as const] : [],
        ),
    );
    for (const [object, message] of refusing) {
      if (!this.#refusing.has(object)) this.#log('error', `${object} ${message}`);
    }
    this.#refusing = new Set(refusing.keys());
  }

  async #verdicts(verdicts: readonly Verdict[]): Promise<void> {
    const lines = verdicts.flatMap(linesOf);
    const shown = lines.slice(0, VERDICT_LINES_MAX);
    const places = await this.#placesOf(shown);
    shown.forEach(({ level, verdict, text }, i) => {
      const place = showOrigin(places[i] ?? verdict.origin);
      this.#log(level, `${place === '' ? '' : `${place}: `}${verdict.object}${text}`);
    });
    const more = lines.length - shown.length;
    if (more > 0) this.#log('error', `${more} more problems of that change are not logged; /debug/analysisz has all`);
  }

  /** Exact places of what is wrong, from the first adapter that knows any. */
  async #placesOf(lines: readonly Line[]): Promise<readonly (Origin | undefined)[]> {
    const wanted = lines.flatMap(({ verdict: { origin }, path }, i) =>
      origin === undefined || path === undefined ? [] : [{ i, origin, path }],
    );
    const places: (Origin | undefined)[] = [];
    for (const adapter of this.#adapters) {
      const left = wanted.filter(({ i }) => places[i] === undefined);
      if (left.length === 0 || adapter.locate === undefined) continue;
      const found = await adapter.locate(left).catch(() => []);
      for (const [at, { i }] of left.entries()) places[i] = found[at];
    }
    return places;
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
      if (reasons.length > 0 && isRead) this.#log('info', `${origin.file} can be read again, or is gone`);
    }
  }
}

function linesOf(verdict: Verdict): readonly Line[] {
  const { accepted, problems } = verdict;
  if (accepted && problems.length === 0) return [{ level: 'info', verdict, text: ' is accepted again' }];
  return problems.slice(0, PROBLEMS_SHOWN_MAX).map(({ path, message }) => {
    const what = path === '' ? message : `${path}: ${message}`;
    if (accepted) return { level: 'warn', verdict, path, text: `: ${what}` };
    const text = ` is refused: ${what}; the version accepted before, if any, stays in force`;
    return { level: 'error', verdict, path, text };
  });
}
