// Copies of requests to further destinations; their responses are dropped.
// Source: Istio pilot/pkg/networking/core/route/route.go (TranslateRequestMirrorPolicy).

import type { HTTPRoute, Percent } from '../../../core/schema/istio-types.gen.ts';
import type { FractionalPercent, RouteAction_RequestMirrorPolicy } from '../../proto/types.gen.ts';
import { perHundred, perMillion } from './percent.ts';

/**
 * `shadowSuffix`: hosts of copies end in `-shadow`. `mirror` first, then `mirrors`; an entry with zero percent is left
 * out.
 */
export function mirrorPolicies(
  rule: HTTPRoute,
  shadowSuffix: boolean,
  clusterOf: (destination: HTTPRoute['mirror']) => string,
): readonly RouteAction_RequestMirrorPolicy[] {
  const policies: RouteAction_RequestMirrorPolicy[] = [];
  if (rule.mirror !== undefined) {
    const share = percentage(rule.mirrorPercentage) ?? wholePercent(rule.mirrorPercent);
    if (share !== 'none') policies.push(policy(clusterOf(rule.mirror), share, shadowSuffix));
  }
  for (const mirror of rule.mirrors ?? []) {
    if (mirror.destination === undefined) continue;
    const share = percentage(mirror.percentage) ?? perHundred(100);
    if (share !== 'none') policies.push(policy(clusterOf(mirror.destination), share, shadowSuffix));
  }
  return policies;
}

function percentage(percent: Percent | undefined): FractionalPercent | 'none' | undefined {
  if (percent === undefined) return undefined;
  return (percent.value ?? 0) > 0 ? perMillion(percent.value ?? 0) : 'none';
}

/** Deprecated; everything if absent. */
function wholePercent(percent: number | undefined): FractionalPercent | 'none' {
  if (percent === undefined) return perHundred(100);
  return percent > 0 ? perHundred(percent) : 'none';
}

function policy(
  cluster: string,
  defaultValue: FractionalPercent,
  shadowSuffix: boolean,
): RouteAction_RequestMirrorPolicy {
  return {
    cluster,
    runtimeFraction: { defaultValue },
    traceSampled: { value: false },
    ...(shadowSuffix ? {} : { disableShadowHostSuffixAppend: true }),
  };
}
