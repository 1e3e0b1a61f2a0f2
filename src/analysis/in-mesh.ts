// Which pods and workloads belong to the mesh, by the rules that istioctl uses: a proxy container, else a label, else
// an annotation, else the namespace. The injection webhook's own selectors are not asked.
//
// Source: Istio pkg/config/analysis/analyzers/util/in_mesh.go, config.go.

import type { Json } from '../core/base/json.ts';
import type { Labels } from '../core/base/labels.ts';
import { type AnalyzedObjects, type Item, memberOf, objectsOf, textOf, textsOf } from './objects.ts';

export const PROXY_CONTAINER = 'istio-proxy';
export const INJECTION_LABEL = 'istio-injection';
export const REVISION_LABEL = 'istio.io/rev';
export const DATAPLANE_MODE_LABEL = 'istio.io/dataplane-mode';
export const INJECT = 'sidecar.istio.io/inject';
export const MANAGED_LABEL = 'gateway.istio.io/managed';
export const WAYPOINT_CONTROLLER = 'istio.io-mesh-controller';
const REDIRECTION = 'ambient.istio.io/redirection';

export function isPodInMesh(pod: Item<'Pod'>, objects: AnalyzedObjects): boolean {
  const { annotations, labels, namespace, spec } = pod;
  return isInMesh(annotations, labels, namespace, [spec.containers, spec.initContainers], objects);
}

export function isDeploymentInMesh({ namespace, spec }: Item<'Deployment'>, objects: AnalyzedObjects): boolean {
  const metadata = memberOf(spec, 'template', 'metadata');
  const annotations = textsOf(memberOf(metadata, 'annotations'));
  const labels = textsOf(memberOf(metadata, 'labels'));
  return isInMesh(annotations, labels, namespace, [memberOf(spec, 'template', 'spec', 'containers')], objects);
}

function isInMesh(
  annotations: Labels,
  labels: Labels,
  namespace: string,
  containers: readonly (Json | undefined)[],
  objects: AnalyzedObjects,
): boolean {
  if (containers.some(list => proxyImage(list) !== '')) return true;
  const said = labels[INJECT] ?? annotations[INJECT];
  if (said !== undefined) return said === 'true';
  return objects.find('Namespace', { namespace: '', name: namespace })?.labels[INJECTION_LABEL] === 'enabled';
}

/** The image of the first container that is called as the proxy is; empty without one. */
export function proxyImage(containers: Json | undefined): string {
  return textOf(objectsOf(containers).find(({ name }) => name === PROXY_CONTAINER)?.image);
}

export function isPodAmbient({ annotations }: Item<'Pod'>): boolean {
  return annotations[REDIRECTION] === 'enabled';
}

export function isNamespaceAmbient(namespace: Item<'Namespace'> | undefined): boolean {
  if (namespace === undefined) return false;
  const { labels } = namespace;
  if (labels[INJECTION_LABEL] === 'enabled' || (labels[REVISION_LABEL] ?? '') !== '') return false;
  return labels[DATAPLANE_MODE_LABEL] === 'ambient';
}

/** Parts of an installation of Istio. */
export function isControlPlane({ labels }: Item): boolean {
  return labels.istio !== undefined || labels.release === 'istio';
}
