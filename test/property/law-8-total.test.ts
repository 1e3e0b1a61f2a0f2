// Law 8: no event is fatal. Whatever JSON an object holds, folding does not fail, and the last accepted version stays
// in force.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/core/base/json.ts';
import type { Event, Fact } from '../../src/core/event.ts';
import { fold } from '../../src/core/fold/fold-event.ts';
import { Restoring } from '../../src/core/fold/restore.ts';
import { kindNames } from '../../src/core/kinds/registry.ts';
import { emptyState, type State } from '../../src/core/state.ts';
import { stateHash } from '../../src/offline/load-state.ts';
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

type Folded = ReturnType<typeof fold>;
const foldOne = (before: State, event: Event): Folded => fold(before, event, new Set());
const isRefused = ({ effects }: Folded): boolean =>
  effects.some(effect => effect.kind === 'Verdict' && !effect.accepted);

/** After any history, one of the objects in force comes again with something in it replaced by anything. */
function staysInForce(folding: typeof foldOne, met: { refused: number }): fc.IProperty<unknown> {
  return fc.property(anyHistory(30), fc.nat(), fc.nat(), json, (events, which, where, value) => {
    const before = foldAll(events).state;
    const accepted = [...before.records.entries()].filter(([, { raw }]) => raw !== undefined);
    const chosen = accepted[which % accepted.length];
    if (chosen === undefined) return;
    const [key, { raw, source }] = chosen;
    const { apiVersion, kind, metadata, ...content } = raw!;
    const spoilt = replaceAt(content, where, value) as JsonObject;
    const object = { ...spoilt, apiVersion, kind, metadata } as JsonObject;
    const folded = folding(before, { seq: before.seq + 1, time: 1, source, kind: 'Update', object });
    if (!isRefused(folded)) return;
    met.refused++;
    expect(folded.state.objects).toBe(before.objects);
    expect(folded.state.indexes).toBe(before.indexes);
    expect(folded.state.records.get(key)?.accepted).toBe(before.records.get(key)?.accepted);
  });
}

describe('law 8: no event is fatal', () => {
  it('lets the fold finish for any content of objects', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(junkFact, anyFact), { maxLength: 30, size: 'max' }), facts => {
        expect(foldAll(numbered(facts)).failures).toEqual([]);
      }),
      parameters(300),
    );
  });

  it('lets a start from such a history finish with the same state', () => {
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

  it('keeps the accepted version in force after a refused one', () => {
    const met = { refused: 0 };
    fc.assert(staysInForce(foldOne, met), parameters(300));
    // In nearly all histories something is in force, and three of four such mistakes are refused.
    expect(met.refused).toBeGreaterThan(100);
  });

  it('canary: a refusal that takes the object out of force is detected', () => {
    const hasty = (before: State, event: Event): Folded => {
      const folded = foldOne(before, event);
      if (event.kind !== 'Update' || !isRefused(folded)) return folded;
      const { apiVersion, kind, metadata } = event.object;
      const { name, namespace = '' } = metadata as { readonly name: string; readonly namespace?: string };
      const ref = { apiVersion: String(apiVersion), kind: String(kind), name, namespace };
      return {
        ...folded,
        state: foldOne(before, { seq: event.seq, time: 1, source: event.source, kind: 'Delete', ref }).state,
      };
    };
    expect(fc.check(staysInForce(hasty, { refused: 0 }), { numRuns: 300, seed: 1 }).failed).toBe(true);
  });

  it('skips the event and keeps the state if an assertion of our own fails', () => {
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
