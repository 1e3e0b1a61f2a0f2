// Proxies of the pods and workloads in YAML, for commands that need a proxy and are given none: each pod becomes a
// sidecar, each gateway pod a router, and the template of a workload stands for its pods where the input has no pod.
//
// Invariant: the same workload gets the same name and address from whichever folder it is read, so that two versions
// of a mesh can be compared. Addresses of pods that have none are made of the name, in 240.0.0.0/4, which no network
// uses.

import { memberOf, type Received } from '../analysis/objects.ts';
import { fnv1a } from '../core/base/fnv.ts';
import { isObject, type JsonObject } from '../core/base/json.ts';
import type { Unrecorded } from '../core/event.ts';
import type { Obj } from '../core/model/object.ts';
import type { State } from '../core/state.ts';
import { withPodsOfTemplates } from './analysis-input.ts';
import { foldFacts, proxyFacts } from './generate.ts';

export interface DerivedNode {
  readonly name: string;
  /** envoy.config.core.v3.Node in protojson. */
  readonly node: JsonObject;
}

/** Labels of the pods of Istio's own gateway charts. */
const GATEWAYS: readonly string[] = ['ingressgateway', 'egressgateway', 'eastwestgateway'];
const GATEWAY_NAME = 'gateway.networking.k8s.io/gateway-name';

/** `state` with a proxy for each pod, or where there is none for each workload; as it is if proxies are connected. */
export function withProxiesOfWorkloads(state: State, objects: readonly Received[]): State {
  if (state.proxies.size > 0) return state;
  const { state: running } = foldFacts(runningPods(objects), state);
  const facts = nodesOfPods(running).flatMap(({ name, node }) => proxyFacts(name, node));
  return foldFacts(facts, running).state;
}

/**
 * Running pods as facts: those that have no address yet, and where there is no pod those that templates will become.
 */
export function runningPods(objects: readonly Received[]): readonly Unrecorded[] {
  return withPodsOfTemplates(objects)
    .filter(({ object }) => object.kind === 'Pod' && memberOf(object, 'status', 'podIP') === undefined)
    .map(({ object, source, origin }) => {
      const metadata = isObject(object.metadata) ? object.metadata : {};
      const podIP = addressOf(String(metadata.namespace ?? 'default'), String(metadata.name));
      const status = { phase: 'Running', podIP, podIPs: [{ ip: podIP }] };
      const pod = { ...object, status };
      return { source, kind: 'Add', object: pod, ...(origin === undefined ? {} : { origin }) } as const;
    });
}

/** One for each pod, by `name.namespace`. */
export function nodesOfPods(state: State): readonly DerivedNode[] {
  const pods = [...(state.objects.Pod.values() as Iterable<Obj<'Pod'>>)].filter(({ spec }) => !spec.hostNetwork);
  return pods.map(pod => ({ name: `${pod.name}.${pod.namespace}`, node: nodeOf(pod) }));
}

function nodeOf(pod: Obj<'Pod'>): JsonObject {
  const { name, namespace, labels, cluster, spec } = pod;
  const address = spec.podIP || addressOf(namespace, name);
  const type = isGateway(pod) ? 'router' : 'sidecar';
  return {
    id: `${type}~${address}~${name}.${namespace}~${namespace}.svc.cluster.local`,
    metadata: {
      NAMESPACE: namespace,
      LABELS: labels,
      SERVICE_ACCOUNT: spec.serviceAccountName || 'default',
      CLUSTER_ID: cluster,
      INSTANCE_IPS: address,
    },
  };
}

function isGateway({ labels }: Obj<'Pod'>): boolean {
  return GATEWAYS.includes(labels.istio ?? '') || labels[GATEWAY_NAME] !== undefined;
}

/** Spread, and the same on every machine. */
function addressOf(namespace: string, name: string): string {
  const hash = fnv1a(`${namespace}/${name}`);
  return `${240 + (hash >>> 28)}.${(hash >>> 16) & 0xff}.${(hash >>> 8) & 0xff}.${hash & 0xff}`;
}
