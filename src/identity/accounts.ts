// Pods of the state, as token checks and impersonation ask for them.

import { kubernetesKey, type Obj } from '../core/model/object.ts';
import type { State } from '../core/state.ts';
import type { Accounts } from './authenticate/token-keys.ts';
import type { NodePod, Pods } from './impersonation.ts';

export function podsOf(state: () => State): Pods {
  return {
    pod: (cluster, namespace, name) => {
      const pod = state().objects.Pod.get(kubernetesKey(cluster, namespace, name)) as Obj<'Pod'> | undefined;
      return pod === undefined ? undefined : nodePod(pod);
    },
    onNode: (cluster, node) =>
      (state().indexes.podsByNode.range(`${cluster}/${node}|`) as readonly Obj<'Pod'>[]).map(nodePod),
  };
}

/** `hasServer`: the pods of a mesh of files are unknown for ever. `listed`: every source has been read. */
export function accountsOf(state: () => State, hasServer: boolean, listed: () => boolean): Accounts {
  const pods = podsOf(state);
  return {
    podOf: (cluster, namespace, name) => pods.pod(cluster, namespace, name),
    known: cluster => hasServer || state().synced.has(`kube/${cluster}`),
    listed,
  };
}

function nodePod({ namespace, name, uid, spec }: Obj<'Pod'>): NodePod {
  return { namespace, name, uid, account: spec.serviceAccountName, node: spec.nodeName, phase: spec.phase };
}
