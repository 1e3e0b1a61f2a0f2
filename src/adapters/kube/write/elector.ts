// Takes part in elections: one loop for each lock that is wanted, which takes it when it may, renews it, and gives it
// up at the end.
//
// Fence: `mayWrite` is true only for RENEW_MS_MAX after the start of the last renewal that succeeded. A process that
// was paused, or cut off, stops writing by its own clock before another one may take the lock. Two holders for some
// seconds are possible all the same (a lock may be taken from its holder), so writes have to bear that.

import { isObject, type JsonObject } from '../../../core/base/json.ts';
import { type Election, elections, lockName, NO_REVISION } from '../../../core/wishes/elections.ts';
import type { AdapterLog } from '../../adapter.ts';
import { type Chance, sleep } from '../../kit/clock.ts';
import type { Api, WriteApi } from '../api.ts';
import { CONFLICT, failureOf, NOT_FOUND } from '../failure.ts';
import { WRITE_ANSWER_BYTES_MAX } from '../limits.ts';
import { ELECTION_JITTER, ELECTION_MS, ELECTION_REQUEST_MS_MAX, RENEW_MS_MAX } from './limits.ts';
import { claim, type LockObject, type LockRecord, lockPath, objectWith, REMOTE, recordIn, released } from './lock.ts';

export interface ElectorOptions {
  readonly api: Pick<Api, 'get'> & WriteApi;
  readonly chance: Chance;
  readonly log: AdapterLog;
  /** Where the locks are. */
  readonly namespace: string;
  readonly revision: string;
  /** Unique among the replicas: the name of the pod. */
  readonly identity: string;
  /** False: every process leads, without a lock (ENABLE_LEADER_ELECTION). */
  readonly isEnabled: boolean;
  /** It serves the cluster from outside. */
  readonly isRemote?: boolean;
  /** As the state has it now; '': there is none. */
  readonly defaultRevision: () => string;
  /** Edges; and after the fence was closed for a while. */
  readonly changed: (election: Election, isHeld: boolean) => void;
}

interface Lock {
  readonly abort: AbortController;
  readonly running: Promise<void>;
  /** When the last renewal that succeeded was begun; undefined: not held. */
  renewedAt: number | undefined;
}

interface Seen {
  readonly record: LockRecord | undefined;
  readonly object: JsonObject | undefined;
  /** By the own clock: when the record was first seen as it is. */
  readonly changedAt: number;
}

export class Elector {
  readonly #options: ElectorOptions;
  readonly #locks = new Map<Election, Lock>();
  readonly #troubles = new Map<Election, string>();

  constructor(options: ElectorOptions) {
    this.#options = options;
  }

