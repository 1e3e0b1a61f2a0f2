// InferencePools behind istiod's flag: the Service that stands for a pool, its status, and what a gateway is sent of it.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { joinedStatus } from '../../../../src/core/wishes/status.ts';
import { wishTable } from '../../../../src/core/wishes/table.ts';
import type { Wish } from '../../../../src/core/wishes/wish.ts';
import { allOf, listedOf } from '../../../../src/offline/generate.ts';
import type { Cluster, ClusterLoadAssignment, Listener } from '../../../../src/xds/proto/types.gen.ts';
import { CDS, EDS, LDS } from '../../../../src/xds/session/types.ts';
import { Scene } from '../../xds/generate/route/scene.ts';
import { gateway, listener, open, route, services } from '../translate/gateway-api/scene.ts';

const SHADOW = 'llm-ip-487b9104';
const HOST = `${SHADOW}.infra.svc.cluster.local`;
const CLUSTER = `outbound|54321||${HOST}`;

const pool = (picker: JsonObject = {}): JsonObject => ({
  apiVersion: 'inference.networking.k8s.io/v1',
  kind: 'InferencePool',
  metadata: { name: 'llm', namespace: 'infra', uid: 'pool-uid', generation: 2 },
  spec: {
    selector: { matchLabels: { app: 'llm' } },
    targetPorts: [{ number: 8000 }, { number: 8001 }],
    endpointPickerRef: { name: 'picker', port: { number: 9002 }, failureMode: 'FailOpen', ...picker },
  },
});
const ref: JsonObject = { group: 'inference.networking.k8s.io', kind: 'InferencePool', name: 'llm' };
const toPool = (more: JsonObject = {}): JsonObject =>
  route('chat', { hostnames: ['llm.example.com'], rules: [{ backendRefs: [ref] }], ...more });
const gw = gateway('gw', [listener('http', open)]);
const picker: JsonObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'picker', namespace: 'infra' },
  spec: { clusterIP: '10.96.1.1', ports: [{ name: 'grpc', port: 9002 }] },
};

function scene(...objects: readonly JsonObject[]): Scene {
  return new Scene([...services, ...objects], { env: { ENABLE_GATEWAY_API_INFERENCE_EXTENSION: 'true' } });
}

function wishesIn({ tracker, state }: Scene, kind: string): readonly Wish[] {
  return tracker.get(state, undefined, wishTable, '').wishes.filter(wish => wish.kind === kind);
}

function statusIn(made: Scene): readonly JsonObject[] {
  const [wish] = wishesIn(made, 'InferencePool');
  return (wish!.fields!.status as JsonObject).parents as readonly JsonObject[];
}

const said = (entry: JsonObject | undefined): readonly string[] =>
  (entry!.conditions as readonly JsonObject[]).map(
    ({ type, status, reason, message }) => `${String(type)} ${String(status)} ${String(reason)}: ${String(message)}`,
  );

/** As the API server keeps what was wished. */
function written({ kind, namespace, name, fields }: Wish): JsonObject {
  const { metadata, ...rest } = fields as { readonly metadata: JsonObject };
  return { apiVersion: 'v1', kind, metadata: { ...metadata, namespace, name }, ...rest };
}

