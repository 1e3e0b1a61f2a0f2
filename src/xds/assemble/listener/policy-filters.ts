// The filters of policies: identical in every chain of a proxy, so they are made once for HTTP and once for TCP.

import type { ProxyReader, Query } from '../../../core/query/reader.ts';
import { authorizationOfProxy } from '../../../core/select/policy/authorization.ts';
import { tokenRulesOfProxy } from '../../../core/select/policy/request-authentication.ts';
import { proxyType } from '../../../core/select/proxy/proxy-type.ts';
import { type AuthorizationFilters, authorizationFilters } from '../../generate/listener/authorization/filters.ts';
import { jwtFilters } from '../../generate/listener/request-authentication.ts';
import type { HttpFilter } from '../../proto/types.gen.ts';

const NO_FILTERS: AuthorizationFilters = { custom: [], rules: [] };

/** `beside`: as `authorizationOfProxy` takes it. */
const authorizationFiltersOf: Query<{ readonly chain: 'http' | 'tcp'; readonly beside: string }, AuthorizationFilters> =
  {
    name: 'listener/authorizationFiltersOf',
    key: ({ chain, beside }) => `${chain}|${beside}`,
    run: (reader, { chain, beside }) => {
      const inputs = reader.get(authorizationOfProxy, beside);
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

/** `beside`: a further namespace whose policies decide, '' for none; undefined: no policy decides about the chain. */
export function authorizationOf(
  reader: ProxyReader,
  chain: 'http' | 'tcp',
  beside: string | undefined,
): AuthorizationFilters {
  return beside === undefined ? NO_FILTERS : reader.get(authorizationFiltersOf, { chain, beside });
}

/** `applies`: requests end at a workload here, so its rules about their tokens count. */
export function requestAuthenticationOf(reader: ProxyReader, applies: boolean): readonly HttpFilter[] {
  return applies ? reader.get(requestAuthenticationFiltersOf, '') : [];
}
