// A change of one object in force, as handlers get it. Invariant: at least one of the two versions exists, and they
// differ.

import { assert } from '../base/assert.ts';
import type { KindName } from '../model/kind.ts';
import type { Obj } from '../model/object.ts';

export interface Change {
  readonly seq: number;
  readonly kind: KindName;
  /** Key in the kind's table. */
  readonly key: string;
  readonly before: Obj | undefined;
  readonly after: Obj | undefined;
}

/** The version before, if any, then the one after, if any: one or two. `K` is the kind of the change. */
export function versionsOf<K extends KindName>(change: Change): readonly [Obj<K>, ...Obj<K>[]] {
  const [first, ...rest] = [change.before, change.after].filter(version => version !== undefined) as Obj<K>[];
  assert(first !== undefined, `a change of ${change.kind} ${change.key} from nothing to nothing`);
  return [first, ...rest];
}
