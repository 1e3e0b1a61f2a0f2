// Perturbations: whatever happened on the way, when all sources have said what holds, the state is that of one that was
// told nothing else. Compared are the objects in force, the indexes, and everything that connected proxies would hold.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Unrecorded } from '../../src/core/event.ts';
import { emptyState } from '../../src/core/state.ts';
import { foldFacts } from '../../src/offline/generate.ts';
import { anyFact } from '../../src/testing/facts.ts';
import { meshLife } from '../../src/testing/life.ts';
import { soundObject } from '../../src/testing/objects.ts';
import {
  backInTime,
  contentsBySource,
  crashed,
  missed,
  plain,
  type RunStep,
  run,
  settle,
} from '../../src/testing/perturbations.ts';
import { parameters } from './seed.ts';
import { held, tables } from './settled.ts';

const SOURCES = ['file/Kubernetes', 'kube/Kubernetes', 'file/remote'] as const;

/** Objects of sources: what is refused alone would leave what stood before it in force, and depend on what was seen. */
const objectFact: fc.Arbitrary<Unrecorded> = anyFact
  .filter(({ kind }) => kind === 'Add' || kind === 'Delete')
  .filter(fact => foldFacts([fact]).effects.every(effect => effect.kind !== 'Verdict' || effect.accepted));
const sound: fc.Arbitrary<Unrecorded> = fc
  .tuple(fc.constantFrom(...SOURCES), soundObject)
  .map(([source, object]): Unrecorded => ({ source, kind: 'Add', object }))
  .filter(fact => foldFacts([fact]).effects.every(effect => effect.kind !== 'Verdict' || effect.accepted));
/** Anything at all, or the life of a mesh. */
const facts = fc.oneof(fc.array(fc.oneof(objectFact, sound), { maxLength: 60, size: 'max' }), meshLife(5));

function comesOut(all: readonly Unrecorded[], steps: readonly RunStep[], withXds: boolean): void {
  const sources = contentsBySource(all);
  const settled = settle(run(steps), sources);
  const scratch = settle(emptyState, sources);
  expect(tables(settled)).toBe(tables(scratch));
  if (withXds) expect(held(settled)).toEqual(held(scratch));
}

const perturbation = fc
  .tuple(facts, fc.nat(), fc.nat(), fc.constantFrom(...SOURCES), fc.infiniteStream(fc.boolean()))
  .map(([all, a, b, source, seen]) => {
    const at = a % (all.length + 1);
    const kept = [...seen.take(all.length)];
    return { all, at, back: b % (at + 1), source, seen: (index: number): boolean => kept[index] === true };
  });

describe.each([
  ['the tables', false, 150],
  ['xDS', true, 8],
] as const)('the settled result equals one from scratch: %s', (_, withXds, runs) => {
  it('after a crash in the middle', () => {
    fc.assert(
      fc.property(perturbation, ({ all, at }) => comesOut(all, crashed(all, at), withXds)),
      parameters(runs),
    );
  });

  it('after a source went back in time', () => {
    fc.assert(
      fc.property(perturbation, ({ all, at, back, source }) =>
        comesOut(all, backInTime(all, source, at, back), withXds),
      ),
      parameters(runs),
    );
  });

  it('after missed intermediate states', () => {
    fc.assert(
      fc.property(perturbation, ({ all, seen }) => comesOut(all, missed(all, seen), withXds)),
      parameters(runs),
    );
  });
});

it('canary: a run that forgets deletions is detected', () => {
  const forgetful = fc.check(
    fc.property(perturbation, ({ all }) => {
      const state = run(plain(all.filter(({ kind }) => kind !== 'Delete')));
      return tables(state) === tables(settle(emptyState, contentsBySource(all)));
    }),
    { numRuns: 200, seed: 1 },
  );
  expect(forgetful.failed).toBe(true);
});
