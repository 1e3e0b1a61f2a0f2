// The rules of a TCPRoute or TLSRoute.
//
// A rule without backends leads to a cluster that no proxy has, so that connections fail.
// Source: Istio pilot/pkg/config/kube/gateway/conversion.go (convertTCPRoute, convertTLSRoute, buildTCPDestination).

import type { Reader } from '../../query/reader.ts';
import type { TLSRouteRule } from '../../schema/gateway-api-types.gen.ts';
import type { RouteDestination, TCPRoute, TLSRoute } from '../../schema/istio-types.gen.ts';
import { backendDestination, type RouteContext } from './backends.ts';
import { type ConfigError, isSoft } from './config-error.ts';
import type { Converted } from './http-rules.ts';

const NOWHERE: readonly RouteDestination[] = [
  { destination: { host: 'internal.cluster.local', subset: 'zero-weight', port: { number: 65_535 } } },
];

export function convertTcpRules(
  reader: Reader,
  context: RouteContext,
  rules: readonly TLSRouteRule[],
): Converted<TCPRoute> {
  return converted(reader, context, rules, route => ({ route }));
}

/** Without backends a rule has no match either: what passes TLS on builds no chain for it. */
export function convertTlsRules(
  reader: Reader,
  context: RouteContext,
  rules: readonly TLSRouteRule[],
  hostnames: readonly string[],
): Converted<TLSRoute> {
  const match = [{ sniHosts: hostnames.length === 0 ? ['*'] : hostnames }];
  return converted(reader, context, rules, route => (route === NOWHERE ? { route } : { match, route }));
}

function converted<R>(
  reader: Reader,
  context: RouteContext,
  rules: readonly TLSRouteRule[],
  rule: (route: readonly RouteDestination[]) => R,
): Converted<R> {
  const done: R[] = [];
  let last: ConfigError | undefined;
  for (const { backendRefs } of rules) {
    const { route, error } = destinations(reader, context, backendRefs);
    if (route === undefined) return { rules: [], error };
    done.push(rule(route));
    last = error ?? last;
  }
  return { rules: done, error: last };
}

/** `route` undefined: a hard error. */
function destinations(
  reader: Reader,
  context: RouteContext,
  refs: TLSRouteRule['backendRefs'],
): { readonly route: readonly RouteDestination[] | undefined; readonly error: ConfigError | undefined } {
  const used = refs.filter(({ weight }) => weight !== 0);
  if (used.length === 0) return { route: NOWHERE, error: undefined };
  const route: RouteDestination[] = [];
  let last: ConfigError | undefined;
  for (const ref of used) {
    const { destination, error } = backendDestination(reader, context, ref);
    if (destination === undefined || (error !== undefined && !isSoft(error))) return { route: undefined, error };
    last = error ?? last;
    route.push({ destination, ...(used.length === 1 ? {} : { weight: ref.weight }) });
  }
  return { route, error: last };
}
