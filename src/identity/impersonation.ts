// A node agent asks for the certificate of a pod on its node (ztunnel): allowed to accounts that an operator lists, for
// pods that run where the agent's own pod runs. The requested trust domain must be the mesh's.
//
// Whom a node runs is read from the state; the answer while that is not complete is "not yet" and never "no".
// Source: Istio security/pkg/server/ca/node_auth.go.

import type { Caller } from '../core/model/caller.ts';
import { parseSpiffe } from '../core/model/identity.ts';
import { trustDomainOf } from './x509/names.ts';

export interface NodePod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly account: string;
  readonly node: string;
  readonly phase: string;
}

/** Pods as the state has them. */
export interface Pods {
  pod(cluster: string, namespace: string, name: string): NodePod | undefined;
  onNode(cluster: string, node: string): readonly NodePod[];
}

export interface ImpersonationOptions {
  /** `namespace/account` */
  readonly trusted: readonly string[];
  readonly trustDomains: readonly string[];
  readonly pods: Pods;
}

/** Undefined: the caller may have a certificate of `requested`. */
export function whyNotImpersonated(
  caller: Caller,
  requested: string,
  options: ImpersonationOptions,
): string | undefined {
  const { proof, identities } = caller;
  if (options.trusted.length === 0) return 'no account is trusted to act for others';
  const own = identities.map(parseSpiffe).find(identity => identity !== undefined);
  if (own === undefined || proof.how !== 'token' || proof.pod === undefined)
    return 'the caller did not prove which pod it is';
  if (!options.trusted.includes(`${own.namespace}/${own.serviceAccount}`)) {
    return `${own.namespace}/${own.serviceAccount} is not trusted to act for others`;
  }
  const wanted = parseSpiffe(requested);
  const domain = trustDomainOf(requested);
  if (wanted === undefined || domain === undefined) return `${requested} is no identity of a workload`;
  if (!options.trustDomains.includes(domain)) return `${domain} is not the trust domain of this mesh`;
  const { cluster, pod: claimed } = proof;
  const agent = options.pods.pod(cluster, own.namespace, claimed.name);
  if (agent === undefined || agent.uid !== claimed.uid || agent.account !== own.serviceAccount) {
    return `the caller's pod ${own.namespace}/${claimed.name} does not exist as its token says`;
  }
  const hasPod = options.pods
    .onNode(cluster, agent.node)
    .some(pod => pod.namespace === wanted.namespace && pod.account === wanted.serviceAccount && pod.phase !== 'Failed');
  if (agent.node === '' || !hasPod)
    return `no pod of ${wanted.namespace}/${wanted.serviceAccount} runs on node ${agent.node}`;
  return undefined;
}
