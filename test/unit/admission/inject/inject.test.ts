// What injection does to a pod, rule by rule, with the templates of this project and with small ones.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonPatch, type PatchOperation } from '../../../../src/admission/inject/patch.ts';
import {
  annotationsOf,
  containersOf,
  findContainer,
  listAt,
  namesOf,
  objectAt,
} from '../../../../src/admission/inject/pod.ts';
import { isObject, type Json, type JsonObject } from '../../../../src/core/base/json.ts';
import { configMap, injectedPod, injection, node, podWith } from './world.ts';

const annotated = (annotations: JsonObject): JsonObject => podWith({ annotations });
const proxyOf = (pod: JsonObject): JsonObject => findContainer(pod, 'istio-proxy') ?? {};
const envOf = (pod: JsonObject, name: string): Json | undefined =>
  listAt(proxyOf(pod), 'env').find(variable => variable.name === name)?.value;
const small = (template: string, more = ''): JsonObject =>
  configMap(`policy: enabled\n${more}\ntemplates:\n  sidecar: |\n${template.replace(/^/gm, '    ')}`);
const PROXY_ONLY = 'spec:\n  containers:\n  - name: istio-proxy\n    image: proxy';
const NODES = [node('a', 'v1.33.1'), node('b', 'v1.34.0')];
/** RFC 6902, as the API server applies it. */
function patched(value: Json, operations: readonly PatchOperation[]): Json {
  return operations.reduce((now, operation) => {
    const path = operation.path
      .split('/')
      .slice(1)
      .map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'));
    return at(now, path, operation);
  }, value);
}
function at(value: Json, [name, ...rest]: readonly string[], operation: PatchOperation): Json {
  if (name === undefined) return operation.op === 'remove' ? null : operation.value;
  if (Array.isArray(value)) {
    const [list, i] = [value as readonly Json[], Number(name)];
    if (rest.length > 0 || operation.op === 'replace') return list.with(i, at(list[i]!, rest, operation));
    return operation.op === 'remove' ? list.toSpliced(i, 1) : list.toSpliced(i, 0, operation.value);
  }
  const object = isObject(value) ? value : {};
  if (rest.length === 0 && operation.op === 'remove') {
    return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name)) as JsonObject;
  }
  return { ...object, [name]: at(object[name] ?? null, rest, operation) };
}

