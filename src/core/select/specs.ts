// Short names for the decoded Istio objects that the selectors hand out.

import type { JsonObject } from '../json.ts';
import type { KindName, KindSpecs } from '../kinds/kinds.ts';
import type { Obj } from '../object.ts';

/** The decoded content of a kind; a kind that has no decoder yet is plain JSON. */
export type SpecOf<K extends string> = K extends KindName ? KindSpecs[K] : JsonObject;
/** An accepted object of a kind. */
export type ObjOf<K extends string> = Obj<K extends KindName ? K : KindName>;
