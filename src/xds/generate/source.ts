// Where the resources of a type come from: the shape of the rows of types.ts.

import type { Query } from '../../core/reader.ts';
import type { Resource } from '../../core/resource.ts';

export interface ResourceSource {
  /** Type URL. */
  readonly url: string;
  /** Every resource of the proxy: types that can be subscribed to by wildcard. */
  readonly all?: Query<'', readonly Resource<object>[]>;
  /** One resource by name; undefined: there is none. */
  readonly named?: Query<string, Resource<object> | undefined>;
}
