// Law 8: no event is fatal. Whatever JSON an object holds, folding does not fail, and the last accepted version stays in force.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Event, Fact } from '../../src/core/event.ts';
import { fold } from '../../src/core/fold.ts';
import type { Json, JsonObject } from '../../src/core/json.ts';
import { kindNames } from '../../src/core/kinds/registry.ts';
import { Restoring } from '../../src/core/restore.ts';
import { emptyState } from '../../src/core/state.ts';
import { stateHash } from '../../src/runtime/history.ts';
import { anyFact, anyHistory, numbered } from '../../src/testing/facts.ts';
import { anyObject } from '../../src/testing/objects.ts';
import { foldAll } from './folding.ts';
import { parameters } from './seed.ts';

const API_VERSIONS = [
  'v1',
  'networking.istio.io/v1',
  'security.istio.io/v1',
  'discovery.k8s.io/v1',
  'telemetry.istio.io/v1',
  'nonsense/v9',
];

const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;

/** Objects of every kind, with anything in any place. */
const junkObject: fc.Arbitrary<JsonObject> = fc.record({
  apiVersion: fc.oneof(fc.constantFrom(...API_VERSIONS), json),
  kind: fc.oneof(fc.constantFrom(...kindNames), json),
  metadata: fc.oneof(
    fc.record({ name: fc.oneof(fc.string(), json), namespace: json, labels: json, creationTimestamp: json }),
    json,
  ),
  spec: json,
  status: json,
  data: json,
  endpoints: json,
  ports: json,
  addressType: json,
}) as fc.Arbitrary<JsonObject>;

/** A valid object with one member somewhere replaced by anything: the mistakes that people make. */
const brokenObject: fc.Arbitrary<JsonObject> = fc
  .tuple(anyObject, fc.nat(), json)
  .map(([object, where, value]) => replaceAt(object, where, value) as JsonObject);

const junkFact: fc.Arbitrary<{ readonly source: string } & Fact> = fc
  .oneof(
    { weight: 3, arbitrary: fc.oneof(junkObject, brokenObject).map((object): Fact => ({ kind: 'Add', object })) },
    { weight: 1, arbitrary: json.map((value): Fact => ({ kind: 'MeshConfig', value })) },
    { weight: 1, arbitrary: json.map((value): Fact => ({ kind: 'MeshNetworks', value })) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.object() as fc.Arbitrary<JsonObject>, fc.string())
        .map(([node, connection]): Fact => ({ kind: 'ProxyConnected', connection, node, protocol: 'sotw' })),
    },
  )
  .map(fact => ({ source: 'file/Kubernetes', ...fact }));

describe('law 8: no event is fatal', () => {
  it('folding never fails, whatever the objects hold', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(junkFact, anyFact), { maxLength: 30, size: 'max' }), facts => {
        expect(foldAll(numbered(facts)).failures).toEqual([]);
      }),
      parameters(300),
    );
  });

  it('a start from such a history never fails either, and comes to the same', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(junkFact, anyFact), { maxLength: 30, size: 'max' }), facts => {
        const restoring = new Restoring(emptyState);
        const failures = numbered(facts).map(event => restoring.event(event, new Set()));
        expect(failures.filter(failure => failure !== undefined)).toEqual([]);
        expect(stateHash(restoring.finish())).toBe(stateHash(foldAll(numbered(facts)).state));
      }),
      parameters(150),
    );
  });

  it('a refused version leaves the accepted one in force', () => {
    fc.assert(
      fc.property(anyHistory(30), brokenObject, (events, object) => {
        const before = foldAll(events).state;
        const event: Event = { seq: events.length + 1, time: 1, source: 'file/Kubernetes', kind: 'Update', object };
        const { state: after, effects } = fold(before, event, new Set());
        const refused = effects.some(effect => effect.kind === 'Verdict' && !effect.accepted);
        if (refused) {
          expect(after.objects).toBe(before.objects);
          expect(after.indexes).toBe(before.indexes);
        }
      }),
      parameters(300),
    );
  });

  it('a failing assertion of our own skips the event and keeps the state', () => {
    const poison = {
      get kind(): string {
        throw new Error('poison');
      },
    } as unknown as JsonObject;
    const event: Event = { seq: 1, time: 5, source: 'file/Kubernetes', kind: 'Add', object: poison };
    const folded = fold(emptyState, event, new Set());
    expect(folded.failure).toBe('poison');
    expect(folded.state.objects).toBe(emptyState.objects);
    expect(folded.state.seq).toBe(1);
    expect(fold(emptyState, event, new Set([1])).failure).toBeUndefined();
  });
});

function replaceAt(value: Json, where: number, replacement: Json): Json {
  let left = where % Math.max(1, count(value));
  const visit = (at: Json): Json => {
    if (left-- === 0) return replacement;
    if (typeof at !== 'object' || at === null) return at;
    if (Array.isArray(at)) return at.map(visit);
    return Object.fromEntries(Object.entries(at).map(([key, member]) => [key, visit(member as Json)]));
  };
  return visit(value);
}

function count(value: Json): number {
  if (typeof value !== 'object' || value === null) return 1;
  return 1 + Object.values(value).reduce((sum: number, member) => sum + count(member as Json), 0);
}
