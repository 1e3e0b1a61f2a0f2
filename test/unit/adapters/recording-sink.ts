// A sink that keeps what it is told, and what that comes to.

import type { Sink, SourcePart } from '../../../src/adapters/adapter.ts';
import type { JsonObject } from '../../../src/core/base/json.ts';
import type { Fact } from '../../../src/core/event.ts';
import type { KindName } from '../../../src/core/model/kind.ts';

export class RecordingSink implements Sink {
  readonly batches: (readonly Fact[])[] = [];
  readonly lists: { readonly all: readonly Fact[]; readonly unreadable: readonly string[] }[] = [];
  readonly objects = new Map<string, JsonObject>();

  async submit(batch: readonly Fact[]): Promise<void> {
    this.batches.push(batch);
    this.#keep(batch);
  }

  async relist(all: readonly Fact[], unreadable: readonly string[]): Promise<void> {
    this.lists.push({ all, unreadable });
    this.objects.clear();
    this.#keep(all);
  }

  async relistKinds(kinds: readonly KindName[], all: readonly Fact[]): Promise<void> {
    this.lists.push({ all, unreadable: [] });
    for (const key of [...this.objects.keys()])
      if (kinds.some(kind => key.startsWith(`${kind}/`))) this.objects.delete(key);
    this.#keep(all);
  }

  /** What a journal would have before the start. */
  held: (what: SourcePart) => boolean = () => false;

  holds(what: SourcePart): boolean {
    return this.held(what);
  }

  /** Waits until it holds; gives up with what there is after `ms`. */
  async until(holds: (sink: this) => boolean, ms = 60_000): Promise<void> {
    const end = Date.now() + ms;
    while (!holds(this)) {
      if (Date.now() > end)
        throw new Error(`did not come: have ${[...this.objects.keys()].join(', ')}; ${JSON.stringify(this.batches)}`);
      await new Promise(resolve => setTimeout(resolve, 10));
    }
  }

  #keep(facts: readonly Fact[]): void {
    for (const fact of facts) {
      if (fact.kind === 'Add' || fact.kind === 'Update') {
        const meta = fact.object.metadata as JsonObject;
        this.objects.set(`${String(fact.object.kind)}/${String(meta.name)}`, fact.object);
      } else if (fact.kind === 'Delete') this.objects.delete(`${fact.ref.kind}/${fact.ref.name}`);
    }
  }
}
