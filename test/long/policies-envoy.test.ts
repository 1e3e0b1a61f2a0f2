// 20,000 questions about arbitrary policies, of a fresh seed each time it is asked for one: a real Envoy, the oracle on
// what Periplus sent it, and the model of the API agree. Needs an Envoy, root and Linux.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tryingPolicies } from '../e2e/oracle/policy-trial.ts';
import { envoyFor } from '../e2e/oracle/trial.ts';
import { policyInquiries } from '../property/mesh/policy-world.ts';
import { parameters, seed } from '../property/seed.ts';

const BATCHES = 11;
const WORLDS_EACH = 10;
const QUESTIONS_EACH = 200;
const ASKED_MIN = 20_000;

const binary = await envoyFor('test/long/policies-envoy.test.ts');

describe.runIf(binary !== undefined)(`policies before a real Envoy, at length (PERIPLUS_SEED=${seed})`, () => {
  const tried = tryingPolicies(binary ?? '');

  const worlds = fc.sample(policyInquiries(QUESTIONS_EACH), parameters(BATCHES * WORLDS_EACH));
  let asked = 0;

  it.each(Array.from({ length: BATCHES }, (_, i) => i * WORLDS_EACH))(
    'requests and connections pass or are refused as the API says, by the policy that it says, in ten worlds from %i',
    async first => {
      for (const [i, one] of worlds.slice(first, first + WORLDS_EACH).entries()) {
        const found = await tried(one);
        asked += found.asked;
        expect([first + i, found.different]).toEqual([first + i, []]);
      }
    },
  );

  it('20,000 questions were asked', () => {
    expect(asked).toBeGreaterThanOrEqual(ASKED_MIN);
  });
});
