// discoverySelectors of the mesh: objects in namespaces that no selector matches count as absent.
// Source: Istio pkg/kube/namespace/filter.go.

import type { Labels } from '../base/labels.ts';
import type { LabelSelector } from '../schema/istio-types.gen.ts';
import { isReadable, selectsAll } from './label-selector.ts';

/**
 * One selector that matches is enough. With one that cannot be read all is discovered, as by an istiod that starts with
 * it.
 */
export function discovers(selectors: readonly LabelSelector[], labels: Labels): boolean {
  if (!selectors.every(isReadable)) return true;
  return selectors.some(selector => selectsAll(selector, labels));
}
