// Views that are made before anybody asks are speculation: what proxies hold afterwards is the same, byte for byte, as
// without.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Unrecorded } from '../../src/core/event.ts';
import type { State } from '../../src/core/state.ts';
import { guessedSidecars } from '../../src/runtime/expected-proxies.ts';
import { WarmUp } from '../../src/runtime/warm-up.ts';
import { anyFact, numbered, someConnected } from '../../src/testing/facts.ts';
import { soundObject } from '../../src/testing/objects.ts';
import { foldAll } from './folding.ts';
import { allHoldings, freshEngine, showHoldings } from './holdings.ts';
import { parameters } from './seed.ts';

const SOURCE = 'file/Kubernetes';
const objects = fc.array(
  soundObject.map((object): Unrecorded => ({ source: SOURCE, kind: 'Add', object })),
  { minLength: 5, maxLength: 40, size: 'max' },
);

function stateOf(facts: readonly Unrecorded[]): State {
  return foldAll(numbered(facts)).state;
}

describe('a warm-up', () => {
  it('changes no resource of later proxies, also when the mesh changes before they connect', async () => {
    let made = 0;
    await fc.assert(
      fc.asyncProperty(objects, someConnected, fc.array(anyFact, { maxLength: 10 }), async (before, proxies, later) => {
        const early = stateOf(before);
        const engine = freshEngine();
        const clock = { now: () => 0, after: () => ({ cancel: () => undefined }) };
        const warmUp = new WarmUp({ engine, state: () => early, clock, log: () => undefined });
        await warmUp.run(async () => [...guessedSidecars(early), ...stateOf([...before, ...proxies]).proxies.values()]);
        made += engine.tracker.size.queries;
        const late = stateOf([...before, ...proxies, ...later]);
        expect(showHoldings(allHoldings(late, engine))).toEqual(showHoldings(allHoldings(late)));
      }),
      parameters(40),
    );
    expect(made).toBeGreaterThan(0);
  });
});
