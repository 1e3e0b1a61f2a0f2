// Workloads that ztunnel is sent. Source of the rules: Istio pilot/pkg/serviceregistry/ambient/workloads.go.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import {
  node,
  peerAuthentication,
  pod,
  service,
  serviceEntry,
  slice,
  workloadEntry,
} from '../../core/registry/fixtures.ts';
import { ambientWorld, namespace, waypoint } from '../../core/select/ambient/fixtures.ts';
import { type WorldPart, world } from '../../world.ts';
import { base64, workloadsOf } from './workload-scene.ts';

const POD = 'Kubernetes//Pod/default/p';
const one = (name: string, ...parts: readonly WorldPart[]): JsonObject | undefined =>
  workloadsOf(ambientWorld(parts))[name];
const app = { labels: { app: 'web' } };
const withSpec = (object: JsonObject, spec: JsonObject): JsonObject => ({
  ...object,
  spec: { ...(object.spec as JsonObject), ...spec },
});
const withStatus = (object: JsonObject, status: JsonObject): JsonObject => ({
  ...object,
  status: { ...(object.status as JsonObject), ...status },
});

describe('a pod', () => {
  it('has its identity, place, services and ports', () => {
    const ports = [
      { name: 'http', port: 80, targetPort: 'web' },
      { name: 'gone', port: 81, targetPort: 'nowhere' },
      { name: 'tcp', port: 82, targetPort: 9000 },
    ];
    const found = one(
      POD,
      node('n', 'r', 'z'),
      pod('p', '10.0.0.1', {
        ...app,
        annotations: { 'ambient.istio.io/redirection': 'enabled' },
        node: 'n',
        account: 'sa',
      }),
      service('web', { ports }),
    );
    expect(found).toEqual({
      uid: POD,
      name: 'p',
      namespace: 'default',
      addresses: [base64(10, 0, 0, 1)],
      tunnelProtocol: 'HBONE',
      serviceAccount: 'sa',
      node: 'n',
      canonicalName: 'web',
      canonicalRevision: 'latest',
      workloadType: 'POD',
      workloadName: 'p',
      services: {
        'default/web.default.svc.cluster.local': {
          ports: [
            { servicePort: 80, targetPort: 8080 },
            { servicePort: 82, targetPort: 9000 },
          ],
        },
      },
      clusterId: 'Kubernetes',
      locality: { region: 'r', zone: 'z' },
    });
  });
  it('is not sent once it has ended or without an address, and is while it starts', () => {
    const states = [{ phase: 'Succeeded' }, { phase: 'Failed' }, { podIP: '', podIPs: [] }, { phase: 'Pending' }];
    const sent = states.map(status => one(POD, withStatus(pod('p', '10.0.0.1'), status)) !== undefined);
    expect(sent).toEqual([false, false, false, true]);
  });
  it('is unhealthy while it is not ready or is being deleted', () => {
    const leaving = pod('p', '10.0.0.1');
    const metadata = { ...(leaving.metadata as JsonObject), deletionTimestamp: '2026-01-02T00:00:00Z' };
    const states = [pod('p', '10.0.0.1'), pod('p', '10.0.0.1', { ready: false }), { ...leaving, metadata }];
    expect(states.map(state => one(POD, state)?.status)).toEqual([undefined, 'UNHEALTHY', 'UNHEALTHY']);
  });
  it.each<[string, JsonObject]>([
    ['enabled', { tunnelProtocol: 'HBONE' }],
    ['pending', {}],
  ])('is captured if the annotation says %s', (redirection, expected) => {
    const found = one(POD, pod('p', '10.0.0.1', { annotations: { 'ambient.istio.io/redirection': redirection } }));
    expect(found?.tunnelProtocol).toBe(expected.tunnelProtocol);
  });
  it('that speaks HBONE itself, in the network of its node, says both', () => {
    const labels = { 'networking.istio.io/tunnel': 'http' };
    expect(one(POD, withSpec(pod('p', '10.0.0.1', { labels }), { hostNetwork: true }))).toMatchObject({
      tunnelProtocol: 'HBONE',
      nativeTunnel: true,
      networkMode: 'HOST_NETWORK',
    });
  });
  it('is behind a Service without a selector whose slice names it', () => {
    const found = one(
      POD,
      pod('p', '10.0.0.1'),
      service('bare', { selector: {} }),
      slice('bare', [{ ip: '10.0.0.1', pod: 'p' }]),
    );
    expect(Object.keys(found?.services as JsonObject)).toEqual(['default/bare.default.svc.cluster.local']);
  });
  it('of a waypoint has no waypoint and says how traffic enters', () => {
    const annotations = { 'ambient.istio.io/waypoint-inbound-binding': 'PROXY/15088' };
    const labels = { 'istio.io/waypoint-for': 'all' };
    const parts = [
      namespace('default', { 'istio.io/use-waypoint': 'w' }),
      waypoint('w', { annotations, labels }),
      pod('p', '10.0.0.1', { labels: { 'gateway.networking.k8s.io/gateway-name': 'w' } }),
      pod('q', '10.0.0.2'),
    ];
    const found = workloadsOf(ambientWorld(parts));
    expect(found[POD]?.waypoint).toBeUndefined();
    expect(found[POD]?.applicationTunnel).toEqual({ protocol: 'PROXY', port: 15088 });
    expect(found['Kubernetes//Pod/default/q']?.waypoint).toBeDefined();
  });
});