describe('the Service of an InferencePool', () => {
  it('is wished for while a route of ours names the pool', () => {
    expect(wishesIn(scene(gw, pool()), 'Service')).toEqual([]);
    const [wish] = wishesIn(scene(gw, pool(), toPool()), 'Service');
    expect(wish).toMatchObject({ name: SHADOW, manager: 'istio.io/inference-pool-controller', verb: 'apply' });
    expect(wish?.fields).toEqual({
      metadata: {
        labels: {
          'istio.io/inferencepool-name': 'llm',
          'istio.io/inferencepool-extension-service': 'picker',
          'istio.io/inferencepool-extension-port': '9002',
          'istio.io/inferencepool-extension-failure-mode': 'FailOpen',
          'internal.istio.io/service-semantics': 'inferencepool',
        },
        ownerReferences: [
          { apiVersion: 'inference.networking.k8s.io/v1', kind: 'InferencePool', name: 'llm', uid: 'pool-uid' },
        ],
      },
      spec: {
        type: 'ClusterIP',
        clusterIP: 'None',
        selector: { app: 'llm' },
        ports: [
          { name: 'http-0', protocol: 'TCP', port: 54321, targetPort: 8000, appProtocol: 'http' },
          { name: 'http-1', protocol: 'TCP', port: 54322, targetPort: 8001, appProtocol: 'http' },
        ],
      },
    });
  });

  it('stays the user’s if it has no label of a pool, and is wished for on and on if it has', () => {
    const own = { ...picker, metadata: { name: SHADOW, namespace: 'infra' } };
    expect(wishesIn(scene(gw, pool(), toPool(), own), 'Service')).toEqual([]);
    const made = scene(gw, pool(), toPool());
    const [wish] = wishesIn(made, 'Service');
    made.put(written(wish!));
    expect(wishesIn(made, 'Service')).toEqual([wish]);
  });

  it('is not wished for without the flag', () => {
    expect(wishesIn(new Scene([...services, gw, pool(), toPool()]), 'Service')).toEqual([]);
    expect(wishesIn(new Scene([...services, gw, pool(), toPool()]), 'InferencePool')).toEqual([]);
  });
});

describe('the status of an InferencePool', () => {
  it('names each Gateway, whether it takes the route, and whether the picker is there', () => {
    const [entry, ...more] = statusIn(scene(gw, pool(), toPool(), picker));
    expect(more).toEqual([]);
    expect(entry?.parentRef).toEqual({
      group: 'networking.istio.io',
      kind: 'Gateway',
      namespace: 'infra',
      name: 'gw',
    });
    expect(said(entry)).toEqual([
      'Accepted True Accepted: Referenced by an HTTPRoute accepted by the parentRef Gateway',
      'ResolvedRefs True ResolvedRefs: Referenced ExtensionRef resolved successfully',
    ]);
    expect(JSON.stringify(entry)).toContain('"observedGeneration":2');
  });

  it.each<[string, JsonObject, string]>([
    ['is missing', {}, 'Referenced ExtensionRef not found picker'],
    ['is of another kind', { kind: 'Job' }, 'Unsupported ExtensionRef kind Job'],
  ])('says that the picker %s', (_, given, message) => {
    const [entry] = statusIn(scene(gw, pool(given), toPool()));
    expect(said(entry)[1]).toBe(`ResolvedRefs False InvalidExtensionRef: ${message}`);
  });

  it('says why the Gateway does not take the route', () => {
    const named = gateway('gw', [listener('http', { ...open, hostname: 'other.com' })]);
    const [entry] = statusIn(scene(named, pool(), toPool(), picker));
    expect(said(entry)[0]).toBe(
      'Accepted False HTTPRouteNotAccepted: Referenced HTTPRoute infra/chat not accepted by Gateway infra/gw: no hostnames matched parent hostname "other.com"',
    );
  });

  it('keeps entries of others, removes our stale ones, and rests after the write', () => {
    const [wish] = wishesIn(scene(gw, gateway('old', [listener('http')]), pool(), toPool(), picker), 'InferencePool');
    const entry = (name: string): JsonObject => ({ parentRef: { kind: 'Gateway', name }, conditions: [] });
    const placeholder = { parentRef: { kind: 'Status', name: 'default' }, conditions: [] };
    const live = { parents: [entry('old'), entry('foreign'), placeholder] };
    const wished = wish?.fields?.status as JsonObject;
    const once = joinedStatus(wish!.statusRule!, wished, live, '2026-01-01T00:00:00Z');
    const names = (once.parents as readonly JsonObject[]).map(({ parentRef }) => (parentRef as JsonObject).name);
    expect(names).toEqual(['foreign', 'gw']);
    expect(joinedStatus(wish!.statusRule!, wished, once, '2027-01-01T00:00:00Z')).toEqual(once);
    const unused = joinedStatus(wish!.statusRule!, { parents: [] }, { parents: [placeholder] }, '2027-01-01T00:00:00Z');
    expect(unused).toEqual({ parents: null });
    expect(joinedStatus(wish!.statusRule!, { parents: [] }, {}, '2027-01-01T00:00:00Z')).toEqual({ parents: null });
  });
});

