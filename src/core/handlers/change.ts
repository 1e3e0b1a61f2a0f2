// A change of one object in force, as the handlers see it.

import type { KindName } from '../kinds/kinds.ts';
import type { Obj } from '../object.ts';

export interface Change {
  readonly seq: number;
  readonly kind: KindName;
  /** Key in the kind's table. */
  readonly key: string;
  readonly before: Obj | undefined;
  readonly after: Obj | undefined;
}
