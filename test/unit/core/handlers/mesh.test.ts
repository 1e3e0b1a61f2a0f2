// Facts about the mesh, its networks, the process's settings, and the proxies.
// Source: Istio pilot/pkg/bootstrap/server.go (initMeshHandlers).

import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../../src/core/base/json.ts';
import type { Fact } from '../../../../src/core/event.ts';
import { INTERNED_MAX } from '../../../../src/core/fold/apply-proxy.ts';
import { restore } from '../../../../src/core/fold/restore.ts';
import { snapshotOf } from '../../../../src/core/fold/snapshot.ts';
import { defaultSettings, settingsToJson } from '../../../../src/core/mesh/settings.ts';
import type { State } from '../../../../src/core/state.ts';
import { nodeOf, step, world } from '../../world.ts';
import { rows, says, tells, withProxy } from './rows.ts';

const mesh = (value: Json): Fact => ({ kind: 'MeshConfig', value });
const networks = (value: Json): Fact => ({ kind: 'MeshNetworks', value });
const NAMED = { networks: { n: { gateways: [{ address: 'gate.example.com', port: 15443 }] } } };
const answer: JsonObject = {
  apiVersion: 'periplus.internal/v1',
  kind: 'ResolvedName',
  metadata: { name: 'gate.example.com' },
  spec: { addresses: ['192.0.2.1'] },
};
const NETWORKS = { networks: { n: { endpoints: [{ fromRegistry: 'Kubernetes' }] } } };

describe('mesh configuration', () => {
  const logging = { mesh: { accessLogFile: '/dev/stdout' } };
  rows([
    ['pushes everything for a changed value', [], tells(mesh({ accessLogFile: '/dev/stdout' })), 'full forced global'],
    ['pushes nothing for an equivalent value', [], tells(mesh({ enableTracing: true, accessLogFile: '' })), '-'],
    ['pushes nothing for the same value', world([], logging), tells(mesh({ accessLogFile: '/dev/stdout' })), '-'],
    ['pushes nothing for a refused value', world([], logging), tells(mesh({ connectTimeout: '-1s' })), '-'],
    [
      'pushes everything for the defaults when it is deleted',
      world([], logging),
      tells(mesh(null)),
      'full forced global',
    ],
    ['pushes nothing when a missing one is deleted', [], tells(mesh(null)), '-'],
    ['pushes everything for networks', [], tells(networks(NETWORKS)), 'full forced networks'],
    ['pushes nothing for equal networks', world([], { networks: NETWORKS }), tells(networks(NETWORKS)), '-'],
    [
      'pushes everything for a DNS answer of a gateway',
      world([], { networks: NAMED }),
      says(answer),
      'full forced networks',
    ],
    ['pushes nothing for a DNS answer that no gateway uses', world([], { networks: NETWORKS }), says(answer), '-'],
    ['pushes nothing for refused networks', world([], { networks: NETWORKS }), tells(networks({ networks: 7 })), '-'],
    [
      'pushes everything for deleted networks',
      world([], { networks: NETWORKS }),
      tells(networks(null)),
      'full forced networks',
    ],
  ]);
  test('keeps a refused version beside the one in force, also in a snapshot', () => {
    const before = world([], logging);
    const origin = { file: 'mesh.yaml', line: 3 };
    const { state, effects } = step(before, {
      ...mesh({ connectTimeout: '-1s' }),
      source: 'file/Kubernetes',
      origin,
    } as never);
    expect(effects).toMatchObject([{ kind: 'Verdict', object: 'MeshConfig', accepted: false, origin }]);
    expect(state.mesh.effective).toBe(before.mesh.effective);
    const restored = restore([...snapshotOf(state)]);
    expect(restored.mesh).toEqual(state.mesh);
    const mended = step(restored, { ...mesh({ accessLogFile: '/dev/stdout' }), source: 'file/Kubernetes' });
    expect(mended.effects).toMatchObject([{ kind: 'Verdict', accepted: true, problems: [] }]);
    expect(mended.state.mesh.refused).toBeUndefined();
  });
  test('keeps a text that cannot be parsed beside the one in force, with the reason, also in a snapshot', () => {
    const before = world([], logging);
    const reason = '2:1: expected a mapping';
    const { state, effects } = step(before, { ...mesh('a: ['), reason, source: 'kube/Kubernetes' } as never);
    expect(effects).toMatchObject([{ kind: 'Verdict', accepted: false, problems: [{ path: '', message: reason }] }]);
    expect(state.mesh).toMatchObject({ effective: before.mesh.effective, refused: { raw: 'a: [', reason } });
    expect(restore([...snapshotOf(state)]).mesh).toEqual(state.mesh);
  });
  test('survives a snapshot for each source, networks included', () => {
    const said = (layer: 'configMap' | 'shared', fact: Fact): Said =>
      ({ ...fact, layer, source: 'kube/Kubernetes' }) as Said;
    const facts: readonly Said[] = [
      said('shared', mesh({ accessLogFile: '/dev/stdout' })),
      said('configMap', mesh({ connectTimeout: '3s' })),
      said('configMap', mesh({ connectTimeout: '-3s' })),
      said('shared', networks(NETWORKS)),
      said('shared', networks({ networks: 7 })),
    ];
    const state = facts.reduce((at, fact) => step(at, fact).state, world([]));
    expect(state.mesh.effective).toMatchObject({ accessLogFile: '/dev/stdout', connectTimeout: { seconds: 3 } });
    const restored = restore([...snapshotOf(state)]);
    expect(restored.mesh).toEqual(state.mesh);
    expect(restored.networks).toEqual(state.networks);
    expect(restored.mesh.others?.configMap?.refused).toBeDefined();
  });
  test('reports unknown fields and ignores them', () => {
    const { effects } = step(world([]), { ...mesh({ nonsense: 1 }), source: 'file/Kubernetes' });
    expect(effects).toMatchObject([{ kind: 'Verdict', accepted: true, problems: [{ path: 'nonsense' }] }]);
  });
});

