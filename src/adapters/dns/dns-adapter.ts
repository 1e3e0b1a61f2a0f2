// Host names that the state refers to, resolved, as objects of kind ResolvedName: the source `dns/<cluster>`. What has
// to be resolved is asked of the state after each fold; an unchanged answer is not recorded; a failed one changes
// nothing, so the last good one stays, over a restart too. A name that nothing refers to any more is deleted.
//
// Every name has at most one question under way or one timer; at most ASKED_AT_ONCE_MAX names are asked for at a time.

import type { Fact, ObjectRef } from '../../core/event.ts';
import { RESOLVED_NAME_API } from '../../core/kinds/periplus/resolved-name.ts';
import { Tracker } from '../../core/query/tracker.ts';
import { gatewayNames } from '../../core/select/endpoint/network.ts';
import type { State } from '../../core/state.ts';
import type { Adapter, AdapterLog, Sink, SourceStatus } from '../adapter.ts';
import { Submissions } from '../kit/submissions.ts';
import { Turns } from '../kit/turns.ts';
import { ASKED_AT_ONCE_MAX, NAMES_MAX, TTL_MS_MIN } from './limits.ts';
import type { DnsAnswer, Resolve } from './resolver.ts';

export interface DnsOptions {
  readonly cluster: string;
  readonly resolve: Resolve;
  /** Runs once, not before `ms` have passed. */
  readonly after: (ms: number, run: () => void) => { cancel(): void };
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly log: AdapterLog;
}

interface Watched {
  readonly timer?: { cancel(): void };
  /** Why the last question failed, and since when they do. */
  readonly trouble?: string;
  readonly since?: number;
}

export class DnsAdapter implements Adapter {
  readonly source: string;
  readonly #options: DnsOptions;
  readonly #tracker = new Tracker();
  /** Of names that are wanted; a question whose entry was replaced meanwhile is not listened to. */
  readonly #watched = new Map<string, Watched>();
  readonly #turns = new Turns(ASKED_AT_ONCE_MAX);
  readonly #submissions: Submissions;
  #wanted: readonly string[] = [];
  #stopped = false;

  constructor(options: DnsOptions) {
    this.#options = options;
    this.source = `dns/${options.cluster}`;
    this.#submissions = new Submissions('an answer of DNS', options.log);
  }

  onState(state: State): void {
    const wanted = this.#tracker.get(state, undefined, gatewayNames, '');
    if (wanted === this.#wanted) return;
    this.#wanted = wanted;
    if (wanted.length > NAMES_MAX) {
      this.#options.log('warn', `${wanted.length} names would have to be resolved; the first ${NAMES_MAX} are`);
    }
    if (this.#submissions.isListed) this.#follow();
  }

  /**
   * Every name is asked for once, and answers for other names are deleted. Records nothing if there has never
   * been a name.
   */
  async start(sink: Sink): Promise<void> {
    if (this.#stopped) throw new Error('stopped before names could be resolved');
    const names = this.#names();
    const answers = await Promise.all(names.map(name => this.#ask(name)));
    if (this.#stopped) throw new Error('stopped before names could be resolved');
    const failed = [...names.filter((_, i) => answers[i] === undefined), ...this.#wanted.slice(NAMES_MAX)];
    const facts = answers.filter(fact => fact !== undefined);
    await this.#submissions.open(sink, async () => {
      await sink.relistKinds(['ResolvedName'], facts, failed.map(refOf));
      if (names.length > 0) await sink.submit([{ kind: 'Synced' }]);
    });
    this.#follow();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const { timer } of this.#watched.values()) timer?.cancel();
    await this.#submissions.close();
  }

  status(): SourceStatus {
    const failing = [...this.#watched].sort(([a], [b]) => (a < b ? -1 : 1));
    const unreadable = failing.flatMap(([what, { trouble: why, since = 0 }]) =>
      why === undefined ? [] : [{ what, why, since }],
    );
    const troubles = unreadable.map(({ what, why }) => told(what, why));
    // Without names to resolve, the start does not wait.
    const synced = this.#submissions.isListed || this.#wanted.length === 0;
    return { synced, waiting: synced ? [] : ['ResolvedName'], troubles, unreadable };
  }

  #names(): readonly string[] {
    return this.#wanted.slice(0, NAMES_MAX);
  }

  /** Asks for names that are new, forgets those that have gone. */
  #follow(): void {
    const names = new Set(this.#names());
    const wanted = new Set(this.#wanted);
    for (const [name, { timer }] of this.#watched) {
      if (names.has(name)) continue;
      timer?.cancel();
      this.#watched.delete(name);
      // Of one past the limit nothing new is known: what was said last stays.
      if (!wanted.has(name)) this.#submissions.submit([{ kind: 'Delete', ref: refOf(name) }]);
    }
    for (const name of names) if (!this.#watched.has(name)) void this.#askAndSay(name);
  }

  async #askAndSay(name: string): Promise<void> {
    const fact = await this.#ask(name);
    if (fact !== undefined) this.#submissions.submit([fact]);
  }

  /** Undefined: no server answered, or the name is no longer wanted. */
  async #ask(name: string): Promise<Fact | undefined> {
    const before: Watched = { ...this.#watched.get(name), timer: undefined };
    this.#watched.set(name, before);
    const answer = await this.#turns.run(() => this.#options.resolve(name).catch(failure));
    if (this.#stopped || this.#watched.get(name) !== before) return undefined;
    const failed = 'failed' in answer;
    if (failed && before.trouble !== answer.failed) this.#options.log('warn', told(name, answer.failed));
    if (!failed && before.trouble !== undefined) this.#options.log('info', `${name} can be resolved again`);
    const timer = this.#options.after(failed ? TTL_MS_MIN : answer.ttlMs, () => void this.#askAndSay(name));
    const since = before.since ?? this.#options.now();
    this.#watched.set(name, failed ? { timer, trouble: answer.failed, since } : { timer });
    return failed ? undefined : factOf(name, answer.addresses);
  }
}

/** A resolver that a program brought with it may reject. */
function failure(error: unknown): DnsAnswer {
  return { failed: error instanceof Error ? error.message : String(error) };
}

function told(name: string, trouble: string): string {
  return `${name} could not be resolved (${trouble}); what was last said of it stays`;
}

function factOf(name: string, addresses: readonly string[]): Fact {
  const object = { apiVersion: RESOLVED_NAME_API, kind: 'ResolvedName', metadata: { name }, spec: { addresses } };
  return { kind: 'Update', object };
}

function refOf(name: string): ObjectRef {
  return { apiVersion: RESOLVED_NAME_API, kind: 'ResolvedName', namespace: '', name };
}
