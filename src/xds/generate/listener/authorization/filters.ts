// The authorization filters of a proxy's chains: identical in every chain, so they are made once for HTTP and once for TCP.

import type { Generator } from '../../../../core/query/memo.ts';
import type { ProxyReader, Query } from '../../../../core/query/reader.ts';
import { type AuthorizationInputs, authorizationOfProxy } from '../../../../core/select/policy/authorization.ts';
import type { Filter, HttpFilter } from '../../../proto/types.gen.ts';
import { externalFilters } from './external.ts';
import { rbacFilters } from './rbac.ts';

/** Filters that stand in an HTTP chain, or in a network chain, by the stage that they fill. */
export interface AuthorizationFilters {
  readonly custom: readonly (HttpFilter & Filter)[];
  readonly rules: readonly (HttpFilter & Filter)[];
}

const NO_FILTERS: AuthorizationFilters = { custom: [], rules: [] };

export function authorizationFilters(reader: ProxyReader, chain: 'http' | 'tcp'): AuthorizationFilters {
  return reader.get(filtersOfProxy, chain);
}

const filtersOfProxy: Query<'http' | 'tcp', AuthorizationFilters> = {
  name: 'generate/authorizationFilters',
  run: (reader, chain) => {
    const inputs = reader.get(authorizationOfProxy, '');
    return inputs === undefined ? NO_FILTERS : reader.make(filtersGenerator, { inputs, tcp: chain === 'tcp' });
  },
};

const filtersGenerator: Generator<
  { readonly inputs: AuthorizationInputs; readonly tcp: boolean },
  AuthorizationFilters
> = {
  name: 'listener/authorizationFilters',
  run: ({ inputs: { policies, external, trustDomains }, tcp }) => {
    const context = { tcp, peer: 'tls', trustDomains } as const;
    return { custom: externalFilters(external, context), rules: rbacFilters(policies, context) };
  },
};
