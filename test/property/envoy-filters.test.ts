// EnvoyFilters over arbitrary meshes: generation is total and its messages are sound, the order of arrival decides
// nothing, and a filter that is gone leaves no trace. The laws hold over worlds with a few filters elsewhere; here
// there are many.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/base/json.ts';
import type { Unrecorded } from '../../src/core/event.ts';
import type { State } from '../../src/core/state.ts';
import { numbered, someConnected } from '../../src/testing/facts.ts';
import { soundObject } from '../../src/testing/objects.ts';
import { envoyFilter } from '../../src/testing/worlds/envoy-filters.ts';
import { encodeResource } from '../../src/xds/engine/encode.ts';
import { typeNameOf } from '../../src/xds/proto/any.ts';
import { verifyMessage } from '../../src/xds/wire/verify.ts';
import { foldAll } from './folding.ts';
import { allHoldings, freshEngine, messagesOf } from './holdings.ts';
import { parameters } from './seed.ts';

const SOURCE = 'file/Kubernetes';
type Facts = readonly Unrecorded[];

const add = (object: JsonObject): Unrecorded => ({ source: SOURCE, kind: 'Add', object });

const mesh: fc.Arbitrary<Facts> = fc
  .tuple(someConnected, fc.array(soundObject.map(add), { minLength: 5, maxLength: 30, size: 'max' }))
  .map(([proxies, objects]) => [...proxies, ...objects]);

/** Names differ, so that each is an object. Every second one is for the whole mesh, so that most meshes are changed. */
const filters: fc.Arbitrary<Facts> = fc
  .array(envoyFilter, { minLength: 3, maxLength: 8, size: 'max' })
  .map(found =>
    found.map((object, i) => add(i % 2 === 0 ? forAll(object, i) : named(object, { name: `filter-${i}` }))),
  );

function named(object: JsonObject, metadata: JsonObject): JsonObject {
  return { ...object, metadata: { ...(object.metadata as JsonObject), ...metadata } };
}

function forAll(object: JsonObject, i: number): JsonObject {
  const { workloadSelector: _, ...spec } = object.spec as JsonObject;
  return { ...named(object, { name: `filter-${i}`, namespace: 'istio-system' }), spec };
}

const stateOf = (facts: Facts): State => foldAll(numbered(facts)).state;

/** Proxy, type and digest of everything that is held. */
function heldIn(state: State, engine = freshEngine()): readonly string[] {
  const lines: string[] = [];
  for (const [proxy, holdings] of allHoldings(state, engine)) {
    for (const [typeUrl, set] of holdings) lines.push(`${proxy} ${typeNameOf(typeUrl)} ${set.digest}`);
  }
  return lines;
}

describe('arbitrary EnvoyFilters over arbitrary meshes', () => {
  it('give sound messages with unique names', () => {
    fc.assert(
      fc.property(mesh, filters, (objects, patches) => {
        const state = stateOf([...objects, ...patches]);
        const engine = freshEngine();
        for (const proxy of state.proxies.values()) {
          const messages = messagesOf(engine, state, proxy);
          for (const { typeUrl, name, message } of messages) {
            expect(verifyMessage(typeNameOf(typeUrl), message)).toEqual([]);
            encodeResource(typeUrl, name, message);
          }
          const names = messages.map(({ typeUrl, name }) => `${typeUrl} ${name}`);
          expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
        }
      }),
      parameters(20),
    );
  });

  it('give equal bytes in any order of arrival', () => {
    fc.assert(
      fc.property(mesh, filters, fc.array(fc.nat(), { minLength: 8, maxLength: 8 }), (objects, patches, order) => {
        const other = patches.map((fact, i) => ({ fact, at: order[i] ?? 0 })).sort((a, b) => a.at - b.at);
        const shuffled = other.map(({ fact }) => fact);
        expect(heldIn(stateOf([...shuffled, ...objects]))).toEqual(heldIn(stateOf([...objects, ...patches])));
      }),
      parameters(12),
    );
  });

  it('leave the bytes of before when they are removed', () => {
    fc.assert(
      fc.property(mesh, filters, (objects, patches) => {
        const engine = freshEngine();
        const before = heldIn(stateOf(objects), engine);
        heldIn(stateOf([...objects, ...patches]), engine);
        const removed = patches.map((fact): Unrecorded => {
          const { apiVersion, metadata } = (fact as unknown as { readonly object: JsonObject }).object;
          const { namespace, name } = metadata as { readonly namespace: string; readonly name: string };
          const ref = { apiVersion: String(apiVersion), kind: 'EnvoyFilter', namespace, name };
          return { source: SOURCE, kind: 'Delete', ref };
        });
        expect(heldIn(stateOf([...objects, ...patches, ...removed]), engine)).toEqual(before);
      }),
      parameters(12),
    );
  });

  it('census: most are accepted, and nearly every mesh is changed by them', () => {
    const worlds = fc.sample(fc.tuple(mesh, filters), { numRuns: 12, seed: 1 });
    const changed = worlds.filter(([objects, patches]) => {
      const state = stateOf([...objects, ...patches]);
      expect([...state.objects.EnvoyFilter.keys()].length).toBeGreaterThanOrEqual(patches.length);
      return JSON.stringify(heldIn(state)) !== JSON.stringify(heldIn(stateOf(objects)));
    });
    expect(changed.length).toBeGreaterThan(6);
  });
});
