// Which cluster a token is of: callers say it in a header, and an API server or its keys decide whether it is true. The
// ways to prove a Kubernetes token begin with it.
// Source: Istio security/pkg/server/ca/authenticate/kubeauth/kube_jwt.go (authenticate, getKubeClient).

import type { Peer } from '../../core/model/caller.ts';
import { type Authenticator, bearerToken, type Outcome } from './authenticator.ts';

export interface ClusterNames {
  /** The cluster that the configuration is of. */
  readonly own: string;
  /** alias → cluster */
  readonly aliases: Readonly<Record<string, string>>;
}

/** The cluster as the caller says it; '' counts as our own, and so do several values at once. */
export function clusterOfToken(peer: Peer, { own, aliases }: ClusterNames): string {
  const said = peer.header('clusterid');
  const [id = ''] = said.length === 1 ? said : [];
  if (id === '' || id === own) return own;
  return Object.hasOwn(aliases, id) ? aliases[id]! : id;
}

/** The way that proves the bearer token of a call, given the cluster that the caller names. */
export function kubernetesToken(
  clusters: ClusterNames,
  prove: (token: string, cluster: string) => Promise<Outcome>,
): Authenticator {
  return {
    name: 'Kubernetes token',
    authenticate: async peer => {
      const token = bearerToken(peer);
      if (token === undefined) return { kind: 'none', reason: 'no bearer token' };
      return prove(token, clusterOfToken(peer, clusters));
    },
  };
}
