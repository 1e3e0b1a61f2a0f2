// Law 2 for ztunnels: what one holds through pushes equals what a fresh one gets, with a wildcard and on demand.

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/base/json.ts';
import type { Effect } from '../../src/core/effect.ts';
import type { Event, Fact } from '../../src/core/event.ts';
import { fold } from '../../src/core/fold/fold-event.ts';
import type { ProxyRecord, Subscription } from '../../src/core/model/proxy.ts';
import { emptyState, type State } from '../../src/core/state.ts';
import { anyFact, numbered } from '../../src/testing/facts.ts';
import type { Engine } from '../../src/xds/engine/engine.ts';
import { WORKLOAD_ADDRESS, WORKLOAD_AUTHORIZATION } from '../../src/xds/session/types.ts';
import { freshEngine } from './holdings.ts';
import { parameters } from './seed.ts';

/** A check costs as much as a fresh client. */
const CHECKED_EVERY = 7;

type Sourced = { readonly source: string } & Fact;

const AMBIENT: Sourced = {
  source: 'runtime',
  kind: 'Engine',
  settings: { domainSuffix: 'cluster.local', clusterId: 'Kubernetes', env: { PILOT_ENABLE_AMBIENT: 'true' } },
};
const ZTUNNEL: Sourced = {
  source: 'xds',
  kind: 'ProxyConnected',
  connection: 'ztunnel-1',
  node: {
    id: 'ztunnel~10.1.0.9~ztunnel.istio-system~istio-system.svc.cluster.local',
    metadata: { NAMESPACE: 'istio-system', CLUSTER_ID: 'Kubernetes', NODE_NAME: 'node-a' },
  },
  protocol: 'delta',
};
/** Names of every kind, of which some come to exist. */
const DEMANDED = [
  '/10.0.0.1',
  '/10.1.0.1',
  '/10.96.0.9',
  'Kubernetes//Pod/prod/alpha',
  'prod/alpha.prod.svc.cluster.local',
  'test/beta.test.svc.cluster.local',
];
const SUBSCRIPTIONS: readonly (readonly [string, Subscription])[] = [
  [WORKLOAD_ADDRESS, { wildcard: true, names: [] }],
  [WORKLOAD_ADDRESS, { wildcard: false, names: DEMANDED }],
  [WORKLOAD_AUTHORIZATION, { wildcard: true, names: [] }],
];

const space = fc.constantFrom('prod', 'test', 'istio-system');
const named = fc.constantFrom('alpha', 'beta', 'waypoint');
const labels = fc.record(
  {
    app: fc.constantFrom('alpha', 'beta'),
    'istio.io/use-waypoint': fc.constantFrom('waypoint', 'none'),
    'networking.istio.io/tunnel': fc.constant('http'),
  },
  { requiredKeys: [] },
);
const meta = fc.record({ name: named, namespace: space, labels });
const mode = fc.constantFrom('STRICT', 'PERMISSIVE', 'DISABLE', 'UNSET').map(chosen => ({ mode: chosen }));
const selector = fc.constantFrom<JsonObject>({}, { selector: { matchLabels: { app: 'alpha' } } });

