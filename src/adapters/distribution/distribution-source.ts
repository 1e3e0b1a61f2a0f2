// Counts which proxies have accepted the objects that changed, as objects of kind ConfigDistribution: the source
// `distribution/<cluster>`. From them follows the condition `Reconciled` (core/wishes/distribution.ts).
//
// An object is counted from the moment its generation is new until every proxy has accepted it, and a minute longer,
// for proxies that connect meanwhile; then its last count stays. What a proxy accepted once stays accepted. Invariants:
// only objects of the own cluster's API server are counted; counts leave in one batch, not more often than the rate
// allows; a status that is written changes no generation and therefore starts no count.
// Source: Istio pilot/pkg/status/distribution/reporter.go.

import type { Fact } from '../../core/event.ts';
import { ABOUT_API, nameAbout } from '../../core/kinds/periplus/about-object.ts';
import { type ConfigDistributionData, distributionObject } from '../../core/kinds/periplus/config-distribution.ts';
import { featureOf } from '../../core/mesh/features.ts';
import type { Settings } from '../../core/mesh/settings.ts';
import type { KindName } from '../../core/model/kind.ts';
import { generationOf, kubernetesKey, type Obj, type ObjectRecord, objectName } from '../../core/model/object.ts';
import type { State } from '../../core/state.ts';
import { distributedKinds } from '../../core/wishes/distribution.ts';
import type { Adapter, AdapterLog, Sink, SourceStatus } from '../adapter.ts';
import { Submissions } from '../kit/submissions.ts';

/** After every proxy has accepted an object, it is counted so long for proxies that connect. */
export const SETTLE_MS = 60_000;
const INTERVAL_MS_MIN = 100;
/** Between two counts while no proxy is connected. */
const IDLE_MS = 10_000;
const SECOND_MS = 1_000;

export interface DistributionOptions {
  readonly settings: Settings;
  /** Of every connected proxy, the event up to which it has accepted everything; -1: nothing yet. */
  readonly accepted: () => readonly number[];
  /** What other replicas count; undefined: one does not answer, and nothing can be said. */
  readonly others?: (objects: readonly Counted[]) => Promise<readonly Count[] | undefined>;
  readonly now: () => number;
  readonly after: (ms: number, run: () => void) => { cancel(): void };
  readonly log: AdapterLog;
}

/** A version of an object. */
export interface Counted {
  readonly kind: KindName;
  readonly namespace: string;
  readonly name: string;
  readonly generation: number;
}
export interface Count {
  readonly acked: number;
  readonly total: number;
}

interface Tracked extends Counted {
  /** The event that brought the version. */
  readonly seq: number;
  told: Count | undefined;
  doneAt: number | undefined;
}

export class DistributionSource implements Adapter {
  readonly source: string;
  readonly #options: DistributionOptions;
  readonly #isOn: boolean;
  readonly #tracked = new Map<string, Tracked>();
  readonly #submissions: Submissions;
  #state: State | undefined;
  /** The tables as of the last look at them. */
  #tables: readonly unknown[] = [];
  #timer: { cancel(): void } | undefined;
  #isCounting = false;
  #isStopped = false;

  constructor(options: DistributionOptions) {
    this.#options = options;
    this.source = `distribution/${options.settings.clusterId}`;
    this.#isOn = featureOf(options.settings, 'PILOT_ENABLE_STATUS');
    this.#submissions = new Submissions('how far configuration is distributed', options.log);
  }

