// Arbitrary policies, as the property tests have them, before a real Envoy: callers with certificates and tokens, over
// HTTP and TCP, with external authorizers that allow, deny and fail. The Envoy, the oracle on what Periplus sent, and
// the model of the Istio API give one answer, and name one policy for it. 20,000 questions:
// test/long/policies-envoy.test.ts. Needs an Envoy, root and Linux.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { policyInquiry } from '../property/mesh/policy-world.ts';
import { parameters, seed } from '../property/seed.ts';
import { tryingPolicies } from './oracle/policy-trial.ts';
import { envoyFor } from './oracle/trial.ts';

const WORLDS = 12;

const binary = await envoyFor('test/e2e/oracle-policies.test.ts');

describe.runIf(binary !== undefined)(`policies before a real Envoy (PERIPLUS_SEED=${seed})`, () => {
  const tried = tryingPolicies(binary ?? '');
  const kinds = new Set<string>();

  const worlds = fc.sample(policyInquiry, parameters(WORLDS));
  it.each(worlds.map((one, i) => [i, one] as const))('decide as the Istio API says in world %i', async (_, one) => {
    const { different, kinds: seen } = await tried(one);
    for (const kind of seen) kinds.add(kind);
    expect(different).toEqual([]);
  });

  it('census: give every kind of verdict', () => {
    const found = new Set([...kinds].map(kind => kind.split(' ')[1]));
    expect([...found].sort()).toEqual(['allow', 'authorizer', 'closed', 'deny', 'passes', 'token']);
  });

  it('canary: differ if the Envoy is given no policies', async () => {
    for (const one of worlds) {
      const { different } = await tried(one, objects => objects.filter(({ kind }) => kind !== 'AuthorizationPolicy'));
      if (different.length > 0) return;
    }
    expect.fail('no world shows that its policies are missing');
  });
});
