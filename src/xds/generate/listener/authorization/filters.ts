// The authorization filters of a proxy's chains: identical in every chain, so they are made once for HTTP and once for
// TCP.

import { groupsOf } from '../../../../core/base/groups.ts';
import type { Generator } from '../../../../core/query/memo.ts';
import type { AppliedPolicy, AuthorizationInputs } from '../../../../core/select/policy/authorization.ts';
import type { Filter, HttpFilter } from '../../../proto/types.gen.ts';
import type { PeerIdentity } from './attributes.ts';
import { externalFilters } from './external.ts';
import { rbacFilters } from './rbac.ts';
import type { RuleBlock } from './rule-block.ts';

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

export interface FilterInputs {
  readonly inputs: AuthorizationInputs;
  /** Of the policies that have any: all of their rules. */
  readonly blocks?: readonly RuleBlock[];
}

/** About the connection that carries tunnels, by its TLS, so that a refused tunnel gets an answer. */
export const tunnelAuthorizationFilters: Generator<FilterInputs, readonly HttpFilter[]> = {
  name: 'listener/tunnelAuthorizationFilters',
  run: ({ inputs: { policies, trustDomains }, blocks }) =>
    rbacFilters(policies, { tcp: true, peer: 'tls', trustDomains, blocks: byPolicy(blocks) }, false),
  work: workOfBlocks,
};

/** Where CUSTOM policies, and the others, find who the peer is. */
export function peerIdentities(peer: ChainPeer): Readonly<Record<'custom' | 'rules', PeerIdentity>> {
  return { custom: peer === 'waypoint' ? 'filterState' : 'tls', rules: peer === 'tls' ? 'tls' : 'filterState' };
}

export const authorizationFilters: Generator<
  FilterInputs & { readonly tcp: boolean; readonly peer: ChainPeer },
  AuthorizationFilters
> = {
  name: 'listener/authorizationFilters',
  run: ({ inputs: { policies, external, trustDomains }, blocks, tcp, peer }) => {
    const { custom, rules } = peerIdentities(peer);
    const context = { tcp, trustDomains, blocks: byPolicy(blocks) };
    return {
      custom: externalFilters(external, { ...context, peer: custom }),
      rules: rbacFilters(policies, { ...context, peer: rules }),
    };
  },
  work: workOfBlocks,
};

function byPolicy(blocks: readonly RuleBlock[] = []): ReadonlyMap<AppliedPolicy, readonly RuleBlock[]> {
  return groupsOf(blocks, ({ policy }) => policy);
}

/** Rendered rules that are joined in about the time of one run of a query. */
const RULES_JOINED_PER_WORK_UNIT = 100;

/** Of joining them. */
function workOfBlocks(_: unknown, { blocks = [] }: FilterInputs): number {
  return blocks.reduce((sum, { rules }) => sum + rules.length / RULES_JOINED_PER_WORK_UNIT, 0);
}
