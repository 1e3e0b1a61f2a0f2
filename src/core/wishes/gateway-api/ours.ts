// Whose object it is, where several revisions of the control plane share a cluster: by the label istio.io/rev of the
// object or of its namespace, which names a revision or one of its tags. Only statuses and deployments go by it.
// Source: Istio pkg/revisions/tag_watcher.go.

import { kubernetesKey, type Obj } from '../../model/object.ts';
import type { Query, Reader } from '../../query/reader.ts';

const REVISION_LABEL = 'istio.io/rev';
const TAG_LABEL = 'istio.io/tag';
const DEFAULT_TAG = 'default';
const DEFAULT_VALIDATOR = 'istiod-default-validator';
const DEFAULT_TAG_WEBHOOK = 'istio-revision-tag-default';

export function isOurs(reader: Reader, obj: Obj): boolean {
  const revision = obj.labels[REVISION_LABEL] ?? revisionOfNamespace(reader, obj.namespace);
  if (revision === undefined) return true;
  const tags = reader.get(ownTags, '');
  if (revision !== '') return reader.setting('revision') !== '' && tags.includes(revision);
  return reader.setting('revision') === '' || tags.includes(DEFAULT_TAG) || reader.get(isDefault, '');
}

/** '' if the namespace is there without a label; undefined: there is no such namespace. */
function revisionOfNamespace(reader: Reader, namespace: string): string | undefined {
  if (namespace === '') return '';
  const found = reader.object('Namespace', `${reader.setting('clusterId')}/${namespace}`);
  return found === undefined ? undefined : (found.labels[REVISION_LABEL] ?? '');
}

/** Argument ''. The revision itself and its tags. */
const ownTags: Query<'', readonly string[]> = {
  name: 'wishes/ownTags',
  run: reader => {
    const own = reader.setting('revision');
    const cluster = reader.setting('clusterId');
    const system = reader.setting('systemNamespace');
    const labelled: readonly Obj[] = [
      ...reader.objects('MutatingWebhookConfiguration', `${cluster}/`),
      ...reader.objects('Service', kubernetesKey(cluster, system, '')),
    ];
    const tags = labelled
      .filter(({ labels }) => labels[REVISION_LABEL] === own)
      .map(({ labels }) => labels[TAG_LABEL] ?? '');
    return [...new Set([own, ...tags])].filter(tag => tag !== '').sort();
  },
};

const isDefault: Query<'', boolean> = {
  name: 'wishes/isDefaultRevision',
  run: reader => {
    const cluster = reader.setting('clusterId');
    const validator = reader.object('ValidatingWebhookConfiguration', `${cluster}/${DEFAULT_VALIDATOR}`);
    if (validator?.labels[REVISION_LABEL] !== reader.setting('revision')) return false;
    return reader.object('MutatingWebhookConfiguration', `${cluster}/${DEFAULT_TAG_WEBHOOK}`) === undefined;
  },
};
