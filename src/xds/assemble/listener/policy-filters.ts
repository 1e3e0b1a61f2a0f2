// The filters of policies: identical in every chain about the same object, so they are made once for HTTP and once for
// TCP.

import type { ProxyReader, Query } from '../../../core/query/reader.ts';
import {
  authorizationOfProxy,
  authorizationOfTunnels,
  type PolicyScope,
} from '../../../core/select/policy/authorization.ts';
import { tokenRulesOfProxy } from '../../../core/select/policy/request-authentication.ts';
import { proxyType } from '../../../core/select/proxy/proxy-type.ts';
import type { PolicySubject } from '../../../core/select/telemetry/traffic-class.ts';
import {
  type AuthorizationFilters,
  authorizationFilters,
  type ChainPeer,
  tunnelAuthorizationFilters,
} from '../../generate/listener/authorization/filters.ts';
import { jwtFilters } from '../../generate/listener/request-authentication.ts';
import type { HttpFilter } from '../../proto/types.gen.ts';

const NO_FILTERS: AuthorizationFilters = { custom: [], rules: [] };

export interface PolicyChain extends PolicyScope {
  readonly chain: 'http' | 'tcp';
  /** Where the filters find who the peer is. */
  readonly peer: ChainPeer;
}

const authorizationFiltersOf: Query<PolicyChain, AuthorizationFilters> = {
  name: 'listener/authorizationFiltersOf',
  key: ({ chain, beside, subject, peer }) => `${chain}|${beside}|${subject}|${peer}`,
  run: (reader, { chain, beside, subject, peer }) => {
    const inputs = reader.get(authorizationOfProxy, { beside, subject });
    return inputs === undefined
      ? NO_FILTERS
      : reader.make(authorizationFilters, { inputs, tcp: chain === 'tcp', peer });
  },
};

const requestAuthenticationFiltersOf: Query<PolicySubject, readonly HttpFilter[]> = {
  name: 'listener/requestAuthenticationFiltersOf',
  run: (reader, subject) => {
    const rules = reader.get(tokenRulesOfProxy, subject);
    if (rules.length === 0) return [];
    return reader.make(jwtFilters, { rules, sidecar: proxyType(reader) === 'sidecar' });
  },
};

/** Of the listener that takes tunnels. */
export const tunnelAuthorization: Query<'', readonly HttpFilter[]> = {
  name: 'listener/tunnelAuthorization',
  run: reader => {
    const inputs = reader.get(authorizationOfTunnels, '');
    return inputs === undefined ? NO_FILTERS.rules : reader.make(tunnelAuthorizationFilters, inputs);
  },
};

/** `of.beside` undefined: no policy decides about the chain. */
export function authorizationOf(
  reader: ProxyReader,
  of: Omit<PolicyChain, 'beside'> & { readonly beside: string | undefined },
): AuthorizationFilters {
  const { beside } = of;
  return beside === undefined ? NO_FILTERS : reader.get(authorizationFiltersOf, { ...of, beside });
}

/** `applies`: requests end at a workload here, so its rules about their tokens count. */
export function requestAuthenticationOf(
  reader: ProxyReader,
  applies: boolean,
  subject: PolicySubject,
): readonly HttpFilter[] {
  return applies ? reader.get(requestAuthenticationFiltersOf, subject) : [];
}
