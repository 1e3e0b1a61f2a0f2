// Route configurations by name, as proxies ask for them. A name that a proxy asked for is always answered: one that means nothing gets an
// empty configuration, so that its listener is not left waiting.
// Source: Istio pilot/pkg/networking/core/httproute.go (BuildHTTPRoutes); spec-routes-visibility §1, §12.1.

import { problem } from '../../../core/base/problem.ts';
import type { Resource } from '../../../core/model/resource.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { Query } from '../../../core/query/reader.ts';
import type { RouteConfiguration, VirtualHost } from '../../proto/types.gen.ts';
import { gatewayRoute } from './gateway.ts';
import { sidecarRoute } from './sidecar.ts';

/** Enough for every body that a VirtualService may hold; Envoy's own default is 4 KiB. */
const DIRECT_RESPONSE_BYTES_MAX = 1024 * 1024;

/** Argument: the name of a route configuration. undefined: proxies of this type have no routes. */
export const routeNamed: Query<string, Resource<RouteConfiguration> | undefined> = {
  name: 'route/routeNamed',
  run: (reader, name) => {
    const type = reader.facet('type');
    if (type !== 'sidecar' && type !== 'router') return undefined;
    const generated = type === 'router' ? gatewayRoute(reader, name) : sidecarRoute(reader, name);
    if (generated === undefined) return reader.make(emptyRoute, { name });
    const problems = generated.problems.map(({ path, message }): ProblemText => [path, message]);
    return reader.make(routeConfiguration, { name, virtualHosts: generated.virtualHosts, problems });
  },
};

/** Compared by content, so that equal problems do not make a new resource. */
type ProblemText = readonly [path: string, message: string];

interface RouteConfigurationInputs {
  readonly name: string;
  readonly virtualHosts: readonly VirtualHost[];
  readonly problems: readonly ProblemText[];
}

const routeConfiguration: Generator<RouteConfigurationInputs, Resource<RouteConfiguration>> = {
  name: 'route/routeConfiguration',
  run: ({ name, virtualHosts, problems }) => ({
    name,
    message: {
      name,
      ...(virtualHosts.length === 0 ? {} : { virtualHosts }),
      validateClusters: { value: false },
      maxDirectResponseBodySizeBytes: { value: DIRECT_RESPONSE_BYTES_MAX },
      ignorePortInHostMatching: true,
    },
    problems: problems.map(([path, message]) => problem(path, message)),
  }),
};

const emptyRoute: Generator<{ readonly name: string }, Resource<RouteConfiguration>> = {
  name: 'route/emptyRoute',
  run: ({ name }) => ({ name, message: { name, validateClusters: { value: false } }, problems: [] }),
};
