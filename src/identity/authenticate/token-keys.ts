// A Kubernetes token, judged by the published keys of the API server that issued it and by what the state knows of its
// pod and account: no request leaves, so it works while the API server is away, and without a right to create anything.
//
// It differs from a TokenReview by the delay of the watch after a deletion. Every check is a condition that must hold:
// what is missing is refused.
// Source: RFC 7519; Kubernetes "Service account token volume projection" (claims of bound tokens); KEP-1205.

import { isObject, type Json, type JsonObject } from '../../core/base/json.ts';
import { spiffeId } from '../x509/names.ts';
import type { Authenticator, Outcome } from './authenticator.ts';
import { type KeySet, verifiedClaims } from './jwt.ts';
import { type ClusterNames, kubernetesToken } from './token-cluster.ts';

/** What the state knows of who is named in a token. `undefined`: the state has none of that kind to compare with. */
export interface Accounts {
  podOf(
    cluster: string,
    namespace: string,
    name: string,
  ): { readonly uid: string; readonly account: string } | undefined;
  /** False: the mesh has no API server, so pods are not in the state, and a token counts for itself. */
  readonly known: (cluster: string) => boolean;
  /** False: a pod that exists may be missing in the state, or be there as it was. */
  readonly listed: () => boolean;
}

export interface TokenKeysOptions {
  readonly clusters: ClusterNames;
  /** Undefined: there is no such cluster, or its keys are not known yet. */
  readonly keysOf: (cluster: string) => KeySet | undefined;
  readonly audiences: readonly string[];
  readonly accounts: Accounts;
  readonly trustDomain: () => string;
  readonly now: () => number;
}

/** As the API server publishes and accepts them. */
const ALGORITHMS: readonly string[] = ['RS256', 'RS384', 'RS512', 'ES256', 'ES384', 'ES512'];

export function tokenKeys(options: TokenKeysOptions): Authenticator {
  const { audiences, now, accounts, trustDomain } = options;
  return kubernetesToken(options.clusters, async (token, cluster) => {
    const keys = options.keysOf(cluster);
    if (keys === undefined)
      return { kind: 'unavailable', reason: `the keys for tokens of cluster ${cluster} are not known` };
    const verified = await verifiedClaims(token, keys, { audiences, algorithms: ALGORITHMS, now: now() });
    if ('why' in verified) return { kind: 'refused', reason: verified.why };
    return judged(verified.claims, cluster, accounts, trustDomain());
  });
}

function judged(claims: JsonObject, cluster: string, accounts: Accounts, trustDomain: string): Outcome {
  const refused = (reason: string): Outcome => ({ kind: 'refused', reason });
  const unmatched = (reason: string): Outcome =>
    accounts.listed() ? refused(reason) : { kind: 'unavailable', reason: `pods are not listed yet: ${reason}` };
  const [system, kind, namespace, account, ...more] = textOf(claims.sub).split(':');
  if (system !== 'system' || kind !== 'serviceaccount' || !namespace || !account || more.length > 0) {
    return refused('the subject of the token is no service account');
  }
  const bound = objectOf(claims['kubernetes.io']);
  const said = { namespace: textOf(bound.namespace), account: textOf(objectOf(bound.serviceaccount).name) };
  if (said.namespace !== namespace || said.account !== account) return refused('the token contradicts itself');
  const pod = objectOf(bound.pod);
  const [name, uid] = [textOf(pod.name), textOf(pod.uid)];
  if (name !== '' && accounts.known(cluster)) {
    const found = accounts.podOf(cluster, namespace, name);
    if (found === undefined) return unmatched(`the token is bound to pod ${namespace}/${name}, which does not exist`);
    if (found.uid !== uid) return unmatched(`the token is bound to an earlier pod ${namespace}/${name}`);
    if (found.account !== account) return unmatched(`pod ${namespace}/${name} has another service account`);
  }
  const identities = [spiffeId(trustDomain, namespace, account)];
  const proof = { how: 'token', by: 'keys', cluster, ...(name === '' ? {} : { pod: { name, uid } }) } as const;
  return { kind: 'proven', caller: { identities, proof } };
}

function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
