// Additions, insertions, replacements and removals in a list of named filters or routes. Merges come after them all,
// element by element (merge.ts).
// Source: Istio pilot/pkg/networking/core/envoyfilter/listener_patch.go, util.go.

import type { EnvoyPatch } from '../../../core/select/patch/envoy-patch.ts';
import type { Outcome } from './outcome.ts';

/**
 * `anchor`: whether the match names an element; undefined if it names none, which makes an insertion before or after
 * one of the whole list, and leaves replacement and removal without effect. The list itself if it stays as it is, or if
 * an earlier patch of this resource has made it: then it changes in place.
 */
export function patchList<T>(
  list: readonly T[],
  patch: EnvoyPatch,
  anchor: ((element: T) => boolean) | undefined,
  outcome: Outcome,
): readonly T[] {
  const change = changeOf(list, patch, anchor);
  if (change === undefined) return list;
  outcome.acted(patch);
  if (change === 'remove') return list.filter(element => !anchor!(element));
  const out = outcome.grown.has(list) ? (list as T[]) : outcome.grown.made(list.slice());
  out.splice(change.at, change.replaced, patch.value as T);
  return out;
}

/** Where the value of the patch comes, and how many elements it takes the place of; undefined: nothing changes. */
function changeOf<T>(
  list: readonly T[],
  { operation }: EnvoyPatch,
  anchor: ((element: T) => boolean) | undefined,
): { readonly at: number; readonly replaced: number } | 'remove' | undefined {
  const end = list.length;
  switch (operation) {
    case 'ADD':
      return { at: end, replaced: 0 };
    case 'INSERT_FIRST':
      return { at: 0, replaced: 0 };
    case 'INSERT_BEFORE':
      return anchor === undefined ? { at: 0, replaced: 0 } : atAnchor(list, anchor, 0, 0);
    case 'INSERT_AFTER':
      return anchor === undefined ? { at: end, replaced: 0 } : atAnchor(list, anchor, 1, 0);
    case 'REPLACE':
      return anchor === undefined ? undefined : atAnchor(list, anchor, 0, 1);
    case 'REMOVE':
      return anchor === undefined || !list.some(anchor) ? undefined : 'remove';
    case 'MERGE':
      return undefined;
  }
}

/** At a distance from the first anchor; undefined: there is none. */
function atAnchor<T>(list: readonly T[], anchor: (element: T) => boolean, distance: number, replaced: number) {
  const at = list.findIndex(anchor);
  return at < 0 ? undefined : { at: at + distance, replaced };
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
