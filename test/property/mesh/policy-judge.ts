// The oracle's verdicts about policies in the words of the model, question by question.

import { explain } from '../../../src/oracle/explain.ts';
import { oracleOf } from '../../../src/oracle/oracle.ts';
import type { Branch } from '../../../src/oracle/prediction.ts';
import type { ProxyConfig } from '../../../src/oracle/question.ts';
import { type Answer, expectPolicies } from './policy-model.ts';
import { type PolicyInquiry, policyConnection, WORKLOAD } from './policy-world.ts';
import { configured } from './predicted.ts';

export const policyConfig = ({ objects, mesh }: PolicyInquiry): ProxyConfig => {
  const made = configured({ objects, mesh }, WORKLOAD);
  if (made.world.objects.length < objects.length) throw new Error('an object of the world was refused');
  return made.config;
};

function answerOf({ outcome, verdicts, unmodelled }: Branch): Answer {
  if (unmodelled.length > 0) throw new Error(`not modelled: ${unmodelled.join()}`);
  const shadow = verdicts.flatMap(({ shadow: is, kind, policy }) =>
    is && !policy.startsWith('istio-ext-authz') && (kind === 'allow' || kind === 'deny') ? [`${kind} ${policy}`] : [],
  );
  const own = shadow.filter(one => !/ istio-ext-authz/.test(one));
  const last = verdicts.findLast(verdict => !verdict.shadow && !verdict.passes);
  if (outcome.kind === 'forwarded') return { verdict: 'passes', shadow: own };
  if (last === undefined) return { verdict: outcome.kind, shadow: own };
  if (last.kind === 'authorizer')
    return { verdict: outcome.kind === 'unknown' ? 'authorizer open' : 'authorizer', shadow: own };
  if (last.kind === 'deny') return { verdict: `deny ${last.policy}`, shadow: own };
  return { verdict: last.kind, shadow: own };
}

/** Without DENY rules in shadow that match nothing: those of CUSTOM policies look the same. */
const told = ({ shadow }: Answer): string => shadow.filter(one => one !== 'deny ').join();

/** What differs, and the kinds of verdicts for a census. */
export function judgePolicies(
  inquiry: PolicyInquiry,
  config: ProxyConfig,
): { readonly different: readonly string[]; readonly kinds: readonly string[] } {
  const oracle = oracleOf(config);
  const different: string[] = [];
  const kinds: string[] = [];
  for (const question of inquiry.questions) {
    const want = expectPolicies(inquiry.objects, inquiry.mesh, WORKLOAD, question);
    const prediction = oracle.predict(policyConnection(question));
    const got = answerOf(prediction.branches[0]!);
    kinds.push(
      `${question.called.http === undefined ? 'tcp' : 'http'} ${want.verdict.split(' ns[')[0]!.split('-ns[')[0]}`,
    );
    if (got.verdict === want.verdict && told(got) === told(want)) continue;
    const [asked, said] = [JSON.stringify(question), `the API: ${JSON.stringify(want)}, Envoy: ${JSON.stringify(got)}`];
    different.push(`${asked}\n${said}\n${explain(prediction)}`);
  }
  return { different, kinds };
}
