// A Kubernetes token, judged by the API server that issued it (TokenReview): once for each stream and each signing
// request, in bounded time.
//
// An API server that is away makes no caller a liar: the outcome is `unavailable`, and agents come back.
// Source: Istio security/pkg/k8s/tokenreview/k8sauthn.go (ValidateK8sJwt), authenticate/kubeauth/kube_jwt.go.

import { isObject, type Json, type JsonObject } from '../../core/base/json.ts';
import { type ClusterCall, refusalOf } from '../cluster-call.ts';
import { spiffeId } from '../x509/names.ts';
import type { Authenticator, Outcome } from './authenticator.ts';
import { type ClusterNames, kubernetesToken } from './token-cluster.ts';

export interface TokenReviewOptions {
  readonly clusters: ClusterNames;
  /** Undefined: there is no such cluster. */
  readonly callOf: (cluster: string) => ClusterCall | undefined;
  readonly audiences: readonly string[];
  readonly trustDomain: () => string;
}

const SERVICE_ACCOUNTS = 'system:serviceaccounts';
const POD_NAME = 'authentication.kubernetes.io/pod-name';
const POD_UID = 'authentication.kubernetes.io/pod-uid';
/** Above this the API server itself has trouble, or we with it. */
const SERVER_TROUBLE = 500;
const TOO_MANY_REQUESTS = 429;

export function tokenReview(options: TokenReviewOptions): Authenticator {
  return kubernetesToken(options.clusters, async (token, cluster) => {
    const call = options.callOf(cluster);
    if (call === undefined)
      return { kind: 'refused', reason: `the client claims to be in cluster ${cluster}, which is not known` };
    const { status, body } = await call('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token, audiences: [...options.audiences] },
    });
    if (status === 0 || status >= SERVER_TROUBLE || status === TOO_MANY_REQUESTS) {
      return { kind: 'unavailable', reason: `TokenReview in cluster ${cluster}: ${refusalOf(status, body)}` };
    }
    if (status >= 300 || !isObject(body)) {
      return { kind: 'refused', reason: `TokenReview in cluster ${cluster}: ${refusalOf(status, body)}` };
    }
    return judged(isObject(body.status) ? body.status : {}, cluster, options.trustDomain());
  });
}

function judged(status: JsonObject, cluster: string, trustDomain: string): Outcome {
  const refused = (reason: string): Outcome => ({ kind: 'refused', reason });
  if (typeof status.error === 'string' && status.error !== '') return refused(`the token is not good: ${status.error}`);
  if (status.authenticated !== true) return refused('the token is not authenticated');
  const user = isObject(status.user) ? status.user : {};
  if (!Array.isArray(user.groups) || !user.groups.includes(SERVICE_ACCOUNTS)) {
    return refused('the token is not of a service account');
  }
  const parts = typeof user.username === 'string' ? user.username.split(':') : [];
  const [, , namespace, account] = parts;
  if (parts.length !== 4 || !namespace || !account) return refused('the user of the token is no service account');
  const extra = isObject(user.extra) ? user.extra : {};
  const [name, uid] = [firstText(extra[POD_NAME]), firstText(extra[POD_UID])];
  const pod = name === '' ? {} : { pod: { name, uid } };
  const identities = [spiffeId(trustDomain, namespace, account)];
  return { kind: 'proven', caller: { identities, proof: { how: 'token', by: 'review', cluster, ...pod } } };
}

function firstText(value: Json | undefined): string {
  const [first] = Array.isArray(value) ? value : [];
  return typeof first === 'string' ? first : '';
}
