// An HTTP request within a connection manager: all that its routes, faults and actions look at.

import type { HttpConnectionManager, RouteConfiguration } from '../xds/proto/types.gen.ts';
import type { Headers } from './header-matcher.ts';
import type { HttpRequest, TlsHello } from './question.ts';
import type { DynamicMetadata } from './subject.ts';
import type { Hints, Upstreams } from './upstream.ts';

export interface KnownResources extends Upstreams {
  readonly routes: ReadonlyMap<string, RouteConfiguration>;
}

/** A request as the routes of a connection manager see it. */
export interface Exchange {
  readonly known: KnownResources;
  readonly hcm: HttpConnectionManager;
  readonly request: HttpRequest;
  readonly headers: Headers;
  /** What routes may look at of what filters found out: empty unless a filter had the route looked up again. */
  readonly metadata: DynamicMetadata;
  readonly scheme: 'http' | 'https';
  readonly tls: TlsHello | undefined;
  readonly hints: Hints;
}
