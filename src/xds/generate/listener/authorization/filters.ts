// The authorization filters of a proxy's chains: identical in every chain, so they are made once for HTTP and once for
// TCP.

import type { Generator } from '../../../../core/query/memo.ts';
import type { AuthorizationInputs } from '../../../../core/select/policy/authorization.ts';
import type { Filter, HttpFilter } from '../../../proto/types.gen.ts';
import { externalFilters } from './external.ts';
import { rbacFilters } from './rbac.ts';

/** Filters that stand in an HTTP chain, or in a network chain, by the stage that they fill. */
export interface AuthorizationFilters {
  readonly custom: readonly (HttpFilter & Filter)[];
  readonly rules: readonly (HttpFilter & Filter)[];
}

export const authorizationFilters: Generator<
  { readonly inputs: AuthorizationInputs; readonly tcp: boolean },
  AuthorizationFilters
> = {
  name: 'listener/authorizationFilters',
  run: ({ inputs: { policies, external, trustDomains }, tcp }) => {
    const context = { tcp, peer: 'tls', trustDomains } as const;
    return { custom: externalFilters(external, context), rules: rbacFilters(policies, context) };
  },
};