describe('a WorkloadEntry', () => {
  const NAME = 'Kubernetes/networking.istio.io/WorkloadEntry/default/vm';
  it('has its own network, locality and weight, and its ports', () => {
    const spec = {
      address: '10.2.0.1',
      network: 'n2',
      locality: 'r/z',
      weight: 3,
      labels: { app: 'web' },
      ports: { http: 9090 },
    };
    expect(one(NAME, workloadEntry('vm', spec), service('web'))).toMatchObject({
      network: 'n2',
      locality: { region: 'r', zone: 'z' },
      capacity: 3,
      workloadName: 'vm',
      services: { 'default/web.default.svc.cluster.local': { ports: [{ servicePort: 80, targetPort: 9090 }] } },
    });
  });
  it('with a name in place of an address has a host', () => {
    expect(one(NAME, workloadEntry('vm', { address: 'vm.example' }))).toMatchObject({ hostname: 'vm.example' });
  });
});

describe('an endpoint of a ServiceEntry', () => {
  const PREFIX = 'Kubernetes/networking.istio.io/ServiceEntry/default/ext';
  it('is a workload with the labels of the ServiceEntry', () => {
    const spec = { hosts: ['a.com'], endpoints: [{ address: '1.1.1.1', network: 'n' }, { address: '2.2.2.2' }] };
    const found = workloadsOf(ambientWorld([serviceEntry('ext', spec, { labels: { app: 'entry' } })]));
    expect(Object.keys(found)).toEqual([`${PREFIX}/1.1.1.1`, `${PREFIX}/2.2.2.2`]);
    expect(found[`${PREFIX}/2.2.2.2`]).toMatchObject({ canonicalName: 'entry', workloadName: 'ext', network: 'n' });
  });
  it('stands for each host that is resolved', () => {
    const spec = { hosts: ['a.com', 'b.com'], resolution: 'DNS' };
    const found = one(`${PREFIX}/b.com`, serviceEntry('ext', spec));
    expect(found?.hostname).toBe('b.com');
    expect(Object.keys(found?.services as JsonObject)).toEqual(['default/b.com']);
  });
  it('is gone where the ServiceEntry has lost its host to another', () => {
    const spec = { hosts: ['a.com'], endpoints: [{ address: '1.1.1.1' }] };
    const older = serviceEntry('older', { hosts: ['a.com'] }, { day: 1 });
    expect(one(`${PREFIX}/1.1.1.1`, older, serviceEntry('ext', spec, { day: 2 }))).toBeUndefined();
  });
});

