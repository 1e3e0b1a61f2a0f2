// Pods that run another proxy image than the injector gives now: they were not restarted since an upgrade.
// Source: Istio pkg/config/analysis/analyzers/injection/injection-image.go, util/proxyconfig.go.

import { isRight } from 'fp-ts/lib/Either.js';
import { selects } from '../../core/base/labels.ts';
import { readProxyConfig } from '../../core/mesh/pod-annotations.ts';
import type { Analyzer } from '../analyzer.ts';
import { INJECTION_LABEL, PROXY_CONTAINER, REVISION_LABEL } from '../in-mesh.ts';
import { injectorConfigMap, injectorValues } from '../injector.ts';
import { podsIstioProxyImageMismatchInNamespace } from '../ist-0146-0176.ts';
import { type AnalyzedObjects, type Item, memberOf, objectsOf, textOf } from '../objects.ts';

export const injectionImage: Analyzer = {
  name: 'injection.ImageAnalyzer',
  description: 'Checks the image of auto-injection configured with the running proxies on pods',
  needs: ['Namespace', 'Pod', 'ConfigMap'],
  analyze: (objects, report) => {
    const images = new Map(
      objects
        .all('ConfigMap')
        .filter(({ name }) => name.startsWith('istio-sidecar-injector'))
        .map(map => [map.name, imageOf(map)]),
    );
    for (const namespace of objects.all('Namespace')) {
      const image = images.get(injectorConfigMap(revisionOf(namespace)));
      if (image === undefined || !isInjected(namespace)) continue;
      const stale = objects
        .all('Pod')
        .filter(pod => pod.namespace === namespace.name && isStale(objects, pod, image))
        .flatMap(pod =>
          proxyContainers(pod)
            .filter(one => !isImage(objects, pod, one, image))
            .map(() => pod.name),
        );
      if (stale.length > 0) report(namespace, podsIstioProxyImageMismatchInNamespace(stale.sort()));
    }
  },
};

function revisionOf({ labels }: Item): string {
  return labels[REVISION_LABEL] ?? '';
}

function isInjected({ labels }: Item): boolean {
  return labels[INJECTION_LABEL] === 'enabled' || labels[REVISION_LABEL] !== undefined;
}

function imageOf(map: Item<'ConfigMap'>): string {
  const global = memberOf(injectorValues(map), 'global');
  const image = textOf(memberOf(global, 'proxy', 'image'));
  return image.includes('/') ? image : `${memberOf(global, 'hub') ?? ''}/${image}:${memberOf(global, 'tag') ?? ''}`;
}

function proxyContainers({ spec }: Item<'Pod'>): readonly string[] {
  return [...objectsOf(spec.containers), ...objectsOf(spec.initContainers)]
    .filter(({ name }) => name === PROXY_CONTAINER)
    .map(({ image }) => textOf(image));
}

function isStale(objects: AnalyzedObjects, pod: Item<'Pod'>, image: string): boolean {
  if ((pod.annotations['sidecar.istio.io/proxyImage'] ?? '') !== '') return false;
  return proxyContainers(pod).some(one => !isImage(objects, pod, one, image));
}

function isImage(objects: AnalyzedObjects, pod: Item<'Pod'>, found: string, image: string): boolean {
  return found === image || found === `${image}-${variantOf(objects, pod)}`;
}

/** The image type that applies to a pod: mesh, root namespace, namespace, workload, annotation; the last one wins. */
function variantOf(objects: AnalyzedObjects, pod: Item<'Pod'>): string {
  const { mesh } = objects;
  const configs = objects.all('ProxyConfig');
  const root = mesh.rootNamespace ?? objects.systemNamespace;
  const ofNamespace = (namespace: string) => configs.filter(item => item.namespace === namespace);
  const own = pod.namespace === root ? [] : ofNamespace(pod.namespace);
  const types = [
    mesh.defaultConfig.image?.imageType,
    ...ofNamespace(root).map(({ spec }) => spec.image?.imageType),
    ...own.filter(({ spec }) => spec.selector === undefined).map(({ spec }) => spec.image?.imageType),
    ...own
      .filter(({ spec }) => spec.selector !== undefined && selects(spec.selector.matchLabels ?? {}, pod.labels))
      .map(({ spec }) => spec.image?.imageType),
    annotated(pod),
  ];
  const last = types.filter(type => (type ?? '') !== '').at(-1) ?? '';
  return last === 'default' ? '' : last;
}

function annotated(pod: Item<'Pod'>): string {
  const config = readProxyConfig(pod.annotations['proxy.istio.io/config'] ?? '');
  return isRight(config) ? textOf(memberOf(config.right, 'image', 'imageType')) : '';
}
