// Going back over the events of one object: its record is what it was, whatever else happened; and since when something is gone is found
// behind any number of events of other objects.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Unrecorded } from '../../src/core/event.ts';
import { recordKey } from '../../src/core/fold/record.ts';
import type { ObjectRecord } from '../../src/core/model/object.ts';
import type { State } from '../../src/core/state.ts';
import { explainAbsence } from '../../src/history/absence.ts';
import { History } from '../../src/history/history.ts';
import { rewound } from '../../src/history/rewound.ts';
import { clusterSubject } from '../../src/history/subject.ts';
import { objectOfRecord, refOf } from '../../src/history/what-if.ts';
import { openMemoryJournal } from '../../src/journal/memory-journal.ts';
import { anyHistory } from '../../src/testing/facts.ts';
import { parameters } from '../property/seed.ts';

const source = 'file/Kubernetes';
const proxyId = 'sidecar~10.0.0.9~web-1.shop~shop.svc.cluster.local';

async function historyOf(facts: readonly Unrecorded[]): Promise<History> {
  const journal = openMemoryJournal({ clock: () => 0 });
  await journal.append(facts);
  return new History(journal);
}

function put(apiVersion: string, kind: string, name: string, spec: object, namespace = 'shop'): Unrecorded {
  return { source, kind: 'Update', object: { apiVersion, kind, metadata: { name, namespace }, spec } } as Unrecorded;
}

function seen(record: ObjectRecord | undefined): object | undefined {
  if (record === undefined) return undefined;
  const { accepted, refused, standIn } = record;
  return { accepted, refused: refused?.raw, at: refused?.at, standIn };
}

/** Records that the event at the state's end left behind. */
function changedLast(state: State): readonly ObjectRecord[] {
  const last = ({ accepted, acceptedAt, refused }: ObjectRecord): number =>
    Math.max(accepted === undefined ? 0 : acceptedAt, refused?.at ?? 0);
  return [...state.records.values()].filter(record => last(record) === state.seq);
}

describe('the state before an event of an object', () => {
  test('has the record that the object had then, accepted or refused', async () => {
    await fc.assert(
      fc.asyncProperty(anyHistory(30), async events => {
        const history = await historyOf(events.map(({ seq: _, time: __, ...fact }) => fact as Unrecorded));
        const head = await history.at(history.head().seq);
        for (let seq = 1; seq <= history.head().seq; seq++) {
          const state = await history.at(seq);
          for (const record of changedLast(state)) {
            const ref = refOf(record);
            if (ref === undefined) continue;
            const change = { seq, source: record.source, object: objectOfRecord(record), ref };
            const before = await rewound(history, { ...state, rejected: head.rejected }, change);
            const key = recordKey(record.kind, record.key, record.source);
            expect(seen(before?.records.get(key))).toEqual(seen((await history.at(seq - 1)).records.get(key)));
          }
        }
      }),
      { ...parameters(20), endOnFailure: true },
    );
  });
});

const host = 'reviews.shop.svc.cluster.local';
const subsets = (...names: string[]): object => ({ host, subsets: names.map(name => ({ name, labels: { v: name } })) });
const rule = (...names: string[]): Unrecorded =>
  put('networking.istio.io/v1', 'DestinationRule', 'reviews', subsets(...names));
const other = (i: number): Unrecorded =>
  put('networking.istio.io/v1', 'VirtualService', `other-${i % 7}`, {
    hosts: [`other-${i % 7}.example.com`],
    http: [{ route: [{ destination: { host: 'ratings' } }], timeout: `${1 + i}s` }],
  });
const service = put('v1', 'Service', 'reviews', { ports: [{ name: 'http', port: 9080 }], clusterIP: '10.1.0.1' });
const connected = {
  source: 'xds',
  kind: 'ProxyConnected',
  protocol: 'delta',
  connection: 'web-1',
  node: { id: proxyId, metadata: { NAMESPACE: 'shop', CLUSTER_ID: 'Kubernetes' } },
} as Unrecorded;
const v3 = clusterSubject(`outbound|9080|v3|${host}`);

async function absenceAfter(facts: readonly Unrecorded[]) {
  const history = await historyOf(facts);
  const state = await history.at(history.head().seq);
  return explainAbsence(history, state, [...state.proxies.values()][0]!, v3);
}

describe('since when a cluster is gone', () => {
  const start = [service, rule('v1', 'v3'), connected];

  test('is found behind a thousand events of other objects', async () => {
    const others = Array.from({ length: 1_000 }, (_, i) => other(i));
    const { goneSince, searchedFrom } = await absenceAfter([
      ...start,
      rule('v1'),
      ...others,
      rule('v1', 'v2'),
      ...others,
    ]);
    expect(goneSince).toMatchObject({ seq: 4, object: 'DestinationRule/shop/reviews' });
    expect(searchedFrom).toBeUndefined();
  });

  test('is the deletion of what made it', async () => {
    const ref = { apiVersion: 'v1', kind: 'Service', namespace: 'shop', name: 'reviews' };
    const { goneSince } = await absenceAfter([...start, other(1), { source, kind: 'Delete', ref }, other(2)]);
    expect(goneSince).toMatchObject({ seq: 5, object: 'Service/shop/reviews' });
  });

  test('is unknown where it never was, and the whole journal was searched', async () => {
    const { goneSince, searchedFrom } = await absenceAfter([service, rule('v1'), connected, rule('v2'), other(1)]);
    expect([goneSince, searchedFrom]).toEqual([undefined, undefined]);
  });

  test('tells how far was searched where more events matter than are tried', async () => {
    const rules = Array.from({ length: 300 }, (_, i) => rule('v1', `w${i}`));
    const { goneSince, searchedFrom } = await absenceAfter([...start, ...rules]);
    expect(goneSince).toBeUndefined();
    expect(searchedFrom).toBe(start.length + 300 - 200 + 1);
  });
});
