// The RBAC filters of Envoy, for HTTP and for connections: rules that decide, and shadow rules that leave their verdict
// in dynamic metadata.
//
// Policies are evaluated in the byte order of their names, and the first match is reported
// (RoleBasedAccessControlEngineImpl::handleAction).

import { type HttpRBAC, type NetworkRBAC, type RBAC, RBAC_Action } from '../xds/proto/types.gen.ts';
import type { Stage, Verdict } from './prediction.ts';
import { matchesPolicy } from './rbac-match.ts';
import { type Subject, withMetadata } from './subject.ts';
import { judged, type Trail, unmodelled } from './trail.ts';

export interface Checked {
  readonly trail: Trail;
  readonly subject: Subject;
  /** Undefined: the filter lets it go on. */
  readonly refusal: string | undefined;
}

/** `stage`: which of the two filters it is, with its name. */
export function checkRbac(
  trail: Trail,
  stage: Extract<Stage, 'http filter' | 'network filter'>,
  filter: string,
  config: HttpRBAC | NetworkRBAC,
  given: Subject,
): Checked {
  let [on, subject] = [trail, given];
  if (config.matcher !== undefined || config.shadowMatcher !== undefined)
    on = unmodelled(on, `${filter} with a matcher`);
  if (config.shadowRules !== undefined) {
    const judgement = judge(config.shadowRules, subject);
    on = record(on, stage, judgement, filter, true);
    const prefix = config.shadowRulesStatPrefix ?? '';
    subject = {
      ...subject,
      metadata: withMetadata(subject.metadata, metadataKey(stage), {
        ...(judgement.policy === '' ? {} : { [`${prefix}shadow_effective_policy_id`]: judgement.policy }),
        [`${prefix}shadow_engine_result`]: judgement.passes ? 'allowed' : 'denied',
      }),
    };
  }
  if (config.rules === undefined) return { trail: on, subject, refusal: undefined };
  const judgement = judge(config.rules, subject);
  on = record(on, stage, judgement, filter, false);
  return { trail: on, subject, refusal: judgement.passes ? undefined : on.verdicts.at(-1)!.why };
}

/** The key of the filter's metadata, independent of its name in the chain. */
const metadataKey = (stage: Stage): string =>
  stage === 'http filter' ? 'envoy.filters.http.rbac' : 'envoy.filters.network.rbac';

interface Judgement {
  readonly kind: 'allow' | 'deny' | 'log';
  readonly passes: boolean;
  readonly policy: string;
  readonly unmodelled: ReadonlySet<string>;
}

function judge({ action = RBAC_Action.ALLOW, policies = {} }: RBAC, subject: Subject): Judgement {
  const unknown = new Set<string>();
  const names = Object.keys(policies).sort(byteOrder);
  const policy = names.find(name => matchesPolicy(policies[name]!, subject, unknown)) ?? '';
  const matched = policy !== '';
  switch (action) {
    case RBAC_Action.DENY:
      return { kind: 'deny', passes: !matched, policy, unmodelled: unknown };
    case RBAC_Action.LOG:
      return { kind: 'log', passes: true, policy, unmodelled: unknown };
    default:
      return { kind: 'allow', passes: matched, policy, unmodelled: unknown };
  }
}

function record(trail: Trail, stage: Stage, judgement: Judgement, filter: string, shadow: boolean): Trail {
  const on = [...judgement.unmodelled].reduce(unmodelled, trail);
  const { kind, passes, policy } = judgement;
  return judged(on, stage, { filter, kind, passes, policy, shadow, why: whyOf(judgement, shadow) } satisfies Verdict);
}

function whyOf({ kind, passes, policy }: Judgement, shadow: boolean): string {
  const rule = policy === '' ? `no ${kind} policy matches` : `${kind} policy ${policy} matches`;
  if (shadow) return `${rule}, in shadow: ${passes ? 'would pass' : 'would be refused'}`;
  return `${rule}: ${passes ? 'passes' : 'is refused'}`;
}

const byteOrder = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
