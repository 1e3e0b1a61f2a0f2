// Pods as workloads of ztunnel, and what they share with workloads of other kinds.
// Source of the rules: Istio pilot/pkg/serviceregistry/ambient/workloads.go (podWorkloadBuilder, computeWaypoint,
// matchingServicesWithoutSelectors, constructServices), nodes.go.

import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../../../../src/core/base/json.ts';
import { Tracker } from '../../../../../src/core/query/tracker.ts';
import { podAmbientWorkload } from '../../../../../src/core/select/ambient/pod-workload.ts';
import { tunnelOf } from '../../../../../src/core/select/ambient/tunnel.ts';
import type { AmbientWorkload } from '../../../../../src/core/select/ambient/workload.ts';
import { ask, inCluster, nodeOf, proxyOf, type WorldPart } from '../../../world.ts';
import { type Meta, pod, service, serviceEntry, slice } from '../../registry/fixtures.ts';
import { ambientWorld, namespace, waypoint } from './fixtures.ts';

interface Options {
  readonly env?: Readonly<Record<string, string>>;
  readonly mesh?: Json;
}

const web = { labels: { app: 'web' } };
const workload = (parts: readonly WorldPart[], { env, mesh }: Options = {}): AmbientWorkload | undefined =>
  ask(ambientWorld(parts, env, mesh), podAmbientWorkload, 'default/p');
/** Name of each service → its ports. */
const services = (parts: readonly WorldPart[], options?: Options): unknown =>
  Object.fromEntries((workload(parts, options)?.services ?? []).map(({ name, ports }) => [name, ports]));
const withPorts = (ports: readonly JsonObject[], meta: Meta = web): JsonObject => {
  const made = pod('p', '10.0.0.1', meta);
  return { ...made, spec: { ...(made.spec as JsonObject), containers: [{ name: 'c', ports }] } };
};
const selecting = (spec: JsonObject = {}): JsonObject =>
  serviceEntry('ext', { hosts: ['a.com'], workloadSelector: { labels: { app: 'web' } }, ...spec });
const WEB = 'default/web.default.svc.cluster.local';

describe('a pod', () => {
  it('is no workload if it does not exist, or is of another cluster', () => {
    expect(workload([])).toBeUndefined();
    expect(workload([inCluster('remote', pod('p', '10.0.0.1'))])).toBeUndefined();
  });
  it('has all of its addresses', () => {
    const made = pod('p', '10.0.0.1');
    const status = { ...(made.status as JsonObject), podIPs: [{ ip: '10.0.0.1' }, { ip: '2001:db8::1' }] };
    expect(workload([{ ...made, status }])?.addresses).toEqual(['10.0.0.1', '2001:db8::1']);
  });
  it.each<[string, string | undefined, string]>([
    ['the usual trust domain', undefined, ''],
    ['another trust domain', 'td1', 'td1'],
  ])('says %s of the mesh: %s', (_, trustDomain, expected) => {
    const options = trustDomain === undefined ? {} : { mesh: { trustDomain } };
    expect(workload([pod('p', '10.0.0.1')], options)?.trustDomain).toBe(expected);
  });
});