  onState(state: State): void {
    this.#state = state;
    if (this.#isOn && this.#submissions.isListed) this.#plan(this.#interval);
  }

  /** Counts of an earlier process serve until there are new ones. */
  async start(sink: Sink): Promise<void> {
    await this.#submissions.open(sink, async () => {
      if (!this.#isOn) await sink.relistKinds(['ConfigDistribution'], []);
    });
    if (this.#isOn) this.#plan(this.#interval);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    await this.#submissions.close();
  }

  /** Nothing that is served waits for it. */
  status(): SourceStatus {
    return { synced: true, waiting: [], troubles: [], unreadable: [] };
  }

  get #interval(): number {
    return Math.max(featureOf(this.#options.settings, 'PILOT_STATUS_UPDATE_INTERVAL'), INTERVAL_MS_MIN);
  }

  #plan(ms: number): void {
    if (this.#timer !== undefined || this.#isCounting || this.#isStopped) return;
    if (this.#tracked.size === 0 && !this.#hasChanged()) return;
    this.#timer = this.#options.after(ms, () => {
      this.#timer = undefined;
      this.#isCounting = true;
      void this.#count()
        .catch((error: unknown) => {
          this.#options.log('warn', `${this.source}: ${String(error)}`);
          return this.#interval;
        })
        .then(wait => {
          this.#isCounting = false;
          this.#plan(wait);
        });
    });
  }

  #hasChanged(): boolean {
    const state = this.#state;
    return state !== undefined && distributedKinds.some((kind, i) => state.objects[kind] !== this.#tables[i]);
  }

  /** Resolves to the wait for the next count: longer after many facts, and while there is no proxy. */
  async #count(): Promise<number> {
    const state = this.#state;
    if (state === undefined) return this.#interval;
    if (this.#hasChanged()) this.#submissions.submit(this.#look(state));
    const facts: Fact[] = [];
    const accepted = [...this.#options.accepted()].sort((a, b) => a - b);
    const tracked = [...this.#tracked.values()];
    const others = await (this.#options.others?.(tracked) ?? Promise.resolve(tracked.map(() => NONE)));
    if (others === undefined || this.#isStopped) return this.#interval;
    let proxies = 0;
    for (const [i, one] of tracked.entries()) {
      const own = { acked: accepted.length - firstAtLeast(accepted, one.seq), total: accepted.length };
      const count = sum(own, others[i] ?? NONE);
      proxies = Math.max(proxies, count.total);
      const fact = this.#told(one, count);
      if (fact !== undefined) facts.push(fact);
    }
    if (facts.length > 0) this.#submissions.submit(facts);
    const rate = Math.max(featureOf(this.#options.settings, 'PILOT_STATUS_QPS'), 1);
    return Math.max(this.#interval, (facts.length * SECOND_MS) / rate, proxies === 0 ? IDLE_MS : 0);
  }

  #told(one: Tracked, count: Count): Fact | undefined {
    const { acked, total } = count;
    const now = this.#options.now();
    if (acked < total || total === 0) one.doneAt = undefined;
    else if (one.doneAt === undefined) one.doneAt = now;
    else if (now - one.doneAt >= SETTLE_MS) this.#tracked.delete(objectName(one));
    // Without a proxy nothing is distributed.
    if (total === 0 || (one.told?.acked === acked && one.told.total === total)) return undefined;
    one.told = count;
    const { kind, namespace, name, generation } = one;
    return { kind: 'Update', object: distributionObject(namespace, { kind, name, generation, acked, total }) };
  }

  /** Begins to count what is new, and forgets what is gone. Linear in Istio's objects. */
  #look(state: State): Fact[] {
    this.#tables = distributedKinds.map(kind => state.objects[kind]);
    const there = new Set<string>();
    for (const kind of distributedKinds) {
      for (const record of state.records.range(`${kind}|`)) {
        const found = this.#countedOf(state, record);
        if (found === undefined) continue;
        const key = objectName(found);
        there.add(key);
        if (this.#tracked.get(key)?.generation === found.generation) continue;
        const told = toldOf(state, found);
        if (told !== undefined && told.acked === told.total) this.#tracked.delete(key);
        else this.#tracked.set(key, { ...found, seq: record.acceptedAt, told, doneAt: undefined });
      }
    }
    for (const key of this.#tracked.keys()) if (!there.has(key)) this.#tracked.delete(key);
    const gone: Fact[] = [];
    for (const { namespace, name, spec } of countsIn(state)) {
      if (there.has(objectName({ kind: spec.kind, namespace, name: spec.name }))) continue;
      gone.push({ kind: 'Delete', ref: { apiVersion: ABOUT_API, kind: 'ConfigDistribution', namespace, name } });
    }
    return gone;
  }

  /** Undefined: not in force, or not of an API server. */
  #countedOf(state: State, { kind, key, source, accepted, raw }: ObjectRecord): Counted | undefined {
    if (accepted === undefined || source !== `kube/${this.#options.settings.clusterId}`) return undefined;
    if (state.objects[kind].get(key) !== accepted) return undefined;
    const generation = generationOf(raw);
    if (generation === undefined) return undefined;
    return { kind, namespace: accepted.namespace, name: accepted.name, generation };
  }
}

const NONE: Count = { acked: 0, total: 0 };

function sum(a: Count, b: Count): Count {
  return { acked: a.acked + b.acked, total: a.total + b.total };
}

/** What was last said of this generation. */
function toldOf(state: State, { kind, namespace, name, generation }: Counted): ConfigDistributionData | undefined {
  const key = kubernetesKey(state.settings.clusterId, namespace, nameAbout(kind, name));
  const found = state.objects.ConfigDistribution.get(key) as Obj<'ConfigDistribution'> | undefined;
  return found?.spec.generation === generation ? found.spec : undefined;
}

function countsIn(state: State): Iterable<Obj<'ConfigDistribution'>> {
  return state.objects.ConfigDistribution.values() as Iterable<Obj<'ConfigDistribution'>>;
}

/** Index of the first number that is not less; the numbers are in order. */
function firstAtLeast(numbers: readonly number[], least: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle]! < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
