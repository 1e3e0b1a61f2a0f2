// The internal listener of a waypoint: it tells by address, port and, where a port may carry several, by protocol which
// chain takes a connection out of a tunnel.
// Source: Istio pilot/pkg/networking/core/listener_waypoint.go (buildWaypointInternal),
// pilot/pkg/networking/core/match/match.go.

import type { Resource } from '../../../core/model/resource.ts';
import type { Generator } from '../../../core/query/memo.ts';
import { MAIN_INTERNAL } from '../../../core/select/cluster/cluster-names.ts';
import {
  type AddressedChains,
  type ChainChoice,
  DIRECT_HTTP,
  DIRECT_TCP,
  type WaypointPlan,
} from '../../../core/select/listener/waypoint.ts';
import { any } from '../../proto/any.ts';
import {
  type AccessLog,
  type Filter,
  type FilterChain,
  type IPMatcher_IPRangeMatcher,
  type Listener,
  type ListenerFilter,
  type Route,
  type RouteConfiguration,
  TrafficDirection,
  type XdsMatcher,
  type XdsMatcher_OnMatch,
} from '../../proto/types.gen.ts';
import { addressRanges } from './cidr.ts';
import { httpInspector, onPorts, originalDestination, tlsInspector } from './listener-filters.ts';

export interface WaypointListenerInputs extends Omit<WaypointPlan, 'chains'> {
  readonly chains: readonly FilterChain[];
  readonly accessLog: readonly AccessLog[] | undefined;
}

export const waypointListener: Generator<WaypointListenerInputs, Resource<Listener>> = {
  name: 'listener/waypoint',
  run: inputs => {
    const message: Listener = {
      name: MAIN_INTERNAL,
      internalListener: {},
      trafficDirection: TrafficDirection.INBOUND,
      listenerFilters: inspectors(inputs),
      accessLog: inputs.accessLog,
      filterChains: inputs.chains,
      filterChainMatcher: byAddress(inputs),
    };
    return { name: MAIN_INTERNAL, message, problems: [] };
  },
};

export const waypointChain: Generator<{ readonly name: string; readonly filters: readonly Filter[] }, FilterChain> = {
  name: 'listener/waypointChain',
  run: ({ name, filters }) => ({ name, filters }),
};

const DIRECT_RESPONSE_BYTES_MAX = 1024 * 1024;

/** The routes of a port: one virtual host for all requests, or for those of a wildcard host. */
export const waypointRouteConfiguration: Generator<
  {
    readonly name: string;
    readonly port: number;
    readonly domain: string;
    readonly routes: readonly Route[];
    /** They follow from no VirtualService. */
    readonly isDefault: boolean;
  },
  RouteConfiguration
> = {
  name: 'listener/waypointRoutes',
  run: ({ name, port, domain, routes, isDefault }) => ({
    name,
    validateClusters: { value: false },
    virtualHosts: [{ name: `inbound|http|${port}`, domains: [domain], routes }],
    maxDirectResponseBodySizeBytes: isDefault ? { value: DIRECT_RESPONSE_BYTES_MAX } : undefined,
  }),
};

function inspectors({ uninspected, withoutTls }: WaypointListenerInputs): readonly ListenerFilter[] {
  const filters = [originalDestination, disabledOn(httpInspector, uninspected)];
  if (withoutTls !== undefined) filters.push(disabledOn(tlsInspector, withoutTls));
  return filters;
}

function disabledOn(filter: ListenerFilter, ports: readonly number[]): ListenerFilter {
  return ports.length === 0 ? filter : { ...filter, filterDisabled: onPorts(ports) };
}

function byAddress({ services, direct, httpNames }: WaypointListenerInputs): XdsMatcher {
  const rangeMatchers: IPMatcher_IPRangeMatcher[] = services.map(service => ({
    ranges: addressRanges(service.addresses),
    onMatch: { matcher: byPort(service, httpNames) },
  }));
  if (direct.length > 0) {
    const onMatch = leaf({ http: DIRECT_HTTP, tcp: DIRECT_TCP }, httpNames);
    rangeMatchers.push({ ranges: addressRanges(direct), onMatch });
  }
  return {
    matcherTree: {
      input: {
        name: 'ip',
        typedConfig: any('envoy.extensions.matching.common_inputs.network.v3.DestinationIPInput', {}),
      },
      customMatch: { name: 'ip', typedConfig: any('xds.type.matcher.v3.IPMatcher', { rangeMatchers }) },
    },
  };
}

function byPort({ ports }: AddressedChains, httpNames: readonly string[]): XdsMatcher {
  return {
    matcherTree: {
      input: {
        name: 'port',
        typedConfig: any('envoy.extensions.matching.common_inputs.network.v3.DestinationPortInput', {}),
      },
      exactMatchMap: {
        map: Object.fromEntries(ports.map(([port, choice]) => [String(port), leaf(choice, httpNames)])),
      },
    },
  };
}

/** The chain, or what an inspection finds out. Envoy gives names of protocols in quotes. */
function leaf({ http, tcp }: ChainChoice, httpNames: readonly string[]): XdsMatcher_OnMatch {
  if (http === '' || tcp === '') return toChain(http === '' ? tcp : http);
  return {
    matcher: {
      matcherTree: {
        input: {
          name: 'application-protocol',
          typedConfig: any('envoy.extensions.matching.common_inputs.network.v3.ApplicationProtocolInput', {}),
        },
        exactMatchMap: { map: Object.fromEntries(httpNames.map(name => [`'${name}'`, toChain(http)])) },
      },
      onNoMatch: toChain(tcp),
    },
  };
}

function toChain(name: string): XdsMatcher_OnMatch {
  return { action: { name, typedConfig: any('google.protobuf.StringValue', { value: name }) } };
}
