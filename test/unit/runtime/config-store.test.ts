// The controller: handlers are called for every change, in the order of the journal, with what was and what is.

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/core/base/json.ts';
import type { Unrecorded } from '../../../src/core/event.ts';
import { fold } from '../../../src/core/fold/fold-event.ts';
import { noPush } from '../../../src/core/push-request.ts';
import { emptyState, type State } from '../../../src/core/state.ts';
import { ConfigStoreController } from '../../../src/runtime/config-store.ts';
import type { WorldListener } from '../../../src/runtime/fold-batch.ts';
import { namespace, service, serviceEntry } from '../core/registry/fixtures.ts';

const SOURCE = 'file/Kubernetes';
const add = (object: JsonObject): Unrecorded => ({ source: SOURCE, kind: 'Add', object });

/** A world without a journal: what it is told is folded at once. */
class SmallWorld {
  state: State = emptyState;
  readonly #listeners: WorldListener[] = [];
  listen(listener: WorldListener): void {
    this.#listeners.push(listener);
  }
  record(...facts: readonly Unrecorded[]): void {
    this.recordFrom(this.state, ...facts);
  }
  /** From an earlier state: as when a gap in the journal is mended, and its events are folded once more. */
  recordFrom(from: State, ...facts: readonly Unrecorded[]): void {
    this.state = from;
    for (const fact of facts) {
      const event = { ...fact, seq: this.state.seq + 1, time: 0 };
      const before = this.state;
      this.state = fold(before, event, new Set()).state;
      for (const listener of this.#listeners) listener.onEvent?.(before, event, this.state);
    }
    for (const listener of this.#listeners) listener.onFolded(this.state, noPush, [], 0);
  }
}

function started(...facts: readonly Unrecorded[]) {
  const world = new SmallWorld();
  world.record(...facts);
  const controller = new ConfigStoreController(world, [SOURCE, 'kube/Kubernetes']);
  const calls: string[] = [];
  for (const kind of ['Service', 'ServiceEntry'] as const) {
    controller.registerEventHandler(kind, (old, now, event) => {
      expect([old === undefined, now === undefined]).toEqual([event === 'add', event === 'delete']);
      calls.push(`${event} ${(now ?? old)?.name}`);
    });
  }
  return { world, controller, calls };
}

test('a config store controller calls handlers with existing objects as adds when it runs, once', () => {
  const { world, controller, calls } = started(add(service('b')), add(service('a')));
  world.record(add(serviceEntry('e', { hosts: ['a.example.com'] })));
  expect(calls).toEqual([]);
  controller.run();
  controller.run();
  expect(calls).toEqual(['add a', 'add b', 'add e']);
});

test('a config store controller calls handlers for each change of a batch, and not for equal values', () => {
  const { world, controller, calls } = started();
  controller.run();
  const ref = { apiVersion: 'v1', kind: 'Service', namespace: 'default', name: 'a' };
  world.record(
    add(service('a')),
    add(service('a')),
    add(service('a', {}, { labels: { x: 'y' } })),
    { source: SOURCE, kind: 'Delete', ref },
    add(namespace('default')),
  );
  expect(calls).toEqual(['add a', 'update a', 'delete a']);
});

test('a config store controller reports an object that a mesh filter removes as deleted, and as added later', () => {
  const { world, controller, calls } = started(add(service('a')), add(service('b')));
  controller.run();
  calls.length = 0;
  const value = { discoverySelectors: [{ matchLabels: { mesh: 'on' } }] };
  world.record({ source: SOURCE, kind: 'MeshConfig', value });
  world.record(add(namespace('default', { labels: { mesh: 'on' } })));
  expect(calls).toEqual(['delete a', 'delete b', 'add a', 'add b']);
});

describe('a gap in the journal', () => {
  const during = [add(service('a')), add(service('b')), add(service('c'))];
  test('calls no handler again when its events are recorded late', () => {
    const { world, controller, calls } = started(add(service('z')));
    controller.run();
    const from = world.state;
    world.record(...during);
    expect(calls).toEqual(['add z', 'add a', 'add b', 'add c']);
    world.recordFrom(from, ...during);
    world.record(add(service('d')));
    expect(calls.slice(4)).toEqual(['add d']);
  });
  test('calls handlers only for the difference if an event is rejected when folded again', () => {
    const { world, controller, calls } = started(add(service('z')));
    controller.run();
    const from = world.state;
    world.record(...during);
    calls.length = 0;
    world.recordFrom(from, add(service('a')), add(service('b', {}, { labels: { x: 'y' } })), add(service('e')));
    expect(calls).toEqual(['update b', 'delete c', 'add e']);
  });
});

test('a config store controller is in sync when every source has been listed', () => {
  const { world, controller } = started();
  expect(controller.hasSynced()).toBe(false);
  world.record({ source: SOURCE, kind: 'Synced' });
  expect([controller.hasSynced(SOURCE), controller.hasSynced()]).toEqual([true, false]);
  world.record({ source: 'kube/Kubernetes', kind: 'Synced' });
  expect(controller.hasSynced()).toBe(true);
});

test('a config store controller offers a read-only store', () => {
  const { world, controller } = started();
  world.record(add(service('a')));
  expect(controller.store.list('Service')).toHaveLength(1);
  expect(controller.store.create(service('c'))).toMatchObject({ left: { kind: 'ReadOnly' } });
});
