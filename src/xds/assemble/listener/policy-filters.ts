// The filters of policies: identical in every chain of a proxy, so they are made once for HTTP and once for TCP.

import type { ProxyReader, Query } from '../../../core/query/reader.ts';
import { authorizationOfProxy } from '../../../core/select/policy/authorization.ts';
import { tokenRulesOfProxy } from '../../../core/select/policy/request-authentication.ts';
import { proxyType } from '../../../core/select/proxy/proxy-type.ts';
import { type AuthorizationFilters, authorizationFilters } from '../../generate/listener/authorization/filters.ts';
import { jwtFilters } from '../../generate/listener/request-authentication.ts';
import type { HttpFilter } from '../../proto/types.gen.ts';

const NO_FILTERS: AuthorizationFilters = { custom: [], rules: [] };

/** Argument: the kind of chain. */
const authorizationFiltersOf: Query<'http' | 'tcp', AuthorizationFilters> = {
  name: 'listener/authorizationFiltersOf',
  run: (reader, chain) => {
    const inputs = reader.get(authorizationOfProxy, '');
    return inputs === undefined ? NO_FILTERS : reader.make(authorizationFilters, { inputs, tcp: chain === 'tcp' });
  },
};

const requestAuthenticationFiltersOf: Query<'', readonly HttpFilter[]> = {
  name: 'listener/requestAuthenticationFiltersOf',
  run: reader => {
    const rules = reader.get(tokenRulesOfProxy, '');
    if (rules.length === 0) return [];
    return reader.make(jwtFilters, { rules, sidecar: proxyType(reader) === 'sidecar' });
  },
};

/** `applies`: requests or connections end at a workload here, so its policies decide about them. */
export function authorizationOf(reader: ProxyReader, chain: 'http' | 'tcp', applies: boolean): AuthorizationFilters {
  return applies ? reader.get(authorizationFiltersOf, chain) : NO_FILTERS;
}

/** As `authorizationOf`, for the tokens of requests. */
export function requestAuthenticationOf(reader: ProxyReader, applies: boolean): readonly HttpFilter[] {
  return applies ? reader.get(requestAuthenticationFiltersOf, '') : [];
}
