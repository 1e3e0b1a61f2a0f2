// A history folded at once (restore.ts) comes to what it comes to one by one: records, what is in force, indexes, whatever the order, with
// filters of the mesh that come and go in the middle.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Event } from '../../src/core/event.ts';
import { Restoring } from '../../src/core/restore.ts';
import type { State } from '../../src/core/state.ts';
import { stateHash } from '../../src/runtime/history.ts';
import { anyHistory, numbered } from '../../src/testing/facts.ts';
import { foldAll } from './folding.ts';
import { parameters } from './seed.ts';

const none: ReadonlySet<number> = new Set();
const source = 'file/Kubernetes';
const namespace = (name: string, labels: { readonly [key: string]: string }) =>
  ({ source, kind: 'Add', object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } } }) as const;
const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'a', namespace: 'one' }, spec: {} } as const;
const selective = { discoverySelectors: [{ matchLabels: { mesh: 'yes' } }] };

/** By hand: what only filters bring about. */
const FILTERED: [readonly Event[], number][] = [
  [
    numbered([
      namespace('one', { mesh: 'yes' }),
      { source, kind: 'Add', object: service },
      { source, kind: 'MeshConfig', value: selective },
      namespace('one', { mesh: 'no' }),
    ]),
    2,
  ],
  [
    numbered([
      { source, kind: 'MeshConfig', value: selective },
      { source, kind: 'Add', object: service },
      namespace('one', { mesh: 'yes' }),
      { source: 'kube/Kubernetes', kind: 'Add', object: { ...service, spec: { clusterIP: '10.0.0.1' } } },
      { source, kind: 'Delete', ref: { apiVersion: 'v1', kind: 'Service', namespace: 'one', name: 'a' } },
    ]),
    3,
  ],
];

function atOnce(from: State, events: readonly Event[], settled: (restoring: Restoring) => State): State {
  const restoring = new Restoring(from);
  for (const event of events) expect(restoring.event(event, none)).toBeUndefined();
  return settled(restoring);
}

/** Every table: keys, and what stands under them. */
function contentsOf(state: State): unknown {
  const contents = (tables: Readonly<Record<string, { entries(): Iterable<unknown> }>>): unknown =>
    Object.entries(tables).map(([name, table]) => [name, [...table.entries()]]);
  return [contents(state.objects), contents(state.indexes), [...state.records.entries()], state.seq, state.time];
}

function agrees(settled: (restoring: Restoring) => State): fc.IProperty<[readonly Event[], number]> {
  return fc.property(anyHistory(60), fc.nat(60), (events, position) => {
    const before = foldAll(events.slice(0, position)).state;
    const full = foldAll(events).state;
    const now = atOnce(before, events.slice(position), settled);
    expect(stateHash(now)).toBe(stateHash(full));
    expect(contentsOf(now)).toEqual(contentsOf(full));
  });
}

describe('a history folded at once', () => {
  it('comes to the state that it comes to one by one, from every position', () => {
    fc.assert(
      agrees(restoring => restoring.finish()),
      parameters<[readonly Event[], number]>(150, FILTERED),
    );
  });
  it('canary: what is never put in force is found', () => {
    const unsettled = (restoring: Restoring): State => {
      const { records, seq } = restoring.finish();
      return { ...foldAll([]).state, records, seq };
    };
    expect(fc.check(agrees(unsettled), { numRuns: 100, seed: 1 }).failed).toBe(true);
  });
  it('skips what the journal says was rejected, and says what cannot be folded', () => {
    const [event] = numbered([{ source, kind: 'Add', object: service }]);
    const restoring = new Restoring(foldAll([]).state);
    expect(restoring.event(event!, new Set([event!.seq]))).toBeUndefined();
    const state = restoring.finish();
    expect([state.seq, state.records.size]).toEqual([1, 0]);
    const strange = { ...event!, seq: 2, kind: 'Strange' } as unknown as Event;
    const broken = new Restoring(state);
    expect(broken.event(strange, none)).toMatch(/unreachable/);
    expect(broken.finish().seq).toBe(2);
  });
});