it('an endpoint of a slice that is no pod is a workload of which little is known', () => {
  const name = 'Kubernetes/discovery.k8s.io/EndpointSlice/default/web-slice/10.3.0.1';
  const parts = [service('web', { selector: {} }), slice('web', [{ ip: '10.3.0.1', ready: false }])];
  expect(one(name, ...parts)).toEqual({
    uid: name,
    name: 'web-slice',
    namespace: 'default',
    addresses: [base64(10, 3, 0, 1)],
    services: { 'default/web.default.svc.cluster.local': { ports: [{ servicePort: 80, targetPort: 8080 }] } },
    status: 'UNHEALTHY',
    clusterId: 'Kubernetes',
    networkMode: 'HOST_NETWORK',
  });
});

it('an annotation names the account of a gateway of another network unless it is empty', () => {
  const accounts = ['own', ''].map(account => {
    const gateway = waypoint('far', {
      gatewayClass: 'istio-remote',
      labels: { 'topology.istio.io/network': 'n2' },
      annotations: { 'gateway.istio.io/service-account': account },
      addresses: [{ type: 'IPAddress', value: '9.9.9.9' }],
    });
    return one('NetworkGateway/n2/9.9.9.9/15008', gateway)?.serviceAccount;
  });
  expect(accounts).toEqual(['own', 'far-istio-remote']);
});

it('without ambient mode there are none of any kind', () => {
  const gateway = waypoint('far', {
    gatewayClass: 'istio-remote',
    labels: { 'topology.istio.io/network': 'n2' },
    addresses: [{ type: 'IPAddress', value: '9.9.9.9' }],
  });
  const parts = [gateway, pod('p', '10.0.0.1'), workloadEntry('vm', { address: '10.2.0.1' })];
  expect(Object.keys(workloadsOf(ambientWorld(parts))).length).toBe(3);
  expect(workloadsOf(world(parts))).toEqual({});
});

it('a gateway of another network is a workload, and the way to what is there', () => {
  const listeners = [{ name: 'mesh', port: 15008, protocol: 'HBONE' }];
  const gateway = waypoint('far', {
    gatewayClass: 'istio-remote',
    labels: { 'topology.istio.io/network': 'n2' },
    listeners,
    addresses: [{ type: 'IPAddress', value: '9.9.9.9' }],
  });
  const found = workloadsOf(ambientWorld([gateway, workloadEntry('vm', { network: 'n2' })]));
  expect(found['NetworkGateway/n2/9.9.9.9/15008']).toMatchObject({ serviceAccount: 'far-istio-remote', network: 'n2' });
  expect(found['Kubernetes/networking.istio.io/WorkloadEntry/default/vm']?.networkGateway).toEqual({
    address: { network: 'n2', address: base64(9, 9, 9, 9) },
    hboneMtlsPort: 15008,
  });
});

const policy = (name: string, space: string, spec: JsonObject): JsonObject => ({
  apiVersion: 'security.istio.io/v1',
  kind: 'AuthorizationPolicy',
  metadata: { name, namespace: space },
  spec,
});

it('lists a policy that selects by an empty list of labels, and none whose selector has no list', () => {
  const found = one(
    POD,
    pod('p', '10.0.0.1', app),
    policy('empty', 'default', { selector: { matchLabels: {} }, action: 'DENY', rules: [{}] }),
    policy('none', 'default', { selector: {} }),
  );
  expect(found?.authorizationPolicies).toEqual(['default/empty']);
});

it('lists the policies that select it, then what its modes give', () => {
  const selector = { matchLabels: { app: 'web' } };
  const found = one(
    POD,
    pod('p', '10.0.0.1', app),
    policy('own', 'default', { selector }),
    policy('audit', 'default', { selector, action: 'AUDIT' }),
    policy('all', 'default', {}),
    policy('root', 'istio-system', { selector }),
    policy('other', 'prod', { selector }),
    peerAuthentication('strict', { mtls: { mode: 'STRICT' } }),
  );
  expect(found?.authorizationPolicies).toEqual([
    'default/own',
    'istio-system/root',
    'istio-system/istio_converted_static_strict',
  ]);
});
