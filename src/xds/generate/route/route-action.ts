// The action of a rule: destinations, timeouts and rewrites.
// Source: Istio pilot/pkg/networking/core/route/route.go (applyHTTPRouteDestination).

import type { HTTPRewrite, HTTPRoute, HTTPRouteDestination } from '../../../core/schema/istio-types.gen.ts';
import type { VirtualServiceRoutesInputs } from '../../../core/select/route/virtual-service-routes.ts';
import {
  type RouteAction,
  RouteAction_ClusterNotFoundResponseCode,
  type RouteMatch,
  type WeightedCluster_ClusterWeight,
} from '../../proto/types.gen.ts';
import { ZERO_DURATION } from '../common/duration.ts';
import { orNone } from '../common/or-none.ts';
import { quoteRegex } from '../common/quote-regex.ts';
import { hashPolicy } from './consistent-hash.ts';
import { destinationCluster, destinationHash } from './destination.ts';
import { type HeaderOperations, headerFields, headerOperations } from './header-operations.ts';
import { mirrorPolicies } from './mirrors.ts';
import { retryPolicy } from './retry.ts';

export interface RouteActionInputs {
  readonly inputs: VirtualServiceRoutesInputs;
  readonly rule: HTTPRoute;
  /** Of the route: the rule's, joined with those of its only destination. */
  readonly operations: HeaderOperations;
  readonly match: RouteMatch;
  /** The VirtualService was made from an HTTPRoute. */
  readonly gatewaySemantics: boolean;
}

export function routeAction(given: RouteActionInputs): RouteAction {
  const { inputs, rule } = given;
  const single = rule.route?.length === 1;
  const destinations = usedDestinations(rule.route ?? []);
  const hashes = inputs.hashes.length === 0 ? [] : destinations.map(each => destinationHash(inputs, each.destination));
  const policies = hashes.flatMap(hash => (hash === undefined ? [] : (hashPolicy(hash) ?? [])));
  const mirrors = mirrorPolicies(rule, inputs.shadowSuffix, destination => destinationCluster(inputs, destination));
  const retry = retryPolicy(rule.retries ?? inputs.retry, single && hashes[0] !== undefined);
  const timeout = rule.timeout ?? ZERO_DURATION;
  const notFound = RouteAction_ClusterNotFoundResponseCode.INTERNAL_SERVER_ERROR;
  const { cluster, weightedClusters } = clusters(inputs, destinations, single);
  const rewritten = rewrites(given);
  return {
    cluster,
    weightedClusters,
    prefixRewrite: rewritten.prefixRewrite,
    regexRewrite: rewritten.regexRewrite,
    hostRewriteLiteral: rewritten.hostRewriteLiteral,
    appendXForwardedHost: rewritten.appendXForwardedHost,
    timeout,
    retryPolicy: retry,
    hashPolicy: orNone(policies),
    clusterNotFoundResponseCode: given.gatewaySemantics ? notFound : undefined,
    // A gRPC client reads max_stream_duration, Envoy reads max_grpc_timeout.
    maxGrpcTimeout: inputs.proxyless ? undefined : timeout,
    maxStreamDuration: inputs.proxyless ? { maxStreamDuration: timeout } : undefined,
    requestMirrorPolicies: orNone(mirrors),
  } satisfies RouteAction & Record<keyof Rewrites, unknown>;
}

/** A single destination ignores its weight; of several, those without weight are left out of the route. */
function usedDestinations(destinations: readonly HTTPRouteDestination[]): readonly HTTPRouteDestination[] {
  return destinations.length === 1 ? destinations : destinations.filter(({ weight }) => (weight ?? 0) !== 0);
}

/** `single`: the rule has one destination, so weights do not matter. */
function clusters(
  inputs: VirtualServiceRoutesInputs,
  used: readonly HTTPRouteDestination[],
  single: boolean,
): Pick<RouteAction, 'cluster' | 'weightedClusters'> {
  const [only] = used;
  if (only !== undefined && single) return { cluster: destinationCluster(inputs, only.destination) };
  const weighted = used.map(each => clusterWeight(inputs, each));
  return { weightedClusters: { clusters: orNone(weighted) } };
}

function clusterWeight(
  inputs: VirtualServiceRoutesInputs,
  destination: HTTPRouteDestination,
): WeightedCluster_ClusterWeight {
  const operations = headerOperations(destination.headers);
  return {
    name: destinationCluster(inputs, destination.destination),
    weight: { value: destination.weight ?? 0 },
    ...headerFields(operations),
    hostRewriteLiteral: operations.authority || undefined,
  };
}

type Rewrites = Pick<RouteAction, 'prefixRewrite' | 'regexRewrite' | 'hostRewriteLiteral' | 'appendXForwardedHost'>;

function rewrites({ inputs, rule, operations, match, gatewaySemantics }: RouteActionInputs): Rewrites {
  const { rewrite } = rule;
  const path = rewrite === undefined ? noRewrite : pathRewrite(rewrite, match, gatewaySemantics);
  return {
    prefixRewrite: path.prefixRewrite,
    regexRewrite: path.regexRewrite,
    hostRewriteLiteral: rewrite?.authority || operations.authority || undefined,
    appendXForwardedHost: rewrite !== undefined && inputs.appendXForwardedHost ? true : undefined,
  };
}

const noRewrite: Rewrites = {};

function pathRewrite(rewrite: HTTPRewrite, match: RouteMatch, gatewaySemantics: boolean): Rewrites {
  if (rewrite.uriRegexRewrite !== undefined) {
    const { match: regex = '', rewrite: substitution = '' } = rewrite.uriRegexRewrite;
    return { regexRewrite: { pattern: { regex }, substitution } };
  }
  const { uri } = rewrite;
  // Replacing a path-separated prefix by `/` would double the slash of what follows.
  if (gatewaySemantics && uri === '/') {
    const prefix = quoteRegex(match.pathSeparatedPrefix ?? '');
    return { regexRewrite: { pattern: { regex: `^${prefix}(/?)(.*)` }, substitution: '/\\2' } };
  }
  return { prefixRewrite: uri || undefined };
}
