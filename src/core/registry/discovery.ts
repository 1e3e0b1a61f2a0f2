// discoverySelectors of the mesh: objects of namespaces that none of them selects are as good as absent.
// Rules: spec-events-pushes-protocol §2.1 item 4; Istio pkg/kube/namespace/filter.go.

import type { Obj } from '../object.ts';
import type { Query, Reader } from '../reader.ts';
import type { LabelSelector, LabelSelectorRequirement } from '../schema/istio-types.gen.ts';
import { type Labels, selects } from './labels.ts';

/** True if the namespace of the object is selected in its cluster, or the mesh has no selectors. The system namespace is no exception. */
export function isDiscovered(reader: Reader, obj: Obj): boolean {
  return reader.get(namespaceDiscovered, `${obj.cluster}/${obj.namespace}`);
}

/** Argument `cluster/namespace`. */
const namespaceDiscovered: Query<string, boolean> = {
  name: 'registry/namespaceDiscovered',
  run: (reader, key) => {
    const selectors = reader.mesh('discoverySelectors') ?? [];
    if (selectors.length === 0) return true;
    return discovers(selectors, reader.object('Namespace', key)?.labels ?? {});
  },
};

/** One selector that matches is enough. */
export function discovers(selectors: readonly LabelSelector[], labels: Labels): boolean {
  return selectors.some(
    ({ matchLabels = {}, matchExpressions = [] }) =>
      selects(matchLabels, labels) && matchExpressions.every(requirement => holds(requirement, labels)),
  );
}

function holds({ key = '', operator, values = [] }: LabelSelectorRequirement, labels: Labels): boolean {
  const value = labels[key];
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return false;
  }
}
