// AuthorizationPolicies that apply to no workload of the mesh, and namespaces in their rules that do not exist.
// Source: Istio pkg/config/analysis/analyzers/authz/authorizationpolicies.go.

import { selects } from '../../core/base/labels.ts';
import type { Analyzer } from '../analyzer.ts';
import { isPodAmbient, isPodInMesh } from '../in-mesh.ts';
import { noMatchingWorkloadsFound, referencedResourceNotFound } from '../ist-0001-0145.ts';
import type { Report } from '../message.ts';
import { type AnalyzedObjects, type Item, selectorText } from '../objects.ts';

type Policy = Item<'AuthorizationPolicy'>;

export const authorizationPolicies: Analyzer = {
  name: 'auth.AuthorizationPoliciesAnalyzer',
  type: 'authz.AuthorizationPoliciesAnalyzer',
  description: 'Checks the validity of authorization policies',
  needs: ['AuthorizationPolicy', 'Namespace', 'Pod'],
  analyze: (objects, report) => {
    const pods = objects.all('Pod').filter(pod => isPodInMesh(pod, objects) || isPodAmbient(pod));
    const namespaces = objects.all('Namespace').map(({ name }) => name);
    for (const item of objects.all('AuthorizationPolicy')) {
      checkWorkloads(objects, pods, item, report);
      checkNamespaces(namespaces, item, report);
    }
  },
};

function checkWorkloads(objects: AnalyzedObjects, pods: readonly Item<'Pod'>[], item: Policy, report: Report): void {
  const isMeshWide = item.namespace === (objects.mesh.rootNamespace ?? objects.systemNamespace);
  const { selector } = item.spec;
  if (isMeshWide && selector === undefined) return;
  const candidates = isMeshWide ? pods : pods.filter(({ namespace }) => namespace === item.namespace);
  const labels = selector?.matchLabels ?? {};
  if (candidates.some(pod => selects(labels, pod.labels))) return;
  report(item, noMatchingWorkloadsFound(selectorText(labels)));
}

function checkNamespaces(namespaces: readonly string[], item: Policy, report: Report): void {
  (item.spec.rules ?? []).forEach(({ from = [] }, i) => {
    from.forEach(({ source = {} }, j) => {
      for (const member of ['namespaces', 'notNamespaces'] as const) {
        (source[member] ?? []).forEach((pattern, k) => {
          if (namespaces.some(name => covers(pattern, name))) return;
          const path = `spec.rules[${i}].from[${j}].source.${member}[${k}]`;
          report(item, referencedResourceNotFound('namespace', pattern), path);
        });
      }
    });
  });
}

function covers(pattern: string, namespace: string): boolean {
  if (pattern.startsWith('*')) return namespace.endsWith(pattern.slice(1));
  if (pattern.endsWith('*')) return namespace.startsWith(pattern.slice(0, -1));
  return pattern.toLowerCase() === namespace.toLowerCase();
}
