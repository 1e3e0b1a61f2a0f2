// 24,000 questions about arbitrary policies, of a fresh seed each time it is asked for one: the oracle on generated
// configuration and the model of the API agree.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { judgePolicies, policyConfig } from '../property/mesh/policy-judge.ts';
import { policyInquiry } from '../property/mesh/policy-world.ts';
import { parameters } from '../property/seed.ts';

const WORLDS = 600;

it('24,000 requests and connections pass or are refused as the API says', () => {
  let asked = 0;
  fc.assert(
    fc.property(policyInquiry, inquiry => {
      asked += inquiry.questions.length;
      expect(judgePolicies(inquiry, policyConfig(inquiry)).different).toEqual([]);
    }),
    parameters(WORLDS),
  );
  expect(asked).toBeGreaterThanOrEqual(20_000);
});
