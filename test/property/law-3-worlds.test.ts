// Law 3 over arbitrary worlds and lives of every kind: whatever the order in which sources speak, what is in force and
// what proxies hold depends on what was said last of each object, and on nothing else. The canaries are registries that
// go by the time of arrival.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/base/json.ts';
import type { Unrecorded } from '../../src/core/event.ts';
import { emptyState, type State } from '../../src/core/state.ts';
import { foldFacts } from '../../src/offline/generate.ts';
import { anyFact } from '../../src/testing/facts.ts';
import { meshLife } from '../../src/testing/life.ts';
import { soundObject } from '../../src/testing/objects.ts';
import { plain, reordered, run } from '../../src/testing/perturbations.ts';
import { parameters } from './seed.ts';
import { held, tables } from './settled.ts';

const SOURCES = ['file/Kubernetes', 'kube/Kubernetes', 'kube/remote'] as const;

/** Refused versions are left out: they leave in force what stood there before, and so depend on the order by design. */
const isSound = (fact: Unrecorded): boolean =>
  foldFacts([fact]).effects.every(effect => effect.kind !== 'Verdict' || effect.accepted);

/** Of the mesh configuration each layer has one source. */
const otherFact: fc.Arbitrary<Unrecorded> = anyFact
  .filter(({ kind }) => kind === 'Delete' || kind === 'MeshConfig')
  .map(fact => (fact.kind === 'MeshConfig' ? { ...fact, source: 'file/Kubernetes' } : fact));

const world: fc.Arbitrary<readonly Unrecorded[]> = fc.array(
  fc
    .oneof(
      {
        weight: 9,
        arbitrary: fc
          .tuple(fc.constantFrom(...SOURCES), soundObject)
          .map(([source, object]): Unrecorded => ({ source, kind: 'Add', object })),
      },
      { weight: 1, arbitrary: otherFact },
    )
    .filter(isSound),
  { maxLength: 60, size: 'max' },
);
const choices = fc.array(fc.nat({ max: 1_000 }), { minLength: 60, maxLength: 200, size: 'max' });
type Facts = readonly Unrecorded[];
type Shuffled = readonly [facts: Facts, choices: readonly number[]];
const shuffled = (facts: fc.Arbitrary<Facts>): fc.Arbitrary<Shuffled> => fc.tuple(facts, choices);

const folded = (facts: Facts): State => run(plain(facts));

/** True if both orders give the same state; `fold` may be a canary's. */
function confluent([facts, order]: Shuffled, see: (state: State) => unknown, fold = folded): boolean {
  const [one, other] = [see(fold(facts)), see(fold(reordered(facts, order)))];
  return JSON.stringify(one) === JSON.stringify(other);
}

describe.each([
  ['worlds of every kind', world, 150, 12],
  ['lives of a mesh', meshLife(6), 150, 20],
] as const)('law 3: %s', (_, facts, tableRuns, xdsRuns) => {
  it('gives the same objects in force for any order', () => {
    fc.assert(
      fc.property(shuffled(facts), both => confluent(both, tables)),
      parameters(tableRuns),
    );
  });

  it('gives the same resources for any order', () => {
    fc.assert(
      fc.property(shuffled(facts), both => {
        expect(held(folded(reordered(...both))).map(withoutBody)).toEqual(held(folded(both[0])).map(withoutBody));
      }),
      parameters(xdsRuns),
    );
  });
});

describe('canary: law 3 detects', () => {
  const found = (see: (state: State) => unknown, fold: (facts: Facts) => State): boolean =>
    fc.check(
      fc.property(shuffled(meshLife(6)), both => confluent(both, see, fold)),
      { numRuns: 60, seed: 1, endOnFailure: true },
    ).failed;

  it('a missing age that is replaced by the time of arrival', () => {
    const arriving = (facts: Facts): State =>
      folded(facts.map((fact, seq) => (fact.kind === 'Add' ? { ...fact, object: agedAt(fact.object, seq) } : fact)));
    expect(found(tables, arriving)).toBe(true);
    expect(found(held, arriving)).toBe(true);
  });

  it('a registry that prefers the last source instead of the first in precedence', () => {
    const loudest = (facts: Facts): State => folded(facts.map(fact => ({ ...fact, source: 'file/Kubernetes' })));
    expect(found(tables, loudest)).toBe(true);
  });

  it('endpoints built when their slice arrives, and not again when their pod does', () => {
    const once = (facts: Facts): State => {
      const pods = new Set<string>();
      const kept = facts.filter(fact => {
        if (fact.kind !== 'Add' || fact.object.kind !== 'Pod') return true;
        const { name, namespace } = fact.object.metadata as JsonObject;
        const key = `${String(namespace)}/${String(name)}`;
        const isFirst = !pods.has(key);
        pods.add(key);
        return isFirst;
      });
      return folded(kept.filter((fact, i) => !isPodAfterItsSlice(kept, fact, i)));
    };
    expect(found(held, once)).toBe(true);
  });
});

it('census: the generated histories cover every story, and proxies have endpoints of each', () => {
  const kinds = new Set<string>();
  let holding = 0;
  for (const facts of fc.sample(meshLife(6), { numRuns: 40, seed: 1 })) {
    for (const fact of facts) kinds.add(fact.kind === 'Add' ? String(fact.object.kind) : fact.kind);
    if (held(folded(facts)).some(line => line.includes('ClusterLoadAssignment outbound|80|'))) holding++;
    expect(folded(facts).seq).toBe(emptyState.seq + facts.length);
  }
  const stories = ['Delete', 'DestinationRule', 'EndpointSlice', 'Namespace', 'Node', 'Pod', 'Service', 'ServiceEntry'];
  expect([...kinds].sort()).toEqual([...stories, 'VirtualService', 'WorkloadEntry']);
  expect(holding).toBeGreaterThan(20);
});

/** Connection, type, name and version, which is the hash of the content. */
function withoutBody(line: string): string {
  return line.split(' ').slice(0, -1).join(' ');
}

function agedAt(object: JsonObject, seq: number): JsonObject {
  const creationTimestamp = new Date(seq * 1_000).toISOString();
  return { ...object, metadata: { ...(object.metadata as JsonObject), creationTimestamp } };
}

function isPodAfterItsSlice(facts: Facts, fact: Unrecorded, index: number): boolean {
  if (fact.kind !== 'Add' || fact.object.kind !== 'Pod') return false;
  const { name } = fact.object.metadata as JsonObject;
  return facts
    .slice(0, index)
    .some(other => other.kind === 'Add' && JSON.stringify(other.object.endpoints ?? '').includes(`"${String(name)}"`));
}
