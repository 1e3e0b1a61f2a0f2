// Managed Gateways: which are deployed, what users may change, and what is left alone.

import { describe, expect, it } from 'vitest';
import { listAt, objectAt } from '../../../../src/admission/inject/pod.ts';
import { gatewayObjects } from '../../../../src/admission/wishes/gateway-deployments.ts';
import { canonicalQuantity } from '../../../../src/admission/wishes/quantities.ts';
import { allWishes } from '../../../../src/admission/wishes/table.ts';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import type { RawObject } from '../../../../src/core/event.ts';
import { Tracker } from '../../../../src/core/query/tracker.ts';
import { planOf } from '../../../../src/core/wishes/plan.ts';
import type { Wish } from '../../../../src/core/wishes/wish.ts';
import { type Installed, stateWith } from '../inject/world.ts';

const GATEWAY_API = 'gateway.networking.k8s.io/v1';
function gateway(spec: JsonObject = {}, metadata: JsonObject = {}): RawObject {
  const listeners = [{ name: 'http', port: 80, protocol: 'HTTP' }];
  return {
    apiVersion: GATEWAY_API,
    kind: 'Gateway',
    metadata: { name: 'edge', namespace: 'shop', uid: 'u-1', ...metadata },
    spec: { gatewayClassName: 'istio', listeners, ...spec },
  };
}
const configMap = (name: string, data: JsonObject, namespace = 'shop', labels: JsonObject = {}): RawObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace, labels },
  data,
});
const parameters = { infrastructure: { parametersRef: { group: '', kind: 'ConfigMap', name: 'params' } } };

function wishes(objects: readonly RawObject[], installed: Installed = {}): readonly Wish[] {
  const table = new Tracker().get(stateWith({ objects, ...installed }), undefined, allWishes, '');
  return table.wishes.filter(({ gate }) => gate === 'istio-gateway-deployment');
}
const targets = (found: readonly Wish[]): readonly string[] => found.map(({ kind, name }) => `${kind} ${name}`).sort();
const fieldsOf = (found: readonly Wish[], kind: string): JsonObject =>
  found.find(wish => wish.kind === kind)?.fields ?? {};
function refusal(objects: readonly RawObject[]): string {
  const found = new Tracker().get(stateWith({ objects }), undefined, gatewayObjects, 'shop/edge');
  return found._tag === 'Left' ? found.left : '';
}
const ALL = ['Deployment edge-istio', 'Service edge-istio', 'ServiceAccount edge-istio'];