/** Objects that only ambient mode reads, or reads in other ways. */
const ambientObject: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.tuple(meta, fc.boolean()).map(
    ([metadata, ready]): JsonObject => ({
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'Gateway',
      metadata: { ...metadata, name: 'waypoint' },
      spec: { gatewayClassName: 'istio-waypoint', listeners: [{ name: 'mesh', port: 15008, protocol: 'HBONE' }] },
      status: { addresses: ready ? [{ type: 'Hostname', value: 'waypoint.example' }] : [] },
    }),
  ),
  fc
    .tuple(space, labels)
    .map(([name, found]): JsonObject => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: found } })),
  fc.tuple(meta, mode, mode, selector).map(
    ([metadata, mtls, port, selected]): JsonObject => ({
      apiVersion: 'security.istio.io/v1',
      kind: 'PeerAuthentication',
      metadata,
      spec: { mtls, ...(selected.selector === undefined ? {} : { ...selected, portLevelMtls: { 8080: port } }) },
    }),
  ),
  fc.tuple(meta, selector, fc.constantFrom('ALLOW', 'DENY', 'AUDIT')).map(
    ([metadata, selected, action]): JsonObject => ({
      apiVersion: 'security.istio.io/v1',
      kind: 'AuthorizationPolicy',
      metadata,
      spec: { ...selected, action, rules: [{ to: [{ operation: { ports: ['80'] } }] }] },
    }),
  ),
  fc.tuple(meta, fc.constantFrom('10.0.0.1', '10.1.0.1'), fc.boolean(), fc.boolean()).map(
    ([metadata, podIP, ready, captured]): JsonObject => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...metadata, annotations: captured ? { 'ambient.istio.io/redirection': 'enabled' } : {} },
      spec: { nodeName: 'node-a', containers: [{ name: 'app' }] },
      status: { phase: 'Running', podIP, conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
    }),
  ),
  fc.constantFrom('r1', 'r2').map(
    (region): JsonObject => ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'node-a', labels: { 'topology.kubernetes.io/region': region } },
    }),
  ),
);

const ambientFact: fc.Arbitrary<Sourced> = fc
  .tuple(ambientObject, fc.nat({ max: 4 }))
  .map(([object, choice]): Sourced => {
    const source = 'file/Kubernetes';
    if (choice > 0) return { source, kind: 'Add', object };
    const { name, namespace = '' } = object.metadata as JsonObject;
    const ref = { apiVersion: String(object.apiVersion), kind: String(object.kind), name: String(name) };
    return { source, kind: 'Delete', ref: { ...ref, namespace: String(namespace) } };
  });

const someFact = fc.oneof({ weight: 2, arbitrary: ambientFact }, { weight: 1, arbitrary: anyFact });

const history = fc
  .array(someFact, { minLength: 5, maxLength: 60, size: 'max' })
  .map(facts => numbered([AMBIENT, ZTUNNEL, ...facts.filter(fact => fact.kind !== 'Engine')]));

function holdings(engine: Engine, state: State, proxy: ProxyRecord): readonly string[] {
  return SUBSCRIPTIONS.flatMap(([url, subscription], i) =>
    [...engine.resourcesFor(state, proxy, url, subscription)!.versions].map(([name, v]) => `${i} ${name} ${v}`),
  );
}

/** Throws where the ztunnel holds something else than a fresh one gets; `asks`: an effect makes it be looked at. */
function checked(events: readonly Event[], asks = (effect: Effect): boolean => effect.kind === 'Push'): void {
  const engine = freshEngine();
  let state = emptyState;
  let held: readonly string[] | undefined;
  for (const event of events) {
    const { state: next, effects } = fold(state, event, new Set());
    state = next;
    const proxy = state.proxies.get('ztunnel-1');
    if (proxy === undefined) continue;
    if (held === undefined || effects.some(asks)) held = holdings(engine, state, proxy);
    if (event.seq % CHECKED_EVERY === 0) assert.deepEqual(held, holdings(freshEngine(), state, proxy));
  }
}

describe('law 2 for ztunnels', () => {
  it('holds at any time', () => {
    fc.assert(
      fc.property(history, events => checked(events)),
      parameters(25),
    );
  });

  it('canary: a missing push is detected', () => {
    const deaf = (effect: Effect): boolean => effect.kind === 'Push' && effect.request.reasons.ambient === undefined;
    const property = fc.property(history, events => checked(events, deaf));
    expect(fc.check(property, { numRuns: 40, seed: 1, endOnFailure: true }).failed).toBe(true);
  });

  it('is about histories in which there is something to hold', () => {
    const sizes = fc.sample(history, { numRuns: 20, seed: 1 }).map(events => {
      let state = emptyState;
      for (const event of events) state = fold(state, event, new Set()).state;
      const proxy = state.proxies.get('ztunnel-1');
      return proxy === undefined ? 0 : holdings(freshEngine(), state, proxy).length;
    });
    expect(Math.max(...sizes)).toBeGreaterThan(10);
  });
});
