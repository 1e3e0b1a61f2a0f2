// Whether a pod is injected: the first rule that has something to say decides.
// Source: Istio pkg/kube/inject/inject.go (injectRequired). Labels of the namespace are the API server's concern: they
// are selectors of the webhook's configuration.

import { isReadable, selectsAll } from '../../core/mesh/label-selector.ts';
import type { LabelSelector } from '../../core/schema/istio-types.gen.ts';
import { annotationsOf, labelsOf, objectAt, type Pod, type Texts, textAt } from './pod.ts';
import type { InjectorSetup } from './setup.ts';

const INJECT = 'sidecar.istio.io/inject';
/** Namespaces of the cluster itself. */
const IGNORED: readonly string[] = ['kube-system', 'kube-public', 'kube-node-lease', 'local-path-storage'];

export interface Decision {
  readonly injects: boolean;
  /** For the log. */
  readonly why: string;
}

export function decide(pod: Pod, setup: InjectorSetup): Decision {
  const namespace = textAt(pod, 'metadata', 'namespace');
  if (objectAt(pod, 'spec').hostNetwork === true) return no('the pod uses the network of its host');
  if (IGNORED.includes(namespace)) return no(`namespace ${namespace} is never injected`);
  // Any other policy is a mistake, and never injects.
  if (setup.policy !== 'enabled' && setup.policy !== 'disabled') return no(`policy ${setup.policy} is unknown`);
  const labels = labelsOf(pod);
  const asked = labels[INJECT] ?? annotationsOf(pod)[INJECT];
  if (asked === 'true') return yes(`${INJECT} is true`);
  if (asked === 'false') return no(`${INJECT} is false`);
  if (selected(setup.neverInject, labels)) return no('a selector of neverInjectSelector matches');
  if (selected(setup.alwaysInject, labels)) return yes('a selector of alwaysInjectSelector matches');
  return { injects: setup.policy === 'enabled', why: `policy ${setup.policy}` };
}

function yes(why: string): Decision {
  return { injects: true, why };
}

function no(why: string): Decision {
  return { injects: false, why };
}

/** An empty selector, and one that cannot be read, selects nothing. */
function selected(selectors: readonly LabelSelector[], labels: Texts): boolean {
  return selectors.some(
    selector =>
      Object.keys(selector.matchLabels ?? {}).length + (selector.matchExpressions ?? []).length > 0 &&
      isReadable(selector) &&
      selectsAll(selector, labels),
  );
}