  get troubles(): readonly string[] {
    return [...this.#troubles.values()];
  }

  /** Joins the elections that are new in `wanted`, and leaves those that are no more. */
  want(wanted: ReadonlySet<Election>): void {
    for (const [election, { renewedAt }] of [...this.#locks]) {
      if (wanted.has(election)) continue;
      void this.#leave(election);
      if (renewedAt !== undefined) this.#options.changed(election, false);
    }
    for (const election of wanted) if (!this.#locks.has(election)) this.#join(election);
  }

  /** The fence: true while no other may have taken the lock without our knowing. */
  mayWrite(election: Election): boolean {
    const lock = this.#locks.get(election);
    if (lock?.renewedAt === undefined) return false;
    return !this.#options.isEnabled || this.#options.chance.now() - lock.renewedAt < RENEW_MS_MAX;
  }

  /** Gives up every lock, so that the next one need not wait until it expires. */
  async stop(): Promise<void> {
    await Promise.all([...this.#locks.keys()].map(election => this.#leave(election)));
  }

  #join(election: Election): void {
    const abort = new AbortController();
    const lock: { -readonly [K in keyof Lock]: Lock[K] } = { abort, running: Promise.resolve(), renewedAt: undefined };
    this.#locks.set(election, lock);
    if (this.#options.isEnabled) lock.running = this.#run(election, lock);
    else this.#hold(election, lock, this.#options.chance.now());
  }

  async #leave(election: Election): Promise<void> {
    const lock = this.#locks.get(election);
    if (lock === undefined) return;
    this.#locks.delete(election);
    this.#troubles.delete(election);
    lock.abort.abort();
    await lock.running;
  }

  async #run(election: Election, lock: Lock): Promise<void> {
    const { chance } = this.#options;
    const { signal } = lock.abort;
    let seen: Seen = { record: undefined, object: undefined, changedAt: chance.now() };
    while (!signal.aborted) {
      const startedAt = chance.now();
      try {
        const next = await this.#round(election, seen, signal);
        seen = next.seen;
        if (signal.aborted) break;
        this.#troubles.delete(election);
        if (next.isHeld) this.#hold(election, lock, startedAt);
        else this.#lose(election, lock, `${seen.record?.holderIdentity ?? 'another one'} holds it`);
      } catch (error) {
        if (signal.aborted) break;
        this.#failed(election, failureOf(error).message);
        const { renewedAt } = lock;
        if (renewedAt !== undefined && chance.now() - renewedAt >= RENEW_MS_MAX) {
          this.#lose(election, lock, 'it could not be renewed in time');
        }
      }
      const isHeld = lock.renewedAt !== undefined;
      await sleep(chance, ELECTION_MS * (isHeld ? 1 : 1 + chance.random() * ELECTION_JITTER), signal);
    }
    if (lock.renewedAt !== undefined) await this.#release(election);
  }

  /** Reads the lock and writes the own record into it if it may be taken or renewed. */
  async #round(
    election: Election,
    before: Seen,
    signal: AbortSignal,
  ): Promise<{ readonly seen: Seen; readonly isHeld: boolean }> {
    const { chance, identity, revision, defaultRevision, isRemote } = this.#options;
    const { object: kind, perRevision } = elections[election];
    const object = await this.#read(election, signal);
    const record = object === undefined ? undefined : recordIn(kind, object);
    const isSame = JSON.stringify(record) === JSON.stringify(before.record);
    const seen: Seen = { record, object, changedAt: isSame ? before.changedAt : chance.now() };
    const key = perRevision ? '' : `${isRemote === true ? REMOTE : ''}${revision || NO_REVISION}`;
    const claimed = claim(record, seen.changedAt, chance.now(), { identity, key }, defaultRevision());
    if (claimed === undefined) return { seen, isHeld: false };
    try {
      await this.#write(election, claimed, object, signal);
    } catch (error) {
      // Another one was faster: what it wrote is seen in the next round.
      if (failureOf(error).status === CONFLICT) return { seen, isHeld: false };
      throw error;
    }
    return { seen: { record: claimed, object, changedAt: chance.now() }, isHeld: true };
  }

  async #read(election: Election, signal: AbortSignal): Promise<JsonObject | undefined> {
    const [kind, name] = this.#lockOf(election);
    const path = lockPath(kind, this.#options.namespace, name);
    try {
      const bytesMax = WRITE_ANSWER_BYTES_MAX;
      const object = await this.#timed(signal, limit => this.#options.api.get(path, {}, { signal: limit, bytesMax }));
      return isObject(object) ? object : undefined;
    } catch (error) {
      if (failureOf(error).status === NOT_FOUND) return undefined;
      throw error;
    }
  }

  async #write(
    election: Election,
    record: LockRecord,
    before: JsonObject | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const [kind, name] = this.#lockOf(election);
    const { namespace, api } = this.#options;
    const body = objectWith(kind, { namespace, name }, record, before);
    const isNew = before === undefined;
    const path = lockPath(kind, namespace, isNew ? '' : name);
    await this.#timed(signal, limit => api.write({ method: isNew ? 'POST' : 'PUT', path, body }, { signal: limit }));
  }

  async #release(election: Election): Promise<void> {
    const { signal } = new AbortController();
    try {
      const object = await this.#read(election, signal);
      const record = object === undefined ? undefined : recordIn(elections[election].object, object);
      if (record?.holderIdentity !== this.#options.identity) return;
      await this.#write(election, released(record, this.#options.chance.now()), object, signal);
    } catch (error) {
      this.#options.log('warn', `${election}: the lock expires by itself (${failureOf(error).message})`);
    }
  }

  async #timed<T>(signal: AbortSignal, request: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const limit = new AbortController();
    const abort = (): void => limit.abort();
    const timer = this.#options.chance.after(ELECTION_REQUEST_MS_MAX, abort);
    signal.addEventListener('abort', abort);
    try {
      return await request(limit.signal);
    } finally {
      timer.cancel();
      signal.removeEventListener('abort', abort);
    }
  }

  #lockOf(election: Election): readonly [LockObject, string] {
    return [elections[election].object, lockName(election, this.#options.revision)];
  }

  #hold(election: Election, lock: Lock, startedAt: number): void {
    const before = lock.renewedAt;
    lock.renewedAt = startedAt;
    if (before === undefined) this.#options.log('info', `${election}: this process leads`);
    // By now, not by the start: a slow renewal closes the fence while it is under way.
    const wasClosed = before === undefined || this.#options.chance.now() - before >= RENEW_MS_MAX;
    if (wasClosed) this.#options.changed(election, true);
  }

  #lose(election: Election, lock: Lock, why: string): void {
    if (lock.renewedAt === undefined) return;
    lock.renewedAt = undefined;
    this.#options.log('warn', `${election}: this process no longer leads: ${why}`);
    this.#options.changed(election, false);
  }

  #failed(election: Election, message: string): void {
    const text = `${election}: ${message}`;
    if (this.#troubles.get(election) !== text) this.#options.log('warn', text);
    this.#troubles.set(election, text);
  }
}
