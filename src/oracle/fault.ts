// Faults that the fault filter injects, as the most specific configuration says: the route's, the virtual host's, the
// route configuration's, the filter's own. An abort answers a share of the requests; a delay holds them up.

import type { Duration, HTTPFault, Route, RouteConfiguration, VirtualHost } from '../xds/proto/types.gen.ts';
import { messageOf } from './any.ts';
import type { Exchange } from './exchange.ts';
import { matchesHeader } from './header-matcher.ts';
import type { Branch } from './prediction.ts';
import { shareOf } from './route-match.ts';
import { end, fork, step, type Trail } from './trail.ts';

const FAULT = 'envoy.filters.http.fault';
const TYPE = 'envoy.extensions.filters.http.fault.v3.HTTPFault';
/** gRPC errors travel in trailers of a response that is fine as HTTP goes. */
const GRPC_STATUS = 200;

export function faulty(
  trail: Trail,
  exchange: Exchange,
  config: RouteConfiguration,
  host: VirtualHost,
  route: Route,
  go: (trail: Trail, delay: Duration | undefined) => readonly Branch[],
): readonly Branch[] {
  const filter = (exchange.hcm.httpFilters ?? []).find(({ name }) => name === FAULT);
  if (filter === undefined) return go(trail, undefined);
  const perFilter = [route, host, config].map(level => level.typedPerFilterConfig?.[FAULT]);
  const given = perFilter.find(any => any !== undefined) ?? filter.typedConfig;
  const fault = messageOf(TYPE, given);
  if (fault === undefined || !applies(fault, exchange)) return go(trail, undefined);
  const [delayed, aborted] = [shareOf(fault.delay?.percentage), shareOf(fault.abort?.percentage)];
  const delay = fault.delay?.fixedDelay;
  const after = (on: Trail, waits: Duration | undefined): readonly Branch[] => [
    ...(aborted > 0 ? abort(fork(on, aborted), fault) : []),
    ...(aborted < 1 ? go(fork(on, 1 - aborted), waits) : []),
  ];
  if (delay === undefined || delayed === 0) return after(trail, undefined);
  const waits = step(fork(trail, delayed), 'http filter', FAULT, 'delays');
  return [...after(waits, delay), ...(delayed < 1 ? after(fork(trail, 1 - delayed), undefined) : [])];
}

function applies(fault: HTTPFault, { headers }: Exchange): boolean {
  return (fault.headers ?? []).every(matcher => matchesHeader(matcher, headers));
}

function abort(trail: Trail, { abort: what }: HTTPFault): readonly Branch[] {
  const status = what?.httpStatus ?? GRPC_STATUS;
  const why = what?.grpcStatus === undefined ? 'the fault filter aborts' : `gRPC status ${what.grpcStatus} is injected`;
  return end(step(trail, 'http filter', FAULT, 'aborts'), { kind: 'answered', status, why });
}
