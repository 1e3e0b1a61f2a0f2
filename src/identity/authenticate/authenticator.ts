// One way to prove an identity, and the list of them: the first that finds one wins. What the others said is for the
// log alone; a caller learns that it failed, and whether to come back because the fault is ours.
//
// Invariant: neither reasons nor callers ever hold a token.
// Source: Istio pkg/security/security.go (Authenticate), pilot/pkg/xds/auth.go.

import type { Caller, Peer } from '../../core/model/caller.ts';

/** `none`: this way was not tried, e.g. there is no token. `unavailable`: who could have said is away. */
export type Outcome =
  | { readonly kind: 'proven'; readonly caller: Caller }
  | { readonly kind: 'none'; readonly reason: string }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unavailable'; readonly reason: string };

export interface Authenticator {
  readonly name: string;
  authenticate(peer: Peer): Promise<Outcome>;
}

export type Authentication =
  | { readonly kind: 'proven'; readonly caller: Caller }
  | { readonly kind: 'refused' | 'unavailable'; readonly reasons: readonly string[] };

/** Never rejects. */
export async function authenticate(authenticators: readonly Authenticator[], peer: Peer): Promise<Authentication> {
  const reasons: string[] = [];
  let isOurs = false;
  for (const { name, authenticate: ask } of authenticators) {
    const outcome = await ask(peer).catch((error: unknown): Outcome => ({ kind: 'refused', reason: textOf(error) }));
    if (outcome.kind === 'proven' && outcome.caller.identities.length > 0)
      return { kind: 'proven', caller: outcome.caller };
    isOurs ||= outcome.kind === 'unavailable';
    reasons.push(`${name}: ${outcome.kind === 'proven' ? 'no identity' : outcome.reason}`);
  }
  return { kind: isOurs ? 'unavailable' : 'refused', reasons };
}

/** The first bearer token of a call; undefined: it has none. */
export function bearerToken(peer: Peer): string | undefined {
  const value = peer.header('authorization').find(text => text.startsWith(BEARER));
  const token = value?.slice(BEARER.length).trim();
  return token === '' ? undefined : token;
}

const BEARER = 'Bearer ';

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
