// What both comparisons of the oracle with the Istio API begin with: an arbitrary world, one of two clients in it, and
// questions that it asks.

import fc from 'fast-check';
import type { ProxyConfig } from '../../../src/oracle/question.ts';
import { meshOf } from './http-model.ts';
import type { Mesh } from './http-route.ts';
import { configured } from './predicted.ts';
import type { Client } from './services.ts';
import { anyWorld, type World } from './world.ts';

const CLIENTS: readonly Client[] = [
  { namespace: 'prod', labels: { app: 'alpha', version: 'v1' } },
  { namespace: 'test', labels: { app: 'other' } },
];
const QUESTIONS = 12;

export interface Inquiry<Q> {
  readonly world: World;
  readonly client: Client;
  readonly questions: readonly Q[];
}

export function inquiryOf<Q>(question: (world: World, client: Client) => fc.Arbitrary<Q>): fc.Arbitrary<Inquiry<Q>> {
  return fc
    .tuple(anyWorld, fc.constantFrom(...CLIENTS))
    .chain(([world, client]) =>
      fc
        .array(question(world, client), { minLength: QUESTIONS, maxLength: QUESTIONS })
        .map(questions => ({ world, client, questions })),
    );
}

export interface Case<Q> {
  readonly given: Inquiry<Q>;
  readonly mesh: Mesh;
  readonly config: ProxyConfig;
  readonly questions: readonly Q[];
}

export function setUp<Q>(given: Inquiry<Q>): Case<Q> {
  const { world, client, questions } = given;
  const { world: accepted, config } = configured(world, client);
  return { given, mesh: meshOf(accepted, client), config, questions };
}

const FIXED_SEED = 7;
const FIXED_CASES = 160;

/** Always the same worlds, so that what they hold is not a matter of luck; each is made when it is first asked for. */
export function fixedCasesOf<Q>(inquiry: fc.Arbitrary<Inquiry<Q>>): () => Generator<Case<Q>> {
  const fixed: Case<Q>[] = [];
  const inquiries = fc.sample(inquiry, { numRuns: FIXED_CASES, seed: FIXED_SEED });
  return function* () {
    for (const [i, given] of inquiries.entries()) {
      fixed[i] ??= setUp(given);
      yield fixed[i];
    }
  };
}
