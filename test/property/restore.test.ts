// Folding a history at once (restore.ts) gives the state that folding its events one by one gives: records, objects in
// force, indexes. Histories have any order, and filters of the mesh change in the middle of them.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/base/json.ts';
import type { Event, RawObject } from '../../src/core/event.ts';
import { fold } from '../../src/core/fold/fold-event.ts';
import { decodeRecord, type Version } from '../../src/core/fold/record.ts';
import { PENDING_MAX, PENDING_VERSIONS_MAX, Restoring } from '../../src/core/fold/restore.ts';
import { recordAfterAll } from '../../src/core/fold/versions.ts';
import { definitions } from '../../src/core/kinds/registry.ts';
import type { ObjectRecord } from '../../src/core/model/object.ts';
import type { State } from '../../src/core/state.ts';
import { openMemoryJournal } from '../../src/journal/memory-journal.ts';
import { foldHistory, stateHash } from '../../src/offline/load-state.ts';
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
  it('gives the same state from a journal, without parsing objects that no step reads', async () => {
    await fc.assert(
      fc.asyncProperty(anyHistory(60), async events => {
        const journal = openMemoryJournal();
        const stored = await journal.append(events.map(({ seq: _, time: __, ...fact }) => fact));
        const { state } = await foldHistory(journal, { fromSnapshot: false });
        await journal.close();
        expect(contentsOf(state)).toEqual(contentsOf(foldAll(stored).state));
      }),
      parameters<[readonly Event[]]>(100),
    );
  });
  it('gives the state of the fold event by event, from every position', () => {
    fc.assert(
      agrees(restoring => restoring.finish()),
      parameters<[readonly Event[], number]>(150, FILTERED),
    );
  });
  it('canary: an object that is never put in force is detected', () => {
    const unsettled = (restoring: Restoring): State => {
      const { records, seq } = restoring.finish();
      return { ...foldAll([]).state, records, seq };
    };
    expect(fc.check(agrees(unsettled), { numRuns: 100, seed: 1 }).failed).toBe(true);
  });
  it('skips events recorded as rejected, and reports those that cannot be folded', () => {
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

/**
 * Few values, so that versions say the same in other words, differ in what does not count, are refused, or have no name
 * under which to be kept.
 */
const anyVersion: fc.Arbitrary<RawObject> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .record({
        uid: fc.constantFrom('x', 'y'),
        port: fc.constantFrom<JsonObject>({ port: 80 }, { port: 81 }, { port: 80, protocol: 'TCP' }),
      })
      .map(({ uid, port }) => rawService({ uid }, { ports: [{ name: 'http', ...port }] })),
  },
  { weight: 1, arbitrary: fc.constantFrom('none', 'bad').map(type => rawService({}, { type })) },
  { weight: 1, arbitrary: fc.constant(rawService({ labels: { '-': 'no key' } }, {})) },
);

function rawService(metadata: RawObject, spec: RawObject): RawObject {
  return { apiVersion: 'v1', kind: 'Service', metadata: { name: 'a', namespace: 'one', ...metadata }, spec };
}

function oneByOne(before: ObjectRecord | undefined, versions: readonly Version[]): ObjectRecord | undefined {
  return versions.reduce((record, version) => {
    const outcome = decodeRecord(() => record, version);
    return 'record' in outcome ? outcome.record : record;
  }, before);
}

type AllAtOnce = (before: ObjectRecord | undefined, versions: readonly Version[]) => ObjectRecord | undefined;

function sameRecord(allAtOnce: AllAtOnce): fc.IProperty<[readonly RawObject[], number]> {
  return fc.property(fc.array(anyVersion, { maxLength: 12, size: 'max' }), fc.nat(12), (raws, position) => {
    const versions = raws.map((object, i): Version => ({ source, object, origin: { file: `${i}.yaml` }, seq: i + 1 }));
    const before = oneByOne(undefined, versions.slice(0, position));
    const after = versions.slice(position);
    const record = allAtOnce(before, after);
    expect(record).toEqual(oneByOne(before, after));
    expect(record?.accepted === before?.accepted).toBe(oneByOne(before, after)?.accepted === before?.accepted);
  });
}

describe('versions of one object folded at once', () => {
  const service: AllAtOnce = (before, versions) => recordAfterAll(before, definitions.Service, versions);
  it('give the record of the fold one by one', () => {
    fc.assert(sameRecord(service), parameters<[readonly RawObject[], number]>(500));
  });
  it('canary: a lost time of last change is detected', () => {
    const lastOnly: AllAtOnce = (before, versions) => service(before, versions.slice(-1));
    expect(fc.check(sameRecord(lastOnly), { numRuns: 300, seed: 1 }).failed).toBe(true);
  });
  it('are judged in the middle when too many objects wait', () => {
    const objects = PENDING_MAX / 5;
    const events = numbered(
      Array.from({ length: 6 * objects }, (_, i) => {
        const metadata = { name: `a-${i % objects}`, uid: `${i}` };
        const spec = i % 7 === 0 ? { type: 'none' } : { ports: [{ port: 80 + (i % 2) }] };
        return { source, kind: 'Update', object: rawService(metadata, spec) } as const;
      }),
    );
    const now = atOnce(foldAll([]).state, events, restoring => restoring.finish());
    const full = events.reduce((state, event) => fold(state, event, none, false).state, foldAll([]).state);
    expect(stateHash(now)).toBe(stateHash(full));
    expect(now.records.size).toBe(objects);
  });
  it('are judged in the middle when too many of one wait', () => {
    const raws = Array.from({ length: 3 * PENDING_VERSIONS_MAX }, (_, i) => rawService({ uid: `${i}` }, {}));
    const events = numbered(raws.map(object => ({ source, kind: 'Update', object })));
    const now = atOnce(foldAll([]).state, events, restoring => restoring.finish());
    expect([...now.records.values()]).toEqual([...foldAll(events).state.records.values()]);
    expect([...now.records.values()][0]).toMatchObject({ acceptedAt: 1, writtenAt: events.length });
  });
});
