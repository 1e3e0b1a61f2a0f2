// The store of a cluster against the API server in memory: create, update, status, patch, delete, and conflicts by
// version.

import { describe, expect, it } from 'vitest';
import { builtInKinds, resourceOf } from '../../src/adapters/kube/resource.ts';
import { ClusterStore } from '../../src/adapters/kube/write/cluster-store.ts';
import type { RawObject } from '../../src/core/event.ts';
import { FakeApiServer } from './fake-api-server.ts';
import { VirtualTime } from './virtual-time.ts';
import { configMap } from './write-rig.ts';

const NAME = { kind: 'ConfigMap', namespace: 'a', name: 'b' } as const;

function store(): { readonly server: FakeApiServer; readonly store: ClusterStore } {
  const server = new FakeApiServer(new VirtualTime());
  const definition = builtInKinds.find(({ kind }) => kind === 'ConfigMap')!;
  const resource = resourceOf(definition, 'v1', 'configmaps');
  const options = {
    cluster: 'Kubernetes',
    api: server,
    resource: (kind: string) => (kind === 'ConfigMap' ? resource : undefined),
  };
  return { server, store: new ClusterStore(options) };
}

const kindOf = (written: { readonly _tag: string; readonly left?: { readonly kind: string } }): string =>
  written._tag === 'Left' ? (written.left?.kind ?? '') : 'written';

describe('the store of a cluster', () => {
  it('creates once', async () => {
    const { store: one } = store();
    expect(kindOf(await one.create(configMap('a', 'b', { key: 'one' })))).toBe('written');
    expect(kindOf(await one.create(configMap('a', 'b', { key: 'two' })))).toBe('AlreadyExists');
  });

  it('updates the version that it was given, and no other', async () => {
    const { store: one } = store();
    await one.create(configMap('a', 'b', { key: 'one' }));
    const read = await one.get(NAME);
    const object = (read as { readonly right: RawObject }).right;
    expect(kindOf(await one.update({ ...object, data: { key: 'two' } }))).toBe('written');
    expect(await one.update({ ...object, data: { key: 'three' } })).toMatchObject({
      left: { kind: 'Conflict', object: 'ConfigMap/a/b', given: expect.any(String), current: expect.any(String) },
    });
    expect(kindOf(await one.update(configMap('a', 'b', { key: 'four' })))).toBe('written');
    expect(await one.get(NAME)).toMatchObject({ right: { data: { key: 'four' } } });
  });

  it('patches what is named, with a version as precondition', async () => {
    const { store: one } = store();
    await one.create(configMap('a', 'b', { key: 'one', other: 'kept' }));
    expect(kindOf(await one.patch(NAME, { data: { key: 'two' } }))).toBe('written');
    expect(await one.get(NAME)).toMatchObject({ right: { data: { key: 'two', other: 'kept' } } });
    expect(kindOf(await one.patch(NAME, { metadata: { resourceVersion: '1' }, data: { key: 'x' } }))).toBe('Conflict');
  });

  it('writes the status under its subresource', async () => {
    const { store: one, server } = store();
    await one.create(configMap('a', 'b', {}));
    await one.updateStatus(configMap('a', 'b', {}));
    expect(server.requests.at(-1)).toContain('/api/v1/namespaces/a/configmaps/b');
  });

  it('deletes the version that it was given, and says what is not there', async () => {
    const { store: one } = store();
    await one.create(configMap('a', 'b', {}));
    expect(kindOf(await one.delete(NAME, '1'))).toBe('Conflict');
    expect(kindOf(await one.delete(NAME))).toBe('written');
    expect(kindOf(await one.delete(NAME))).toBe('NotFound');
    expect(kindOf(await one.update(configMap('a', 'b', {})))).toBe('NotFound');
    expect(kindOf(await one.get({ ...NAME, kind: 'Gateway' }))).toBe('NotFound');
  });

  it('rejects with what keeps it from writing: no right, no server', async () => {
    const { store: one, server } = store();
    server.refused.set('POST /api/v1/namespaces/a/configmaps', 403);
    await expect(one.create(configMap('a', 'b', {}))).rejects.toThrow('403');
    server.down = true;
    await expect(one.create(configMap('c', 'b', {}))).rejects.toThrow('connection refused');
  });
});
