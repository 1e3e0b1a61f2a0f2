// Passes the objects of one resource to the sink as facts. An object that the journal cannot record (nested too deeply,
// say) does not block the others: the log names it, and its earlier version stays. Every other refusal is passed on, so
// that the watch lists again: the fact of an event that was dropped would be missing for good.

import type { JsonObject } from '../../core/base/json.ts';
import type { Fact, ObjectRef } from '../../core/event.ts';
import { rawRef } from '../../core/fold/novelty.ts';
import { type AdapterLog, isUnfit, type Sink } from '../adapter.ts';
import { added, factOf } from './facts.ts';
import type { WatchEvent } from './reflector.ts';
import type { Resource } from './resource.ts';

export class KindSink {
  readonly #sink: Sink;
  readonly #resource: Resource;
  readonly #log: AdapterLog;

  constructor(sink: Sink, resource: Resource, log: AdapterLog) {
    this.#sink = sink;
    this.#resource = resource;
    this.#log = log;
  }

  async replace(objects: readonly JsonObject[]): Promise<void> {
    const facts = objects.map(object => added(this.#resource, object));
    try {
      await this.#sink.relistKinds([this.#resource.kind], facts);
    } catch (error) {
      if (!isUnfit(error)) throw error;
      const unfit = new Set(await this.#oneByOne(facts));
      const rest = facts.filter(fact => !unfit.has(fact));
      await this.#sink.relistKinds([this.#resource.kind], rest, [...unfit].flatMap(refOf));
    }
  }

  async change(events: readonly WatchEvent[]): Promise<void> {
    const facts = events.flatMap(event => factOf(this.#resource, event) ?? []);
    try {
      await this.#sink.submit(facts);
    } catch (error) {
      if (!isUnfit(error)) throw error;
      await this.#oneByOne(facts);
    }
  }

  /** The facts that cannot be recorded. */
  async #oneByOne(facts: readonly Fact[]): Promise<readonly Fact[]> {
    const unfit: Fact[] = [];
    for (const fact of facts) {
      try {
        await this.#sink.submit([fact]);
      } catch (error) {
        if (!isUnfit(error)) throw error;
        unfit.push(fact);
        const named = refOf(fact).map(({ kind, namespace, name }) => `${kind} ${namespace}/${name}`);
        const why = error instanceof Error ? error.message : String(error);
        this.#log('error', `${named[0] ?? this.#resource.path} cannot be recorded and stays as it was: ${why}`);
      }
    }
    return unfit;
  }
}

function refOf(fact: Fact): readonly ObjectRef[] {
  if (fact.kind === 'Delete') return [fact.ref];
  const ref = fact.kind === 'Add' || fact.kind === 'Update' ? rawRef(fact.object) : undefined;
  return ref === undefined ? [] : [ref];
}
