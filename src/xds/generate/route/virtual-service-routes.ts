// The routes of one VirtualService in one kind of place: one for each match that applies there.
// Source: Istio pilot/pkg/networking/core/route/route.go (BuildHTTPRoutesForVirtualService).

import { joined } from '../../../core/base/groups.ts';
import { type Problem, problem } from '../../../core/base/problem.ts';
import { ROUTE_SEMANTICS } from '../../../core/model/derived.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { HTTPMatchRequest, HTTPRoute } from '../../../core/schema/istio-types.gen.ts';
import { sessionAmong } from '../../../core/select/route/persistent-session.ts';
import type { VirtualServiceRoutesInputs } from '../../../core/select/route/virtual-service-routes.ts';
import type { ResolvedVirtualService } from '../../../core/select/scope/virtual-services.ts';
import type { PickedRoute } from '../../../core/translate/gateway-api/endpoint-picker.ts';
import type { AnyMessage, Metadata, Route, RouteAction, RouteMatch } from '../../proto/types.gen.ts';
import { PICKER_FILTER, pickerConfig } from '../common/endpoint-picker.ts';
import { lastOf } from '../common/last.ts';
import { CORS_FILTER, corsConfig } from './cors.ts';
import { operationPlace, routeDecorator } from './decorator.ts';
import { directResponseAction } from './direct-response.ts';
import { FAULT_FILTER, faultConfig } from './fault.ts';
import {
  type HeaderOperations,
  headerFields,
  headerOperations,
  joinOperations,
  withAltService,
} from './header-operations.ts';
import { isCatchAll, routeMatch } from './match.ts';
import { sessionConfig } from './persistent-session.ts';
import { redirectAction } from './redirect.ts';
import { routeAction } from './route-action.ts';

export interface GeneratedRoutes {
  /** Never empty. */
  readonly routes: readonly Route[];
  readonly problems: readonly Problem[];
}

export const virtualServiceRoutes: Generator<VirtualServiceRoutesInputs, GeneratedRoutes> = {
  name: 'route/virtualServiceRoutes',
  run: inputs => routesWithin(inputs, 0, inputs.selected.length),
};

/** The routes of some of the matches, by their places in `selected`; `to` is exclusive. */
export interface MatchRange {
  readonly inputs: VirtualServiceRoutesInputs;
  readonly from: number;
  readonly to: number;
}

export const routesOfMatches: Generator<MatchRange, GeneratedRoutes> = {
  name: 'route/routesOfMatches',
  run: ({ inputs, from, to }) => routesWithin(inputs, from, to),
  work: (_, { from, to }) => (to - from) / MATCHES_PER_WORK_UNIT,
};

/** Matches of which routes are made in about the time of one run of a query. */
const MATCHES_PER_WORK_UNIT = 8;

/** In order. Routes after one that matches everything are left out. */
export const joinedMatches: Generator<{ readonly blocks: readonly GeneratedRoutes[] }, GeneratedRoutes> = {
  name: 'route/joinedMatches',
  run: ({ blocks }) => ({
    routes: joined(blocks.map(({ routes }) => routes)),
    problems: joined(blocks.map(({ problems }) => problems)),
  }),
};

/** Whether no request reaches what is behind the routes. */
export function endsWithCatchAll({ routes }: GeneratedRoutes): boolean {
  return isCatchAll(routes.at(-1)?.match ?? {});
}

function routesWithin(inputs: VirtualServiceRoutesInputs, from: number, to: number): GeneratedRoutes {
  const { selected, virtualService } = inputs;
  const routes: Route[] = [];
  let problems: Problem[] | undefined;
  let parts: RuleParts | undefined;
  for (let i = from; i < to; i++) {
    const [ruleIndex, matchIndex] = selected[i]!;
    const rule = virtualService.spec.http![ruleIndex]!;
    if (parts?.rule !== rule) parts = partsOf(inputs, rule);
    const route = oneRoute(inputs, parts, rule.match?.[matchIndex]);
    if (rule.redirect !== undefined && route.redirect === undefined) {
      problems ??= [];
      problems.push(badRedirect(virtualService, ruleIndex, rule.redirect.redirectCode));
    }
    if (inputs.proxyless && rule.corsPolicy !== undefined) {
      problems ??= [];
      problems.push(unknownToGrpc(virtualService, ruleIndex));
    }
    routes.push(route);
    if (isCatchAll(route.match ?? {})) break;
  }
  return { routes, problems: problems ?? noProblems };
}

const noProblems: readonly Problem[] = [];

/** The parts that the routes of a rule, one for each match, share. */
interface RuleParts {
  readonly rule: HTTPRoute;
  readonly operations: HeaderOperations;
  readonly headers: ReturnType<typeof headerFields>;
  readonly filterConfigs: Route['typedPerFilterConfig'];
  readonly metadata: Metadata;
  /** Of a rule that forwards; undefined where it depends on the match. */
  readonly route: RouteAction | undefined;
  /** See decorator.ts. Rewriting, which depends on the match, changes no cluster. */
  readonly place: string;
  readonly semantics: string | undefined;
}

