// Which objects of the Gateway API this revision reads: those without the label istio.io/rev, and those whose label is
// its own name. Tags are not resolved here, and Gateways are not filtered, as in istiod.
// Source: Istio pilot/pkg/config/kube/gateway/controller.go (NewController: filters of the collections).

import type { KindName } from '../../model/kind.ts';
import type { Obj } from '../../model/object.ts';
import type { Reader } from '../../query/reader.ts';

const REVISION_LABEL = 'istio.io/rev';

export function ofRevision<K extends KindName>(reader: Reader, obj: Obj<K> | undefined): Obj<K> | undefined {
  return obj !== undefined && isOfRevision(obj, reader.setting('revision')) ? obj : undefined;
}

export function allOfRevision<K extends KindName>(reader: Reader, kind: K, prefix = ''): readonly Obj<K>[] {
  const own = reader.setting('revision');
  const all = reader.objects(kind, prefix);
  return own === '' ? all : all.filter(obj => isOfRevision(obj, own));
}

function isOfRevision({ labels }: Obj, own: string): boolean {
  const label = labels[REVISION_LABEL];
  return own === '' || label === undefined || label === own;
}
