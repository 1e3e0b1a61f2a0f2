// The maps of a VirtualService's rules that have tens of thousands of keys: headers to match, to set and to add.

import type { Headers, HTTPMatchRequest, HTTPRoute } from '../../../core/schema/istio-types.gen.ts';
import { isLargeMap } from '../common/sorted-keys.ts';

type Members = Readonly<Record<string, unknown>>;

const found = new WeakMap<readonly HTTPRoute[], readonly Members[]>();

export function largeMapsOf(rules: readonly HTTPRoute[] = noRules): readonly Members[] {
  let known = found.get(rules);
  if (known === undefined) {
    known = rules.flatMap(mapsOf).filter(isLargeMap);
    found.set(rules, known);
  }
  return known;
}

const noRules: readonly HTTPRoute[] = [];

function mapsOf({ match, headers, route }: HTTPRoute): readonly (Members | undefined)[] {
  const ofDestinations = route?.flatMap(destination => ofHeaders(destination.headers)) ?? noMaps;
  return [...ofHeaders(headers), ...ofDestinations, ...(match?.flatMap(ofMatch) ?? noMaps)];
}

function ofHeaders(headers: Headers | undefined): readonly (Members | undefined)[] {
  if (headers === undefined) return noMaps;
  const { request, response } = headers;
  return [request?.set, request?.add, response?.set, response?.add];
}

function ofMatch({ headers, withoutHeaders, queryParams }: HTTPMatchRequest): readonly (Members | undefined)[] {
  return (headers ?? withoutHeaders ?? queryParams) ? [headers, withoutHeaders, queryParams] : noMaps;
}

const noMaps: readonly never[] = [];
