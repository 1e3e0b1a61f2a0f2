// Route actions that forward: to a cluster, to one of several by weight, to the one that a header names; with mirrors,
// rewrites, timeout, retries.

import {
  type Duration,
  type Metadata,
  RouteAction_ClusterNotFoundResponseCode as NotFoundCode,
  type Route,
  type RouteAction,
  type RouteAction_RequestMirrorPolicy,
  type RouteConfiguration,
  type VirtualHost,
  type WeightedCluster_ClusterWeight,
} from '../xds/proto/types.gen.ts';
import type { Exchange } from './exchange.ts';
import type { Branch, Mirror } from './prediction.ts';
import { rewritten } from './rewrite.ts';
import { shareOf } from './route-match.ts';
import { end, type Trail, weigh } from './trail.ts';
import { reach } from './upstream.ts';

const STATUS_OF = {
  [NotFoundCode.SERVICE_UNAVAILABLE]: 503,
  [NotFoundCode.NOT_FOUND]: 404,
  [NotFoundCode.INTERNAL_SERVER_ERROR]: 500,
} as const;

export function forward(
  trail: Trail,
  exchange: Exchange,
  config: RouteConfiguration,
  host: VirtualHost,
  route: Route,
  action: RouteAction,
  delay: Duration | undefined,
): readonly Branch[] {
  const { headers } = exchange;
  const policies = action.requestMirrorPolicies ?? host.requestMirrorPolicies ?? config.requestMirrorPolicies ?? [];
  const mirrors = policies.flatMap(policy => mirrorOf(policy, exchange));
  const to = (on: Trail, { name, metadata, weighted }: Choice): readonly Branch[] => {
    const hints = {
      ...exchange.hints,
      header: headers.get('x-envoy-original-dst-host'),
      metadataMatch: merged(action.metadataMatch, metadata),
    };
    return reach(on, exchange.known, name, hints, {
      reached: (there, { cluster, endpoint, hostname }) =>
        end(there, {
          kind: 'forwarded',
          protocol: 'http',
          cluster,
          endpoint,
          request: rewritten(exchange.request, route.match ?? {}, action, weighted, hostname),
          mirrors,
          timeout: action.timeout,
          retryPolicy: action.retryPolicy ?? host.retryPolicy,
          hashPolicy: action.hashPolicy ?? [],
          delay,
        }),
      noHost: (there, why) => end(there, { kind: 'answered', status: 503, why }),
      noCluster: (there, why) => {
        const code = action.clusterNotFoundResponseCode ?? NotFoundCode.SERVICE_UNAVAILABLE;
        return end(there, { kind: 'answered', status: STATUS_OF[code], why });
      },
    });
  };
  return weigh(trail, choices(action, exchange), to, on =>
    end(on, { kind: 'unknown', why: 'a route action without a cluster that is modelled' }),
  );
}

interface Choice {
  readonly name: string;
  readonly metadata: Metadata | undefined;
  readonly weighted: WeightedCluster_ClusterWeight;
}

function choices(action: RouteAction, { headers }: Exchange): readonly (readonly [number, Choice])[] {
  const only = (name: string): readonly (readonly [number, Choice])[] => [
    [1, { name, metadata: undefined, weighted: {} }],
  ];
  if (action.cluster) return only(action.cluster);
  if (action.clusterHeader) return only(headers.get(action.clusterHeader.toLowerCase()) ?? '');
  return (action.weightedClusters?.clusters ?? []).map(weighted => {
    const name = weighted.name || headers.get((weighted.clusterHeader ?? '').toLowerCase()) || '';
    return [weighted.weight?.value ?? 0, { name, metadata: weighted.metadataMatch, weighted }] as const;
  });
}

function mirrorOf(policy: RouteAction_RequestMirrorPolicy, { headers }: Exchange): readonly Mirror[] {
  const cluster = policy.cluster || headers.get((policy.clusterHeader ?? '').toLowerCase()) || '';
  const share = policy.runtimeFraction === undefined ? 1 : shareOf(policy.runtimeFraction.defaultValue);
  return cluster === '' || share === 0 ? [] : [{ cluster, share }];
}

/** A label of the weighted cluster takes precedence over that of the action. */
function merged(outer: Metadata | undefined, inner: Metadata | undefined): Metadata | undefined {
  if (outer === undefined || inner === undefined) return inner ?? outer;
  const lb = { ...outer.filterMetadata?.['envoy.lb'], ...inner.filterMetadata?.['envoy.lb'] };
  return { filterMetadata: { ...outer.filterMetadata, 'envoy.lb': lb } };
}
