// Annotations of Istio on Kubernetes objects: unknown ones, deprecated ones, ones on the wrong kind of object, and
// values that the injector would refuse.
//
// Source: Istio pkg/config/analysis/analyzers/annotations/annotations.go, maturity/maturity.go,
// pkg/kube/inject/validate.go (AnnotationValidation). The text about a bad value is ours.

import { annotationProblem } from '../../core/mesh/pod-annotations.ts';
import type { Analyzer } from '../analyzer.ts';
import { isIstioAnnotation, istioAnnotations, SET_BY_ISTIO } from '../annotation-table.ts';
import { INJECT } from '../in-mesh.ts';
import {
  alphaAnnotation,
  deprecatedAnnotation,
  invalidAnnotation,
  misplacedAnnotation,
  unknownAnnotation,
} from '../ist-0001-0145.ts';
import type { Report } from '../message.ts';
import { type AnalyzedObjects, type Item, objectsOf } from '../objects.ts';

const KINDS = ['Namespace', 'Service', 'Pod', 'Deployment'] as const;
/** Annotations that a pod without an init container of Istio's has from the CNI plugin. */
const SET_BY_CNI: ReadonlySet<string> = new Set([
  'sidecar.istio.io/interceptionMode',
  'traffic.sidecar.istio.io/includeInboundPorts',
  'traffic.sidecar.istio.io/excludeInboundPorts',
  'traffic.sidecar.istio.io/includeOutboundIPRanges',
]);

export const annotations: Analyzer = {
  name: 'annotations.K8sAnalyzer',
  description: 'Checks for misplaced and invalid Istio annotations in Kubernetes resources',
  needs: [],
  analyze: (objects, report) => {
    for (const item of annotated(objects)) {
      for (const [name, value] of Object.entries(item.annotations)) {
        if (isIstioAnnotation(name) && !SET_BY_ISTIO.has(name)) checkAnnotation(item, name, value, report);
      }
    }
  },
};

export const alphaAnnotations: Analyzer = {
  name: 'annotations.AlphaAnalyzer',
  type: 'maturity.AlphaAnalyzer',
  description: 'Checks for alpha Istio annotations in Kubernetes resources',
  needs: [],
  onRequest: true,
  analyze: (objects, report) => {
    for (const item of annotated(objects)) {
      const hasInit = objectsOf(item.spec.initContainers).some(({ name }) => name === 'istio-init');
      for (const name of Object.keys(item.annotations)) {
        if (!isIstioAnnotation(name) || istioAnnotations[name]?.alpha !== true || SET_BY_ISTIO.has(name)) continue;
        if (item.kind === 'Pod' && !hasInit && SET_BY_CNI.has(name)) continue;
        report(item, alphaAnnotation(name), `metadata.annotations[${name}]`);
      }
    }
  },
};

function annotated(objects: AnalyzedObjects): readonly Item<(typeof KINDS)[number]>[] {
  return KINDS.flatMap(kind => objects.all(kind));
}

function checkAnnotation(item: Item, name: string, value: string, report: Report): void {
  const path = `metadata.annotations[${name}]`;
  const known = istioAnnotations[name];
  if (known === undefined) {
    report(item, unknownAnnotation(name), path);
    return;
  }
  if (known.deprecated === true && !(name === INJECT && item.labels[INJECT] !== undefined)) {
    const instead = name === INJECT ? ` in favor of the ${JSON.stringify(INJECT)} label` : '';
    report(item, deprecatedAnnotation(name, instead), path);
  }
  if (known.on.includes('Any')) return;
  if (!known.on.includes(item.kind)) {
    report(item, misplacedAnnotation(name, known.on.join(', ')), path);
    return;
  }
  const problem = annotationProblem(name, value);
  if (problem !== undefined) report(item, invalidAnnotation(name, problem), path);
}
