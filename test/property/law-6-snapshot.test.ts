// Law 6: snapshot + tail = full fold, from every snapshot position. Through JSON, as a snapshot is stored.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Event } from '../../src/core/event.ts';
import { restore } from '../../src/core/fold/restore.ts';
import { RestoringBeside } from '../../src/core/fold/restore-beside.ts';
import { type SourcedFact, snapshotOf } from '../../src/core/fold/snapshot.ts';
import type { State } from '../../src/core/state.ts';
import { Table } from '../../src/core/table.ts';
import { stateHash } from '../../src/offline/load-state.ts';
import { anyHistory, numbered } from '../../src/testing/facts.ts';
import { foldAll } from './folding.ts';
import { parameters } from './seed.ts';

/** Counterexamples found before, replayed first. */
const FOUND: [readonly Event[]][] = [
  // The position at which a mesh configuration went away was not restored.
  [numbered([{ source: 'file/Kubernetes', kind: 'MeshConfig', value: null }])],
  // Extensions that came after the proxy which names them were seen by the snapshot only.
  [
    numbered([
      {
        source: 'xds',
        kind: 'ProxyConnected',
        connection: 'sidecar-2',
        node: { id: 'sidecar~10.1.0.2~beta.test~test.svc.cluster.local', cluster: 'beta.test', metadata: {} },
        protocol: 'delta',
        extensions: 'plain-envoy',
      },
      {
        source: 'xds',
        kind: 'Interned',
        digest: 'plain-envoy',
        value: [{ name: 'envoy.filters.http.router', category: 'envoy.filters.http' }],
      },
    ]),
  ],
];

function throughSnapshot(state: State): State {
  return restore(JSON.parse(JSON.stringify([...snapshotOf(state)])) as SourcedFact[]);
}

/** Through JSON. */
function besideOf(near: State, facts: readonly SourcedFact[]): State {
  const restoring = new RestoringBeside(near);
  for (const { source, fact } of JSON.parse(JSON.stringify(facts)) as SourcedFact[]) restoring.fact(source, fact);
  return restoring.finish();
}

function heldAfter(events: readonly Event[], position: number, cross: (state: State) => State): string {
  const before = foldAll(events.slice(0, position)).state;
  return stateHash(foldAll(events.slice(position), cross(before)).state);
}

describe('law 6: snapshot + tail = full fold', () => {
  it('holds from every position', () => {
    fc.assert(
      fc.property(anyHistory(40), events => {
        const full = stateHash(foldAll(events).state);
        for (let position = 0; position <= events.length; position++) {
          expect(heldAfter(events, position, throughSnapshot)).toBe(full);
        }
      }),
      parameters<[readonly Event[]]>(40, FOUND),
    );
  });

  it('holds to the last field, also for fields that the snapshot omits', () => {
    fc.assert(
      fc.property(anyHistory(60), events => {
        const { state } = foldAll(events);
        const restored = throughSnapshot(state);
        expect(contentsOf(restored)).toEqual(contentsOf(state));
      }),
      parameters<[readonly Event[]]>(60, FOUND),
    );
  });

  it('holds for a snapshot that is restored beside another state, of the same journal or of any other', () => {
    fc.assert(
      fc.property(anyHistory(40), anyHistory(40), fc.nat(40), (events, others, position) => {
        const { state } = foldAll(events);
        for (const near of [foldAll(events.slice(0, position)).state, state, foldAll(others).state]) {
          expect(contentsOf(besideOf(near, [...snapshotOf(state)]))).toEqual(contentsOf(throughSnapshot(state)));
        }
      }),
      parameters<[readonly Event[], readonly Event[], number]>(40),
    );
  });

  it('keeps the identity of what a state beside it has, too', () => {
    fc.assert(
      fc.property(anyHistory(40), events => {
        const { state } = foldAll(events);
        const restored = besideOf(state, [...snapshotOf(state)]);
        for (const [key, record] of state.records.entries()) {
          expect(restored.records.get(key)?.accepted).toBe(record.accepted);
        }
        expect([restored.mesh, restored.networks, restored.settings]).toEqual([
          state.mesh,
          state.networks,
          state.settings,
        ]);
        expect(restored.mesh).toBe(state.mesh);
      }),
      parameters<[readonly Event[]]>(30),
    );
  });

  it('canary: an object of the other state that the snapshot does not have is detected', () => {
    const holds = fc.check(
      fc.property(anyHistory(60), events => {
        const { state } = foldAll(events);
        const [first] = state.objects.Service.entries();
        const facts = [...snapshotOf(state)].filter(({ fact }) => fact.kind !== 'Object');
        const restored = besideOf(state, facts);
        return first === undefined || restored.objects.Service.get(first[0]) !== undefined;
      }),
      { numRuns: 200, seed: 1 },
    );
    expect(holds.failed).toBe(true);
  });

  it('canary: a snapshot without refused versions is detected', () => {
    const forgetful = (state: State): State =>
      restore([...snapshotOf(state)].map(({ source, fact }) => ({ source, fact: { ...fact, refused: undefined } })));
    const holds = fc.check(
      fc.property(anyHistory(60), events => {
        const full = stateHash(foldAll(events).state);
        return heldAfter(events, events.length, forgetful) === full;
      }),
      { numRuns: 200, seed: 1 },
    );
    expect(holds.failed).toBe(true);
  });
});

/** All that a state is, tables as lists of what is in them. */
function contentsOf(state: State): unknown {
  const shown = (value: unknown): unknown => {
    if (value instanceof Table) return [...value.entries()];
    const isOfTables = Object.values((value ?? {}) as object).some(member => member instanceof Table);
    return isOfTables ? Object.entries(value as object).map(([name, member]) => [name, shown(member)]) : value;
  };
  return Object.entries(state).map(([name, value]) => [name, shown(value)]);
}