describe('A managed Gateway', () => {
  it('is deployed under the names, labels and field manager of istiod', () => {
    const found = wishes([gateway()]);
    expect(targets(found)).toEqual(ALL);
    expect(new Set(found.map(({ manager, verb }) => `${manager} ${verb}`))).toEqual(
      new Set(['istio.io/gateway-controller apply']),
    );
    expect(objectAt(fieldsOf(found, 'Service'), 'metadata')).toEqual({
      annotations: {},
      labels: {
        'gateway.networking.k8s.io/gateway-name': 'edge',
        'gateway.networking.k8s.io/gateway-class-name': 'istio',
        'gateway.istio.io/managed': 'istio.io-gateway-controller',
      },
      ownerReferences: [{ apiVersion: GATEWAY_API, kind: 'Gateway', name: 'edge', uid: 'u-1' }],
    });
    expect(listAt(fieldsOf(found, 'Service'), 'spec', 'ports').map(({ name, port }) => `${name} ${port}`)).toEqual([
      'status-port 15021',
      'http 80',
    ]);
  });

  it('takes names, service type and address from the Gateway', () => {
    const annotations = { 'gateway.istio.io/name-override': 'door', 'gateway.istio.io/service-account': 'guard' };
    const found = wishes([gateway({ addresses: [{ type: 'IPAddress', value: '10.1.1.1' }] }, { annotations })]);
    expect(targets(found)).toEqual(['Deployment door', 'Service door', 'ServiceAccount guard']);
    expect(fieldsOf(found, 'Service').spec).toMatchObject({ type: 'LoadBalancer', loadBalancerIP: '10.1.1.1' });
    const internal = wishes([gateway({}, { annotations: { 'networking.istio.io/service-type': 'ClusterIP' } })]);
    expect(fieldsOf(internal, 'Service').spec).toMatchObject({ type: 'ClusterIP' });
  });

  it('hands on the labels and annotations of its infrastructure, else its own', () => {
    const own = { labels: { team: 'a' }, annotations: { 'example.com/x': '1' } };
    expect(objectAt(fieldsOf(wishes([gateway({}, own)]), 'Deployment'), 'metadata')).toMatchObject(own);
    const asked = { infrastructure: { labels: { tier: 'web' }, annotations: { 'example.com/y': '2' } } };
    const { labels, annotations } = objectAt(fieldsOf(wishes([gateway(asked, own)]), 'Deployment'), 'metadata');
    expect([labels, annotations]).toMatchObject([{ tier: 'web' }, { 'example.com/y': '2' }]);
    expect(labels).not.toHaveProperty('team');
  });

  it.each([
    ['names a host as its address', gateway({ addresses: [{ type: 'Hostname', value: 'own.shop' }] })],
    ['is of another class', gateway({ gatewayClassName: 'other' })],
    ['is of another revision', gateway({}, { labels: { 'istio.io/rev': 'canary' } })],
    ['is managed by a later controller', gateway({}, { annotations: { 'gateway.istio.io/controller-version': '6' } })],
  ])('is not deployed if it %s', (_, object) => {
    expect(wishes([object])).toEqual([]);
  });

  it('is deployed by the revision that its tag names', () => {
    const tag = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingWebhookConfiguration',
      metadata: { name: 'istio-revision-tag-prod', labels: { 'istio.io/rev': 'canary', 'istio.io/tag': 'prod' } },
      webhooks: [],
    };
    const objects = [gateway({}, { labels: { 'istio.io/rev': 'prod' } }), tag];
    expect(wishes(objects, { revision: 'canary' })).toHaveLength(3);
    expect(wishes(objects, { revision: 'stable' })).toEqual([]);
  });

  it('is not deployed at all with the controller switched off', () => {
    expect(wishes([gateway()], { env: { PILOT_ENABLE_GATEWAY_API_DEPLOYMENT_CONTROLLER: 'false' } })).toEqual([]);
  });

  it.each([
    ['auto', 'true'],
    ['true', 'true'],
    ['1', 'false'],
  ])('tells its template with the flag %s whether native sidecars are used: %s', (flag, expected) => {
    const lines = ['apiVersion: apps/v1', 'kind: Deployment', 'metadata:', '  name: edge-istio', '  namespace: shop'];
    const template = [...lines, 'spec: {paused: {{ .NativeSidecars }}}'].map(line => `    ${line}`).join('\n');
    const config = `policy: enabled\ntemplates:\n  kube-gateway: |\n${template}`;
    const injector = configMap('istio-sidecar-injector', { config, values: '{}' }, 'istio-system');
    const found = wishes([gateway(), injector], { env: { ENABLE_NATIVE_SIDECARS: flag } });
    expect(fieldsOf(found, 'Deployment')).toMatchObject({ spec: { paused: expected === 'true' } });
  });

  it('leaves an object alone that is not labelled as managed', () => {
    const service = (labels: JsonObject): RawObject => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'edge-istio', namespace: 'shop', labels },
      spec: {},
    });
    expect(targets(wishes([gateway(), service({})]))).toEqual([ALL[0], ALL[2]]);
    expect(targets(wishes([gateway(), service({ 'gateway.istio.io/managed': 'x' })]))).toEqual(ALL);
  });

  it('is changed by the class defaults and then by its parameters', () => {
    const ofClass = configMap(
      'defaults',
      { deployment: 'spec: {replicas: 2, minReadySeconds: 5}', horizontalPodAutoscaler: 'spec: {maxReplicas: 9}' },
      'istio-system',
      { 'gateway.istio.io/defaults-for-class': 'istio' },
    );
    const own = configMap('params', {
      deployment: 'spec: {replicas: 3}',
      podDisruptionBudget: 'spec: {minAvailable: 1}',
    });
    const found = wishes([gateway(parameters), ofClass, own]);
    expect(targets(found)).toEqual([
      ALL[0],
      'HorizontalPodAutoscaler edge-istio',
      'PodDisruptionBudget edge-istio',
      ALL[1],
      ALL[2],
    ]);
    expect(fieldsOf(found, 'Deployment').spec).toMatchObject({ replicas: 3, minReadySeconds: 5 });
    expect(fieldsOf(found, 'HorizontalPodAutoscaler').spec).toMatchObject({ maxReplicas: 9 });
  });

  it.each([
    ['parameters that are not there', [], 'ConfigMap shop/params of parametersRef does not exist'],
    ['an unknown key', [configMap('params', { pod: '{}' })], 'unsupported overlay pod; expected one of deployment'],
    ['a change of its name', [configMap('params', { service: 'metadata: {name: x}' })], 'illegal metadata change'],
    [
      'a change of its owner',
      [configMap('params', { service: 'metadata: {ownerReferences: [{uid: x}]}' })],
      'illegal metadata change',
    ],
    ['a patch that is no YAML', [configMap('params', { service: '{' })], 'overlay service: '],
  ])('is not deployed at all with %s', (_, more, why) => {
    const objects = [gateway(parameters), ...more];
    expect(wishes(objects)).toEqual([]);
    expect(refusal(objects)).toContain(why);
  });

  it('is at rest once the API server has stored it with its defaults', () => {
    for (const wish of wishes([gateway()])) {
      const stored = {
        ...wish.fields,
        metadata: { name: wish.name, namespace: wish.namespace, ...objectAt(wish.fields, 'metadata'), uid: 'x' },
      };
      const filled = JSON.parse(
        JSON.stringify(stored).replaceAll('"fieldPath":', '"apiVersion":"v1","fieldPath":'),
      ) as JsonObject;
      expect(planOf(wish, filled, 'v1', wish.kind)).toEqual({ kind: 'none', why: 'fulfilled' });
    }
  });
});

describe('A quantity', () => {
  it.each([
    ['2000m', '2'],
    ['1024Mi', '1Gi'],
    ['100m', '100m'],
    ['0.5', '500m'],
    ['1.5Gi', '1.5Gi'],
    ['1000', '1k'],
    ['0', '0'],
    ['nonsense', 'nonsense'],
  ])('%s is stored as %s', (text, stored) => {
    expect(canonicalQuantity(text)).toBe(stored);
  });
});
