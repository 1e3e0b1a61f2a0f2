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

/**
 * What tells the filters who the peer is: its TLS connection, or the tunnel that the connection came through. A sidecar
 * knows the tunnel's peer in the rules of policies alone, as in Istio; CUSTOM policies go by TLS there.
 */
export type ChainPeer = 'tls' | 'tunnel' | 'waypoint';

/** About the connection that carries tunnels, by its TLS, so that a refused tunnel gets an answer. */
export const tunnelAuthorizationFilters: Generator<AuthorizationInputs, readonly HttpFilter[]> = {
  name: 'listener/tunnelAuthorizationFilters',
  run: ({ policies, trustDomains }) => rbacFilters(policies, { tcp: true, peer: 'tls', trustDomains }, false),
};

export const authorizationFilters: Generator<
  { readonly inputs: AuthorizationInputs; readonly tcp: boolean; readonly peer: ChainPeer },
  AuthorizationFilters
> = {
  name: 'listener/authorizationFilters',
  run: ({ inputs: { policies, external, trustDomains }, tcp, peer }) => {
    const custom = { tcp, peer: peer === 'waypoint' ? 'filterState' : 'tls', trustDomains } as const;
    const rules = { tcp, peer: peer === 'tls' ? 'tls' : 'filterState', trustDomains } as const;
    return { custom: externalFilters(external, custom), rules: rbacFilters(policies, rules) };
  },
};
