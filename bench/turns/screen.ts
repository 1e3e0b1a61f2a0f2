// The quick look at a case, in process: its objects are folded and made into what each proxy holds, in slices as a
// server does; then a VirtualService elsewhere changes, and the objects are removed. It finds runs that cannot be cut,
// and what grows faster than its size, within seconds a case. Reading files, the journal, pushes and the wire are the
// server's business (run.ts).

import { readFileSync } from 'node:fs';
import type { JsonObject } from '../../src/core/base/json.ts';
import type { Unrecorded } from '../../src/core/event.ts';
import type { ProxyRecord, Subscription } from '../../src/core/model/proxy.ts';
import { emptyState, type State } from '../../src/core/state.ts';
import { allOf, foldFacts, proxyFacts } from '../../src/offline/generate.ts';
import { resourceSources } from '../../src/xds/assemble/types.ts';
import { Engine } from '../../src/xds/engine/engine.ts';
import { endpointNames, routeNames } from '../../src/xds/generate/common/watched-names.ts';
import type { Cluster, Listener } from '../../src/xds/proto/types.gen.ts';
import { SLICE_WORK } from '../../src/xds/serve/view-turns.ts';
import { CDS, EDS, LDS, RDS } from '../../src/xds/session/types.ts';
import { FILE_BYTES, OBJECT_BYTES, type TurnCase } from './cases.ts';
import { URLS } from './client.ts';
import { baseMesh, otherChange, plainObjects, proxyCases } from './mesh.ts';

export interface Screened {
  readonly id: string;
  /** CPU of the longest fold, and of the longest slice of a proxy. */
  readonly foldMs: number;
  readonly sliceMs: number;
  /** Of everything. */
  readonly cpuMs: number;
  /** CPU of the addition over that of a quarter of the size: 4 is linear. */
  readonly growth: number;
  /** Why a proxy keeps what it had. */
  readonly error?: string;
}

const QUARTER = 4;
/** A shorter time is more noise than work. */
const MS_MIN = 60;
const WARM_BYTES = 100_000;
const WARM_ROUNDS = 3;
const SOURCE = 'file/Kubernetes';

export class Screen {
  constructor() {
    for (let i = 0; i < WARM_ROUNDS; i++) new World().costs(plainObjects(WARM_BYTES));
  }

  look({ id, objects, field }: TurnCase, size?: number): Screened {
    const bytes = size ?? (field === '*' ? FILE_BYTES : OBJECT_BYTES);
    const quarter = new World().costs(objects(bytes / QUARTER));
    const { addMs, ...costs } = new World().costs(objects(bytes));
    const growth = Math.max(MS_MIN, addMs) / Math.max(MS_MIN, quarter.addMs);
    return { id, ...costs, growth: Math.round(growth * 10) / 10 };
  }
}

/** The mesh of the bench with its proxies, in an engine of its own. */
class World {
  readonly #engine = new Engine(resourceSources);
  #state: State = emptyState;
  #foldMs = 0;
  #sliceMs = 0;
  #cpuMs = 0;
  #error: string | undefined;

  constructor() {
    this.#fold(additions(baseMesh));
    this.#fold(proxyCases.flatMap(({ id, cluster, metadata }, i) => proxyFacts(`p${i}`, { id, cluster, metadata })));
    this.#look();
  }

  costs(objects: readonly JsonObject[]): Omit<Screened, 'id' | 'growth'> & { readonly addMs: number } {
    [this.#foldMs, this.#sliceMs, this.#cpuMs] = [0, 0, 0];
    this.#step(additions(objects));
    const addMs = Math.round(this.#cpuMs);
    this.#step(additions([otherChange(1)]));
    this.#step(removals(objects));
    const [foldMs, sliceMs, cpuMs] = [this.#foldMs, this.#sliceMs, this.#cpuMs].map(Math.round) as [
      number,
      number,
      number,
    ];
    return { foldMs, sliceMs, cpuMs, addMs, ...(this.#error === undefined ? {} : { error: this.#error }) };
  }

  #step(facts: readonly Unrecorded[]): void {
    this.#fold(facts);
    this.#look();
  }

  #fold(facts: readonly Unrecorded[]): void {
    for (const fact of facts) {
      const before = threadCpuMs();
      this.#state = foldFacts([fact], this.#state).state;
      this.#foldMs = this.#took(before, this.#foldMs);
    }
  }

  /** As a proxy does: clusters and listeners, then the endpoints and routes that they name. */
  #look(): void {
    for (const [i, { asks }] of proxyCases.entries()) {
      const all = Object.fromEntries(asks.map(what => [URLS[what], { wildcard: true, names: [] }]));
      this.#sliced(`p${i}`, all);
      if (!asks.includes('clusters')) continue;
      const named = (names: readonly string[]): Subscription => ({
        wildcard: false,
        names: [...new Set(names)].sort(),
      });
      const endpoints = named(endpointNames(this.#messages<Cluster>(`p${i}`, CDS)));
      const routes = named(routeNames(this.#messages<Listener>(`p${i}`, LDS)));
      this.#sliced(`p${i}`, { ...all, [EDS]: endpoints, [RDS]: routes });
    }
  }

  #messages<T>(connection: string, url: string): readonly T[] {
    const proxy = this.#state.proxies.get(connection)!;
    return allOf(this.#engine.tracker, this.#state, proxy, url).map(({ message }) => message as T);
  }

  #sliced(connection: string, subscriptions: ProxyRecord['subscriptions']): void {
    const proxy = { ...this.#state.proxies.get(connection)!, subscriptions };
    const look = this.#engine.look();
    for (;;) {
      const before = threadCpuMs();
      try {
        if (look(SLICE_WORK, this.#state, proxy).value !== undefined) return;
      } catch (error) {
        // A server keeps what the proxy had, and goes on.
        this.#error = String(error);
        return;
      } finally {
        this.#sliceMs = this.#took(before, this.#sliceMs);
      }
    }
  }

  /** The larger of `longest` and the CPU since `before`. */
  #took(before: number, longest: number): number {
    const ms = threadCpuMs() - before;
    this.#cpuMs += ms;
    return Math.max(longest, ms);
  }
}

function additions(objects: readonly JsonObject[]): readonly Unrecorded[] {
  return objects.map(object => ({ source: SOURCE, kind: 'Add', object }));
}

function removals(objects: readonly JsonObject[]): readonly Unrecorded[] {
  return objects.map(({ apiVersion, kind, metadata }) => {
    const { namespace = '', name } = metadata as { readonly namespace?: string; readonly name: string };
    return {
      source: SOURCE,
      kind: 'Delete',
      ref: { apiVersion: String(apiVersion), kind: String(kind), namespace, name },
    };
  });
}

/** Of the main thread, which garbage collection in other threads does not lengthen. */
function threadCpuMs(): number {
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1').split(' ')[0]) / 1e6;
}
