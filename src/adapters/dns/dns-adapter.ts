// Resolves the host names that the state refers to; the answers are objects of kind ResolvedName from the source
// `dns/<cluster>`. The wanted names are derived from the state after each fold. An answer that changes nothing is not
// recorded. A failed query changes nothing, so the last good answer stays, also over a restart. The object of a name
// that is no longer wanted is deleted.
//
// Invariant: every name has at most one query in flight or one timer, and at most ASKED_AT_ONCE_MAX queries are in
// flight.

import type { Fact, ObjectRef } from '../../core/event.ts';
import { RESOLVED_NAME_API } from '../../core/kinds/periplus/resolved-name.ts';
import { Tracker } from '../../core/query/tracker.ts';
import { gatewayNames } from '../../core/select/endpoint/network-gateways.ts';
import type { State } from '../../core/state.ts';
import type { Adapter, AdapterLog, Sink, SourceStatus } from '../adapter.ts';
import { ASKED_AT_ONCE_MAX, NAMES_MAX, TTL_MS_MIN } from './limits.ts';
import type { Answer, Resolve } from './resolver.ts';

export interface DnsOptions {
  readonly cluster: string;
  readonly resolve: Resolve;
  /** Runs `run` once, at the earliest after `ms`. */
  readonly after: (ms: number, run: () => void) => { cancel(): void };
  readonly log: AdapterLog;
}

interface Watched {
  readonly timer?: { cancel(): void };
  /** Why the last query failed. */
  readonly trouble?: string;
}

export class DnsAdapter implements Adapter {
  readonly source: string;
  readonly #options: DnsOptions;
  readonly #tracker = new Tracker();
  /** The wanted names. The answer to a query is ignored if its entry was replaced meanwhile. */
  readonly #watched = new Map<string, Watched>();
  readonly #waiting: (() => void)[] = [];
  #wanted: readonly string[] = [];
  #asking = 0;
  #sink: Sink | undefined;
  #started = false;
  #stopped = false;
  #saying: Promise<void> = Promise.resolve();

  constructor(options: DnsOptions) {
    this.#options = options;
    this.source = `dns/${options.cluster}`;
  }

  onState(state: State): void {
    const wanted = this.#tracker.get(state, undefined, gatewayNames, '');
    if (wanted === this.#wanted) return;
    this.#wanted = wanted;
    if (wanted.length > NAMES_MAX) {
      this.#options.log(
        'warn',
        `${wanted.length} names have to be resolved, more than the limit; only the first ${NAMES_MAX} are`,
      );
    }
    if (this.#sink !== undefined) this.#follow();
  }

  /**
   * Queries every wanted name once and deletes the recorded answers of other names. Without any names it sends nothing.
   */
  async start(sink: Sink): Promise<void> {
    if (this.#stopped) throw new Error('stopped before names could be resolved');
    const names = this.#names();
    const answers = await Promise.all(names.map(name => this.#ask(name)));
    if (this.#stopped) throw new Error('stopped before names could be resolved');
    const failed = names.filter((_, i) => answers[i] === undefined);
    const facts = answers.filter(fact => fact !== undefined);
    this.#saying = sink.relistKinds(['ResolvedName'], facts, failed.map(refOf));
    if (names.length > 0) this.#saying = this.#saying.then(() => sink.submit([{ kind: 'Synced' }]));
    await this.#saying;
    this.#sink = sink;
    this.#started = true;
    this.#follow();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#sink = undefined;
    for (const { timer } of this.#watched.values()) timer?.cancel();
    await this.#saying;
  }

  status(): SourceStatus {
    const troubles = [...this.#watched].flatMap(([name, { trouble }]) =>
      trouble === undefined ? [] : [told(name, trouble)],
    );
    // Without names to resolve the source is ready at once.
    const synced = this.#started || this.#wanted.length === 0;
    return { synced, waiting: synced ? [] : ['ResolvedName'], troubles: troubles.sort() };
  }

  #names(): readonly string[] {
    return this.#wanted.slice(0, NAMES_MAX);
  }

  /** Queries new names and forgets those that are no longer wanted. */
  #follow(): void {
    const names = new Set(this.#names());
    for (const [name, { timer }] of this.#watched) {
      if (names.has(name)) continue;
      timer?.cancel();
      this.#watched.delete(name);
      this.#say({ kind: 'Delete', ref: refOf(name) });
    }
    for (const name of names) if (!this.#watched.has(name)) void this.#askAndSay(name);
  }

  async #askAndSay(name: string): Promise<void> {
    const fact = await this.#ask(name);
    if (fact !== undefined) this.#say(fact);
  }

  /** Undefined: the query failed, or the name is no longer wanted. */
  async #ask(name: string): Promise<Fact | undefined> {
    const before: Watched = { ...this.#watched.get(name), timer: undefined };
    this.#watched.set(name, before);
    await this.#turn();
    const answer = await this.#options.resolve(name).catch(failure);
    this.#asking--;
    this.#waiting.shift()?.();
    if (this.#stopped || this.#watched.get(name) !== before) return undefined;
    const failed = 'failed' in answer;
    if (failed && before.trouble !== answer.failed) this.#options.log('warn', told(name, answer.failed));
    if (!failed && before.trouble !== undefined) this.#options.log('info', `${name} can be resolved again`);
    const timer = this.#options.after(failed ? TTL_MS_MIN : answer.ttlMs, () => void this.#askAndSay(name));
    this.#watched.set(name, failed ? { timer, trouble: answer.failed } : { timer });
    return failed ? undefined : factOf(name, answer.addresses);
  }

  /** Resolves when the number of concurrent queries is below the limit. */
  async #turn(): Promise<void> {
    this.#asking++;
    if (this.#asking > ASKED_AT_ONCE_MAX) await new Promise<void>(resolve => this.#waiting.push(resolve));
  }

  #say(fact: Fact): void {
    this.#saying = this.#saying
      .then(async () => this.#sink?.submit([fact]))
      .catch((error: unknown) => {
        this.#options.log(
          'warn',
          `what DNS says could not be recorded (${error instanceof Error ? error.message : error})`,
        );
      });
  }
}

/** The resolver of an embedding program may reject. */
function failure(error: unknown): Answer {
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
