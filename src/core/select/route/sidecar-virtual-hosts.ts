// Which virtual hosts a sidecar's route configuration has: for each, its hosts and services and what its routes are
// made of.
//
// VirtualServices come first, in their order, then the services that none of them took. Two of them may claim one host
// or one address; the generator removes those in the order given here, so the order is part of the answer.
// Source: Istio pilot/pkg/networking/core/httproute.go.

import { compareText } from '../../model/object.ts';
import { protocolOf } from '../../model/protocol.ts';
import type { Service } from '../../model/service.ts';
import { interning } from '../../query/memo.ts';
import type { Query, Selection } from '../../query/reader.ts';
import { type EgressListener, sidecarScope } from '../scope/sidecar-scope.ts';
import { parseRouteName, type RouteName } from './route-names.ts';
import {
  portsOn,
  type RouteScope,
  selectWrappers,
  type VirtualHostWrapper,
  type VisibleServices,
} from './sidecar-wrappers.ts';

/** Equal ones are one object. */
export interface PortVirtualHosts {
  /** Port that they are built for; 0: all ports, and domains carry theirs. */
  readonly port: number;
  /** Those that a VirtualService takes, in its order. */
  readonly wrappers: readonly VirtualHostWrapper[];
  readonly defaults: DefaultHosts;
}

/** Services that no VirtualService takes, by name: a virtual host for each port. Equal ones are one object. */
export interface DefaultHosts {
  readonly services: readonly Service[];
  /** Of each. */
  readonly ports: readonly number[];
}

export interface SidecarVirtualHosts {
  readonly name: RouteName;
  readonly hosts: PortVirtualHosts;
}

/** Argument: the name of a route configuration. undefined: there is none of that name. */
export const sidecarVirtualHosts: Query<string, SidecarVirtualHosts | undefined> = {
  name: 'select/sidecarVirtualHosts',
  run: (reader, routeName) => {
    const name = parseRouteName(routeName);
    if (name === undefined) return undefined;
    const { egressListeners } = reader.get(sidecarScope, '');
    const at = listenerFor(egressListeners, routeName, name.port);
    if (at < 0) return { name, hosts: { port: name.port, wrappers: [], defaults: { services: [], ports: [] } } };
    const { spec } = egressListeners[at]!;
    const port = protocolOf(String(spec?.port?.protocol ?? '')) === 'HTTP_PROXY' ? 0 : name.port;
    return { name, hosts: reader.get(hostsOfListener, { index: at, port }) };
  },
};

/** By index of the egress listener and port: with sniffing there are hundreds of route configurations for one port. */
const hostsOfListener: Query<{ readonly index: number; readonly port: number }, PortVirtualHosts> = {
  name: 'select/hostsOfListener',
  key: ({ index, port }) => `${index}|${port}`,
  run: (reader, { index, port }) =>
    reader.select(portVirtualHosts, { scope: reader.get(scopeOfListener, index), port }),
};

/** Argument: the index of an egress listener. Compared once for all its ports, of which there can be thousands. */
const scopeOfListener: Query<number, RouteScope> = {
  name: 'select/scopeOfListener',
  key: String,
  run: (reader, index) => {
    const { services, virtualServices } = reader.get(sidecarScope, '').egressListeners[index]!;
    return reader.make(oneOfEqualScopes, { visible: reader.make(oneOfEqualLists, { services }), virtualServices });
  },
};

/** The first listener for every port, for this port, or, without a number, bound to the address in the route's name. */
function listenerFor(listeners: readonly EgressListener[], routeName: string, port: number): number {
  return listeners.findIndex(({ spec }) => {
    if (spec?.port === undefined) return true;
    const number = spec.port.number ?? 0;
    if (number !== 0 && number === port) return true;
    return port === 0 && spec.bind === routeName;
  });
}

const oneOfEqualLists = interning<VisibleServices>('select/oneOfEqualVisibleServices');
const oneOfEqualScopes = interning<RouteScope>('select/oneOfEqualRouteScopes');

const portVirtualHosts: Selection<{ readonly scope: RouteScope; readonly port: number }, PortVirtualHosts> = {
  name: 'select/portVirtualHosts',
  run: (reader, { scope, port }) => {
    const { services, wrappers } = selectWrappers(reader, scope, port);
    const taken = new Set(wrappers.flatMap(wrapper => wrapper.services));
    const rest = [...services.values()].filter(service => !taken.has(service) && service.resolution !== 'Alias');
    // Istio visits these in random order; by name, so that an address which two services share always goes to the same
    // one.
    rest.sort((a, b) => compareText(a.hostname, b.hostname));
    const defaults = reader.make(oneOfEqualDefaults, defaultHosts(rest, port));
    return reader.make(oneOfEqualHosts, { port, wrappers, defaults });
  },
};

function defaultHosts(rest: readonly Service[], buildPort: number): DefaultHosts {
  const services: Service[] = [];
  const ports: number[] = [];
  for (const service of rest) {
    for (const port of portsOn(service, buildPort)) {
      services.push(service);
      ports.push(port);
    }
  }
  return { services, ports };
}

const oneOfEqualHosts = interning<PortVirtualHosts>('select/oneOfEqualHosts');
const oneOfEqualDefaults = interning<DefaultHosts>('select/oneOfEqualDefaults');
