// Writes the wishes of one cluster (docs/adr/0021). As the source `writer/<cluster>` it records which elections it
// holds and which writes the API server refused.
//
// The table of wishes follows from the state after each fold; the objects of the cluster come from the watches
// (live-objects.ts). A wish that its object does not fulfil is written if its election is held, by the state and by the
// fence (elector.ts). Invariants: a target has at most one write under way, always of its newest wish, also if its wish
// went and came back meanwhile; after a write the target waits until the watch shows the object or a time-out passes
// (target-times.ts); nothing is written before `start`, which the runtime calls when every source has been listed in
// this process or is late (`startsAfterLists`), nor begun after `stop`, which waits for what is under way. Whatever
// keeps an entry from being written ends with a call of `#consider`, as nothing else looks at it again.

import { setMaxListeners } from 'node:events';
import type { Fact } from '../../../core/event.ts';
import { WRITES_API } from '../../../core/kinds/periplus/writes.ts';
import type { KindName } from '../../../core/model/kind.ts';
import type { Query } from '../../../core/query/reader.ts';
import { Tracker } from '../../../core/query/tracker.ts';
import type { State } from '../../../core/state.ts';
import { defaultRevision, type Election, lockName } from '../../../core/wishes/elections.ts';
import { planOf } from '../../../core/wishes/plan.ts';
import { type WishTable, wishTable } from '../../../core/wishes/table.ts';
import { showTarget, type Target, type Wish, wishKey } from '../../../core/wishes/wish.ts';
import type { Adapter, AdapterLog, Sink, SourceStatus } from '../../adapter.ts';
import type { Chance } from '../../kit/clock.ts';
import type { Api, WriteApi } from '../api.ts';
import { CONFLICT, type Failure, failureOf } from '../failure.ts';
import { Elector } from './elector.ts';
import { WISHES_MAX, WRITES_AT_ONCE_MAX } from './limits.ts';
import { type LiveObjects, liveName } from './live-objects.ts';
import { Refusals } from './refusals.ts';
import { requestOf } from './requests.ts';
import { TargetTimes } from './target-times.ts';

export interface ClusterWriterOptions {
  readonly cluster: string;
  readonly live: LiveObjects;
  readonly writes: WriteApi;
  /** A connection of its own: renewals wait for no other write. */
  readonly locks: Pick<Api, 'get'> & WriteApi;
  readonly chance: Chance;
  readonly log: AdapterLog;
  readonly namespace: string;
  readonly revision: string;
  /** The name of this process in locks. */
  readonly identity: string;
  readonly isElectionEnabled: boolean;
  /** After each write that was answered, for metrics; `failure`: it was refused, or nothing answered. */
  readonly onWrite?: (target: Target, failure: Failure | undefined) => void;
  /** The cluster is led from outside: a control plane inside of it comes first. */
  readonly isRemote?: boolean;
  /** Default: what Periplus wishes. */
  readonly table?: Query<'', WishTable>;
}

interface Entry {
  readonly key: string;
  wish: Wish;
  readonly times: TargetTimes;
}

export class ClusterWriter implements Adapter {
  readonly source: string;
  readonly startsAfterLists = true;
  readonly #options: ClusterWriterOptions;
  readonly #tracker = new Tracker();
  readonly #elector: Elector;
  readonly #refusals: Refusals;
  readonly #abort = new AbortController();
  readonly #entries = new Map<string, Entry>();
  /** `kind|name` → entries about that object. */
  readonly #byObject = new Map<string, Set<Entry>>();
  /** Entries to consider, in this order. */
  readonly #ready = new Set<Entry>();
  /**
   * Keys of the targets with a write under way. By key, because a wish may go and come back as another entry meanwhile.
   */
  readonly #writing = new Set<string>();
  #table: WishTable | undefined;
  #state: State | undefined;
  #sink: Sink | undefined;
  #recording: Promise<void> = Promise.resolve();
  readonly #writes = new Set<Promise<void>>();

