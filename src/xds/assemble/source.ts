// Where the resources of a type come from: the shape of the rows of types.ts.

import type { Resource } from '../../core/model/resource.ts';
import type { ProxyReader, Query } from '../../core/query/reader.ts';

/** Finds a row. */
export function sourceKey(url: string, generator: string): string {
  return `${generator} ${url}`;
}

/**
 * As Istio looks up a generator: the client's own for the type, else the type's, else what the client's generator has
 * for any type.
 */
export function findSource<S>(rows: ReadonlyMap<string, S>, url: string, generator: string): S | undefined {
  return rows.get(sourceKey(url, generator)) ?? rows.get(sourceKey(url, '')) ?? rows.get(sourceKey('', generator));
}

export interface Pieces<I extends object> {
  readonly list: (reader: ProxyReader, names: readonly string[]) => readonly I[];
  /** A Selection of what `list` gives; a method, so that a row of any pieces is a row. */
  readonly each: { readonly name: string; run(reader: ProxyReader, of: I): unknown };
}

export interface ResourceSource {
  /** Type URL; empty: any type that no other row is for. */
  readonly url: string;
  /** The row is for clients that name this generator in their node metadata, in place of the row of all others. */
  readonly generator?: string;
  /** Every resource of the proxy: types that can be subscribed to by wildcard. */
  readonly all?: Query<'', readonly Resource<object>[]>;
  /** One resource by name; undefined: there is none. Beside `all`: only for the provenance of a resource. */
  readonly named?: Query<string, Resource<object> | undefined>;
  /**
   * The parts of `all`, so that engine.ts can pause long work between two of them and resume it; the values do not
   * depend on this. Without `all` there is one row: `each` of what `list` gives for names is the resource of those that
   * exist, in order, the same as `named` of each.
   */
  readonly pieces?: readonly Pieces<object>[];
  /**
   * The resources of all names of a subscription, where the meaning of a name depends on the others, or a resource has
   * several names; an empty list: the client named nothing. Beside `all`: of subscriptions that are no wildcards.
   */
  readonly listed?: (reader: ProxyReader, names: readonly string[]) => readonly Resource<object>[];
}
