// What a proxy sends with, asked for by itself, is what it holds as a whole: the graph of a mesh may look at the shared
// half alone, and no destination of its routes or listeners is lost or differs.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { meshFacts, sidecarOf } from '../../bench/mesh.ts';
import type { Unrecorded } from '../../src/core/event.ts';
import { Tracker } from '../../src/core/query/tracker.ts';
import { targetsOf } from '../../src/history/graph-targets.ts';
import { type Holdings, holdingsOf } from '../../src/history/holdings.ts';
import { sendingOf } from '../../src/history/sending.ts';
import { splitOf } from '../../src/history/traffic.ts';
import { anyFact, numbered, someConnected } from '../../src/testing/facts.ts';
import { soundObject } from '../../src/testing/objects.ts';
import { CDS } from '../../src/xds/session/types.ts';
import { foldAll } from './folding.ts';
import { parameters } from './seed.ts';

const SOURCE = 'file/Kubernetes';

const anyWorld: fc.Arbitrary<readonly Unrecorded[]> = fc
  .tuple(
    someConnected,
    fc.array(
      soundObject.map((object): Unrecorded => ({ source: SOURCE, kind: 'Add', object })),
      { minLength: 5, maxLength: 60, size: 'max' },
    ),
    fc.array(anyFact, { maxLength: 10 }),
  )
  .map(([proxies, objects, others]) => [...proxies, ...objects, ...others]);

/** Each destination with the cluster and the number of endpoints behind it. */
function seenIn(holdings: Holdings): readonly unknown[] {
  return targetsOf(holdings)
    .map(target => {
      const { message } = holdings.get(CDS)?.get(target.cluster) ?? {};
      return { target, split: splitOf(holdings, target.cluster, target.share), message };
    })
    .sort((a, b) => (JSON.stringify(a.target) < JSON.stringify(b.target) ? -1 : 1));
}

describe('what a proxy sends with', () => {
  it('leads to the same destinations as everything it holds', () => {
    const met = { targets: 0, missing: 0 };
    fc.assert(
      fc.property(anyWorld, facts => {
        const { state } = foldAll(numbered(facts));
        const tracker = new Tracker();
        for (const proxy of state.proxies.values()) {
          const seen = seenIn(sendingOf(tracker, state, proxy));
          expect(seen).toEqual(seenIn(holdingsOf(tracker, state, proxy)));
          met.targets += seen.length;
          met.missing += seen.filter(one => (one as { readonly message?: object }).message === undefined).length;
        }
      }),
      parameters(40),
    );
    expect(Math.min(met.targets, met.missing), JSON.stringify(met)).toBeGreaterThan(0);
  });

  it('is one value for all sidecars of a namespace, though each listens for its own workload', () => {
    const services = [0, 1, 2, 20, 21];
    const { state } = foldAll(numbered([...meshFacts(40), ...services.map(sidecarOf)]));
    const tracker = new Tracker();
    const values = new Set([...state.proxies.values()].map(proxy => sendingOf(tracker, state, proxy)));
    expect([state.proxies.size, values.size]).toEqual([services.length, 2]);
  });
});
