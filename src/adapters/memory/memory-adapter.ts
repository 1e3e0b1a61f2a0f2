// Configuration from memory: for programs that embed Periplus and know the objects themselves, and for tests. What is set before the start
// is listed then; later changes are said as they come, in order.

import type { Fact, RawObject } from '../../core/event.ts';
import { rawRef } from '../../core/fold/novelty.ts';
import type { Adapter, Sink, SourceStatus } from '../adapter.ts';

export class MemoryAdapter implements Adapter {
  readonly source: string;
  readonly #objects = new Map<string, RawObject>();
  #sink: Sink | undefined;
  #listed = false;
  #saying: Promise<void> = Promise.resolve();

  /** `cluster`: the registry that the objects belong to. */
  constructor(cluster: string) {
    this.source = `memory/${cluster}`;
  }

  async start(sink: Sink): Promise<void> {
    this.#sink = sink;
    const facts = [...this.#objects.values()].map((object): Fact => ({ kind: 'Add', object }));
    this.#saying = sink.relist(facts, []);
    await this.#saying;
    this.#listed = true;
  }

  async stop(): Promise<void> {
    this.#sink = undefined;
    await this.#saying;
  }

  status(): SourceStatus {
    return { synced: this.#listed, waiting: [], troubles: [] };
  }

  /** Resolves when the sink has it. Rejects with a TypeError for an object without apiVersion, kind or name. */
  async set(object: RawObject): Promise<void> {
    const key = keyOf(object);
    const kind = this.#objects.has(key) ? 'Update' : 'Add';
    this.#objects.set(key, object);
    await this.#say({ kind, object });
  }

  /** Removing what is not there is no error. */
  async remove(object: RawObject): Promise<void> {
    const ref = rawRef(object);
    if (ref === undefined || !this.#objects.delete(keyOf(object))) return;
    await this.#say({ kind: 'Delete', ref });
  }

  #say(fact: Fact): Promise<void> {
    const said = this.#saying.then(async () => this.#sink?.submit([fact]));
    this.#saying = said.catch(() => undefined);
    return said;
  }
}

function keyOf(object: RawObject): string {
  const ref = rawRef(object);
  if (ref === undefined) throw new TypeError('an object needs apiVersion, kind and metadata.name');
  const group = ref.apiVersion.includes('/') ? ref.apiVersion.slice(0, ref.apiVersion.indexOf('/')) : '';
  return `${group}/${ref.kind}/${ref.namespace}/${ref.name}`;
}
