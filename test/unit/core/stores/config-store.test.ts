// Stores over states: what is read, what a write comes to, and who is told when two write at once.

import { isRight } from 'fp-ts/lib/Either.js';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { mergePatch } from '../../../../src/core/base/merge-patch.ts';
import { restore } from '../../../../src/core/fold/restore.ts';
import { snapshotOf } from '../../../../src/core/fold/snapshot.ts';
import type { State } from '../../../../src/core/state.ts';
import type { Written } from '../../../../src/core/stores/config-store.ts';
import { MemoryStore } from '../../../../src/core/stores/memory-store.ts';
import { aggregateStore, readOnly, sourceStore, storeSchemas } from '../../../../src/core/stores/state-store.ts';
import { step, world } from '../../world.ts';
import { destinationRule, service, serviceEntry } from '../registry/fixtures.ts';

const rule = { kind: 'DestinationRule', namespace: 'default', name: 'r' } as const;
const nameless = { kind: 'DestinationRule', namespace: 'default', name: 'none' } as const;

function filled(): MemoryStore {
  const store = new MemoryStore();
  ok(store.create(destinationRule('r', 'web')));
  return store;
}
function ok(written: Written): void {
  expect(written).toMatchObject({ _tag: 'Right' });
}
function error(written: Written): unknown {
  return isRight(written) ? 'no error' : written.left;
}
function versioned(object: JsonObject, resourceVersion: string): JsonObject {
  return { ...object, metadata: { ...(object.metadata as JsonObject), resourceVersion } };
}

describe('reading from a config store', () => {
  const state = world([
    service('web', {}, { labels: { app: 'web' } }),
    service('db', {}, { labels: { app: 'db' } }),
    service('web', {}, { namespace: 'prod', labels: { app: 'web' } }),
  ]);
  const store = sourceStore(state, 'file/Kubernetes');
  const names = (options: object): readonly string[] =>
    store.list('Service', options).map(({ obj }) => `${obj.namespace}/${obj.name}`);

  test('selects by kind, namespace and labels, in the order of keys', () => {
    expect(names({})).toEqual(['default/db', 'default/web', 'prod/web']);
    expect(names({ namespace: 'default' })).toEqual(['default/db', 'default/web']);
    expect(names({ labels: { app: 'web' } })).toEqual(['default/web', 'prod/web']);
    expect(names({ namespace: 'prod', labels: { app: 'db' } })).toEqual([]);
    expect(store.list('Gateway')).toEqual([]);
  });

  test('versions an object by the seq of its event, unless it has a version', () => {
    expect(store.get({ kind: 'Service', namespace: 'prod', name: 'web' })?.resourceVersion).toBe(String(state.seq));
    const given = step(state, { kind: 'Add', source: 'kube/Kubernetes', object: versioned(service('x'), '77') }).state;
    const found = sourceStore(given, 'kube/Kubernetes').get({ kind: 'Service', namespace: 'default', name: 'x' });
    expect(found).toMatchObject({ resourceVersion: '77', object: { metadata: { resourceVersion: '77' } } });
  });

  test('has a schema for every kind', () => {
    expect(storeSchemas.find(({ kind }) => kind === 'Namespace')).toMatchObject({ clusterScoped: true, group: '' });
    expect(storeSchemas.find(({ kind }) => kind === 'Gateway')?.versions[0]).toBe('v1');
  });
});

