// Law 3, confluence: what is derived depends on the final set of accepted objects, not on the order in which they came,
// nor on what was there in between. A small realistic world arrives in a random order, with repeats, with older
// versions before the final ones, with objects that go and come back; the model that every generator reads must come
// out the same.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson, type Json, type JsonObject } from '../../src/core/base/json.ts';
import { compareText } from '../../src/core/model/object.ts';
import { refKey, refOf } from '../../src/core/model/service-ref.ts';
import { Tracker } from '../../src/core/query/tracker.ts';
import { endpointShards, serviceAccounts } from '../../src/core/registry/endpoints.ts';
import { allServices } from '../../src/core/registry/services.ts';
import { serviceTargets } from '../../src/core/registry/workload.ts';
import { destinationRule } from '../../src/core/select/scope/destination-rules.ts';
import { sidecarScope } from '../../src/core/select/scope/sidecar-scope.ts';
import { emptyState, type State } from '../../src/core/state.ts';
import * as make from '../unit/core/registry/fixtures.ts';
import { nodeOf, proxyOf, remove, type Stepped, step } from '../unit/world.ts';
import { parameters } from './seed.ts';

interface Placed {
  readonly cluster: string;
  readonly object: JsonObject;
  /** Another version of the object, which may come before the final one. */
  readonly older: JsonObject;
}

function placed(object: JsonObject, older: JsonObject, cluster = 'Kubernetes'): Placed {
  return { cluster, object, older };
}

const labels = { app: 'web' };
const subsets = (...names: string[]): Json => names.map(name => ({ name, labels: { version: name } }));

/** Ties of age everywhere, one host in several namespaces and registries, rules and routes that meet on one host. */
const finalWorld: readonly Placed[] = [
  placed(make.service('web'), make.service('web', { clusterIP: '10.96.0.9' })),
  placed(make.service('web', { clusterIP: '10.97.0.1' }), make.service('web', { clusterIP: 'None' }), 'remote'),
  placed(make.service('db', { clusterIP: 'None', selector: {} }), make.service('db')),
  placed(make.service('api', {}, { namespace: 'prod', day: 2 }), make.service('api', {}, { namespace: 'prod' })),
  placed(
    make.service('alias', { type: 'ExternalName', externalName: 'web.default.svc.cluster.local', clusterIP: '' }),
    make.service('alias', { type: 'ExternalName', externalName: 'alias.default.svc.cluster.local', clusterIP: '' }),
  ),
  placed(make.node('n1', 'r1', 'z1'), make.node('n1', 'r2', 'z2')),
  placed(make.pod('web-1', '10.0.0.1', { labels, node: 'n1', account: 'web' }), make.pod('web-1', '10.0.0.8')),
  placed(make.pod('web-2', '10.0.0.2', { labels }), make.pod('web-2', '10.0.0.2', { ready: false })),
  placed(make.pod('web-9', '10.1.0.1', { labels }), make.pod('web-9', '10.1.0.2', { labels }), 'remote'),
  placed(
    make.slice('web', [
      { ip: '10.0.0.1', pod: 'web-1' },
      { ip: '10.0.0.2', pod: 'web-2' },
    ]),
    make.slice('web', [{ ip: '10.0.0.1', pod: 'web-1' }]),
  ),
  placed(
    make.slice('web', [{ ip: '10.0.0.2' }, { ip: '10.0.0.3' }], { name: 'web-b' }),
    make.slice('web', [], { name: 'web-b' }),
  ),
  placed(make.slice('web', [{ ip: '10.1.0.1', pod: 'web-9' }]), make.slice('web', []), 'remote'),
  placed(make.slice('db', [{ ip: '10.0.0.1' }]), make.slice('db', [{ ip: '10.0.0.4', ready: false }])),
  placed(
    make.workloadEntry('vm', { address: '192.168.0.1', labels }),
    make.workloadEntry('vm', { address: '192.168.0.2' }),
  ),
  placed(
    make.serviceEntry('ext-a', { hosts: ['ext.example.com'], endpoints: [{ address: '1.1.1.1' }] }),
    make.serviceEntry('ext-a', { hosts: ['old.example.com'], endpoints: [{ address: '1.1.1.9' }] }),
  ),
  placed(
    make.serviceEntry('ext-b', { hosts: ['ext.example.com'], workloadSelector: { labels } }),
    make.serviceEntry('ext-b', { hosts: ['ext.example.com'], resolution: 'NONE' }),
  ),
  placed(
    make.serviceEntry('same-host', { hosts: ['web.default.svc.cluster.local'], endpoints: [{ address: '3.3.3.3' }] }),
    make.serviceEntry('same-host', { hosts: ['api.prod.svc.cluster.local'], endpoints: [{ address: '3.3.3.4' }] }),
  ),
  placed(
    make.virtualService('b', { hosts: ['web'], http: [make.to('api.prod.svc.cluster.local')] }),
    make.virtualService('b', { hosts: ['web'], http: [make.to('db')], exportTo: ['.'] }),
  ),
  placed(
    make.virtualService('a', { hosts: ['web'], http: [{ delegate: { name: 'leaf' } }] }),
    make.virtualService('a', { http: [make.to('web')] }),
  ),
  placed(
    make.virtualService('leaf', { http: [make.to('web')] }),
    make.virtualService('leaf', { hosts: ['x.y'], http: [make.to('web')] }),
  ),
  placed(make.destinationRule('b', 'web', { subsets: subsets('v1', 'v2') }), make.destinationRule('b', 'db')),
  placed(
    make.destinationRule('a', 'web', { subsets: subsets('v1') }),
    make.destinationRule('a', 'web', { exportTo: ['.'] }),
  ),
  placed(
    make.sidecar('s', { egress: [{ hosts: ['./*', '*/ext.example.com'] }], workloadSelector: { labels } }),
    make.sidecar('s', { egress: [{ hosts: ['*/*'] }] }),
  ),
];

