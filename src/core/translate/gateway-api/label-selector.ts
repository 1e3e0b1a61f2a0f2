// Namespaces that a label selector of a listener picks. A selector that cannot be read picks none.
// Source: Kubernetes apimachinery pkg/apis/meta/v1 (LabelSelectorAsSelector), Istio
// pilot/pkg/config/kube/gateway/conversion.go (namespacesFromSelector).

import { isReadable, type LabelSelector, selectsAll } from '../../mesh/label-selector.ts';
import type { Query, Reader } from '../../query/reader.ts';

/** Kubernetes sets it on every namespace; assumed where an old cluster has not. */
const NAME_LABEL = 'kubernetes.io/metadata.name';

interface NamespaceLabels {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Argument ''. Of the config cluster, by name; annotations and the rest of a Namespace do not count. */
const namespaceLabels: Query<'', readonly NamespaceLabels[]> = {
  name: 'translate/namespaceLabels',
  run: reader =>
    reader
      .objects('Namespace', `${reader.setting('clusterId')}/`)
      .map(({ name, labels }) => ({ name, labels: { ...labels, [NAME_LABEL]: name } })),
};

/** By name, ascending. */
export function namespacesSelected(reader: Reader, selector: LabelSelector): readonly string[] {
  if (!isReadable(selector)) return [];
  return reader
    .get(namespaceLabels, '')
    .filter(({ labels }) => selectsAll(selector, labels))
    .map(({ name }) => name)
    .sort();
}

export function isNamespaceSelected(reader: Reader, selector: LabelSelector, namespace: string): boolean {
  return namespacesSelected(reader, selector).includes(namespace);
}