describe('a config store over all sources', () => {
  const entry = (host: string): JsonObject => serviceEntry('e', { hosts: [host] });
  const one = step(world([]), { kind: 'Add', source: 'kube/Kubernetes', object: entry('kube.example.com') }).state;
  const two = step(one, { kind: 'Add', source: 'file/Kubernetes', object: entry('file.example.com') }).state;
  const name = { kind: 'ServiceEntry', namespace: 'default', name: 'e' } as const;

  test('shows the object of the source with precedence once', () => {
    const all = aggregateStore(two, 'runtime/Kubernetes').list('ServiceEntry');
    expect(all.map(({ source }) => source)).toEqual(['file/Kubernetes']);
    expect(sourceStore(two, 'kube/Kubernetes').get(name)?.obj.spec).toMatchObject({ hosts: ['kube.example.com'] });
  });

  test('writes as one of them', () => {
    expect(aggregateStore(two, 'runtime/Kubernetes').delete(name)).toMatchObject({
      right: [{ source: 'runtime/Kubernetes', kind: 'Delete' }],
    });
  });

  test('can be read-only', () => {
    const store = readOnly(aggregateStore(two, 'x/Kubernetes'));
    const refused = { kind: 'ReadOnly', object: 'ServiceEntry/default/e' };
    expect(store.get(name)).toBeDefined();
    for (const written of [
      store.create(entry('a.b')),
      store.update(entry('a.b')),
      store.updateStatus(entry('a.b')),
      store.patch(name, {}),
      store.delete(name),
    ]) {
      expect(error(written)).toEqual(refused);
    }
  });
});

describe('writing to a config store', () => {
  test('changes nothing before the facts are folded', () => {
    const state = world([]);
    const written = sourceStore(state, 'file/Kubernetes').create(versioned(destinationRule('r', 'web'), '5'));
    expect(written).toMatchObject({ right: [{ kind: 'Add', source: 'file/Kubernetes' }] });
    expect(JSON.stringify(written)).not.toContain('resourceVersion');
    expect(sourceStore(state, 'file/Kubernetes').get(rule)).toBeUndefined();
  });

  test('creates an object once', () => {
    const store = filled();
    expect(store.get(rule)?.resourceVersion).toBe('1');
    expect(error(store.create(destinationRule('r', 'web')))).toEqual({
      kind: 'AlreadyExists',
      object: 'DestinationRule/default/r',
    });
  });

  test('refuses the second of two writers that read the same version', () => {
    const store = filled();
    const read = store.get(rule)!.object;
    ok(store.update({ ...read, spec: { host: 'first' } }));
    expect(error(store.update({ ...read, spec: { host: 'second' } }))).toEqual({
      kind: 'Conflict',
      object: 'DestinationRule/default/r',
      given: '1',
      current: '2',
    });
    expect(store.get(rule)?.obj.spec).toEqual({ host: 'first' });
    ok(store.update(destinationRule('r', 'third')));
    expect(store.get(rule)?.obj.spec).toEqual({ host: 'third' });
  });

  test('writes the status separately', () => {
    const store = filled();
    ok(store.updateStatus({ ...destinationRule('r', 'ignored'), status: { conditions: [] } }));
    ok(store.update({ ...destinationRule('r', 'kept'), status: { conditions: [{ type: 'ignored' }] } }));
    expect(store.get(rule)?.object).toMatchObject({ spec: { host: 'kept' }, status: { conditions: [] } });
  });

  test('merges a patch, which may have a precondition', () => {
    const store = filled();
    ok(store.patch(rule, { spec: { trafficPolicy: { loadBalancer: { simple: 'RANDOM' } } } }));
    expect(store.get(rule)?.obj.spec).toMatchObject({ host: 'web', trafficPolicy: {} });
    expect(error(store.patch(rule, { metadata: { resourceVersion: '1' }, spec: null }))).toMatchObject({
      kind: 'Conflict',
    });
    expect(error(store.patch(rule, { metadata: { name: 'other' } }))).toMatchObject({ kind: 'Invalid' });
    expect(error(store.patch(rule, 7))).toMatchObject({ kind: 'Invalid' });
  });

  test('deletes with and without a version', () => {
    const store = filled();
    expect(error(store.delete(rule, '9'))).toMatchObject({ kind: 'Conflict', current: '1' });
    ok(store.delete(rule, '1'));
    expect(store.get(rule)).toBeUndefined();
  });

  test('refuses to change a missing object', () => {
    const store = filled();
    const missing = { kind: 'NotFound', object: 'DestinationRule/default/none' };
    for (const written of [
      store.update(destinationRule('none', 'web')),
      store.updateStatus(destinationRule('none', 'web')),
      store.patch(nameless, {}),
      store.delete(nameless),
    ]) {
      expect(error(written)).toEqual(missing);
    }
  });

  test.each([
    [{ apiVersion: 'v9', kind: 'Thing', metadata: { name: 'x' } }, 'Thing/x'],
    [{ ...destinationRule('r', 'web'), metadata: {} }, 'DestinationRule'],
    [{ ...destinationRule('r', 'web'), spec: { host: 7 } }, 'DestinationRule/default/r'],
  ])('refuses an invalid object: %j', (object, named) => {
    expect(error(new MemoryStore().create(object as JsonObject))).toMatchObject({ kind: 'Invalid', object: named });
  });
});

