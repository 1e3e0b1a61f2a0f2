// Short names for the decoded Istio objects that the selectors hand out.

import type { KindName, KindSpecs } from '../../model/kind.ts';
import type { Obj } from '../../model/object.ts';

/** The decoded content of a kind. */
export type SpecOf<K extends KindName> = KindSpecs[K];
/** An accepted object of a kind. */
export type ObjOf<K extends KindName> = Obj<K>;