  constructor(options: ClusterWriterOptions) {
    this.#options = options;
    setMaxListeners(0, this.#abort.signal);
    this.source = `writer/${options.cluster}`;
    const { chance, log, namespace, revision, identity } = options;
    this.#refusals = new Refusals(facts => this.#record(facts));
    this.#elector = new Elector({
      api: options.locks,
      chance,
      log,
      namespace,
      revision,
      identity,
      isEnabled: options.isElectionEnabled,
      isRemote: options.isRemote === true,
      defaultRevision: () =>
        this.#state === undefined ? '' : this.#tracker.get(this.#state, undefined, defaultRevision, options.cluster),
      changed: (election, isHeld) => this.#onElection(election, isHeld),
    });
    options.live.onChange = (kind, name) => this.#onWatch(kind, name);
  }

  onState(state: State): void {
    const before = this.#state;
    this.#state = state;
    const table = this.#tracker.get(state, undefined, this.#options.table ?? wishTable, '');
    if (table !== this.#table) this.#applyTable(table);
    if (before?.objects.Leadership !== state.objects.Leadership) this.#consider(this.#entries.values());
  }

  /** Leadership and refusals of an earlier process are not ours. */
  async start(sink: Sink): Promise<void> {
    await sink.relistKinds(['Leadership', 'WriteRefusal'], []);
    if (this.#abort.signal.aborted) return;
    this.#sink = sink;
    this.#elector.want(this.#gates());
    this.#consider(this.#entries.values());
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    for (const { times } of this.#entries.values()) times.stop();
    await Promise.all(this.#writes);
    await this.#elector.stop();
    await this.#recording;
    this.#sink = undefined;
  }

  /** Nothing that is served waits for it. */
  status(): SourceStatus {
    const troubles = [...this.#elector.troubles, ...this.#refusals.troubles];
    return { synced: true, waiting: [], troubles: troubles.sort(), unreadable: [] };
  }

  #applyTable(table: WishTable): void {
    this.#table = table;
    const { log, cluster } = this.#options;
    for (const clash of table.clashes) log('error', `two features wish for ${clash}: only the first is written`);
    const ours = table.wishes.filter(wish => wish.cluster === cluster);
    if (ours.length > WISHES_MAX) log('error', `${ours.length} wishes: only the first ${WISHES_MAX} are written`);
    const wishes = new Map(ours.slice(0, WISHES_MAX).map(wish => [wishKey(wish), wish]));
    for (const [key, entry] of this.#entries) if (!wishes.has(key)) this.#forget(entry);
    for (const [key, wish] of wishes) this.#applyWish(key, wish);
    if (this.#sink !== undefined) this.#elector.want(this.#gates());
  }

  #applyWish(key: string, wish: Wish): void {
    const known = this.#entries.get(key);
    if (known?.wish === wish) return;
    if (known !== undefined) {
      known.wish = wish;
      known.times.reset();
      this.#consider([known]);
      return;
    }
    const entry: Entry = { key, wish, times: new TargetTimes(this.#options.chance) };
    this.#entries.set(key, entry);
    const object = objectKey(wish.kind, liveName(wish.namespace, wish.name));
    const others = this.#byObject.get(object) ?? new Set();
    this.#byObject.set(object, others.add(entry));
    this.#consider([entry]);
  }

  /**
   * A wish that is gone asks for nothing, not even for the object to be absent: a feature says that by a wish without
   * fields.
   */
  #forget(entry: Entry): void {
    const object = objectKey(entry.wish.kind, liveName(entry.wish.namespace, entry.wish.name));
    const others = this.#byObject.get(object);
    others?.delete(entry);
    if (others?.size === 0) this.#byObject.delete(object);
    this.#entries.delete(entry.key);
    this.#ready.delete(entry);
    entry.times.stop();
    this.#refusals.clear(entry.key);
  }

  #gates(): ReadonlySet<Election> {
    return new Set([...this.#entries.values()].flatMap(({ wish: { gate } }) => gate ?? []));
  }

  #onElection(election: Election, isHeld: boolean): void {
    const { identity, revision } = this.#options;
    const name = lockName(election, revision);
    this.#consider(this.#entries.values());
    if (!isHeld) {
      this.#record([{ kind: 'Delete', ref: { apiVersion: WRITES_API, kind: 'Leadership', namespace: '', name } }]);
      return;
    }
    const spec = { election, holder: identity };
    this.#record([
      { kind: 'Update', object: { apiVersion: WRITES_API, kind: 'Leadership', metadata: { name }, spec } },
    ]);
  }

  #onWatch(kind: KindName, name: string | undefined): void {
    if (name !== undefined) {
      this.#observe(this.#byObject.get(objectKey(kind, name)) ?? []);
      return;
    }
    this.#observe([...this.#entries.values()].filter(({ wish }) => wish.kind === kind));
  }

  #observe(entries: Iterable<Entry>): void {
    for (const entry of entries) entry.times.seen();
    this.#consider(entries);
  }

  #consider(entries: Iterable<Entry>): void {
    for (const entry of entries) this.#ready.add(entry);
    this.#writeReady();
  }

  #writeReady(): void {
    if (this.#sink === undefined || this.#abort.signal.aborted) return;
    for (const entry of this.#ready) {
      if (this.#writing.size >= WRITES_AT_ONCE_MAX) return;
      this.#ready.delete(entry);
      if (this.#entries.get(entry.key) !== entry) continue;
      if (
        this.#writing.has(entry.key) ||
        !entry.times.isDue(() => this.#consider([entry])) ||
        !this.#isOpen(entry.wish)
      )
        continue;
      this.#write(entry);
    }
  }

  #isOpen({ gate }: Wish): boolean {
    if (gate === undefined) return true;
    const { cluster, revision } = this.#options;
    const isInState = this.#state?.objects.Leadership.has(`${cluster}/${lockName(gate, revision)}`) === true;
    return isInState && this.#elector.mayWrite(gate);
  }

  #write(entry: Entry): void {
    const { wish, times } = entry;
    const { live, writes, log } = this.#options;
    const resource = live.resource(wish.kind);
    // The API server does not serve the kind now; the entry is considered again when the kind is listed.
    if (resource === undefined) return;
    const object = live.get(wish.kind, liveName(wish.namespace, wish.name));
    const time = timestamp(this.#options.chance.now());
    const plan = planOf(wish, object, resource.apiVersion, resource.objectKind, time);
    const request = requestOf(resource, wish, plan);
    if (request === undefined) {
      times.fulfilled();
      this.#refusals.clear(entry.key);
      return;
    }
    if (times.isFlipping()) {
      log('warn', `${showTarget(wish)} is changed again and again by another writer; it rests for some minutes`);
      times.rest(() => this.#consider([entry]));
      return;
    }
    this.#writing.add(entry.key);
    const done = writes
      .write(request, { signal: this.#abort.signal })
      .then(
        () => {
          this.#options.onWrite?.(wish, undefined);
          this.#written(entry);
        },
        (error: unknown) => this.#failed(entry, wish, error),
      )
      .finally(() => {
        this.#writing.delete(entry.key);
        this.#writes.delete(done);
        this.#consider([this.#entries.get(entry.key) ?? entry]);
      });
    this.#writes.add(done);
  }

  #written(entry: Entry): void {
    if (this.#entries.get(entry.key) !== entry) return;
    entry.times.written(() => this.#consider([entry]));
    this.#refusals.clear(entry.key);
  }

  #failed(entry: Entry, wish: Wish, error: unknown): void {
    if (this.#abort.signal.aborted || this.#entries.get(entry.key) !== entry) return;
    const failure = failureOf(error);
    this.#options.onWrite?.(wish, failure);
    const again = (): void => this.#consider([entry]);
    // Another client wrote: the watch is about to show what.
    if (failure.status === CONFLICT) entry.times.written(again);
    else entry.times.failed(again, failure.retryAfterMs);
    if (this.#refusals.note(entry.key, wish, failure)) {
      this.#options.log('warn', `${showTarget(wish)} cannot be written: ${failure.message}`);
    }
  }

  #record(facts: readonly Fact[]): void {
    this.#recording = this.#recording
      .then(async () => this.#sink?.submit(facts))
      .catch((error: unknown) => this.#options.log('warn', `${this.source} could not record: ${String(error)}`));
  }
}

/** RFC 3339 in whole seconds, as Kubernetes writes times. */
function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -5)}Z`;
}

function objectKey(kind: KindName, name: string): string {
  return `${kind}|${name}`;
}
