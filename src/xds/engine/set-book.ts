// Finds the resource set for a list of resources. Invariant: lists with identical elements get the identical set while
// it is in use, however the lists were made. So namespaces that see the same share versions, digest, receipt and
// response bytes.

import type { Resource } from '../../core/model/resource.ts';
import { ResourceSet } from './resource-set.ts';

type Made = readonly Resource<object>[];

interface ListedSet {
  readonly made: Made;
  readonly set: ResourceSet;
}

/**
 * Sets of one type that a new list is compared with: the views of this many namespaces can change together and still
 * share. Each comparison is at most one pass over the list.
 */
export const COMPARED_SETS = 32;

export class SetBook {
  readonly #byList = new WeakMap<Made, ResourceSet>();
  /** Type URL → recent sets, the newest first. Weak references: a set that no proxy uses is not kept alive. */
  readonly #recent = new Map<string, WeakRef<ListedSet>[]>();
  /** Keeps the target of a weak reference alive as long as its set. */
  readonly #known = new WeakMap<ResourceSet, ListedSet>();

  /** The set of the same resources, if it is still in use. */
  find(url: string, made: Made): ResourceSet | undefined {
    const known = this.#byList.get(made) ?? this.#alike(url, made);
    if (known !== undefined) this.#byList.set(made, known);
    return known;
  }

  /** Call it only after `find` returned undefined. */
  make(url: string, made: Made): ResourceSet {
    const set = new ResourceSet(url, made);
    const known: ListedSet = { made, set };
    this.#byList.set(made, set);
    this.#known.set(set, known);
    const recent = this.#recent.get(url) ?? [];
    recent.unshift(new WeakRef(known));
    if (recent.length > COMPARED_SETS) recent.pop();
    this.#recent.set(url, recent);
    return set;
  }

  #alike(url: string, made: Made): ResourceSet | undefined {
    for (const ref of this.#recent.get(url) ?? []) {
      const known = ref.deref();
      if (known !== undefined && sameElements(known.made, made)) return known.set;
    }
    return undefined;
  }
}

function sameElements(a: Made, b: Made): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
