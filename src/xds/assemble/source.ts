// Where the resources of a type come from: the shape of the rows of types.ts.

import type { Resource } from '../../core/model/resource.ts';
import type { ProxyReader, Query } from '../../core/query/reader.ts';

export interface Pieces<I extends object> {
  readonly list: (reader: ProxyReader, names: readonly string[]) => readonly I[];
  /** A Selection of what `list` gives; a method, so that a row of any pieces is a row. */
  readonly each: { readonly name: string; run(reader: ProxyReader, of: I): unknown };
}

export interface ResourceSource {
  /** Type URL. */
  readonly url: string;
  /** Every resource of the proxy: types that can be subscribed to by wildcard. */
  readonly all?: Query<'', readonly Resource<object>[]>;
  /** One resource by name; undefined: there is none. Beside `all`: only to tell what a resource was made from. */
  readonly named?: Query<string, Resource<object> | undefined>;
  /**
   * What `all` is put together from, so that long work can be stopped between two of them and gone on with (engine.ts);
   * it says nothing about values then. Without `all`: `each` of what `list` gives for names is the resource of those
   * that exist, in order, the same as `named` of each.
   */
  readonly pieces?: Pieces<object>;
}
