// What the thread of states does in spare time, so that the first visit of a view and of a moment is as quick as the
// later ones: it makes the newest state, asks each view's question there once, which loads what the answer needs and
// lets the compiler see it, and then keeps states along the journal, the longest ways first.
//
// Invariant: answers do not depend on it. What it makes is memoised as if it had been asked for.

import { objectName } from '../../core/model/object.ts';
import type { State } from '../../core/state.ts';
import { proxiesAt } from '../../history/proxies.ts';
import type { Asked, Question } from './question.ts';
import type { Reader } from './reader.ts';
import type { SpareTime } from './spare-time.ts';
import { PATIENT_MS_MAX } from './spare-time.ts';

/** Ways that are shortened before anything is asked about a state; shorter ones after the first question. */
const AHEAD_EVENTS_MIN = 8_192;

type Questions = Readonly<Record<string, Question<Reader>>>;
/** Path and query. */
export type Rehearsal = readonly [path: string, query: Readonly<Record<string, string>>];

export interface PreparingSetup {
  readonly reader: Reader;
  readonly questions: Questions;
  readonly spareTime: Pick<SpareTime, 'work' | 'answered'>;
  /** Keeps states along the journal: memory and work that a control plane beside does not spare. */
  readonly isAlong: boolean;
}

export class Preparing {
  readonly #setup: PreparingSetup;
  #rehearsals: Rehearsal[] | undefined;
  #longEnough = AHEAD_EVENTS_MIN;
  #isRunning = false;

  constructor(setup: PreparingSetup) {
    this.#setup = setup;
  }

  /** The newest moment, which is asked for first, and few others: perhaps nothing is asked about states. */
  ahead(): void {
    if (!this.#isRunning) void this.#run();
  }

  /** Something was asked about a state, so more will be. */
  all(): void {
    this.#longEnough = 0;
    this.ahead();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    await this.#setup.spareTime.work(() => this.#slice(), PATIENT_MS_MAX);
    this.#isRunning = false;
  }

  /** False: there is nothing left to do. */
  async #slice(): Promise<boolean> {
    const { isAlong, spareTime } = this.#setup;
    const { history } = this.#setup.reader;
    if (this.#rehearsals === undefined) {
      this.#rehearsals = [];
      this.#rehearsals = rehearsalsAt(await history.at(history.head().seq, spareTime.answered));
      return true;
    }
    const next = this.#rehearsals.shift();
    if (next !== undefined) {
      await this.#rehearse(next);
      return true;
    }
    if (!isAlong) return false;
    const longEnough = this.#longEnough;
    return (await history.prepare(spareTime.answered, longEnough)) || this.#longEnough < longEnough;
  }

  /** A question that fails says so when it is asked. */
  async #rehearse([path, query]: Rehearsal): Promise<void> {
    const { questions, reader } = this.#setup;
    const asked: Asked = {
      path,
      query: new URLSearchParams(query),
      body: '',
      viewer: 'all',
      progress: () => undefined,
    };
    try {
      await questions[path]?.(reader, asked);
    } catch {
      // See above.
    }
  }
}

/** Of a proxy type by type, since each step holds up a question that comes meanwhile. One proxy of each kind. */
export function rehearsalsAt(state: State): Rehearsal[] {
  const at = String(state.seq);
  const asked: Rehearsal[] = [['/proxies', { at }]];
  const kinds = new Map(proxiesAt(state).map(({ connection, facets }) => [facets.type, connection]));
  for (const proxy of kinds.values()) {
    for (const type of ['LDS', 'CDS', 'RDS', 'EDS']) asked.push(['/proxy/raw', { at, proxy, type }]);
    asked.push(['/proxy', { at, proxy }]);
  }
  asked.push(['/objects', { at }]);
  const object = objectAt(state);
  if (object !== undefined) asked.push(['/object', { at, object, versions: 'false' }]);
  if (state.seq > 0) asked.push(['/event', { seq: at }]);
  return asked;
}

/** One that routes, if there is one: much refers to it, and it refers to much. */
function objectAt({ records }: State): string | undefined {
  let found: string | undefined;
  for (const { kind, accepted } of records.values()) {
    if (accepted === undefined || (found !== undefined && kind !== 'VirtualService')) continue;
    found = objectName({ kind, namespace: accepted.namespace, name: accepted.name });
    if (kind === 'VirtualService') break;
  }
  return found;
}
