// A thousand HTTPRoutes on one Gateway, and a change of one: what is regenerated for the gateway's proxy, how many statuses are written, and how
// long it takes until every one of 400 proxies has been sent its route: the part of a control plane in the time from write to traffic. The
// published figures of gateway-api-bench for that are 10 to 30 ms for agentgateway and 120 to 300 ms for istiod, which waits 100 ms for further
// changes, as Periplus does by default; the second figure is without most of that wait (PILOT_DEBOUNCE_AFTER=10ms).

import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { JsonObject } from '../src/core/base/json.ts';
import type { Fact } from '../src/core/event.ts';
import { Tracker } from '../src/core/query/tracker.ts';
import type { State } from '../src/core/state.ts';
import { wishTable } from '../src/core/wishes/table.ts';
import type { Wish } from '../src/core/wishes/wish.ts';
import { foldFacts, proxyFacts } from '../src/offline/generate.ts';
import { routeNamed } from '../src/xds/assemble/route/resources.ts';
import type { VirtualHost } from '../src/xds/proto/types.gen.ts';
import { defaultScheduleSettings } from '../src/xds/push/settings.ts';
import { cpuMs, type Figure, type Figures, milliseconds } from './measure.ts';
import { start as startScene } from './storms.ts';

const ROUTES = 1_000;
const CHANGES = 20;
const PROXIES = 400;
const SHORT_DEBOUNCE_MS = 10;
/** Between two changes: each is alone. */
const QUIET_MS = 150;
const SOURCE = 'file/Kubernetes';
const API = 'gateway.networking.k8s.io/v1';

const node: JsonObject = {
  id: 'router~10.1.0.9~gw.infra~infra.svc.cluster.local',
  cluster: 'gw.infra',
  metadata: { NAMESPACE: 'infra', CLUSTER_ID: 'Kubernetes', ISTIO_VERSION: '1.30.0', LABELS: { app: 'gw' } },
};

function service(name: string, address: string): JsonObject {
  const spec = { clusterIP: address, ports: [{ name: 'http', port: 80 }], selector: { app: name } };
  return { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace: 'infra' }, spec };
}

function route(number: number, path: string): JsonObject {
  const rules = [
    { matches: [{ path: { type: 'PathPrefix', value: path } }], backendRefs: [{ name: 'web', port: 80 }] },
  ];
  const spec = { parentRefs: [{ name: 'gw' }], hostnames: [`h${number}.example.com`], rules };
  return {
    apiVersion: API,
    kind: 'HTTPRoute',
    metadata: { name: `r${number}`, namespace: 'infra', generation: 1 },
    spec,
  };
}

function meshObjects(): readonly JsonObject[] {
  const listeners = [{ name: 'http', port: 80, protocol: 'HTTP' }];
  const spec = { gatewayClassName: 'istio', addresses: [{ type: 'Hostname', value: 'gw' }], listeners };
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'gw', namespace: 'infra', labels: { app: 'gw' } },
    spec: { nodeName: 'n', containers: [{ name: 'c' }] },
    status: {
      phase: 'Running',
      podIP: '10.1.0.9',
      podIPs: [{ ip: '10.1.0.9' }],
      conditions: [{ type: 'Ready', status: 'True' }],
    },
  };
  const gateway = {
    apiVersion: API,
    kind: 'Gateway',
    metadata: { name: 'gw', namespace: 'infra', generation: 1 },
    spec,
  };
  const routes = Array.from({ length: ROUTES }, (_, i) => route(i, '/'));
  return [service('gw', '10.96.0.1'), service('web', '10.96.0.2'), pod, gateway, ...routes];
}

function start(): State {
  const facts = meshObjects().map(object => ({ source: SOURCE, kind: 'Add' as const, object: object as never }));
  return foldFacts([...proxyFacts('gw', node), ...facts]).state;
}

export async function gatewayApiFigures(): Promise<Figures> {
  const tracker = new Tracker();
  let state = start();
  const held = (): readonly VirtualHost[] =>
    tracker.get(state, state.proxies.get('gw')!, routeNamed, 'http.80')?.message.virtualHosts ?? [];
  const statuses = (): readonly Wish[] => tracker.get(state, undefined, wishTable, '').wishes;
  let [hosts, wishes] = [new Set(held()), new Set(statuses())];
  if (hosts.size !== ROUTES) throw new Error(`${hosts.size} virtual hosts; expected ${ROUTES}`);
  let [made, written, ms] = [0, 0, 0];
  for (let i = 0; i < CHANGES; i++) {
    const object = route(i * 7, `/v${i}`) as never;
    ms += cpuMs(() => {
      state = foldFacts([{ source: SOURCE, kind: 'Update', object }], state).state;
      held();
    });
    made += held().filter(host => !hosts.has(host)).length;
    written += statuses().filter(wish => !wishes.has(wish)).length;
    [hosts, wishes] = [new Set(held()), new Set(statuses())];
  }
  const delivery = await deliveryFigures();
  const each = (count: number) => ({ value: count / CHANGES, unit: 'resources' as const, better: 'less' as const });
  return {
    '1,000 HTTPRoutes: virtual hosts made anew by a change of one': each(made),
    '1,000 HTTPRoutes: statuses that a change of one writes': each(written),
    '1,000 HTTPRoutes: CPU time from a change to the route configuration': milliseconds(ms / CHANGES),
    ...delivery,
  };
}

/** Medians over the changes. */
async function deliveryFigures(): Promise<Figures> {
  const figures: Record<string, Figure> = {};
  for (const debounceAfterMs of [defaultScheduleSettings.debounceAfterMs, SHORT_DEBOUNCE_MS]) {
    const facts = meshObjects().map((object): Fact => ({ kind: 'Add', object }));
    const schedule = { ...defaultScheduleSettings, debounceAfterMs };
    const scene = await startScene(facts, PROXIES, { node: nodeOf, endpoints: [], routes: ['http.80'], schedule });
    const taken: number[] = [];
    for (let i = 0; i < CHANGES; i++) {
      const wanted = scene.counts.responses + PROXIES;
      const began = performance.now();
      await scene.submit([{ kind: 'Update', object: route(i * 7, `/w${i}`) }]);
      while (scene.counts.responses < wanted) await nextTurn();
      taken.push(performance.now() - began);
      await sleep(QUIET_MS);
    }
    await scene.stop();
    const median = taken.sort((a, b) => a - b)[Math.floor(taken.length / 2)]!;
    const name = `1,000 HTTPRoutes: from the write of one to the last of ${PROXIES} gateways`;
    figures[`${name}, debounce ${debounceAfterMs} ms`] = milliseconds(median);
  }
  return figures;
}

function nodeOf(i: number): JsonObject {
  return { ...node, id: `router~10.1.0.9~gw-${i}.infra~infra.svc.cluster.local` };
}
