// 20,000 questions about arbitrary policies, of a fresh seed each time it is asked for one: a real Envoy, the oracle on what Periplus sent it, and the
// model of the API agree. Needs an Envoy, root and Linux.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tryingPolicies } from '../e2e/oracle/policy-trial.ts';
import { envoyFor } from '../e2e/oracle/trial.ts';
import { policyInquiries } from '../property/mesh/policy-world.ts';
import { parameters, seed } from '../property/seed.ts';

const WORLDS = 110;
const QUESTIONS_EACH = 200;
const ASKED_MIN = 20_000;

const binary = await envoyFor('test/long/policies-envoy.test.ts');

describe.runIf(binary !== undefined)(`policies before a real Envoy, at length (PERIPLUS_SEED=${seed})`, () => {
  const tried = tryingPolicies(binary ?? '');

  it('20,000 requests and connections pass or are refused as the API says, by the policy that it says', async () => {
    let asked = 0;
    for (const [i, one] of fc.sample(policyInquiries(QUESTIONS_EACH), parameters(WORLDS)).entries()) {
      const found = await tried(one);
      asked += found.asked;
      expect([i, found.different]).toEqual([i, []]);
    }
    expect(asked).toBeGreaterThanOrEqual(ASKED_MIN);
  });
});
