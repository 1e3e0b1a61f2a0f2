// One virtual host, from finished parts. Its inputs are compared by content, so an unchanged host is the identical
// object for every proxy and route configuration, and is encoded once.

import type { Generator } from '../../../core/query/memo.ts';
import { type Route, type VirtualHost, VirtualHost_TlsRequirementType } from '../../proto/types.gen.ts';
import { sessionConfig } from './persistent-session.ts';

export interface VirtualHostInputs {
  readonly name: string;
  readonly domains: readonly string[];
  readonly routes: readonly Route[];
  readonly attemptCount: boolean;
  readonly requireTls: boolean;
  /** Of the service, if the host is one: see select/persistent-session.ts. */
  readonly session: string;
}

export const virtualHost: Generator<VirtualHostInputs, VirtualHost> = {
  name: 'route/virtualHost',
  run: ({ name, domains, routes, attemptCount, requireTls, session }) => ({
    name,
    domains,
    ...(routes.length === 0 ? {} : { routes }),
    ...(session === '' ? {} : { typedPerFilterConfig: sessionConfig(session) }),
    ...(requireTls ? { requireTls: VirtualHost_TlsRequirementType.ALL } : {}),
    ...(attemptCount ? { includeRequestAttemptCount: true } : {}),
  }),
};