type Move = readonly [kind: 'final' | 'older' | 'remove', index: number];

const anyMove: fc.Arbitrary<Move> = fc.tuple(
  fc.constantFrom('final', 'older', 'remove'),
  fc.nat(finalWorld.length - 1),
);

/**
 * Any moves at all, then every object once in its final version, in any order, with moves of finished objects between
 * them.
 */
const arrival: fc.Arbitrary<readonly Move[]> = fc
  .record({
    noise: fc.array(anyMove, { maxLength: 40, size: 'max' }),
    order: fc.shuffledSubarray([...finalWorld.keys()], { minLength: finalWorld.length }),
    again: fc.array(fc.tuple(fc.nat(finalWorld.length - 1), fc.boolean()), { maxLength: 10 }),
  })
  .map(({ noise, order, again }) => [
    ...noise,
    ...order.map((index): Move => ['final', index]),
    ...again.flatMap(([index, gone]): Move[] =>
      gone
        ? [
            ['remove', index],
            ['final', index],
          ]
        : [['final', index]],
    ),
  ]);

function move(state: State, [kind, index]: Move): Stepped {
  const { cluster, object, older } = finalWorld[index]!;
  if (kind === 'remove') return remove(state, object, cluster);
  return step(state, { kind: 'Add', source: `file/${cluster}`, object: kind === 'older' ? older : object });
}

function fold(moves: readonly Move[]): State {
  return moves.reduce((state, one) => move(state, one).state, emptyState);
}

const nodes = [
  nodeOf({ name: 'web-1', ip: '10.0.0.1' }),
  nodeOf({ name: 'vm', ip: '192.168.0.1' }),
  nodeOf({ name: 'other', namespace: 'prod', ip: '10.0.0.50' }),
  nodeOf({ name: 'gw', type: 'router', ip: '10.0.0.60' }),
];
const proxies = nodes.map((node, i) => proxyOf(node, `proxy-${i}`));
const connected = nodes.reduce(
  (state, node, i) =>
    step(state, { kind: 'ProxyConnected', source: 'xds', connection: `proxy-${i}`, node, protocol: 'sotw' }).state,
  emptyState,
);

/** Everything that generators read, as one text. `tracker` may have seen other states before. */
function derived(state: State, tracker = new Tracker()): string {
  const services = tracker.get(state, undefined, allServices, '');
  const refs = [...new Map(services.map(service => [refKey(service), refOf(service)] as const))].sort(([a], [b]) =>
    compareText(a, b),
  );
  const model = {
    services,
    endpoints: refs.map(([name, ref]) => [name, tracker.get(state, undefined, endpointShards, ref)]),
    accounts: refs.map(([name, ref]) => [name, tracker.get(state, undefined, serviceAccounts, ref)]),
    views: proxies.map(proxy => ({
      scope: tracker.get(state, proxy, sidecarScope, ''),
      targets: tracker.get(state, proxy, serviceTargets, ''),
      rules: refs.map(
        ([, { hostname }]) => tracker.get(state, proxy, destinationRule, { hostname, direction: 'outbound' }) ?? null,
      ),
    })),
  };
  return canonicalJson(model as unknown as Json);
}

const inOrder = [...finalWorld.keys()].map((index): Move => ['final', index]);

describe('law 3: confluence', () => {
  const settled = derived(fold(inOrder));

  test('gives the same model for any order of arrival', () => {
    fc.assert(
      fc.property(arrival, moves => {
        expect(derived(fold(moves))).toBe(settled);
      }),
      parameters(100),
    );
  });

  test('gives the same through a tracker that followed every step and one that saw only the end (law 2)', () => {
    fc.assert(
      fc.property(arrival, fc.nat(5), (moves, stride) => {
        const tracker = new Tracker();
        let state = connected;
        moves.forEach((one, i) => {
          state = move(state, one).state;
          if (i % (stride + 1) === 0) expect(derived(state, tracker)).toBe(derived(state));
        });
        expect(derived(state, tracker)).toBe(settled);
      }),
      parameters(15),
    );
  });

  test('requests a push for every change of the model', () => {
    fc.assert(
      fc.property(arrival, moves => {
        const tracker = new Tracker();
        let state = connected;
        let known = derived(state, tracker);
        for (const one of moves) {
          const { state: next, push } = move(state, one);
          const now = derived(next, tracker);
          if (now !== known) expect(push.causes.count, `${one.join(' ')} asked for no push`).toBeGreaterThan(0);
          state = next;
          known = now;
        }
      }),
      parameters(15),
    );
  });

  test('covers a model that is not empty where it matters', () => {
    expect(settled).toContain('ext.example.com');
    expect(settled).toContain('"v2"');
    expect(settled).toContain('192.168.0.1');
  });

  test('canary: a registry that depends on arrival is detected', () => {
    const byArrival = (moves: readonly Move[]): string =>
      fold(moves)
        .records.range('')
        .map(record => `${record.key}@${record.acceptedAt}`)
        .join();
    const property = fc.property(arrival, moves => byArrival(moves) === byArrival(inOrder));
    expect(fc.check(property, parameters(100)).failed).toBe(true);
  });
});
