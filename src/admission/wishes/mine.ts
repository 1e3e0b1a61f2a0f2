// Which Gateways this revision acts for: those whose tag, their own or their namespace's, is one of its tags.
// Source: Istio pkg/revisions/tag_watcher.go (IsMine).

import { DEFAULT_VALIDATOR, REVISION_TAG_LABEL } from '../../core/kinds/kubernetes/webhook-configuration.ts';
import type { Obj } from '../../core/model/object.ts';
import type { Query, Reader } from '../../core/query/reader.ts';

const REVISION_LABEL = 'istio.io/rev';
const DEFAULT_TAG = 'istio-revision-tag-default';

/** The revision and the tags that name it. */
const ownTags: Query<'', readonly string[]> = {
  name: 'own-revision-tags',
  run: reader => {
    const [cluster, revision] = [reader.setting('clusterId'), reader.setting('revision')];
    const named: readonly Obj[] = [
      ...reader.objects('MutatingWebhookConfiguration', `${cluster}/`),
      ...reader.objects('Service', `${cluster}/${reader.setting('systemNamespace')}/`),
    ];
    const tags = named
      .filter(({ labels }) => labels[REVISION_LABEL] === revision)
      .flatMap(({ labels }) => labels[REVISION_TAG_LABEL] ?? []);
    return [...new Set([revision, ...tags])].sort();
  },
};

export function isMine(reader: Reader, { labels, namespace }: Obj): boolean {
  const cluster = reader.setting('clusterId');
  const place = reader.object('Namespace', `${cluster}/${namespace}`);
  const own = labels[REVISION_LABEL];
  if (own === undefined && place === undefined) return true;
  const tag = own ?? place?.labels[REVISION_LABEL] ?? '';
  const tags = reader.get(ownTags, '');
  if (tags.includes(tag)) return true;
  if (tag !== '') return false;
  if (tags.includes('default')) return true;
  const validator = reader.object('ValidatingWebhookConfiguration', `${cluster}/${DEFAULT_VALIDATOR}`);
  const isDefault = validator?.labels[REVISION_LABEL] === reader.setting('revision');
  return isDefault && reader.object('MutatingWebhookConfiguration', `${cluster}/${DEFAULT_TAG}`) === undefined;
}
