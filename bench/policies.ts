// A change of an AuthorizationPolicy for a namespace of 500 services, as 400 of their sidecars see it: CPU time from the change to encoded
// listeners, and what is made anew. istiod builds every listener of every proxy of the namespace.

import type { JsonObject } from '../src/core/base/json.ts';
import { Tracker } from '../src/core/query/tracker.ts';
import type { State } from '../src/core/state.ts';
import { allOf, foldFacts, proxyFacts } from '../src/offline/generate.ts';
import { encodeResource } from '../src/xds/engine/encode.ts';
import type { Listener } from '../src/xds/proto/types.gen.ts';
import { LDS } from '../src/xds/session/types.ts';
import { counted, cpuMs, type Figures, milliseconds } from './measure.ts';

const SERVICES = 500;
const PROXIES = 400;
const CHANGES = 5;
const NAMESPACE = 'team';
const SOURCE = 'file/Kubernetes';

const addressOf = (i: number): string => `10.4.${Math.floor(i / 250)}.${(i % 250) + 1}`;

function serviceOf(i: number): readonly JsonObject[] {
  const [name, app] = [`svc-${i}`, { app: `svc-${i}` }];
  const port = { name: 'http', port: 8080 };
  const spec = { clusterIP: `10.96.${Math.floor(i / 250)}.${(i % 250) + 1}`, ports: [port], selector: app };
  const labels = { 'kubernetes.io/service-name': name };
  const endpoints = [{ addresses: [addressOf(i)], conditions: { ready: true } }];
  return [
    { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace: NAMESPACE }, spec },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name, namespace: NAMESPACE, labels },
      ...{ addressType: 'IPv4', ports: [port], endpoints },
    },
  ];
}

function policy(path: string, selector: JsonObject): JsonObject {
  const rules = Array.from({ length: 20 }, (_, i) => ({
    from: [{ source: { principals: [`cluster.local/ns/${NAMESPACE}/sa/svc-${i}`] } }],
    to: [{ operation: { methods: ['GET'], paths: [`${path}/${i}`] } }],
  }));
  const metadata = { name: 'readers', namespace: NAMESPACE };
  return { apiVersion: 'security.istio.io/v1', kind: 'AuthorizationPolicy', metadata, spec: { ...selector, rules } };
}

const node = (i: number): JsonObject => ({
  id: `sidecar~${addressOf(i)}~svc-${i}.${NAMESPACE}~${NAMESPACE}.svc.cluster.local`,
  metadata: {
    NAMESPACE,
    CLUSTER_ID: 'Kubernetes',
    INSTANCE_IPS: addressOf(i),
    LABELS: { app: `svc-${i}` },
    ISTIO_VERSION: '1.30.3',
  },
});

const add = (object: JsonObject) => ({ source: SOURCE, kind: 'Add' as const, object });

export async function policyFigures(): Promise<Figures> {
  const whole = measured({});
  const one = measured({ selector: { matchLabels: { app: 'svc-7' } } });
  const of = `policy change, ${SERVICES} services, ${PROXIES} sidecars`;
  return {
    [`${of}: CPU time`]: milliseconds(whole.ms),
    [`${of}: filter chains made anew`]: counted(whole.chains),
    [`${of}: listeners encoded anew`]: counted(whole.listeners),
    [`${of}, for one workload: CPU time`]: milliseconds(one.ms),
    [`${of}, for one workload: listeners encoded anew`]: counted(one.listeners),
  };
}

function measured(selector: JsonObject): { readonly ms: number; readonly chains: number; readonly listeners: number } {
  const tracker = new Tracker();
  const objects = Array.from({ length: SERVICES }, (_, i) => serviceOf(i)).flat();
  const proxies = Array.from({ length: PROXIES }, (_, i) => proxyFacts(`p-${i}`, node(i))).flat();
  let { state } = foldFacts([...[...objects, policy('/a', selector)].map(add), ...proxies]);
  let before = held(tracker, state);
  let [ms, chains, listeners] = [0, 0, 0];
  for (let round = 0; round < CHANGES; round++) {
    let now = before;
    ms += cpuMs(() => {
      ({ state } = foldFacts([add(policy(`/v${round}`, selector))], state));
      now = held(tracker, state);
    });
    listeners += [...now.listeners].filter(listener => !before.listeners.has(listener)).length;
    chains += [...now.chains].filter(chain => !before.chains.has(chain)).length;
    before = now;
  }
  return { ms: ms / CHANGES, chains: chains / CHANGES, listeners: listeners / CHANGES };
}

interface Held {
  readonly listeners: ReadonlySet<object>;
  readonly chains: ReadonlySet<object>;
}

/** What all proxies hold, encoded: shared resources once. */
function held(tracker: Tracker, state: State): Held {
  const [listeners, chains] = [new Set<object>(), new Set<object>()];
  for (const proxy of state.proxies.values()) {
    for (const { name, message } of allOf(tracker, state, proxy, LDS)) {
      if (listeners.has(message)) continue;
      listeners.add(message);
      encodeResource(LDS, name, message);
      for (const chain of (message as Listener).filterChains ?? []) chains.add(chain);
    }
  }
  return { listeners, chains };
}
