import { afterEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/core/base/json.ts';
import type { Unrecorded } from '../../../src/core/event.ts';
import { fold } from '../../../src/core/fold/fold-event.ts';
import type { ProxyRecord } from '../../../src/core/model/proxy.ts';
import type { State } from '../../../src/core/state.ts';
import { openMemoryJournal } from '../../../src/journal/memory-journal.ts';
import { proxyFacts } from '../../../src/offline/generate.ts';
import { expectedProxies, guessedSidecars, knownProxies } from '../../../src/runtime/expected-proxies.ts';
import { WARM_UP_SWEEPS_MAX, WarmUp, type WarmUpOptions, warmUpEnabled } from '../../../src/runtime/warm-up.ts';
import { freshEngine, holdingsOf } from '../../property/holdings.ts';
import { countLoopTurns } from '../loop-turns.ts';
import { inCluster, world } from '../world.ts';

const NAMESPACES = ['a', 'b', 'c'];
const SERVICES = 30;

const service = (namespace: string, i: number): string => `
apiVersion: v1
kind: Service
metadata: { name: s${i}, namespace: ${namespace} }
spec: { clusterIP: 10.${namespace.charCodeAt(0)}.0.${i + 1}, ports: [{ name: http, port: 80 }] }
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: s${i}-x, namespace: ${namespace}, labels: { kubernetes.io/service-name: s${i} } }
addressType: IPv4
endpoints: [{ addresses: [10.200.${namespace.charCodeAt(0)}.${i + 1}], conditions: { ready: true } }]
ports: [{ name: http, port: 80, protocol: TCP }]`;

const mesh = (): State =>
  world(NAMESPACES.flatMap(namespace => Array.from({ length: SERVICES }, (_, i) => service(namespace, i))));

const sidecar = (namespace: string, name: string, ip: string): JsonObject => ({
  id: `sidecar~${ip}~${name}.${namespace}~${namespace}.svc.cluster.local`,
  cluster: `${name}.${namespace}`,
  locality: { region: 'r1' },
  metadata: { NAMESPACE: namespace, CLUSTER_ID: 'Kubernetes', ISTIO_VERSION: '1.30.3', LABELS: { app: name } },
});

function connected(state: State, connection: string, node: JsonObject): { state: State; proxy: ProxyRecord } {
  let after = state;
  for (const fact of proxyFacts(connection, node)) {
    after = fold(after, { ...fact, seq: after.seq + 1, time: 0 }, new Set()).state;
  }
  return { state: after, proxy: after.proxies.get(connection)! };
}

function warmUpOf(state: State, options: Pick<WarmUpOptions, 'runsMax' | 'enabled' | 'tidy'> = {}) {
  const engine = freshEngine();
  const logged: string[] = [];
  const clock = { now: () => 0, after: () => ({ cancel: () => undefined }) };
  const log = (_: string, message: string): void => void logged.push(message);
  const warmUp = new WarmUp({ engine, state: () => state, clock, log, ...options });
  return { engine, warmUp, logged };
}

const runsOf = ({ tracker: { stats } }: ReturnType<typeof freshEngine>): number => stats.runs + stats.generated;

describe('warm-up', () => {
  it('leaves almost nothing to evaluate for the first sidecar', async () => {
    const state = mesh();
    const { engine, warmUp } = warmUpOf(state);
    await warmUp.run(async () => guessedSidecars(state));
    const first = connected(state, 'first', sidecar('b', 'client', '10.9.9.9'));
    const before = runsOf(engine);
    const held = holdingsOf(engine, first.state, first.proxy);
    const needed = runsOf(engine) - before;
    const cold = freshEngine();
    const heldCold = holdingsOf(cold, first.state, first.proxy);
    expect(needed).toBeLessThan(runsOf(cold) / 10);
    for (const [typeUrl, set] of heldCold)
      expect([typeUrl, held.get(typeUrl)?.versions]).toEqual([typeUrl, set.versions]);
  });

  it('yields to the event loop and stops at its limit', async () => {
    const state = mesh();
    const { engine, warmUp } = warmUpOf(state, { runsMax: 1 });
    const loop = countLoopTurns();
    await warmUp.run(async () => guessedSidecars(state));
    loop.stop();
    const one = freshEngine();
    const [guess] = guessedSidecars(state);
    holdingsOf(one, state, guess!);
    // The view that goes over the limit is finished, none is begun after it.
    expect(runsOf(engine)).toBeLessThanOrEqual(runsOf(one));
    expect(runsOf(engine)).toBeGreaterThan(200);
    expect(loop.turns).toBeGreaterThan(runsOf(engine) / 200);
  });

  it('delays readiness until it is finished; if disabled, evaluates nothing and is ready at once', async () => {
    const state = mesh();
    const ready = { ready: true, text: 'ready\n' };
    const { warmUp } = warmUpOf(state);
    expect(warmUp.readiness({ ready: false, text: 'waiting' })).toEqual({ ready: false, text: 'waiting' });
    expect(warmUp.readiness(ready)).toMatchObject({ ready: false });
    await warmUp.run(async () => {
      throw new Error('unreadable');
    });
    expect(warmUp.readiness(ready)).toBe(ready);
    const off = warmUpOf(state, { enabled: false });
    expect(off.warmUp.readiness(ready)).toBe(ready);
    await off.warmUp.run(async () => guessedSidecars(state));
    expect(runsOf(off.engine)).toBe(0);
    expect(['', '1', 'true', 'no'].map(PILOT_ENABLE_WARM_UP => warmUpEnabled({ PILOT_ENABLE_WARM_UP }))).toEqual(
      Array.from({ length: 4 }, () => true),
    );
    expect(warmUpEnabled({ PILOT_ENABLE_WARM_UP: 'false' })).toBe(false);
  });

  it('finishes even if garbage collection fails', async () => {
    const tidy = (): never => {
      throw new Error('flags are frozen');
    };
    const { warmUp, logged } = warmUpOf(mesh(), { tidy });
    await warmUp.run(async () => []);
    expect(warmUp.done).toBe(true);
    expect(logged.join()).toContain('flags are frozen');
  });

  it('keeps its views until the first proxy connects, within bounds', async () => {
    const state = mesh();
    const { engine, warmUp } = warmUpOf(state);
    await warmUp.run(async () => guessedSidecars(state));
    let held = 0;
    while (warmUp.holdsSweep(false)) held++;
    expect(held).toBe(WARM_UP_SWEEPS_MAX);
    const other = warmUpOf(state);
    await other.warmUp.run(async () => guessedSidecars(state));
    expect([other.warmUp.holdsSweep(true), other.warmUp.holdsSweep(false)]).toEqual([false, false]);
    for (let i = 0; i < 6; i++) engine.sweep();
    expect(engine.tracker.size).toEqual({ queries: 0, generated: 0 });
  });
});

describe('the expected proxy of a new mesh', () => {
  it('is a sidecar of each namespace with services or workloads, the fullest first, none where nothing is injected', () => {
    const state = world([
      service('small', 0),
      ...Array.from({ length: 3 }, (_, i) => service('large', i)),
      service('kube-system', 0),
    ]);
    const namespaces = guessedSidecars(state).map(({ facets }) => facets.namespace);
    expect(namespaces).toEqual(['large', 'small']);
    expect(guessedSidecars(state, 1).map(({ facets }) => facets.namespace)).toEqual(['large']);
  });

  it('has the labels of a pod of the namespace, if there is one', () => {
    const pod = (name: string, rest: string): string => `
apiVersion: v1
kind: Pod
metadata: { name: ${name}, namespace: a, labels: { app: ${name} } }
spec: { serviceAccountName: ${name}-account, containers: [], ${rest}`;
    const state = world([
      inCluster(
        'Kubernetes',
        pod('agent', 'hostNetwork: true }\nstatus: { podIP: 172.16.0.1 }'),
        pod('cart', '}\nstatus: { podIP: "fd00::1", podIPs: [{ ip: "fd00::1" }] }'),
      ),
    ]);
    const [cart, ...others] = guessedSidecars(state);
    expect(others).toEqual([]);
    expect(cart).toMatchObject({
      facets: { id: 'cart.a', ips: ['fd00::1'], ipMode: 'ipv6', namespace: 'a', clusterId: 'Kubernetes' },
      metadata: { LABELS: { app: 'cart' }, SERVICE_ACCOUNT: 'cart-account' },
    });
  });
});

describe('the expected proxies after a restart', () => {
  const journal = openMemoryJournal();
  afterEach(() => journal.close());

  it('are the last connected ones, each once with its node, and those still connected', async () => {
    const facts = (name: string, namespace: string): readonly Unrecorded[] =>
      proxyFacts(`${name}-connection`, sidecar(namespace, name, '10.0.0.1'));
    for (const [name, namespace] of [
      ['old', 'a'],
      ['again', 'a'],
      ['new', 'b'],
      ['again', 'c'],
    ] as const) {
      await journal.append([
        ...facts(name, namespace),
        { source: 'xds', kind: 'ProxyDisconnected', connection: `${name}-connection`, reason: 'gone' },
      ]);
    }
    const state = mesh();
    const names = (proxies: readonly ProxyRecord[]): readonly string[] => proxies.map(({ facets }) => facets.id);
    const known = await knownProxies(journal, state, []);
    expect(names(known)).toEqual(['again.c', 'new.b', 'again.a', 'old.a']);
    expect(known[0]?.node).toEqual(sidecar('c', 'again', '10.0.0.1'));
    const { proxy } = connected(state, 'long', sidecar('c', 'compacted', '10.0.0.2'));
    expect(names(await knownProxies(journal, state, [proxy]))).toContain('compacted.c');
    expect(names(await knownProxies(journal, state, [proxy], 2))).toEqual(['again.c', 'new.b']);
    expect(names(await expectedProxies(journal, state, []))).toEqual(names(known));
    expect(names(await expectedProxies(openMemoryJournal(), state, []))).toEqual(names(guessedSidecars(state)));
  });
});
