// Annotations of a pod that are checked before anything is rendered: one bad value refuses the pod.
// Source: Istio pkg/kube/inject/validate.go (validateAnnotations).

import { annotationProblem, checkedAnnotations } from '../../core/mesh/pod-annotations.ts';
import type { Texts } from './pod.ts';

/** Of all names and values; the API server takes no more (Kubernetes: TotalAnnotationSizeLimitB). */
export const ANNOTATIONS_CHARS_MAX = 256 * 1024;
const SHOWN_CHARS_MAX = 200;

/** Undefined: all are fine. */
export function annotationFault(annotations: Texts): string | undefined {
  const chars = Object.entries(annotations).reduce((sum, [name, value]) => sum + name.length + String(value).length, 0);
  if (chars > ANNOTATIONS_CHARS_MAX) return `annotations have more than ${ANNOTATIONS_CHARS_MAX} characters`;
  for (const name of checkedAnnotations) {
    const value = annotations[name];
    const why = value === undefined ? undefined : annotationProblem(name, value);
    if (why !== undefined) return `invalid value '${shown(value)}' for annotation '${name}': ${why}`;
  }
  return undefined;
}

function shown(value: string | undefined): string {
  return value === undefined || value.length <= SHOWN_CHARS_MAX ? `${value}` : `${value.slice(0, SHOWN_CHARS_MAX)}…`;
}
