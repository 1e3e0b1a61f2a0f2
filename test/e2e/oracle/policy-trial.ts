// Policies before a real Envoy: Periplus configures a stock Envoy for a workload over ADS, with a certificate of the
// mesh; callers with certificates and tokens made here ask it. What it does, and which policy its access log names, has
// to be what the model of the Istio API says, and what the oracle says of the same configuration.

import type { JsonObject } from '../../../src/core/base/json.ts';
import { Tracker } from '../../../src/core/query/tracker.ts';
import { heldBy } from '../../../src/offline/held.ts';
import { type TokenMaker, tokenMaker } from '../../identity/tokens.ts';
import { judgePolicies } from '../../property/mesh/policy-judge.ts';
import { expectPolicies, type PolicyQuestion } from '../../property/mesh/policy-model.ts';
import { JWKS, type PolicyInquiry, policyConnection, WORKLOAD } from '../../property/mesh/policy-world.ts';
import { type Behaviour, behindEnvoy } from './workload.ts';

export interface Tried {
  readonly different: readonly string[];
  readonly asked: number;
  /** Kinds of verdicts that the Envoy gave. */
  readonly kinds: readonly string[];
}

interface Keys {
  readonly issuer: TokenMaker;
  readonly forger: TokenMaker;
}

type Objects = readonly JsonObject[];

/**
 * To be called inside of `describe`, whose tests share one place. `telling`: the objects that Periplus receives, for
 * canaries.
 */
export function tryingPolicies(
  binary: string,
): (inquiry: PolicyInquiry, telling?: (objects: Objects) => Objects) => Promise<Tried> {
  const behaviour = behindEnvoy(binary);
  const keys: Keys = { issuer: tokenMaker(), forger: tokenMaker() };
  return async (given, telling = objects => objects) => {
    const inquiry = signed(given, keys);
    const { mesh, objects, questions } = inquiry;
    return compare(inquiry, await behaviour(mesh, telling(objects), questions.map(policyConnection)));
  };
}

/** Real keys and real tokens in place of those that only have names. */
function signed({ objects, mesh, questions }: PolicyInquiry, { issuer, forger }: Keys): PolicyInquiry {
  const text = JSON.stringify(objects).replaceAll(JSON.stringify(JWKS), JSON.stringify(issuer.jwks));
  return {
    objects: JSON.parse(text) as readonly JsonObject[],
    mesh,
    questions: questions.map(question => {
      const { token } = question;
      if (token === undefined) return question;
      const maker = token.genuine ? issuer : forger;
      const claims = token.expired ? { ...token.claims, exp: 1_000 } : token.claims;
      return { ...question, token: { ...token, text: maker.token('none/none', claims) } };
    }),
  };
}

function compare(inquiry: PolicyInquiry, { answers, state }: Behaviour): Tried {
  const different: string[] = [];
  const kinds: string[] = [];
  let asked = 0;
  inquiry.questions.forEach((question, i) => {
    const { verdict } = expectPolicies(inquiry.objects, inquiry.mesh, WORKLOAD, question);
    // What the authorizer says is part of the question here; without it there is none.
    if (verdict === 'authorizer open') return;
    asked++;
    const { seen, details } = answers[i]!;
    kinds.push(`${question.called.http === undefined ? 'tcp' : 'http'} ${verdict.split(/[ -]/)[0]}`);
    if (isSeen(verdict, question, seen) && isNamed(verdict, seen, details)) return;
    different.push(`${JSON.stringify(question)}\nthe API: ${verdict}; Envoy: ${seen} (${details})`);
  });
  const proxy = [...state.proxies.values()][0]!;
  const predicted = judgePolicies(inquiry, heldBy(new Tracker(), state, proxy));
  return { different: [...different, ...predicted.different], asked, kinds };
}

function isSeen(verdict: string, { called }: PolicyQuestion, seen: string): boolean {
  if (verdict === 'passes') return seen === 'forwarded';
  if (verdict === 'closed' || called.http === undefined) return seen === 'closed';
  return verdict === 'token' ? /^answered 40[13]$/.test(seen) : seen === 'answered 403';
}

/** Whether the log names who refused it. */
function isNamed(verdict: string, seen: string, details: string): boolean {
  const [kind, key] = verdict.split(' ');
  if (kind === 'deny') return details.includes(`rbac_access_denied_matched_policy[${key}]`);
  if (kind === 'allow') return details.includes('rbac_access_denied_matched_policy[none]');
  if (kind === 'token') return details.includes('jwt_authn_access_denied');
  if (kind === 'authorizer') return seen === 'closed' || details.includes('ext_authz_');
  return true;
}