describe('Injection', () => {
  it('gives an init container that keeps running where every node can, else a container', () => {
    const native = injectedPod(podWith(), { objects: NODES });
    expect(namesOf(containersOf(native, 'initContainers'))).toEqual(['istio-init', 'istio-proxy']);
    expect(proxyOf(native)).toMatchObject({ restartPolicy: 'Always' });
    const mixed = injectedPod(podWith(), { objects: [...NODES, node('c', 'v1.30.0')] });
    expect(namesOf(containersOf(mixed, 'containers'))).toEqual(['app', 'istio-proxy']);
    const asked = injectedPod(annotated({ 'sidecar.istio.io/nativeSidecar': 'false' }), { objects: NODES });
    expect(namesOf(containersOf(asked, 'containers'))).toEqual(['app', 'istio-proxy']);
    const off = injectedPod(podWith(), { objects: NODES, env: { ENABLE_NATIVE_SIDECARS: 'false' } });
    expect(namesOf(containersOf(off, 'containers'))).toEqual(['app', 'istio-proxy']);
  });

  it('puts the proxy first where the application waits for it', () => {
    const held = injectedPod(annotated({ 'proxy.istio.io/config': 'holdApplicationUntilProxyStarts: true' }), {
      env: { ENABLE_NATIVE_SIDECARS: 'false' },
    });
    expect(namesOf(containersOf(held, 'containers'))).toEqual(['istio-proxy', 'app']);
    expect(proxyOf(held)).toMatchObject({ lifecycle: { postStart: { exec: { command: ['pilot-agent', 'wait'] } } } });
  });

  it('names cluster and network of the path last, over the values', () => {
    const pod = injectedPod(podWith(), {}, { ISTIO_META_CLUSTER_ID: 'c1', ISTIO_META_NETWORK: 'n1', EXTRA: 'x' });
    expect(listAt(proxyOf(pod), 'env').slice(-3)).toEqual([
      { name: 'EXTRA', value: 'x' },
      { name: 'ISTIO_META_CLUSTER_ID', value: 'c1' },
      { name: 'ISTIO_META_NETWORK', value: 'n1' },
    ]);
    expect(objectAt(pod, 'metadata', 'labels')).toMatchObject({ 'topology.istio.io/network': 'n1' });
    expect(
      envOf(
        injectedPod(podWith({ labels: { 'topology.istio.io/network': 'n2' } }), {}, { ISTIO_META_NETWORK: 'n1' }),
        'ISTIO_META_NETWORK',
      ),
    ).toBe('n2');
  });

  it('merges scraping into the proxy, unless the pod is not scraped', () => {
    const pod = injectedPod(annotated({ 'prometheus.io/port': '9090', 'prometheus_io/path': '/m' }));
    expect(envOf(pod, 'ISTIO_PROMETHEUS_ANNOTATIONS')).toBe('{"scrape":"","path":"/m","port":"9090"}');
    expect(annotationsOf(pod)).toMatchObject({
      'prometheus.io/port': '15020',
      'prometheus.io/path': '/stats/prometheus',
    });
    expect(annotationsOf(pod)).not.toHaveProperty('prometheus_io/path');
    expect(annotationsOf(injectedPod(annotated({ 'prometheus.io/scrape': 'false' })))).not.toHaveProperty(
      'prometheus.io/port',
    );
    expect(annotationsOf(injectedPod(podWith(), { mesh: { enablePrometheusMerge: false } }))).not.toHaveProperty(
      'prometheus.io/port',
    );
  });

  it('lets the agent answer probes, and tells it the originals', () => {
    const containers = [
      {
        name: 'app',
        ports: [{ name: 'http', containerPort: 8080 }],
        readinessProbe: { httpGet: { port: 'http', path: '/r', scheme: 'HTTPS' }, timeoutSeconds: 2 },
        livenessProbe: { tcpSocket: { port: 9000 } },
        startupProbe: { httpGet: { port: 'none' } },
        lifecycle: { preStop: { httpGet: { port: 8080, path: '/s' } }, postStart: { exec: { command: ['x'] } } },
      },
    ];
    const pod = injectedPod(podWith({}, { containers }));
    const probers = JSON.parse(String(envOf(pod, 'ISTIO_KUBE_APP_PROBERS'))) as JsonObject;
    expect(probers).toEqual({
      '/app-health/app/readyz': { httpGet: { port: 8080, path: '/r', scheme: 'HTTPS' }, timeoutSeconds: 2 },
      '/app-health/app/livez': { tcpSocket: { port: 9000 } },
      '/app-lifecycle/app/prestopz': { httpGet: { port: 8080, path: '/s' } },
    });
    expect(findContainer(pod, 'app')).toMatchObject({
      readinessProbe: { httpGet: { port: 15020, path: '/app-health/app/readyz', scheme: 'HTTP' }, timeoutSeconds: 2 },
      livenessProbe: { httpGet: { port: 15020, path: '/app-health/app/livez' } },
      startupProbe: { httpGet: { port: 15020, path: '/app-health/app/startupz' } },
      lifecycle: { preStop: { httpGet: { port: 15020 } }, postStart: { exec: { command: ['x'] } } },
    });
    expect(findContainer(pod, 'app')?.livenessProbe).not.toHaveProperty('tcpSocket');
  });

  it.each([
    ['false', 8080],
    ['true', 15020],
    ['off', 15020],
  ])('rewrites probes or not as an annotation says, else as the chart: %s', (value, port) => {
    const containers = [{ name: 'app', readinessProbe: { httpGet: { port: 8080 } } }];
    const annotations = { 'sidecar.istio.io/rewriteAppHTTPProbers': value };
    const app = findContainer(injectedPod(podWith({ annotations }, { containers })), 'app');
    expect(app).toMatchObject({ readinessProbe: { httpGet: { port } } });
  });

  it('keeps the init containers of an application whose traffic is not intercepted', () => {
    const pod = podWith(
      { annotations: { 'sidecar.istio.io/interceptionMode': 'NONE' } },
      { initContainers: [{ name: 'prepare', image: 'prepare:1' }] },
    );
    for (const [native, names] of Object.entries({ true: ['istio-proxy', 'prepare'], false: ['prepare'] })) {
      const injected = injectedPod(pod, { env: { ENABLE_NATIVE_SIDECARS: native } });
      expect(namesOf(containersOf(injected, 'initContainers'))).toEqual(names);
    }
  });

  it('lays the fields of a user over the proxy, and keeps them for another time', () => {
    const own = { name: 'istio-proxy', image: 'auto', args: ['mine'], securityContext: { runAsUser: 2000 } };
    const pod = injectedPod(podWith({}, { containers: [own, { name: 'app' }] }));
    expect(proxyOf(pod)).toMatchObject({ args: ['mine'], image: 'docker.io/istio/proxyv2:1.30.3' });
    const init = findContainer(pod, 'istio-init');
    expect(((init?.args ?? []) as readonly Json[]).slice(5, 7)).toEqual(['-u', '2000']);
    expect(JSON.parse(annotationsOf(pod)['proxy.istio.io/overrides']!)).toEqual({
      initContainers: [{ name: 'istio-proxy', args: ['mine'], securityContext: { runAsUser: 2000 } }],
    });
  });

  it('adds nothing a second time', () => {
    const probed = { name: 'app', ports: [{ containerPort: 80 }], readinessProbe: { httpGet: { port: 80 } } };
    const names = (pod: JsonObject): Json => ({
      containers: namesOf(containersOf(pod, 'containers')),
      inits: namesOf(containersOf(pod, 'initContainers')),
      volumes: namesOf(listAt(pod, 'spec', 'volumes')),
      env: [...namesOf(listAt(proxyOf(pod), 'env'))].sort(),
      probers: envOf(pod, 'ISTIO_KUBE_APP_PROBERS') ?? null,
      annotations: annotationsOf(pod),
    });
    for (const native of ['true', 'false']) {
      const env = { ENABLE_NATIVE_SIDECARS: native };
      const once = injectedPod(podWith({ annotations: { 'prometheus.io/port': '80' } }, { containers: [probed] }), {
        env,
      });
      expect(names(injectedPod(once, { env }))).toEqual(names(once));
    }
  });

  it('expands aliases once, and adds the annotations of the configuration', () => {
    const more = 'defaultTemplates: [both]\naliases: {both: [sidecar, both]}\ninjectedAnnotations: {a: b}';
    expect(injection(podWith(), { objects: [small(PROXY_ONLY, more)] })).toMatchObject({ kind: 'refused' });
    const pod = injectedPod(podWith(), { objects: [small(PROXY_ONLY, 'injectedAnnotations: {a: b}')] });
    expect(annotationsOf(pod)).toMatchObject({
      a: 'b',
      'sidecar.istio.io/status':
        '{"initContainers":null,"containers":["istio-proxy"],"volumes":null,"imagePullSecrets":null,"revision":"default"}',
    });
  });

  it('uses the variant of an image that a ProxyConfig or an annotation asks for', () => {
    const config = (name: string, spec: JsonObject): JsonObject => ({
      apiVersion: 'networking.istio.io/v1beta1',
      kind: 'ProxyConfig',
      metadata: { name, namespace: 'shop' },
      spec,
    });
    const objects = [config('p', { image: { imageType: 'distroless' }, environmentVariables: { A: '1' } })];
    const pod = injectedPod(podWith(), { objects });
    expect(proxyOf(pod).image).toBe('docker.io/istio/proxyv2:1.30.3-distroless');
    expect(envOf(pod, 'A')).toBe('1');
    expect(proxyOf(injectedPod(annotated({ 'sidecar.istio.io/proxyImageType': 'debug' }), { objects })).image).toBe(
      'docker.io/istio/proxyv2:1.30.3-debug',
    );
  });

  it('names the workload behind a ReplicaSet and behind a Job', () => {
    const owned = (kind: string, name: string, labels: JsonObject = {}): JsonObject =>
      podWith({
        name: undefined,
        generateName: 'x-',
        labels,
        ownerReferences: [{ apiVersion: 'apps/v1', kind, name, controller: true }],
      } as JsonObject);
    expect(
      envOf(injectedPod(owned('ReplicaSet', 'cart-5d9', { 'pod-template-hash': '5d9' })), 'ISTIO_META_OWNER'),
    ).toBe('kubernetes://apis/apps/v1/namespaces/shop/deployments/cart');
    expect(envOf(injectedPod(owned('Job', 'tidy-28791450')), 'ISTIO_META_WORKLOAD_NAME')).toBe('tidy');
  });

  it.each([
    [
      { 'pod-template-hash': '5d9', 'rollouts-pod-template-hash': '7f' },
      'cart-5d9',
      'apps/v1/namespaces/shop/deployments/cart',
    ],
    [
      { 'pod-template-hash': '7f', 'rollouts-pod-template-hash': '5d9' },
      'cart-5d9',
      'v1alpha1/namespaces/shop/rollouts/cart',
    ],
    [
      { 'pod-template-hash': '5d9', 'rollouts-pod-template-hash': '5d9' },
      'cart-5d9',
      'apps/v1/namespaces/shop/deployments/cart',
    ],
    [
      { 'pod-template-hash': '', 'rollouts-pod-template-hash': '' },
      'cart-5d9',
      'apps/v1/namespaces/shop/replicasets/cart-5d9',
    ],
    [{ 'pod-template-hash': '5d9' }, 'cart5d9', 'apps/v1/namespaces/shop/deployments/cart5d9'],
  ])('knows the owner of a ReplicaSet by the labels %j', (labels, name, owner) => {
    const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name, controller: true }];
    const pod = podWith({ name: undefined, generateName: 'x-', labels, ownerReferences } as JsonObject);
    expect(envOf(injectedPod(pod), 'ISTIO_META_OWNER')).toBe(`kubernetes://apis/${owner}`);
  });

  it('refuses a pod whose overrides cannot be read', () => {
    const of = (overrides: string) => injection(annotated({ 'proxy.istio.io/overrides': overrides }));
    for (const text of ['{', '[]', '"a"', '{"containers": 1}', '{"initContainers": ["istio-proxy"]}']) {
      expect([text, of(text)]).toMatchObject([
        text,
        { kind: 'refused', message: expect.stringContaining('annotation proxy.istio.io/overrides') },
      ]);
    }
    for (const text of ['{}', 'null', '{"containers": null}', '{"containers": [{"name": "istio-proxy"}]}']) {
      expect([text, of(text)]).toMatchObject([text, { kind: 'injected' }]);
    }
  });

  it.each(['gateway', 'grpc-agent', 'grpc-simple'])('knows the template %s', name => {
    const pod = injectedPod(annotated({ 'inject.istio.io/templates': name }));
    expect(containersOf(pod, 'containers').length).toBeGreaterThan(0);
    expect(listAt(pod, 'spec', 'volumes').length).toBeGreaterThan(0);
  });

  it.each([
    ['1000700000/10000', 1_000_709_999],
    [undefined, 1_000_629_999],
    ['', 1337],
  ])('keeps the user of an OpenShift namespace with groups %s away from the application', (groups, runAsGroup) => {
    const annotations = {
      'openshift.io/sa.scc.uid-range': '1000620000/10000',
      ...(groups === undefined ? {} : { 'openshift.io/sa.scc.supplemental-groups': groups }),
    };
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', annotations } };
    const pod = injectedPod(podWith(), { objects: [namespace], env: { PLATFORM: 'openshift' } });
    expect(proxyOf(pod).securityContext).toMatchObject({ runAsUser: 1_000_629_999, runAsGroup });
  });

  it('answers with a patch that turns the pod into the injected one', () => {
    const pod = podWith({ namespace: 'shop' });
    const result = injection(pod);
    expect(result.kind === 'injected' ? patched(pod, result.patch) : '').toEqual(
      result.kind === 'injected' ? result.pod : undefined,
    );
  });
});

describe('A patch', () => {
  it('turns any value into any other', () => {
    const value = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;
    fc.assert(
      fc.property(value, value, (from, to) => {
        expect(patched(from, jsonPatch(from, to))).toEqual(to);
      }),
    );
  });
});
