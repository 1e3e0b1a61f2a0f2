// Who has proven an identity: which ways of proof this process has, in which order they are tried, and on which
// connections a caller is asked for one. How one way judges is in the file of that way.
//
// Invariant: nothing proves an identity but what `waysOf` lists; the first way that finds one wins (authenticator.ts).
// Source: Istio pilot/pkg/bootstrap/server.go (NewServer: authenticators), pilot/pkg/xds/auth.go (authenticate).

import type { Peer } from '../../core/model/caller.ts';
import type { State } from '../../core/state.ts';
import { accountsOf } from '../accounts.ts';
import type { ClusterCall } from '../cluster-call.ts';
import { issuerKeys } from '../issuer-keys.ts';
import type { IdentitySettings } from '../settings.ts';
import { meshTrustDomain } from '../trust-domain.ts';
import type { Authenticator } from './authenticator.ts';
import { clientCertificate } from './client-certificate.ts';
import { forwarded } from './forwarded.ts';
import type { KeySet } from './jwt.ts';
import { jwtRuleOf, oidc } from './oidc.ts';
import { tokenKeys } from './token-keys.ts';
import { tokenReview } from './token-review.ts';

export interface WaysOptions {
  readonly settings: IdentitySettings;
  /** Kubernetes tokens are judged by their issuer's keys; otherwise the API server is asked, if there is one. */
  readonly tokensByKeys: boolean;
  /** The newest folded state. */
  readonly state: () => State;
  readonly now: () => number;
  /** Every source has been listed. */
  readonly listed: () => boolean;
  /** Undefined: there is no cluster. */
  readonly call: ClusterCall | undefined;
  /** To a remote cluster; undefined: there is no such cluster. */
  readonly callOf: (cluster: string) => ClusterCall | undefined;
}

/** The name under which the keys of JWT_RULE are kept: none that a cluster has. */
export const OIDC_ISSUER = 'oidc';

/** In the order in which they are tried. Throws if JWT_RULE cannot be read. */
export function waysOf(options: WaysOptions): readonly Authenticator[] {
  const { settings, tokensByKeys, state, now, listed, call, callOf } = options;
  const trustDomain = (): string => meshTrustDomain(state());
  const { clusterId: own, clusterAliases: aliases } = state().settings;
  const clusters = { own, aliases };
  const { audiences } = settings;
  const keysOf = (name: string): KeySet | undefined => issuerKeys(state(), name);
  const ways: Authenticator[] = [clientCertificate];
  if (settings.jwtRule !== '') {
    const rule = jwtRuleOf(settings.jwtRule);
    ways.push(oidc({ rule, keys: () => keysOf(OIDC_ISSUER), trustDomain, now }));
  }
  if (tokensByKeys) {
    // Keys are stored under names in lower case, and those of JWT_RULE beside them: another spelling of our own
    // cluster's name must not find its keys, because then no pod would be looked up.
    const ownKeys = (cluster: string): KeySet | undefined => (cluster === own ? keysOf(own) : undefined);
    const accounts = accountsOf(state, call !== undefined, listed);
    ways.push(tokenKeys({ clusters, keysOf: ownKeys, audiences, accounts, trustDomain, now }));
  } else if (call !== undefined) {
    const callTo = (cluster: string): ClusterCall | undefined => (cluster === own ? call : callOf(cluster));
    ways.push(tokenReview({ clusters, callOf: callTo, audiences, trustDomain }));
  }
  if (settings.trustedGatewayCidrs.length > 0) ways.push(forwarded(settings.trustedGatewayCidrs));
  return ways;
}

/**
 * True if a caller on this connection is asked for proof. Otherwise a stream is let in unproven, and a signing request
 * is refused.
 */
export function isAskedForProof({ xdsAuth, xdsAuthPlaintext }: IdentitySettings, { secure }: Peer): boolean {
  return xdsAuth && (secure || xdsAuthPlaintext);
}
