// Key sets that RequestAuthentications refer to, fetched, as objects of kind JwksDocument: the source `jwks/<cluster>`
// (docs/adr/0009).
//
// Which ones are wanted follows from the state after each fold. A failed fetch is no fact: the last good answer serves
// while the issuer is away, up to KEEP_MS; then it is deleted, and tokens of the issuer are refused. An answer with the
// same keys as the recorded one changes nothing. Every key set has at most one fetch under way or one timer; at most
// FETCHES_MAX are fetched at a time.

import { createHash } from 'node:crypto';
import type { Fact, ObjectRef } from '../../core/event.ts';
import { jwksKey, PERIPLUS_API } from '../../core/kinds/periplus/jwks-document.ts';
import type { Obj } from '../../core/model/object.ts';
import { Tracker } from '../../core/query/tracker.ts';
import { type WantedJwks, wantedJwks } from '../../core/select/policy/request-authentication.ts';
import type { State } from '../../core/state.ts';
import type { Adapter, AdapterLog, Sink, SourceStatus } from '../adapter.ts';
import { Submissions } from '../kit/submissions.ts';
import { Turns } from '../kit/turns.ts';
import type { Fetch } from './fetch.ts';
import { jwksUriOf, type KeySet, keySetOf, sameKeys } from './key-set.ts';
import {
  FETCHES_MAX,
  FIRST_TRIES,
  FIRST_TRY_PAUSE_MS,
  KEEP_MS,
  KEY_SETS_MAX,
  REFRESH_MS,
  RETRY_MS_MAX,
  RETRY_MS_MIN,
} from './limits.ts';

export interface JwksOptions {
  readonly cluster: string;
  readonly fetch: Fetch;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Runs once, not before `ms` have passed. */
  readonly after: (ms: number, run: () => void) => { cancel(): void };
  /** Time from a good answer to the next fetch; 0 or absent: REFRESH_MS. */
  readonly refreshMs?: number;
  /** Each fetch that ended, by outcome. */
  readonly onFetched?: (succeeded: boolean) => void;
  readonly log: AdapterLog;
}

interface Watched {
  readonly wanted: WantedJwks;
  timer?: { cancel(): void };
  /** Why the last fetch failed. */
  trouble?: string;
  /** When `trouble` began; meaningless without one. */
  troubledAt: number;
  /** Failures one after the other. */
  failures: number;
  /** When the last good answer came, or when the key set was first wanted in this process. */
  goodAt: number;
}

export class JwksAdapter implements Adapter {
  readonly source: string;
  readonly #options: JwksOptions;
  readonly #tracker = new Tracker();
  readonly #watched = new Map<string, Watched>();
  readonly #turns = new Turns(FETCHES_MAX);
  readonly #submissions: Submissions;
  #wanted: readonly WantedJwks[] = [];
  #state: State | undefined;
  #stopped = false;

  constructor(options: JwksOptions) {
    this.#options = options;
    this.source = `jwks/${options.cluster}`;
    this.#submissions = new Submissions('a key set', options.log);
  }

