// Writes that are recorded: one after the other, only what is news, and nothing of those that are refused.

import { expect, test } from 'vitest';
import type { Unrecorded } from '../../../src/core/event.ts';
import { fold } from '../../../src/core/fold/fold-event.ts';
import { emptyState, type State } from '../../../src/core/state.ts';
import { RecordedStore } from '../../../src/runtime/recorded-store.ts';
import { destinationRule } from '../core/registry/fixtures.ts';

const SOURCE = 'store/Kubernetes';
const name = { kind: 'DestinationRule', namespace: 'default', name: 'r' } as const;

/** As the world does, calls that wait at one time are asked for their news before any of it is folded. */
class BatchingWorld {
  state: State = emptyState;
  readonly recorded: Unrecorded[] = [];
  #waiting: ((state: State) => readonly Unrecorded[])[] = [];
  async recordNews(news: (state: State) => readonly Unrecorded[]): Promise<State> {
    this.#waiting.push(news);
    await Promise.resolve();
    const facts = this.#waiting.splice(0).flatMap(one => one(this.state));
    for (const fact of facts)
      this.state = fold(this.state, { ...fact, seq: this.state.seq + 1, time: 0 }, new Set()).state;
    this.recorded.push(...facts);
    return this.state;
  }
}

test('recorded store: the second of two concurrent creations gets a conflict', async () => {
  const world = new BatchingWorld();
  const store = new RecordedStore(world, SOURCE);
  const [one, two] = await Promise.all([
    store.write(s => s.create(destinationRule('r', 'web'))),
    store.write(s => s.create(destinationRule('r', 'other'))),
  ]);
  expect(one).toMatchObject({ right: [{ source: SOURCE, kind: 'Add' }] });
  expect(two).toMatchObject({ left: { kind: 'AlreadyExists' } });
  expect(store.store.get(name)?.obj.spec).toMatchObject({ host: 'web' });
});

test('recorded store: an equal value is not recorded, and a written object can be deleted', async () => {
  const world = new BatchingWorld();
  const store = new RecordedStore(world, SOURCE);
  await store.write(s => s.create(destinationRule('r', 'web')));
  expect(await store.write(s => s.update(destinationRule('r', 'web')))).toMatchObject({ right: [] });
  expect(await store.write(s => s.delete(name))).toMatchObject({ right: [{ kind: 'Delete' }] });
  expect(world.recorded.map(({ kind }) => kind)).toEqual(['Add', 'Delete']);
  expect(await store.write(s => s.delete(name))).toMatchObject({ left: { kind: 'NotFound' } });
});

test('recorded store: a failed write does not block the next', async () => {
  const world = new BatchingWorld();
  const store = new RecordedStore(world, SOURCE);
  const failing = store.write(() => {
    throw new Error('of the caller');
  });
  const next = store.write(s => s.create(destinationRule('r', 'web')));
  await expect(failing).rejects.toThrow('of the caller');
  expect(await next).toMatchObject({ right: [{ kind: 'Add' }] });
});
