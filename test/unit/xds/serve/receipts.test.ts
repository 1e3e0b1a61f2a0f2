import { describe, expect, it } from 'vitest';
import type { Unrecorded } from '../../../../src/core/event.ts';
import { type PendingReceipt, RECEIPT_TICKS_MAX, ReceiptBook } from '../../../../src/xds/serve/receipts.ts';

const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

function book(moreToCome?: () => boolean) {
  const commits: (readonly Unrecorded[])[] = [];
  const committed: string[] = [];
  const record = async (facts: readonly Unrecorded[]): Promise<void> => void commits.push(facts);
  const made = new ReceiptBook(record, moreToCome);
  const delivery = (connection: string): PendingReceipt => ({
    ...{ connection, typeUrl: 'cds', stateSeq: 1, digest: 'd', count: 1 },
    onCommitted: () => committed.push(connection),
    onRecordFailed: () => undefined,
  });
  return { commits, committed, commit: (connection: string) => made.commit(delivery(connection)) };
}

describe('receipts', () => {
  it('of one tick share a commit and a fact', async () => {
    const { commits, committed, commit } = book();
    commit('b');
    commit('a');
    await turn();
    await turn();
    expect(commits).toMatchObject([[{ kind: 'Receipt', connections: ['a', 'b'] }]]);
    expect(committed).toEqual(['b', 'a']);
  });

  it('wait for those of streams that are still being evaluated', async () => {
    let busy = true;
    const { commits, commit } = book(() => busy);
    commit('a');
    await turn();
    commit('b');
    busy = false;
    await turn();
    await turn();
    expect(commits).toMatchObject([[{ connections: ['a', 'b'] }]]);
  });

  it('wait a bounded number of ticks', async () => {
    const { commits, commit } = book(() => true);
    commit('a');
    for (let i = 0; i < RECEIPT_TICKS_MAX; i++) await turn();
    expect(commits).toHaveLength(0);
    for (let i = 0; i < 3; i++) await turn();
    expect(commits).toHaveLength(1);
  });
});