test.each([
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: { b: 'c', d: 1 } }, { a: { b: null } }, { a: { d: 1 } }],
  [['a'], { b: 1 }, { b: 1 }],
  [{ a: 1 }, ['x'], ['x']],
  [{}, { a: { b: { c: null } } }, { a: { b: {} } }],
  [undefined, { a: 1 }, { a: 1 }],
])('a merge patch of %j with %j', (target, patch, expected) => {
  expect(mergePatch(target as never, patch as never)).toEqual(expected);
});

test('a Gateway of the Gateway API is deleted by its apiVersion', () => {
  const gateway: JsonObject = {
    apiVersion: 'gateway.networking.k8s.io/v1beta1',
    kind: 'Gateway',
    metadata: { name: 'gw', namespace: 'default' },
    spec: { gatewayClassName: 'istio', listeners: [{ name: 'http', port: 80, protocol: 'HTTP' }] },
  };
  const name = { kind: 'KubernetesGateway', namespace: 'default', name: 'gw' } as const;
  const store = new MemoryStore();
  ok(store.create(gateway));
  expect(store.get(name)).toBeDefined();
  ok(store.delete(name));
  expect(store.get(name)).toBeUndefined();
});

describe('concurrent writers of a status', () => {
  const status = (store: MemoryStore, message: string): JsonObject => ({
    ...store.get(rule)!.object,
    status: { conditions: [{ message }] },
  });
  test('conflict even if no projected field has changed', () => {
    const store = filled();
    const [one, two] = [status(store, 'one'), status(store, 'two')];
    const obj = store.get(rule)?.obj;
    ok(store.updateStatus(one));
    expect(store.get(rule)?.obj).toBe(obj);
    expect(error(store.updateStatus(two))).toMatchObject({ kind: 'Conflict' });
    ok(store.updateStatus(status(store, 'two')));
    expect(store.get(rule)?.object.status).toEqual({ conditions: [{ message: 'two' }] });
  });
  test('make no new version for equal content, and a snapshot keeps the version', () => {
    const store = filled();
    ok(store.updateStatus(status(store, 'one')));
    const written = store.get(rule)?.resourceVersion;
    const again = step(store.state, { kind: 'Update', source: 'memory/Kubernetes', object: rawOf(store) }).state;
    const version = (state: State): string | undefined => new MemoryStore(undefined, state).get(rule)?.resourceVersion;
    expect(version(again)).toBe(written);
    expect(version(restore([...snapshotOf(again)]))).toBe(written);
    const refused = step(again, {
      kind: 'Update',
      source: 'memory/Kubernetes',
      object: destinationRule('r', ''),
    }).state;
    expect(version(restore([...snapshotOf(refused)]))).toBe(written);
  });
  function rawOf(store: MemoryStore): JsonObject {
    return store.state.records.get('DestinationRule|default/r|memory/Kubernetes')!.raw!;
  }
});
