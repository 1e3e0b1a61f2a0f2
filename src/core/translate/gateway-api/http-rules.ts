// The rules of an HTTPRoute or GRPCRoute as rules of a VirtualService: one for each match, so that they can be ordered
// among those of other routes.
//
// A soft error of a backend is reported and its rule stays; a hard error takes every rule of the route.
// Source: Istio pilot/pkg/config/kube/gateway/conversion.go (convertHTTPRoute, convertGRPCRoute, buildHTTPDestination).

import type { Obj } from '../../model/object.ts';
import type { Reader } from '../../query/reader.ts';
import { type Duration, parseDuration } from '../../schema/duration.ts';
import type { GRPCRouteRule, HTTPRouteRule, RouteFilter } from '../../schema/gateway-api-types.gen.ts';
import type { Headers, HTTPMatchRequest, HTTPRoute, HTTPRouteDestination } from '../../schema/istio-types.gen.ts';
import { type BackendRef, backendDestination, type RouteContext } from './backends.ts';
import { type ConfigError, isSoft, joinErrors } from './config-error.ts';
import type { EndpointPicker, PickedRoute } from './endpoint-picker.ts';
import { isHeaderFilter, withHeaderFilter } from './header-filters.ts';
import { grpcMatch, httpMatch } from './http-matches.ts';
import { applyFilters, unsupported } from './route-filters.ts';

/** Rules of a kind of route, and what its status says of their references. */
export interface Converted<R> {
  /** None: a hard error. */
  readonly rules: readonly R[];
  readonly error: ConfigError | undefined;
}

/** One match of one rule. */
type ConvertedRule =
  | { readonly rule: HTTPRoute; readonly error: ConfigError | undefined }
  | { readonly rule: undefined; readonly error: ConfigError };

export function convertHttpRoute(reader: Reader, context: RouteContext, route: Obj<'HTTPRoute'>): Converted<HTTPRoute> {
  return joined(
    route.spec.rules.flatMap((rule, index) => httpRules(reader, context, rule, nameOf(route, rule, index))),
  );
}

export function convertGrpcRoute(reader: Reader, context: RouteContext, route: Obj<'GRPCRoute'>): Converted<HTTPRoute> {
  const rules = route.spec.rules ?? [];
  return joined(rules.flatMap((rule, index) => grpcRules(reader, context, rule, nameOf(route, rule, index))));
}

/** The last error is the one reported. */
function joined(converted: readonly ConvertedRule[]): Converted<HTTPRoute> {
  const rules: HTTPRoute[] = [];
  let last: ConfigError | undefined;
  for (const { rule, error } of converted) {
    if (rule === undefined) return { rules: [], error };
    rules.push(rule);
    last = error ?? last;
  }
  return { rules, error: last };
}

function nameOf({ namespace, name }: Obj, rule: { readonly name?: string }, index: number): string {
  return rule.name ?? `${namespace}.${name}.${index}`;
}

function httpRules(reader: Reader, context: RouteContext, rule: HTTPRouteRule, name: string): readonly ConvertedRule[] {
  const { parts, mirrorError, error } = applyFilters(reader, context, rule.filters ?? []);
  if (error !== undefined) return [{ rule: undefined, error }];
  const refs = rule.backendRefs ?? [];
  const sent = parts.redirect === undefined ? forward(reader, context, refs, 404) : destinations(reader, context, refs);
  if (sent.hard !== undefined) return [{ rule: undefined, error: sent.hard }];
  const shared: PickedRoute = { name, ...parts, ...timing(rule), ...sent.parts };
  const soft = joinErrors(sent.error, mirrorError);
  return split(shared, rule.matches.map(httpMatch)).map(one => ({ rule: one, error: soft }));
}

function grpcRules(reader: Reader, context: RouteContext, rule: GRPCRouteRule, name: string): readonly ConvertedRule[] {
  const matches: HTTPMatchRequest[] = [];
  for (const written of rule.matches ?? []) {
    const converted = grpcMatch(written);
    if ('error' in converted) return [{ rule: undefined, error: converted.error }];
    matches.push(converted.match);
  }
  const { parts, error } = applyFilters(reader, context, rule.filters ?? []);
  if (error !== undefined) return [{ rule: undefined, error }];
  const sent = forward(reader, context, rule.backendRefs ?? [], 500);
  if (sent.hard !== undefined) return [{ rule: undefined, error: sent.hard }];
  // A picker of endpoints is for HTTPRoutes alone, as in istiod.
  const { endpointPicker: _, ...forwarded } = sent.parts;
  return split({ name, ...parts, ...forwarded }, matches).map(one => ({ rule: one, error: sent.error }));
}