describe('the locality of a pod is', () => {
  const onNode = (labels: JsonObject, meta: Meta = {}): string | undefined =>
    workload([
      pod('p', '10.0.0.1', { ...meta, node: 'n' }),
      { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', labels } },
    ])?.locality;
  it('region, zone and subzone of its node', () => {
    const labels = {
      'topology.kubernetes.io/region': 'r',
      'topology.kubernetes.io/zone': 'z',
      'topology.istio.io/subzone': 's',
    };
    expect(onNode(labels)).toBe('r/z/s');
  });
  it('the zone alone where the node has no region', () => {
    expect(onNode({ 'topology.kubernetes.io/zone': 'z' })).toBe('/z/');
  });
  it('unknown where the node has no such labels or is not there, whatever those of the pod', () => {
    expect(onNode({}, { labels: { 'topology.istio.io/locality': 'r.z.s' } })).toBe('');
    expect(workload([pod('p', '10.0.0.1', { node: 'gone' })])?.locality).toBe('');
  });
});

describe('a pod is behind', () => {
  const HTTP = [[80, 8080]];
  it('the Services of its namespace that select it', () => {
    const others = [service('db'), service('web', {}, { namespace: 'other' })];
    expect(services([pod('p', '10.0.0.1', web), service('web'), ...others])).toEqual({ [WEB]: HTTP });
  });
  it('the ServiceEntries that select it, unless the flag is off', () => {
    const parts = [pod('p', '10.0.0.1', web), service('web'), selecting()];
    expect(services(parts)).toEqual({ [WEB]: HTTP, 'default/a.com': [[80, 80]] });
    expect(services(parts, { env: { PILOT_ENABLE_SERVICEENTRY_SELECT_PODS: 'false' } })).toEqual({ [WEB]: HTTP });
  });

  const bare = service('bare', { selector: {} });
  const BARE = { 'default/bare.default.svc.cluster.local': HTTP };
  const named = (of: string, labels?: Readonly<Record<string, string>>): JsonObject => {
    const made = slice(of, [{ ip: '10.0.0.1', pod: 'p' }]);
    return labels === undefined ? made : { ...made, metadata: { ...(made.metadata as JsonObject), labels } };
  };
  it('a Service without a selector whose slice names it', () => {
    expect(services([pod('p', '10.0.0.1'), bare, named('bare')])).toEqual(BARE);
  });
  it('no Service whose slice names a pod of another name, or only its address', () => {
    expect(services([pod('p', '10.0.0.1'), bare, slice('bare', [{ ip: '10.0.0.1', pod: 'q' }])])).toEqual({});
    expect(services([pod('p', '10.0.0.1'), bare, slice('bare', [{ ip: '10.0.0.1' }])])).toEqual({});
  });
  it('no Service by a slice of another cluster', () => {
    expect(services([pod('p', '10.0.0.1'), bare, inCluster('remote', named('bare'))])).toEqual({});
  });
  it('no Service by a slice that names none', () => {
    expect(services([pod('p', '10.0.0.1'), service('undefined', { selector: {} }), named('bare', {})])).toEqual({});
  });
  it('no Service by a slice whose addresses are names', () => {
    expect(services([pod('p', '10.0.0.1'), bare, { ...named('bare'), addressType: 'FQDN' }])).toEqual({});
  });
  it('no ServiceEntry that has the host of the Service which a slice names', () => {
    const entry = serviceEntry('e', { hosts: ['bare.default.svc.cluster.local'] });
    expect(services([pod('p', '10.0.0.1'), entry, named('bare')])).toEqual({});
  });
});

describe('a port of a service leads to', () => {
  const ports = (list: readonly JsonObject[], containers: readonly JsonObject[]): unknown =>
    services([withPorts(containers), service('web', { ports: list })]);
  const entryPort = (spec: JsonObject, containers: readonly JsonObject[]): unknown =>
    services([withPorts(containers), selecting({ ports: [{ number: 80, name: 'http', protocol: 'HTTP', ...spec }] })]);
  const http = { name: 'http', containerPort: 9000 };
  const udp = { ...http, protocol: 'UDP' };

  it('the number that a Service gives, whatever port of the pod has its name', () => {
    expect(ports([{ name: 'http', port: 80, targetPort: 8080 }], [http])).toEqual({ [WEB]: [[80, 8080]] });
  });
  it('the TCP port of the pod that a Service names, or is left out', () => {
    const target = [{ name: 'a', port: 80, targetPort: 'http' }];
    expect(ports(target, [http])).toEqual({ [WEB]: [[80, 9000]] });
    expect(ports(target, [udp])).toEqual({ [WEB]: [] });
  });
  it('the TCP port of the pod that has the name of the port of a ServiceEntry', () => {
    expect(entryPort({ targetPort: 8080 }, [http])).toEqual({ 'default/a.com': [[80, 9000]] });
  });
  it('the number that a ServiceEntry gives if the pod has no TCP port of that name', () => {
    expect(entryPort({ targetPort: 8080 }, [udp])).toEqual({ 'default/a.com': [[80, 8080]] });
    expect(entryPort({}, [])).toEqual({ 'default/a.com': [[80, 80]] });
  });
});

describe('the waypoint of a pod', () => {
  const use = { labels: { 'istio.io/use-waypoint': 'w' } };
  const is = (trafficType: string): unknown =>
    workload([waypoint('w', { labels: { 'istio.io/waypoint-for': trafficType } }), pod('p', '10.0.0.1', use)])
      ?.waypoint;
  const HOST = { namespace: 'default', hostname: 'w.default.svc.cluster.local' };
  it('is one for workloads or for all', () => {
    expect(is('workload')).toEqual(HOST);
    expect(is('all')).toEqual(HOST);
  });
  it('is none that is for services, or for nothing', () => {
    expect(is('service')).toBeUndefined();
    expect(is('none')).toBeUndefined();
  });
  it('may call the pod, as those of its services may', () => {
    const instance = (of: string, ip: string): JsonObject =>
      pod(`${of}-1`, ip, { labels: { 'gateway.networking.k8s.io/gateway-name': of } });
    const parts = [
      namespace('default'),
      waypoint('w', { labels: { 'istio.io/waypoint-for': 'all' } }),
      instance('w', '10.0.0.8'),
      waypoint('of-service'),
      instance('of-service', '10.0.0.9'),
      service('web', {}, { labels: { 'istio.io/use-waypoint': 'of-service' } }),
      pod('p', '10.0.0.1', { labels: { ...use.labels, app: 'web' } }),
    ];
    expect(workload(parts, { env: { PILOT_AUTO_ALLOW_WAYPOINT_POLICY: 'true' } })?.authorizationPolicies).toEqual([
      'default/istio_allow_waypoint_default_of-service',
      'default/istio_allow_waypoint_default_w',
    ]);
  });
});

describe('the services of pods with equal labels and named ports', () => {
  const named = (name: string, ip: string, port: number): JsonObject => ({
    ...pod(name, ip, web),
    spec: { containers: [{ name: 'c', ports: [{ name: 'http', containerPort: port, protocol: 'TCP' }] }] },
  });
  it('are one list for all of them, so that it costs the sum of pods and services', () => {
    const selectedBy = (name: string): JsonObject =>
      service(name, { selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 'http' }] });
    const numbers = Array.from({ length: 10 }, (_, i) => i);
    const state = ambientWorld([
      ...numbers.map(i => selectedBy(`s${i}`)),
      ...numbers.map(i => named(`p${i}`, `10.0.0.${i}`, 8080)),
      named('other', '10.0.1.1', 9090),
    ]);
    const tracker = new Tracker();
    const servicesOf = (name: string): AmbientWorkload['services'] | undefined =>
      tracker.get(state, proxyOf(nodeOf()), podAmbientWorkload, `default/${name}`)?.services;
    const lists = new Set(numbers.map(i => servicesOf(`p${i}`)));
    expect(lists.size).toBe(1);
    expect([...lists][0]?.map(({ ports }) => ports)).toEqual(numbers.map(() => [[80, 8080]]));
    expect(servicesOf('other')?.map(({ ports }) => ports)).toEqual(numbers.map(() => [[80, 9090]]));
  });
});

describe('a workload takes HBONE', () => {
  const captured = { 'ambient.istio.io/redirection': 'enabled' };
  it.each<[string, Readonly<Record<string, string>>, Readonly<Record<string, string>>, string]>([
    ['by its node if it is captured', {}, captured, 'HBONE'],
    ['by itself if its label lists HTTP tunnels', { 'networking.istio.io/tunnel': 'other,http' }, captured, 'native'],
    ['by its node if its label lists other tunnels', { 'networking.istio.io/tunnel': 'https' }, captured, 'HBONE'],
    ['not at all if it is not captured and has no such label', {}, {}, 'NONE'],
  ])('%s', (_, labels, annotations, expected) => {
    expect(tunnelOf(labels, annotations)).toBe(expected);
  });
});
