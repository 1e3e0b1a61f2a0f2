// Which Ingresses are ours: by the annotation of old, by the IngressClass that exists, or any where the mesh says so;
// none where it says OFF.
// Source: Istio pilot/pkg/config/kube/ingress/virtualservices.go (shouldProcessIngressWithClass),
// pilot/pkg/bootstrap/configcontroller.go.

import { byAge, configKey, type Obj } from '../../model/object.ts';
import type { Query, Reader } from '../../query/reader.ts';

const CLASS_ANNOTATION = 'kubernetes.io/ingress.class';
const CONTROLLER = 'istio.io/ingress-controller';

/** Argument ''. By creation time, name, namespace. */
export const processedIngresses: Query<'', readonly Obj<'Ingress'>[]> = {
  name: 'translate/processedIngresses',
  run: reader =>
    reader
      .objects('Ingress')
      .filter(ingress => isProcessed(reader, ingress))
      .sort(byAge),
};

function isProcessed(reader: Reader, { annotations, spec }: Obj<'Ingress'>): boolean {
  const mode = reader.mesh('ingressControllerMode') ?? 'STRICT';
  if (mode === 'OFF') return false;
  const annotation = annotations[CLASS_ANNOTATION];
  if (annotation !== undefined) {
    return mode !== 'UNSPECIFIED' && annotation === (reader.mesh('ingressClass') ?? '');
  }
  const named = spec.ingressClassName;
  const found = named === undefined ? undefined : reader.object('IngressClass', configKey('', named));
  if (found !== undefined) return found.spec.controller === CONTROLLER;
  return mode === 'DEFAULT';
}
