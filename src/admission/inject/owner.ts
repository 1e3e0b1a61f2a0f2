// What a pod belongs to, as its telemetry names it: the Deployment behind a ReplicaSet, the CronJob behind a Job.
// Source: Istio pkg/kube/util.go (GetWorkloadMetaFromPod).

import type { JsonObject } from '../../core/base/json.ts';
import { labelsOf, listAt, type Pod, textAt } from './pod.ts';

export interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
}

const JOB_OF_CRON = /^(.+)-\d{8,10}$/;

export function ownerOf(pod: Pod): Owner {
  const namespace = textAt(pod, 'metadata', 'namespace');
  const podName = textAt(pod, 'metadata', 'name');
  const itself = { apiVersion: 'v1', kind: 'Pod', name: podName, namespace };
  if (textAt(pod, 'metadata', 'generateName') === '') return itself;
  const controller = listAt(pod, 'metadata', 'ownerReferences').find(owner => owner.controller === true);
  if (controller === undefined) return itself;
  const owner = { namespace, ...workloadOf(controller, labelsOf(pod)) };
  return owner.name === '' ? { ...owner, name: podName } : owner;
}

function workloadOf(
  controller: JsonObject,
  labels: { readonly [name: string]: string },
): Pick<Owner, 'apiVersion' | 'kind' | 'name'> {
  const [apiVersion, kind, name] = [
    textAt(controller, 'apiVersion'),
    textAt(controller, 'kind'),
    textAt(controller, 'name'),
  ];
  if (kind === 'ReplicaSet') {
    const deployment = withoutHash(name, labels['pod-template-hash']);
    if (deployment !== undefined) return { apiVersion, kind: 'Deployment', name: deployment };
    const rollout = withoutHash(name, labels['rollouts-pod-template-hash']);
    if (rollout !== undefined) return { apiVersion: 'v1alpha1', kind: 'Rollout', name: rollout };
  }
  const config = labels.deploymentconfig;
  if (kind === 'ReplicationController' && config !== undefined && config !== '')
    return { apiVersion, kind: 'DeploymentConfig', name: config };
  const job = kind === 'Job' ? JOB_OF_CRON.exec(name) : null;
  if (job !== null) return { apiVersion: 'batch/v1', kind: 'CronJob', name: job[1]! };
  return { apiVersion, kind, name };
}

/** Undefined: the name does not end with the hash. */
function withoutHash(name: string, hash: string | undefined): string | undefined {
  if (hash === undefined || hash === '' || !name.endsWith(hash)) return undefined;
  return name.endsWith(`-${hash}`) ? name.slice(0, -(hash.length + 1)) : name;
}
