// What the watches of a cluster have listed while nothing of it may be seen yet. A cluster that comes is either there
// with everything or not at all: services without their endpoints would send traffic elsewhere.

import { isObject, type JsonObject } from '../../core/base/json.ts';
import type { Fact } from '../../core/event.ts';
import type { KindName } from '../../core/model/kind.ts';
import { added } from './facts.ts';
import type { WatchEvent } from './reflector.ts';
import type { Resource } from './resource.ts';

interface HeldList {
  readonly resource: Resource;
  readonly objects: ReadonlyMap<string, JsonObject>;
}

export class HeldLists {
  readonly #lists = new Map<KindName, HeldList>();
  /** Kinds that the cluster does not have. */
  #absent: readonly KindName[] = [];

  replace(resource: Resource, objects: readonly JsonObject[]): void {
    const byName = new Map(objects.map(object => [nameOf(object), object]));
    this.#lists.set(resource.kind, { resource, objects: byName });
  }

  /** Of a kind that was listed. */
  change({ kind }: Resource, events: readonly WatchEvent[]): void {
    const held = this.#lists.get(kind);
    if (held === undefined) return;
    const objects = new Map(held.objects);
    for (const { type, object } of events) {
      if (type === 'DELETED') objects.delete(nameOf(object));
      else objects.set(nameOf(object), object);
    }
    this.#lists.set(kind, { ...held, objects });
  }

  forget(kind: KindName): void {
    this.#lists.delete(kind);
  }

  lacks(kinds: readonly KindName[]): void {
    this.#absent = kinds;
  }

  /** The kinds that are known, and everything of them. */
  all(): { readonly kinds: readonly KindName[]; readonly facts: readonly Fact[] } {
    const facts: Fact[] = [];
    for (const { resource, objects } of this.#lists.values()) {
      for (const object of objects.values()) facts.push(added(resource, object));
    }
    return { kinds: [...this.#absent, ...this.#lists.keys()], facts };
  }

  /** One kind after the other, for a cluster with an object that cannot be recorded. */
  each(): readonly { readonly resource: Resource; readonly objects: readonly JsonObject[] }[] {
    return [...this.#lists.values()].map(({ resource, objects }) => ({ resource, objects: [...objects.values()] }));
  }
}

function nameOf({ metadata }: JsonObject): string {
  return isObject(metadata) ? `${String(metadata.namespace ?? '')}/${String(metadata.name ?? '')}` : '';
}
