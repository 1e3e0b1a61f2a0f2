// Finds the resource set of a list of resources: lists of the identical resources have one set, whichever way they came about. So namespaces that
// see the same share versions, digest and receipt, and what follows from them is worked out once.

import type { Resource } from '../../core/model/resource.ts';
import { ResourceSet } from './resource-set.ts';

type Made = readonly Resource<object>[];

interface Known {
  readonly made: Made;
  readonly set: ResourceSet;
}

/** Sets of one type that a new list is compared with: the views of so many namespaces change together. Costs a look at the list each at most. */
export const COMPARED_SETS = 32;

export class SetBook {
  readonly #byList = new WeakMap<Made, ResourceSet>();
  /** By type, the newest first. Held weakly: a set that nobody holds any more is worth nothing here. */
  readonly #recent = new Map<string, WeakRef<Known>[]>();
  /** Keeps what is recent for as long as the set is there. */
  readonly #known = new WeakMap<ResourceSet, Known>();

  /** Undefined: there is none that anybody still holds. */
  find(url: string, made: Made): ResourceSet | undefined {
    const known = this.#byList.get(made) ?? this.#alike(url, made);
    if (known !== undefined) this.#byList.set(made, known);
    return known;
  }

  /** To be called when `find` found none. */
  make(url: string, made: Made): ResourceSet {
    const set = new ResourceSet(url, made);
    const known: Known = { made, set };
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
