// replay --verify: what was sent comes out again; a digest that was changed, a proxy or a subscription that never was,
// are told apart.

import { expect, test } from 'vitest';
import type { Unrecorded } from '../../../src/core/event.ts';
import type { Journal } from '../../../src/journal/journal.ts';
import { openMemoryJournal } from '../../../src/journal/memory-journal.ts';
import { foldHistory } from '../../../src/offline/load-state.ts';
import { DIFFERENCES_MAX, replay } from '../../../src/offline/verify-receipts.ts';
import { resourceSources } from '../../../src/xds/assemble/types.ts';
import { Engine } from '../../../src/xds/engine/engine.ts';
import { CDS, LDS } from '../../../src/xds/session/types.ts';
import { service } from '../core/registry/fixtures.ts';
import { nodeOf } from '../world.ts';

const facts: readonly Unrecorded[] = [
  { source: 'file/Kubernetes', kind: 'Add', object: service('web') },
  { source: 'xds', kind: 'ProxyConnected', connection: 'c', node: nodeOf(), protocol: 'delta' },
  {
    source: 'xds',
    kind: 'ProxySubscribed',
    connection: 'c',
    typeUrl: CDS,
    subscribe: [],
    unsubscribe: [],
    wildcard: true,
  },
];
const receipt = (digest: string, rest: { readonly connections?: readonly string[]; readonly typeUrl?: string } = {}) =>
  ({
    source: 'xds',
    kind: 'Receipt',
    connections: ['c'],
    typeUrl: CDS,
    stateSeq: 3,
    digest,
    count: 1,
    ...rest,
  }) as const;

async function journalWith(...receipts: readonly Unrecorded[]): Promise<Journal> {
  let now = 0;
  const journal = openMemoryJournal({ clock: () => ++now });
  await journal.append(facts);
  await journal.append(receipts);
  return journal;
}

async function digest(): Promise<string> {
  const { state } = await foldHistory(await journalWith(), { fromSnapshot: false, to: 3 });
  return new Engine(resourceSources).viewOf(state, state.proxies.get('c')!).get(CDS)!.digest;
}

test('replay --verify reproduces what was sent, with any later events', async () => {
  const later: Unrecorded = {
    source: 'file/Kubernetes',
    kind: 'Update',
    object: service('web', { clusterIP: '10.96.0.9' }),
  };
  const journal = await journalWith(later, receipt(await digest()));
  expect(await replay(journal, { verify: true })).toMatchObject({
    receipts: 1,
    reproduced: 1,
    different: 0,
    failures: [],
  });
});

test('replay --verify reports a changed digest with both values', async () => {
  const journal = await journalWith(receipt('changed'));
  const report = await replay(journal, { verify: true });
  expect(report).toMatchObject({ receipts: 1, reproduced: 0, different: 1 });
  expect(report.differences).toEqual([
    { seq: 4, connection: 'c', typeUrl: CDS, stateSeq: 3, recorded: 'changed', reproduced: await digest() },
  ]);
});

test('replay --verify reports why a receipt cannot be reproduced', async () => {
  const journal = await journalWith(receipt('x', { connections: ['c', 'gone'] }), receipt('x', { typeUrl: LDS }));
  const { differences } = await replay(journal, { verify: true });
  expect(differences.slice(1).map(({ reproduced }) => reproduced)).toEqual([
    'no such connection at that state',
    'not subscribed at that state',
  ]);
});

test('replay --verify lists DIFFERENCES_MAX mismatches and counts all', async () => {
  const journal = await journalWith(...Array.from({ length: DIFFERENCES_MAX + 20 }, () => receipt('changed')));
  const report = await replay(journal, { verify: true });
  expect([report.different, report.differences.length]).toEqual([DIFFERENCES_MAX + 20, DIFFERENCES_MAX]);
});

test('replay generates nothing without verify, and stops at the given event', async () => {
  const journal = await journalWith(receipt('changed'));
  expect(await replay(journal, { verify: false })).toMatchObject({ receipts: 0, different: 0, seq: 4 });
  const early = await replay(journal, { verify: true, to: 2 });
  expect(early).toMatchObject({ receipts: 0, seq: 2, events: 2 });
  expect(early.stateHash).not.toBe((await replay(journal, { verify: true })).stateHash);
});