/** Of the last rule: its matches may be in several ranges. */
const partsOf = lastOf((inputs: VirtualServiceRoutesInputs, rule: HTTPRoute): RuleParts => {
  const { obj } = inputs.virtualService;
  const semantics = obj.annotations[ROUTE_SEMANTICS];
  const operations = operationsOf(rule);
  const gatewaySemantics = semantics === 'gateway';
  const forwarding = forwards(rule)
    ? routeAction({ inputs, rule, operations, match: {}, gatewaySemantics })
    : undefined;
  return {
    rule,
    operations,
    headers: headerFields(inputs.http3 ? withAltService(operations, inputs.port) : operations),
    filterConfigs: filterConfigs(inputs, rule),
    metadata: configMetadata(obj.namespace, obj.name),
    route: gatewaySemantics && rule.rewrite !== undefined ? undefined : forwarding,
    place: operationPlace(forwarding, inputs.virtualService.name, inputs.port),
    semantics,
  };
});

function oneRoute(
  inputs: VirtualServiceRoutesInputs,
  parts: RuleParts,
  requested: HTTPMatchRequest | undefined,
): Route {
  const { rule, semantics, headers } = parts;
  const match = routeMatch(requested, semantics === 'gateway' || semantics === 'ingress');
  const action = actionOf(inputs, parts, match);
  return {
    name: routeName(rule, requested) || undefined,
    match,
    redirect: action.redirect,
    directResponse: action.directResponse,
    route: action.route,
    metadata: parts.metadata,
    decorator: routeDecorator(match, parts.place),
    requestHeadersToAdd: headers.requestHeadersToAdd,
    requestHeadersToRemove: headers.requestHeadersToRemove,
    responseHeadersToAdd: headers.responseHeadersToAdd,
    responseHeadersToRemove: headers.responseHeadersToRemove,
    typedPerFilterConfig: parts.filterConfigs,
    statPrefix: requested?.statPrefix || undefined,
  };
}

function forwards(rule: HTTPRoute): boolean {
  return rule.redirect === undefined && rule.directResponse === undefined;
}

function routeName(rule: HTTPRoute, match: HTTPMatchRequest | undefined): string {
  const matchName = match?.name ?? '';
  return (rule.name ?? '') + (matchName === '' ? '' : `.${matchName}`);
}

/**
 * A redirect beats a direct response, which beats destinations. A redirect with a code that Envoy does not know leaves
 * the route empty.
 */
function actionOf(
  inputs: VirtualServiceRoutesInputs,
  { rule, route, operations, semantics }: RuleParts,
  match: RouteMatch,
): Pick<Route, 'redirect' | 'directResponse' | 'route'> {
  const gatewaySemantics = semantics === 'gateway';
  if (route !== undefined) return { route };
  if (rule.redirect !== undefined) {
    const place = { port: inputs.port, https: inputs.https, prefixToken: gatewaySemantics };
    return { redirect: redirectAction(rule.redirect, place) };
  }
  if (rule.directResponse !== undefined) return { directResponse: directResponseAction(rule.directResponse) };
  return { route: routeAction({ inputs, rule, operations, match, gatewaySemantics }) };
}

/** The operations of an only destination are done on the route; those of several belong to the weights. */
function operationsOf(rule: HTTPRoute): HeaderOperations {
  const ofRule = headerOperations(rule.headers);
  if (!forwards(rule) || rule.route?.length !== 1) return ofRule;
  return joinOperations(ofRule, headerOperations(rule.route[0]?.headers));
}

function filterConfigs(inputs: VirtualServiceRoutesInputs, rule: HTTPRoute): Route['typedPerFilterConfig'] {
  const { endpointPicker } = rule as PickedRoute;
  const configs: Record<string, AnyMessage> = { ...sessionConfig(routeSession(inputs, rule)) };
  if (rule.fault !== undefined) configs[FAULT_FILTER] = faultConfig(rule.fault);
  if (rule.corsPolicy !== undefined && !inputs.proxyless) configs[CORS_FILTER] = corsConfig(rule.corsPolicy);
  if (endpointPicker !== undefined) configs[PICKER_FILTER] = pickerConfig(endpointPicker);
  return Object.keys(configs).length === 0 ? undefined : configs;
}

function routeSession(inputs: VirtualServiceRoutesInputs, rule: HTTPRoute): string {
  if (inputs.sessions.length === 0 || rule.redirect !== undefined || rule.directResponse !== undefined) return '';
  const sessions = new Map(inputs.sessions);
  const used = (rule.route ?? []).filter(({ weight }, _, all) => all.length === 1 || (weight ?? 0) !== 0);
  return sessionAmong(used.map(({ destination }) => sessions.get(destination?.host ?? '') ?? ''));
}

/** Names the route's source object to readers of the proxy's configuration. */
const configMetadata = lastOf((namespace: string, name: string): Metadata => {
  const config = `/apis/networking.istio.io/v1/namespaces/${namespace}/virtual-service/${name}`;
  return { filterMetadata: { istio: { config } } };
});

/** gRPC would refuse the whole route configuration. */
function unknownToGrpc(virtualService: ResolvedVirtualService, index: number): Problem {
  return problem(
    `VirtualService ${virtualService.namespace}/${virtualService.name} spec.http[${index}].corsPolicy`,
    'has no effect on gRPC clients without a proxy',
  );
}

function badRedirect(virtualService: ResolvedVirtualService, index: number, code: number | undefined): Problem {
  return problem(
    `VirtualService ${virtualService.namespace}/${virtualService.name} spec.http[${index}].redirect.redirectCode`,
    `${code} is no redirect that the proxy knows (301, 302, 303, 307, 308): it will refuse the route`,
  );
}