function split(rule: HTTPRoute, matches: readonly HTTPMatchRequest[]): readonly HTTPRoute[] {
  return matches.length === 0 ? [rule] : matches.map(match => ({ ...rule, match: [match] }));
}

interface Forwarding {
  readonly parts: Pick<PickedRoute, 'directResponse' | 'endpointPicker' | 'route'>;
  /** Soft. */
  readonly error: ConfigError | undefined;
  readonly hard: ConfigError | undefined;
}

interface WeightedBackend extends BackendRef {
  readonly weight: number;
  readonly filters?: readonly Pick<RouteFilter, 'requestHeaderModifier' | 'responseHeaderModifier' | 'type'>[];
}

/** `statusWithout`: the answer of a rule that names no backend. Weights that come to nothing answer 500. */
function forward(
  reader: Reader,
  context: RouteContext,
  refs: readonly WeightedBackend[],
  statusWithout: number,
): Forwarding {
  if (refs.every(({ weight }) => weight === 0)) {
    const status = refs.length === 0 ? statusWithout : 500;
    return { parts: { directResponse: { status } }, error: undefined, hard: undefined };
  }
  return destinations(reader, context, refs);
}

/**
 * Of a rule that redirects, nothing is sent to them, yet their errors count. The last of several backends decides
 * whether there is an endpoint picker.
 */
function destinations(reader: Reader, context: RouteContext, refs: readonly WeightedBackend[]): Forwarding {
  const used = refs.filter(({ weight }) => weight !== 0);
  const route: HTTPRouteDestination[] = [];
  let soft: ConfigError | undefined;
  let endpointPicker: EndpointPicker | undefined;
  for (const ref of used) {
    const { destination, error, picker } = backendDestination(reader, context, ref);
    if (destination === undefined || (error !== undefined && !isSoft(error))) {
      return { parts: {}, error: undefined, hard: error };
    }
    soft = error ?? soft;
    endpointPicker = picker;
    const filtered = backendHeaders(ref);
    if (filtered.error !== undefined) return { parts: {}, error: undefined, hard: filtered.error };
    const headers = filtered.headers === undefined ? {} : { headers: filtered.headers };
    route.push({ destination, ...(used.length === 1 ? {} : { weight: ref.weight }), ...headers });
  }
  const picked = endpointPicker === undefined ? {} : { endpointPicker };
  return { parts: route.length === 0 ? {} : { route, ...picked }, error: soft, hard: undefined };
}

function backendHeaders({ filters = [] }: WeightedBackend): {
  readonly headers: Headers | undefined;
  readonly error: ConfigError | undefined;
} {
  let headers: Headers | undefined;
  for (const filter of filters) {
    if (!isHeaderFilter(filter)) return { headers, error: unsupported(filter.type) };
    const result = withHeaderFilter(headers, filter);
    if (result.error !== undefined) return result;
    headers = result.headers;
  }
  return { headers, error: undefined };
}

/** On connection errors, and on the codes named. */
const RETRY_ON: readonly string[] = ['connect-failure', 'refused-stream', 'unavailable', 'cancelled'];
const ATTEMPTS = 2;

function timing({ retry, timeouts }: HTTPRouteRule): Pick<HTTPRoute, 'retries' | 'timeout'> {
  const request = positive(timeouts?.request);
  const backend = positive(timeouts?.backendRequest);
  if (retry === undefined) {
    const timeout = backend ?? request;
    return timeout === undefined ? {} : { timeout };
  }
  const attempts = retry.attempts ?? ATTEMPTS;
  const backoff = retry.backoff === undefined ? undefined : parseDuration(retry.backoff);
  const codes = (retry.codes ?? []).map(String);
  return {
    retries: {
      attempts,
      ...(attempts === 0 ? {} : { retryOn: [...RETRY_ON, ...codes].join(',') }),
      ...(backend === undefined ? {} : { perTryTimeout: backend }),
      ...(backoff === undefined ? {} : { backoff }),
    },
    ...(request === undefined ? {} : { timeout: request }),
  };
}

/** Zero means none. */
function positive(text: string | undefined): Duration | undefined {
  const duration = text === undefined ? undefined : parseDuration(text);
  return duration === undefined || (duration.seconds === 0 && duration.nanos === 0) ? undefined : duration;
}
