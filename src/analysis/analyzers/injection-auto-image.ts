// `image: auto` where no webhook of Istio replaces it: such a container never starts.
// Source: Istio pkg/config/analysis/analyzers/injection/image-auto.go.

import type { Json } from '../../core/base/json.ts';
import type { Analyzer } from '../analyzer.ts';
import { PROXY_CONTAINER } from '../in-mesh.ts';
import { imageAutoWithoutInjectionError, imageAutoWithoutInjectionWarning } from '../ist-0146-0176.ts';
import { selectorMatches } from '../label-selector.ts';
import { memberOf, objectsOf, textOf, textsOf } from '../objects.ts';

export const injectionAutoImage: Analyzer = {
  name: 'injection.ImageAutoAnalyzer',
  description: 'Makes sure that Pods and Deployments with `image: auto` are going to be injected',
  needs: [],
  analyze: (objects, report) => {
    const webhooks = objects
      .all('MutatingWebhookConfiguration')
      .flatMap(({ raw }) => objectsOf(raw.webhooks))
      .filter(({ name }) => textOf(name).endsWith('istio.io'));
    for (const item of objects.all('Pod')) {
      if (item.made !== undefined || !hasAutoImage(item.spec)) continue;
      report(item, imageAutoWithoutInjectionError('Pod', item.name));
    }
    for (const item of objects.all('Deployment')) {
      if (!hasAutoImage(memberOf(item.spec, 'template', 'spec'))) continue;
      const namespace = objects.find('Namespace', { namespace: '', name: item.namespace || 'default' })?.labels ?? {};
      const labels = textsOf(memberOf(item.spec, 'template', 'metadata', 'labels'));
      const isInjected = webhooks.some(
        ({ namespaceSelector, objectSelector }) =>
          selectorMatches(namespaceSelector, namespace) && selectorMatches(objectSelector, labels),
      );
      if (!isInjected) report(item, imageAutoWithoutInjectionWarning('Deployment', item.name));
    }
  },
};

function hasAutoImage(spec: Json | undefined): boolean {
  const containers = objectsOf(memberOf(spec, 'containers'));
  return containers.some(({ name, image }) => name === PROXY_CONTAINER && image === 'auto');
}
