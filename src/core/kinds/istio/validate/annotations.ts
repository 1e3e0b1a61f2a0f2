// Annotations that decide whether an object of Istio is accepted at all. Source: Istio pkg/config/validation
// (validateMetadata).

import { goBoolean } from '../../../base/go-boolean.ts';
import { isObject } from '../../../base/json.ts';
import type { RawObject } from '../../../event.ts';
import { quoted, type Report } from '../../report.ts';

const DRY_RUN = 'istio.io/dry-run';
/** Of Istio's own use: always refused, and the marks of objects that istiod makes itself. */
const REFUSED: readonly string[] = [
  'internal.istio.io/webhook-always-reject',
  'internal.istio.io/parents',
  'internal.istio.io/parent-namespace',
];

export function checkIstioAnnotations(kind: string, spec: object, raw: RawObject, report: Report): void {
  const annotations = isObject(raw.metadata) && isObject(raw.metadata.annotations) ? raw.metadata.annotations : {};
  for (const name of REFUSED) {
    if (annotations[name] !== undefined) report(`metadata.annotations[${name}]`, 'is not for users');
  }
  const dryRun = annotations[DRY_RUN];
  if (dryRun === undefined) return;
  const path = `metadata.annotations[${DRY_RUN}]`;
  const action = 'action' in spec ? spec.action : 'ALLOW';
  if (kind !== 'AuthorizationPolicy') report(path, 'is possible on an AuthorizationPolicy only');
  else if (action !== 'ALLOW' && action !== 'DENY') report(path, `does not go with action ${String(action)}`);
  else if (typeof dryRun === 'string' && goBoolean(dryRun) === undefined)
    report(path, `${quoted(dryRun)} is neither true nor false`);
}