describe('settings of the process', () => {
  const engine = (rest: object): Fact => ({
    kind: 'Engine',
    settings: settingsToJson({ ...defaultSettings, ...rest }),
  });
  rows([['are a full push', [], tells(engine({}), 'runtime'), 'full forced global']]);
  test('keep their identity if they are equal', () => {
    const state = world([]);
    expect(step(state, { ...engine({}), source: 'runtime' }).state.settings).toBe(state.settings);
  });
  test('apply a cluster alias to connected proxies', () => {
    const connected = step(withProxy('a', '10.0.0.1', []), connection('b', 'old')).state;
    const { state } = step(connected, { ...engine({ clusterAliases: { old: 'new' } }), source: 'runtime' });
    expect(clusters(state)).toEqual(['Kubernetes', 'new']);
    expect(state.proxies.get('a-1')).toBe(connected.proxies.get('a-1'));
    expect(clusters(step(state, connection('c', 'old')).state)).toEqual(['Kubernetes', 'new', 'new']);
  });
});

type Said = Fact & { readonly source: string };
const connection = (name: string, cluster: string, extensions?: string): Said => ({
  source: 'xds',
  kind: 'ProxyConnected',
  connection: `${name}-1`,
  node: nodeOf({ name, metadata: { CLUSTER_ID: cluster } }),
  protocol: 'delta',
  ...(extensions === undefined ? {} : { extensions }),
});

function clusters(state: State): readonly string[] {
  return [...state.proxies.values()].map(({ facets }) => facets.clusterId);
}

