// The targets of a policy: workloads by labels, or objects by reference. Source: Istio pkg/config/validation
// (validateWorkloadSelector, validatePolicyTargetReference, validateOneOfSelectorType).

import type { PolicyTargetReference, TypeWorkloadSelector } from '../../../schema/istio-types.gen.ts';
import { quoted, type Report } from '../../report.ts';
import { checkSelector } from './selectors.ts';

export interface PolicyTargets {
  readonly selector?: TypeWorkloadSelector;
  readonly targetRef?: PolicyTargetReference;
  readonly targetRefs?: readonly PolicyTargetReference[];
}

/** `group/kind`; the core group of Kubernetes may be written `core` or left empty. */
const TARGETS: readonly string[] = [
  'core/Service',
  'networking.istio.io/ServiceEntry',
  'gateway.networking.k8s.io/Gateway',
  'gateway.networking.k8s.io/GatewayClass',
];

export function checkPolicyTargets({ selector, targetRef, targetRefs = [] }: PolicyTargets, report: Report): void {
  const ways = [selector !== undefined, targetRef !== undefined, targetRefs.length > 0].filter(Boolean).length;
  if (ways > 1) report('spec', 'only one of selector, targetRef, targetRefs can be set');
  checkSelector(selector?.matchLabels, 'spec.selector.matchLabels', report);
  if (targetRef !== undefined) checkTarget(targetRef, 'spec.targetRef', report);
  targetRefs.forEach((target, i) => {
    checkTarget(target, `spec.targetRefs[${i}]`, report);
  });
}

function checkTarget(
  { group = '', kind = '', name, namespace }: PolicyTargetReference,
  path: string,
  report: Report,
): void {
  if (!name) report(`${path}.name`, 'is missing');
  if (namespace) report(`${path}.namespace`, 'must not be set: a policy refers to its own namespace');
  if (!TARGETS.includes(`${group === '' ? 'core' : group}/${kind}`)) {
    report(path, `${quoted(`${group}/${kind}`)} cannot be a target: expected one of ${TARGETS.join(', ')}`);
  }
}