describe('the gateway of a route to an InferencePool', () => {
  const pod = (name: string, ip: string, labels: JsonObject): JsonObject => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'infra', labels },
    spec: { nodeName: 'n', containers: [{ name: 'c' }] },
    status: { phase: 'Running', podIP: ip, podIPs: [{ ip }], conditions: [{ type: 'Ready', status: 'True' }] },
  });
  const slice: JsonObject = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: SHADOW, namespace: 'infra', labels: { 'kubernetes.io/service-name': SHADOW } },
    addressType: 'IPv4',
    ports: [
      { name: 'http-0', port: 8000 },
      { name: 'http-1', port: 8001 },
    ],
    endpoints: [{ addresses: ['10.1.0.20'], conditions: { ready: true } }],
  };
  const labels = { app: 'gw-istio', 'gateway.networking.k8s.io/gateway-name': 'gw' };

  function served(...rules: readonly JsonObject[]): Scene {
    const made = scene(gw, pool(), toPool(rules.length === 0 ? {} : { rules }), picker, pod('gw', '10.1.0.9', labels));
    const [wish] = wishesIn(made, 'Service');
    made.put(written(wish!));
    made.put(slice);
    made.connect('gw', {
      id: 'router~10.1.0.9~gw.infra~infra.svc.cluster.local',
      metadata: { NAMESPACE: 'infra', CLUSTER_ID: 'Kubernetes', LABELS: labels, INSTANCE_IPS: '10.1.0.9' },
    });
    return made;
  }

  it('asks the picker on that route alone', () => {
    const made = served(
      { backendRefs: [ref], filters: [{ type: 'CORS', cors: {} }] },
      { backendRefs: [{ name: 'web', port: 80 }] },
    );
    const [first, second] = made.host('gw', 'http.80', 'llm.example.com:80').routes ?? [];
    expect(first?.route?.cluster).toBe(CLUSTER);
    expect(Object.keys(first?.typedPerFilterConfig ?? {}).sort()).toEqual([
      'envoy.filters.http.cors',
      'envoy.filters.http.ext_proc',
    ]);
    expect(first?.typedPerFilterConfig?.['envoy.filters.http.ext_proc']).toMatchObject({
      overrides: {
        failureModeAllow: { value: true },
        grpcService: { envoyGrpc: { clusterName: 'outbound|9002||picker.infra.svc.cluster.local' } },
      },
    });
    expect(second?.typedPerFilterConfig).toBeUndefined();
  });

  it('has the filter, and one cluster with the endpoints of every port that follows the picker', () => {
    const made = served();
    const proxy = made.state.proxies.get('gw')!;
    const [one] = allOf(made.tracker, made.state, proxy, LDS).map(({ message }) => message as Listener);
    const names = JSON.stringify(one).match(/envoy\.filters\.http\.[a-z_]+/g);
    expect(names).toContain('envoy.filters.http.ext_proc');
    const clusters = allOf(made.tracker, made.state, proxy, CDS).map(({ message }) => message as Cluster);
    expect(clusters.filter(({ name = '' }) => name.includes(SHADOW)).map(({ name }) => name)).toEqual([CLUSTER]);
    const cluster = clusters.find(({ name }) => name === CLUSTER);
    expect(JSON.stringify(cluster?.loadBalancingPolicy)).toContain('x-gateway-destination-endpoint');
    const [assignment] = listedOf(made.tracker, made.state, proxy, EDS, [CLUSTER]);
    const endpoints = (assignment!.message as ClusterLoadAssignment).endpoints?.flatMap(
      ({ lbEndpoints = [] }) => lbEndpoints,
    );
    const ports = endpoints?.map(({ endpoint }) => endpoint?.address?.socketAddress?.portValue);
    expect(ports).toEqual([8000, 8001]);
  });

  it('does not send to a Service that lacks the labels of the picker', () => {
    const bare = { ...picker, metadata: { name: SHADOW, namespace: 'infra' } };
    const made = scene(gw, pool(), toPool(), bare);
    const { wishes } = made.tracker.get(made.state, undefined, wishTable, '');
    const status = wishes.find(({ kind }) => kind === 'HTTPRoute')?.fields?.status;
    expect(JSON.stringify(status)).toContain('InferencePool service invalid, extensionRef labels not found');
  });
});