  onState(state: State): void {
    this.#state = state;
    const wanted = this.#tracker.get(state, undefined, wantedJwks, '');
    if (wanted === this.#wanted) return;
    this.#wanted = wanted;
    if (wanted.length > KEY_SETS_MAX) {
      this.#options.log('warn', `${wanted.length} key sets are wanted; the first ${KEY_SETS_MAX} are fetched`);
    }
    if (this.#submissions.isListed) this.#follow();
  }

  /** Fetches every key set once; what the journal has of others is deleted, what it has of those that fail stays. */
  async start(sink: Sink): Promise<void> {
    this.#refuseStopped();
    const wanted = this.#wanted.slice(0, KEY_SETS_MAX);
    const facts = await Promise.all(wanted.map(one => this.#fetchFirst(this.#watch(one))));
    this.#refuseStopped();
    const kept = wanted.filter((_, i) => facts[i] === undefined).map(refOf);
    const fetched = facts.filter(fact => fact !== undefined);
    await this.#submissions.open(sink, async () => {
      await sink.relistKinds(['JwksDocument'], fetched, kept);
      if (wanted.length > 0) await sink.submit([{ kind: 'Synced' }]);
    });
    this.#follow();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const { timer } of this.#watched.values()) timer?.cancel();
    await this.#submissions.close();
  }

  status(): SourceStatus {
    const troubles = [...this.#watched.values()].flatMap(({ wanted, trouble }) =>
      trouble === undefined ? [] : [troubleText(wanted, trouble)],
    );
    const synced = this.#submissions.isListed || this.#wanted.length === 0;
    const unreadable = [...this.#watched.values()].flatMap(({ wanted, trouble: why, troubledAt: since }) =>
      why === undefined ? [] : [{ what: nameOf(wanted), why, since }],
    );
    return {
      synced,
      waiting: synced ? [] : ['JwksDocument'],
      troubles: troubles.sort(),
      unreadable: unreadable.sort((a, b) => (a.what < b.what ? -1 : 1)),
    };
  }

  #refuseStopped(): void {
    if (this.#stopped) throw new Error('stopped before key sets could be fetched');
  }

  #watch(wanted: WantedJwks): Watched {
    const watched: Watched = { wanted, failures: 0, goodAt: this.#options.now(), troubledAt: 0 };
    this.#watched.set(keyOf(wanted), watched);
    return watched;
  }

  /** Starts to fetch what is newly wanted, and forgets what no rule refers to any more. */
  #follow(): void {
    const now = new Map(this.#wanted.slice(0, KEY_SETS_MAX).map(wanted => [keyOf(wanted), wanted]));
    for (const [key, { wanted, timer }] of this.#watched) {
      if (now.get(key)?.timeoutMs === wanted.timeoutMs) continue;
      timer?.cancel();
      this.#watched.delete(key);
      if (!now.has(key)) this.#submit({ kind: 'Delete', ref: refOf(wanted) });
    }
    for (const [key, wanted] of now) {
      if (!this.#watched.has(key)) void this.#fetchFirst(this.#watch(wanted)).then(fact => this.#submit(fact));
    }
  }

  /** Several tries within the time of one request, then the schedule of failures. */
  async #fetchFirst(watched: Watched): Promise<Fact | undefined> {
    const deadline = this.#options.now() + watched.wanted.timeoutMs;
    for (let tries = 1; ; tries++) {
      watched.failures = 0;
      const fact = await this.#fetch(watched);
      const left = deadline - this.#options.now();
      if (watched.trouble === undefined || tries === FIRST_TRIES || left <= FIRST_TRY_PAUSE_MS) return fact;
      if (!this.#isWatched(watched)) return undefined;
      watched.timer?.cancel();
      await new Promise<void>(resolve => {
        watched.timer = this.#options.after(FIRST_TRY_PAUSE_MS, resolve);
      });
    }
  }

  async #fetch(watched: Watched): Promise<Fact | undefined> {
    const failure = (error: unknown) => ({ failed: error instanceof Error ? error.message : String(error) });
    const answer = await this.#turns.run(() => this.#keysFrom(watched.wanted).catch(failure));
    if (!this.#isWatched(watched)) return undefined;
    this.#options.onFetched?.(!('failed' in answer));
    return 'failed' in answer ? this.#failed(watched, answer.failed) : this.#succeeded(watched, answer);
  }

  #succeeded(watched: Watched, keys: KeySet): Fact {
    const { wanted, trouble } = watched;
    if (trouble !== undefined) this.#options.log('info', `${nameOf(wanted)} can be fetched again`);
    Object.assign(watched, { trouble: undefined, failures: 0, goodAt: this.#options.now() });
    this.#schedule(watched, this.#options.refreshMs || REFRESH_MS);
    const recorded = this.#recorded(wanted);
    return factOf(wanted, recorded !== undefined && sameKeys(recorded, keys.text) ? { ...keys, text: recorded } : keys);
  }

  #failed(watched: Watched, reason: string): Fact | undefined {
    if (watched.trouble !== reason) this.#options.log('warn', troubleText(watched.wanted, reason));
    if (watched.trouble === undefined) watched.troubledAt = this.#options.now();
    watched.trouble = reason;
    this.#schedule(watched, Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** watched.failures));
    watched.failures++;
    const expired = this.#options.now() - watched.goodAt >= KEEP_MS && this.#recorded(watched.wanted) !== undefined;
    if (!expired) return undefined;
    this.#options.log('error', `${nameOf(watched.wanted)} could not be fetched for 7 days: its tokens are refused`);
    return { kind: 'Delete', ref: refOf(watched.wanted) };
  }

  #schedule(watched: Watched, ms: number): void {
    watched.timer?.cancel();
    watched.timer = this.#options.after(ms, () => void this.#fetch(watched).then(fact => this.#submit(fact)));
  }

  async #keysFrom({ issuer, jwksUri, timeoutMs }: WantedJwks): Promise<KeySet | { readonly failed: string }> {
    let uri = jwksUri;
    if (uri === '') {
      if (issuer === '') return { failed: 'there is neither an issuer nor a jwksUri' };
      const discovery = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
      const document = await this.#options.fetch(discovery, timeoutMs);
      if ('failed' in document) return { failed: `${discovery}: ${document.failed}` };
      const named = jwksUriOf(document.body);
      if ('failed' in named) return named;
      uri = named.uri;
    }
    const answer = await this.#options.fetch(uri, timeoutMs);
    return 'failed' in answer ? { failed: `${uri}: ${answer.failed}` } : keySetOf(answer.body);
  }

  #recorded(wanted: WantedJwks): string | undefined {
    const found = this.#state?.objects.JwksDocument.get(`${this.#options.cluster}/${objectName(wanted)}`);
    return (found as Obj<'JwksDocument'> | undefined)?.spec.keys;
  }

  #isWatched(watched: Watched): boolean {
    return !this.#stopped && this.#watched.get(keyOf(watched.wanted)) === watched;
  }

  #submit(fact: Fact | undefined): void {
    if (fact !== undefined) this.#submissions.submit([fact]);
  }
}

function keyOf({ issuer, jwksUri }: WantedJwks): string {
  return jwksKey(issuer, jwksUri);
}

function nameOf({ issuer, jwksUri }: WantedJwks): string {
  return `the key set of ${issuer || jwksUri}`;
}

function troubleText(wanted: WantedJwks, reason: string): string {
  return `${nameOf(wanted)} could not be fetched (${reason}); the last answer stays`;
}

function objectName(wanted: WantedJwks): string {
  return createHash('sha256').update(keyOf(wanted)).digest('hex');
}

function refOf(wanted: WantedJwks): ObjectRef {
  return { apiVersion: PERIPLUS_API, kind: 'JwksDocument', namespace: '', name: objectName(wanted) };
}

function factOf(wanted: WantedJwks, { text, symmetric }: KeySet): Fact {
  const { issuer, jwksUri } = wanted;
  const object = {
    apiVersion: PERIPLUS_API,
    kind: 'JwksDocument',
    metadata: { name: objectName(wanted) },
    spec: { issuer, jwksUri, ...(symmetric ? {} : { keys: text }) },
    ...(symmetric ? { stringData: { keys: text } } : {}),
  };
  return { kind: 'Update', object };
}
