// The workload of a Pod: labels, locality and network, from the Pod, its node and its cluster.
// Source: Istio pilot/pkg/serviceregistry/kube/controller/endpoint_builder.go, pkg/kube/util.go.

import {
  type Labels,
  localityOfLabels,
  localityOfNode,
  TLS_MODE_LABEL,
  WORKLOAD_NAME_LABEL,
  withTopology,
} from '../base/labels.ts';
import type { Obj } from '../model/object.ts';
import type { Query, Reader } from '../query/reader.ts';
import { networkOf, spiffeId, trustDomainIn } from './clusters.ts';

/** The part of an endpoint that follows from its workload. */
export interface Workload {
  readonly namespace: string;
  readonly labels: Labels;
  readonly serviceAccount: string;
  readonly locality: string;
  readonly network: string;
  readonly cluster: string;
  readonly workloadName: string;
  readonly nodeName: string;
  readonly hostname: string;
  readonly subdomain: string;
  readonly tlsMode: string;
  readonly addresses: readonly string[];
}

/** Argument `cluster/namespace/name`. Undefined when there is no such pod, or it has failed. */
export const podWorkload: Query<string, Workload | undefined> = {
  name: 'registry/podWorkload',
  run: (reader, key) => {
    const pod = reader.object('Pod', key);
    if (pod === undefined || pod.spec.phase === 'Failed') return undefined;
    const { spec } = pod;
    const locality = podLocality(reader, pod);
    const network = networkOf(reader, pod.cluster, pod.labels, spec.podIP);
    const topology = { cluster: pod.cluster, locality, node: spec.nodeName, network };
    return {
      namespace: pod.namespace,
      labels: withTopology(pod.labels, topology),
      serviceAccount: spiffeId(reader.get(trustDomainIn, pod.cluster), pod.namespace, spec.serviceAccountName),
      locality,
      network,
      cluster: pod.cluster,
      workloadName: workloadNameOf(pod),
      nodeName: spec.nodeName,
      hostname: spec.subdomain === '' ? '' : spec.hostname || pod.name,
      subdomain: spec.subdomain,
      tlsMode: pod.labels[TLS_MODE_LABEL] ?? 'disabled',
      addresses: spec.podIPs,
    };
  },
};

/** `region/zone/subzone` by the pod's label, else by its node; empty when neither has it. */
export function podLocality(reader: Reader, pod: Obj<'Pod'>): string {
  const labelled = localityOfLabels(pod.labels);
  if (labelled !== '' || pod.spec.nodeName === '') return labelled;
  const node = reader.object('Node', `${pod.cluster}/${pod.spec.nodeName}`);
  return node === undefined ? '' : localityOfNode(node.labels);
}

/** The pods that serve at an address, which is their first: several only if they share the address of their node. */
export function podsAtAddress(reader: Reader, cluster: string, address: string): readonly Obj<'Pod'>[] {
  const pods = reader.indexed('podsByIp', `${cluster}/${address}`);
  return pods.filter(pod => pod.spec.podIP === address && isEligible(pod) && isReady(pod));
}

/** Its address may be that of another pod by now. */
export function hasEnded({ spec: { phase } }: Obj<'Pod'>): boolean {
  return phase === 'Failed' || phase === 'Succeeded';
}

/** Runs, or is about to, and has an address. */
export function isEligible(pod: Obj<'Pod'>): boolean {
  const { podIP, deletionTimestamp } = pod.spec;
  return !hasEnded(pod) && podIP !== '' && deletionTimestamp === undefined;
}

export function isReady(pod: Obj<'Pod'>): boolean {
  return pod.spec.conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
}

type ContainerPort = Obj<'Pod'>['spec']['containers'][number]['ports'][number];

/** Containers first, then init containers that stay (native sidecars). */
export function containerPorts(pod: Obj<'Pod'>): readonly ContainerPort[] {
  const stays = pod.spec.initContainers.filter(container => container.restartPolicy === 'Always');
  return [...pod.spec.containers, ...stays].flatMap(container => container.ports);
}

/** The number of a port that is named in the pod. */
export function containerPort(pod: Obj<'Pod'>, name: string, transport?: string): number | undefined {
  return containerPorts(pod).find(
    port => port.name === name && (transport === undefined || port.protocol === transport),
  )?.containerPort;
}

/**
 * The name of what made the pod: of a ReplicaSet its Deployment, of a Job its CronJob; a pod on its own has its own
 * name.
 */
export function workloadNameOf(pod: Obj<'Pod'>): string {
  const label = pod.labels[WORKLOAD_NAME_LABEL];
  if (label) return label;
  const owner = pod.spec.ownerReferences.find(reference => reference.controller);
  if (pod.spec.generateName === '' || owner === undefined) return pod.name;
  const { kind, name } = owner;
  if (kind === 'ReplicaSet') {
    const hashes = [pod.labels['pod-template-hash'], pod.labels['rollouts-pod-template-hash']];
    const hash = hashes.find(each => each && name.endsWith(each));
    return hash && name.endsWith(`-${hash}`) ? name.slice(0, -hash.length - 1) : name;
  }
  if (kind === 'ReplicationController') return pod.labels.deploymentconfig || name;
  if (kind === 'Job') return /^(.+)-[0-9]{8,10}$/.exec(name)?.[1] ?? name;
  return name;
}
