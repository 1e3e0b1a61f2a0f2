// Configuration from memory: for programs that embed Periplus and know the objects themselves, and for tests. What is
// set before the start is listed then; later changes are submitted in order.

import type { Fact, RawObject } from '../../core/event.ts';
import { rawRef } from '../../core/fold/novelty.ts';
import type { Adapter, Sink, SourceStatus, Unreadable } from '../adapter.ts';

export class MemoryAdapter implements Adapter {
  readonly source: string;
  readonly #objects = new Map<string, RawObject>();
  #sink: Sink | undefined;
  #listed = false;
  #unreadable: Unreadable | undefined;
  #saying: Promise<void> = Promise.resolve();

  /** `cluster`: the registry that the objects belong to. */
  constructor(cluster: string) {
    this.source = `memory/${cluster}`;
  }

  async start(sink: Sink): Promise<void> {
    this.#sink = sink;
    await this.#list();
  }

  /**
   * For a program that takes the objects from somewhere else and cannot read there: from now on what it has not set may
   * still be there, so a start deletes nothing. `undefined`: what is set is all there is again. Resolves when the sink
   * has it.
   */
  async setUnreadable(why: string | undefined): Promise<void> {
    const since = this.#unreadable?.since ?? Date.now();
    this.#unreadable = why === undefined ? undefined : { what: this.source, why, since };
    if (why === undefined && this.#sink !== undefined) await this.#list();
  }

  #list(): Promise<void> {
    const listed = this.#saying.then(async () => {
      const facts = [...this.#objects.values()].map((object): Fact => ({ kind: 'Add', object }));
      if (this.#unreadable !== undefined) return this.#sink?.submit(facts);
      await this.#sink?.relist(facts, []);
      this.#listed = true;
    });
    this.#saying = listed.catch(() => undefined);
    return listed;
  }

  async stop(): Promise<void> {
    this.#sink = undefined;
    await this.#saying;
  }

  status(): SourceStatus {
    return {
      synced: this.#listed,
      waiting: [],
      troubles: [],
      unreadable: this.#unreadable === undefined ? [] : [this.#unreadable],
    };
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
