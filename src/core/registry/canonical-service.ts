// What telemetry calls the service and revision that a workload belongs to.
// Source: Istio pkg/config/labels (CanonicalService).

import type { Labels } from '../base/labels.ts';

export const CANONICAL_NAME = 'service.istio.io/canonical-name';
export const CANONICAL_REVISION = 'service.istio.io/canonical-revision';
const names: readonly string[] = [CANONICAL_NAME, 'app.kubernetes.io/name', 'app'];
const revisions: readonly string[] = [CANONICAL_REVISION, 'app.kubernetes.io/version', 'version'];
const LATEST = 'latest';

/** `fallback`: the name of a workload that has none of the labels. */
export function canonicalService(
  labels: Labels,
  fallback: string,
): { readonly name: string; readonly revision: string } {
  return { name: firstOf(labels, names) ?? fallback, revision: firstOf(labels, revisions) ?? LATEST };
}

function firstOf(labels: Labels, wanted: readonly string[]): string | undefined {
  const found = wanted.find(name => labels[name] !== undefined);
  return found === undefined ? undefined : labels[found];
}
