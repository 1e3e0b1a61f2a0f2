// What the filters of the mesh leave out is in no table, whatever the kind and however it came to be left out; and it
// comes back.

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { restore } from '../../../../src/core/fold/restore.ts';
import { snapshotOf } from '../../../../src/core/fold/snapshot.ts';
import type { KindName } from '../../../../src/core/model/kind.ts';
import type { State } from '../../../../src/core/state.ts';
import { parseClusterAliases, settingsFrom } from '../../../../src/runtime/serve-options.ts';
import { put, remove, step, world } from '../../world.ts';
import { namespace, pod, service, virtualService } from '../registry/fixtures.ts';

const selectors = { discoverySelectors: [{ matchLabels: { mesh: 'on' } }] };
const on = namespace('default', { labels: { mesh: 'on' } });
const off = namespace('default');
const route = virtualService('v', { hosts: ['web'], http: [{ route: [{ destination: { host: 'web' } }] }] });
const parts = [service('web'), pod('web-1', '10.0.0.1'), route, secret()];
const kinds: readonly KindName[] = ['Pod', 'Secret', 'Service', 'VirtualService'];

function secret(): JsonObject {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace: 'default' }, data: {} };
}

function held(state: State): readonly string[] {
  return kinds.filter(kind => state.objects[kind].size > 0);
}

function settings(state: State, revision: string): State {
  return step(state, { kind: 'Engine', source: 'runtime', settings: { revision } }).state;
}

function withRevision(object: JsonObject, revision: string): JsonObject {
  return {
    ...object,
    metadata: { ...(object.metadata as JsonObject), labels: { 'istio.io/rev': revision } },
  };
}

describe('discoverySelectors', () => {
  test('apply to every namespaced kind', () => {
    expect(held(world([off, ...parts], { mesh: selectors }))).toEqual([]);
    expect(held(world([on, ...parts], { mesh: selectors }))).toEqual(kinds);
  });

  test('apply when the namespace arrives last, is deleted, and returns', () => {
    const late = put(world(parts, { mesh: selectors }), on).state;
    expect(held(late)).toEqual(kinds);
    const gone = remove(late, on);
    expect(held(gone.state)).toEqual([]);
    expect(gone.push).toMatchObject({ full: true });
    expect([...gone.state.indexes.podsByIp.keys()]).toEqual([]);
    expect(held(put(gone.state, on).state)).toEqual(kinds);
  });

  test('follow the mesh configuration', () => {
    const state = world([off, ...parts]);
    const set = step(state, { kind: 'MeshConfig', source: 'file/Kubernetes', value: selectors });
    expect(held(set.state)).toEqual([]);
    expect(held(step(set.state, { kind: 'MeshConfig', source: 'file/Kubernetes', value: null }).state)).toEqual(kinds);
  });

  test('survive a snapshot', () => {
    const state = world([on, ...parts], { mesh: selectors });
    expect(held(restore([...snapshotOf(state)]))).toEqual(kinds);
    expect(held(restore([...snapshotOf(put(state, off).state)]))).toEqual([]);
  });
});

describe('the revision label', () => {
  const base = world(parts);
  test.each([
    ['', 'canary', true],
    ['stable', 'stable', true],
    ['stable', 'canary', false],
  ])('of control plane %j selects an object labelled %j: %s', (own, label, inside) => {
    const changed = put(settings(base, own), withRevision(route, label));
    expect(changed.state.objects.VirtualService.size).toBe(inside ? 1 : 0);
  });

  test('deletes an object that leaves the revision and adds one that enters it, each with a push', () => {
    const stable = settings(base, 'stable');
    const out = put(stable, withRevision(route, 'canary'));
    expect(out.push.configsUpdated).toContain('VirtualService/default/v');
    const back = put(out.state, route);
    expect(back.push.configsUpdated).toContain('VirtualService/default/v');
    expect(back.state.objects.VirtualService.size).toBe(1);
  });

  test('filters anew for a new revision of our own, except pods and services', () => {
    const labelled = put(put(base, withRevision(route, 'canary')).state, withRevision(service('web'), 'canary')).state;
    expect(held(settings(labelled, 'stable'))).toEqual(['Pod', 'Secret', 'Service']);
    expect(held(settings(settings(labelled, 'stable'), 'canary'))).toEqual(kinds);
  });

  test('leaves Ingresses and their classes in force', () => {
    const networking = (kind: string): JsonObject => ({
      apiVersion: 'networking.k8s.io/v1',
      kind,
      metadata: { name: 'i', ...(kind === 'Ingress' ? { namespace: 'default' } : {}) },
      spec: {},
    });
    const labelled = ['Ingress', 'IngressClass'].map(kind => withRevision(networking(kind), 'canary'));
    const { objects } = labelled.reduce((state, object) => put(state, object).state, settings(base, 'stable'));
    expect([objects.Ingress.size, objects.IngressClass.size]).toEqual([1, 1]);
  });

  test('prefers the object of our revision where two sources have it', () => {
    const stable = settings(base, 'stable');
    const first = step(stable, { kind: 'Add', source: 'aaa/Kubernetes', object: withRevision(route, 'canary') }).state;
    expect(first.objects.VirtualService.get('default/v')?.labels).toEqual({});
  });
});

describe('cluster aliases and flags', () => {
  const node = { id: 'sidecar~10.0.0.1~a.default~default.svc.cluster.local', metadata: { CLUSTER_ID: 'old' } };
  const connected = step(world([]), {
    kind: 'ProxyConnected',
    source: 'xds',
    connection: 'c',
    node,
    protocol: 'sotw',
  }).state;
  const clusterOf = (state: State): string | undefined => state.proxies.get('c')?.facets.clusterId;
  const aliased = step(connected, {
    kind: 'Engine',
    source: 'runtime',
    settings: { clusterAliases: { old: 'Kubernetes' } },
  }).state;

  test('replace the cluster that a proxy reports, also for connected proxies', () => {
    expect(clusterOf(connected)).toBe('old');
    expect(clusterOf(aliased)).toBe('Kubernetes');
    expect(clusterOf(restore([...snapshotOf(aliased)]))).toBe('Kubernetes');
  });

  test.each([
    ['', {}],
    ['a=b', { a: 'b' }],
    ['a=b,c=d', { a: 'b', c: 'd' }],
    ['a', undefined],
    ['a=', undefined],
    ['a=b=c', undefined],
  ])('read the flag %j', (text, expected) => {
    expect(parseClusterAliases(text)).toEqual(expected);
  });

  test('record only known flags', () => {
    const flags = { domainSuffix: 'x', clusterId: 'y', systemNamespace: 'z' };
    const { env, revision } = settingsFrom(flags, { PILOT_HTTP10: 'true', REVISION: 'r', HOME: '/' });
    expect([env, revision]).toEqual([{ PILOT_HTTP10: 'true' }, 'r']);
  });
});
