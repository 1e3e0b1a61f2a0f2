// The maps of a VirtualService's rules that have tens of thousands of keys: headers to match, to set and to add.

import type {
  Headers,
  HTTPMatchRequest,
  HTTPRoute,
  HTTPRouteDestination,
} from '../../../core/schema/istio-types.gen.ts';
import { isLargeMap } from '../common/sorted-keys.ts';

type Members = Readonly<Record<string, unknown>>;

const found = new WeakMap<readonly HTTPRoute[], readonly Members[]>();

export function largeMapsOf(rules: readonly HTTPRoute[] = noRules): readonly Members[] {
  let known = found.get(rules);
  if (known === undefined) {
    known = listed(rules);
    found.set(rules, known);
  }
  return known;
}

const noRules: readonly HTTPRoute[] = [];

function listed(rules: readonly HTTPRoute[]): readonly Members[] {
  const large: Members[] = [];
  const add = (map: Members | undefined): void => {
    if (isLargeMap(map)) large.push(map);
  };
  const addOf = (headers: Headers | undefined): void => {
    if (headers === undefined) return;
    const { request, response } = headers;
    add(request?.set);
    add(request?.add);
    add(response?.set);
    add(response?.add);
  };
  for (const { match = noMatches, headers, route = noDestinations } of rules) {
    addOf(headers);
    for (const destination of route) addOf(destination.headers);
    for (const one of match) {
      add(one.headers);
      add(one.withoutHeaders);
      add(one.queryParams);
    }
  }
  return large;
}

const noMatches: readonly HTTPMatchRequest[] = [];
const noDestinations: readonly HTTPRouteDestination[] = [];
