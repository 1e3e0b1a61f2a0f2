// A route configuration around its virtual hosts. Each virtual host has its own memo and encoding, so a changed one
// leaves the others as they are.
// Source: Istio pilot/pkg/networking/core/httproute.go (buildSidecarOutboundHTTPRouteConfig),
// pilot/pkg/networking/core/gateway.go (buildGatewayHTTPRouteConfig).

import { problem } from '../../../core/base/problem.ts';
import type { Resource } from '../../../core/model/resource.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { RouteConfiguration, VirtualHost } from '../../proto/types.gen.ts';
import { orNone } from '../common/or-none.ts';

/** Enough for every body that a VirtualService may hold; Envoy's default is 4 KiB. */
const DIRECT_RESPONSE_BYTES_MAX = 1024 * 1024;

/** Compared by content, so that equal problems do not make a new resource. */
export type ProblemText = readonly [path: string, message: string];

interface RouteConfigurationInputs {
  readonly name: string;
  readonly virtualHosts: readonly VirtualHost[];
  readonly problems: readonly ProblemText[];
}

export const routeConfiguration: Generator<RouteConfigurationInputs, Resource<RouteConfiguration>> = {
  name: 'route/routeConfiguration',
  run: ({ name, virtualHosts, problems }) => ({
    name,
    message: {
      name,
      virtualHosts: orNone(virtualHosts),
      validateClusters: { value: false },
      maxDirectResponseBodySizeBytes: { value: DIRECT_RESPONSE_BYTES_MAX },
      ignorePortInHostMatching: true,
    },
    problems: problems.map(([path, message]) => problem(path, message)),
  }),
};

/** Without the fields that only a proxy reads. */
export const proxylessRoute: Generator<RouteConfigurationInputs, Resource<RouteConfiguration>> = {
  name: 'route/proxylessRoute',
  run: ({ name, virtualHosts, problems }) => ({
    name,
    message: { name, virtualHosts: orNone(virtualHosts) },
    problems: problems.map(([path, message]) => problem(path, message)),
  }),
};

/** The answer to a name that means nothing to the proxy's configuration. */
export const emptyRoute: Generator<{ readonly name: string }, Resource<RouteConfiguration>> = {
  name: 'route/emptyRoute',
  run: ({ name }) => ({ name, message: { name, validateClusters: { value: false } }, problems: [] }),
};
