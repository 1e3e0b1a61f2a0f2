// Additions, insertions, replacements and removals in a list of named filters or routes. Merges come after them all,
// element by element (merge.ts).
// Source: Istio pilot/pkg/networking/core/envoyfilter/listener_patch.go, util.go.

import type { EnvoyPatch } from '../../../core/select/patch/envoy-patch.ts';
import type { Outcome } from './outcome.ts';

/**
 * `anchor`: whether the match names an element; undefined if it names none, which makes an insertion before or after
 * one of the whole list, and leaves replacement and removal without effect.
 */
export function patchList<T>(
  list: readonly T[],
  patch: EnvoyPatch,
  anchor: ((element: T) => boolean) | undefined,
  outcome: Outcome,
): readonly T[] {
  const after = changed(list, patch, anchor);
  if (after !== list) outcome.acted(patch);
  return after;
}

function changed<T>(
  list: readonly T[],
  { operation, value }: EnvoyPatch,
  anchor: ((element: T) => boolean) | undefined,
): readonly T[] {
  const made = value as T;
  switch (operation) {
    case 'ADD':
      return [...list, made];
    case 'INSERT_FIRST':
      return [made, ...list];
    case 'INSERT_BEFORE':
      return anchor === undefined ? [made, ...list] : spliced(list, anchor, 0, 0, made);
    case 'INSERT_AFTER':
      return anchor === undefined ? [...list, made] : spliced(list, anchor, 1, 0, made);
    case 'REPLACE':
      return anchor === undefined ? list : spliced(list, anchor, 0, 1, made);
    case 'REMOVE':
      return anchor === undefined || !list.some(anchor) ? list : list.filter(element => !anchor(element));
    case 'MERGE':
      return list;
  }
}

/** `made` at a distance from the first anchor; the list itself if there is none. */
function spliced<T>(
  list: readonly T[],
  anchor: (element: T) => boolean,
  distance: number,
  replaced: number,
  made: T,
): readonly T[] {
  const at = list.findIndex(anchor);
  if (at < 0) return list;
  return [...list.slice(0, at + distance), made, ...list.slice(at + distance + replaced)];
}

/** `each` of every element; the list itself if it gives the identical elements. */
export function mapSame<T>(list: readonly T[], each: (element: T) => T): readonly T[] {
  let out: T[] | undefined;
  for (let i = 0; i < list.length; i++) {
    const after = each(list[i]!);
    if (after !== list[i]) out ??= list.slice();
    if (out !== undefined) out[i] = after;
  }
  return out ?? list;
}