describe('facts about proxies push nothing', () => {
  const subscribed = (subscribe: readonly string[], unsubscribe: readonly string[] = []): Fact => ({
    kind: 'ProxySubscribed',
    connection: 'a-1',
    typeUrl: 't',
    subscribe,
    unsubscribe,
    wildcard: false,
  });
  const nacked: Fact = { kind: 'ProxyNacked', connection: 'a-1', typeUrl: 't', message: 'no' };
  const gone: Fact = { kind: 'ProxyDisconnected', connection: 'a-1', reason: 'closed' };
  const connected = withProxy('a', '10.0.0.1', []);
  rows([
    ['a connection', [], tells(connection('a', 'Kubernetes')), '-'],
    ['a subscription', connected, tells(subscribed(['x'])), '-'],
    ['a NACK', connected, tells(nacked), '-'],
    ['the end of a connection', connected, tells(gone), '-'],
    ['a subscription of an unknown connection', [], tells(subscribed(['x'])), '-'],
    ['a NACK of an unknown connection', [], tells(nacked), '-'],
    ['the end of an unknown connection', [], tells(gone), '-'],
  ]);
  test('extensions listed after their proxy become its own', () => {
    const told: Fact = { kind: 'Interned', digest: 'd', value: [{ name: 'router', category: 'http' }] };
    const early = step(connected, connection('b', 'x', 'd')).state;
    expect(early.proxies.get('b-1')?.extensions).toBeUndefined();
    const { state, effects } = tells(told)(early);
    expect(state.proxies.get('b-1')?.extensions).toEqual(new Set(['router']));
    expect(state.proxies.get('a-1')).toBe(early.proxies.get('a-1'));
    expect(effects).toMatchObject([{ kind: 'Push', request: { full: true, forced: true, reasons: { proxy: 1 } } }]);
    expect(tells({ ...told, value: [] } as Fact)(state).state.interned).toBe(state.interned);
    expect(tells(told)(connected).effects).toEqual([]);
  });
  test('extensions that no proxy refers to go once there are many lists', () => {
    const listed = (digest: string): Fact => ({ kind: 'Interned', digest, value: [{ name: digest }] });
    let { state } = step(tells(listed('used'))(connected).state, connection('b', 'x', 'used'));
    for (let i = 1; i < INTERNED_MAX; i++) state = tells(listed(`other-${i}`))(state).state;
    expect(state.interned.size).toBe(INTERNED_MAX);
    state = tells(listed('last'))(state).state;
    expect([...state.interned.keys()]).toEqual(['last', 'used']);
    expect(state.proxies.get('b-1')?.extensions).toEqual(new Set(['used']));
  });
  test('but keep the proof of its identity with the proxy', () => {
    const proof = { method: 'certificate', fingerprint: 'f' } as never;
    const { state } = step(world([]), { ...connection('a', 'Kubernetes'), proof } as never);
    expect(state.proxies.get('a-1')?.proof).toEqual(proof);
  });
  test('a subscription is the sum of its changes', () => {
    const first = tells(subscribed(['b', 'a']))(connected).state;
    const { state } = tells(subscribed(['c', 'a'], ['b']))(first);
    expect(state.proxies.get('a-1')?.subscriptions.t).toEqual({ wildcard: false, names: ['a', 'c'] });
  });
  test('a subscription that becomes a wildcard keeps its names', () => {
    const first = tells(subscribed(['a', 'b']))(connected).state;
    const before = first.proxies.get('a-1')?.subscriptions.t;
    const { state } = tells({ ...subscribed([]), wildcard: true } as Fact)(first);
    const after = state.proxies.get('a-1')?.subscriptions.t;
    expect(after).toEqual({ wildcard: true, names: ['a', 'b'] });
    expect(after?.names).toBe(before?.names);
  });
  describe('names that are listed once', () => {
    const names: Fact = { kind: 'Names', digest: 'd', names: ['x', 'y'] };
    const toList = (connection: string, list: string, subscribe: readonly string[] = []): Fact => ({
      kind: 'ProxySubscribed',
      connection,
      typeUrl: 't',
      list,
      subscribe,
      unsubscribe: [],
      wildcard: false,
    });
    const told = (...facts: readonly Fact[]): State =>
      facts.reduce((state, fact) => step(state, { source: 'xds', ...fact }).state, world([]));
    const [a, b] = [connection('a', 'x'), connection('b', 'x')];
    const of = (state: State, proxy: string) => state.proxies.get(proxy)?.subscriptions.t;

    test('are shared by every subscription to them', () => {
      const state = told(a, b, names, toList('a-1', 'd'), toList('b-1', 'd'));
      expect(of(state, 'a-1')).toEqual({ wildcard: false, names: ['x', 'y'], list: 'd' });
      expect(of(state, 'b-1')?.names).toBe(of(state, 'a-1')?.names);
      expect(state.nameLists.get('d')?.uses).toBe(2);
    });
    test('are shared while a subscription equals the list', () => {
      const used = [a, b, names, toList('a-1', 'd'), toList('b-1', 'd')];
      expect(told(...used, gone).nameLists.get('d')?.uses).toBe(1);
      expect(told(...used, gone, subscribed([], ['x'])).nameLists.size).toBe(1);
      expect(told(...used, gone, { ...gone, connection: 'b-1' }).nameLists.size).toBe(0);
      expect(told(a, names, toList('a-1', 'd'), a).nameLists.size).toBe(0);
    });
    test('are copied into a subscription with further names', () => {
      const more = told(a, names, toList('a-1', 'd'), subscribed(['z'], ['x']));
      expect(of(more, 'a-1')).toEqual({ wildcard: false, names: ['y', 'z'] });
      expect(more.nameLists.size).toBe(0);
      expect(of(told(a, names, toList('a-1', 'd', ['w'])), 'a-1')?.names).toEqual(['w', 'x', 'y']);
      expect(of(told(a, names, subscribed(['z']), toList('a-1', 'd')), 'a-1')?.names).toEqual(['x', 'y', 'z']);
    });
    test('are empty if they were never listed, and sorted if they were listed in another order', () => {
      expect(of(told(a, toList('a-1', 'd')), 'a-1')).toEqual({ wildcard: false, names: [] });
      const mixed: Fact = { kind: 'Names', digest: 'd', names: ['y', 'x', 'y'] };
      expect(of(told(a, mixed, toList('a-1', 'd')), 'a-1')?.names).toEqual(['x', 'y']);
    });
  });
  test('the last NACK of a type is kept', () => {
    const state = tells(nacked)(connected).state;
    expect(state.proxies.get('a-1')?.nacks.t).toEqual({ at: state.seq, message: 'no' });
  });
  test.each([
    ['no metadata', { id: 'sidecar~10.0.0.1~a.default~x' }, true],
    ['an invalid id', { id: 'nonsense' }, false],
    ['no id', {}, false],
  ])('a node with %s is recorded', (_, node, known) => {
    const { state } = step(world([]), { ...connection('a', 'x'), node } as Said);
    expect(state.proxies.size).toBe(known ? 1 : 0);
  });
  test('the compiled-in extensions of a node are those of the interned list', () => {
    const listed = (value: Json): readonly string[] | undefined => {
      const state = step(world([]), { source: 'xds', kind: 'Interned', digest: 'd', value }).state;
      const names = step(state, connection('a', 'x', 'd')).state.proxies.get('a-1')?.extensions;
      return names === undefined ? undefined : [...names];
    };
    expect(listed([{ name: 'one' }, { name: 7 }, 'two'])).toEqual(['one']);
    expect(listed([])).toBeUndefined();
    expect(listed({})).toBeUndefined();
  });
});
