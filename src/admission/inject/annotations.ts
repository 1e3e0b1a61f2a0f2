// Annotations of a pod that are checked before anything is rendered: one bad value refuses the pod.
// Source: Istio pkg/kube/inject/validate.go (validateAnnotations).

import { annotationProblem, checkedAnnotations } from '../../core/mesh/pod-annotations.ts';
import type { Texts } from './pod.ts';

/** Undefined: all are fine. */
export function annotationFault(annotations: Texts): string | undefined {
  for (const name of checkedAnnotations) {
    const value = annotations[name];
    const why = value === undefined ? undefined : annotationProblem(name, value);
    if (why !== undefined) return `invalid value '${value}' for annotation '${name}': ${why}`;
  }
  return undefined;
}
