// Endpoints of Services, made of Pods: for YAML that no cluster has seen, as a chart or a repository has it. There
// nothing writes EndpointSlices, and without them every Service would look as if it had no endpoints.
//
// Invariant: input with an EndpointSlice or Endpoints of its own is left alone: it is what a cluster has, and a Service
// without endpoints has none there.

import type { JsonObject } from '../core/base/json.ts';
import type { Unrecorded } from '../core/event.ts';
import type { PodData } from '../core/kinds/kubernetes/pod.ts';
import type { ServiceData, ServicePortData } from '../core/kinds/kubernetes/service.ts';
import type { Obj } from '../core/model/object.ts';
import type { State } from '../core/state.ts';
import { foldFacts } from './generate.ts';

/** With an EndpointSlice for each Service that selects pods, as Kubernetes' endpoint slice controller makes them. */
export function withEndpointsOfPods(state: State): State {
  if (state.objects.EndpointSlice.size > 0 || state.objects.Endpoints.size > 0) return state;
  const pods = [...(state.objects.Pod.values() as Iterable<Obj<'Pod'>>)].filter(({ spec }) => spec.podIP !== '');
  const facts: Unrecorded[] = [];
  for (const service of state.objects.Service.values() as Iterable<Obj<'Service'>>) {
    const chosen = pods.filter(pod => isSelected(service, pod));
    // Pods of one Service may name different ports by the same name: each has a slice of its own.
    for (const pod of chosen)
      facts.push({ source: `file/${service.cluster}`, kind: 'Add', object: sliceOf(service, pod) });
  }
  return facts.length === 0 ? state : foldFacts(facts, state).state;
}

function isSelected({ namespace, cluster, spec }: Obj<'Service'>, pod: Obj<'Pod'>): boolean {
  const wanted = Object.entries(spec.selector);
  if (wanted.length === 0 || spec.type === 'ExternalName') return false;
  if (pod.namespace !== namespace || pod.cluster !== cluster) return false;
  return wanted.every(([name, value]) => pod.labels[name] === value);
}

function sliceOf({ name, namespace, spec }: Obj<'Service'>, pod: Obj<'Pod'>): JsonObject {
  const ready = isReady(pod.spec) || spec.publishNotReadyAddresses;
  const targetRef = { kind: 'Pod', name: pod.name, namespace };
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: `${name}-${pod.name}`, namespace, labels: { 'kubernetes.io/service-name': name } },
    addressType: pod.spec.podIP.includes(':') ? 'IPv6' : 'IPv4',
    ports: portsOf(spec, pod.spec),
    endpoints: [{ addresses: [pod.spec.podIP], conditions: { ready, serving: ready, terminating: false }, targetRef }],
  };
}

/** A pod that no cluster runs has no conditions: it is taken for ready, as it will be. */
function isReady({ conditions, phase }: PodData): boolean {
  const condition = conditions.find(({ type }) => type === 'Ready');
  return condition === undefined ? phase === '' || phase === 'Running' : condition.status === 'True';
}

function portsOf({ ports }: ServiceData, pod: PodData): readonly JsonObject[] {
  return ports.flatMap(port => {
    const number = targetOf(port, pod);
    const { name, protocol, appProtocol } = port;
    if (number === undefined) return [];
    return [{ name, port: number, protocol, ...(appProtocol === undefined ? {} : { appProtocol }) }];
  });
}

/** The container's port: by number, or by the name that a container gives it. */
function targetOf(
  { targetPort, protocol }: ServicePortData,
  { containers, initContainers }: PodData,
): number | undefined {
  if (typeof targetPort === 'number') return targetPort;
  const ports = [...containers, ...initContainers].flatMap(container => container.ports);
  return ports.find(({ name, protocol: used }) => name === targetPort && used === protocol)?.containerPort;
}
