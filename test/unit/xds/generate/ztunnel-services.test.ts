// Services that ztunnel is sent. Source of the rules: Istio pilot/pkg/serviceregistry/ambient/services.go.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { service, serviceEntry } from '../../core/registry/fixtures.ts';
import { ambientWorld, namespace, waypoint } from '../../core/select/ambient/fixtures.ts';
import { type WorldPart, world } from '../../world.ts';
import { base64, servicesOf } from './workload-scene.ts';

const WEB = 'default/web.default.svc.cluster.local';
const one = (name: string, ...parts: readonly WorldPart[]): JsonObject | undefined =>
  servicesOf(ambientWorld(parts))[name];

describe('a Service', () => {
  it('has its addresses, and ports with their protocols; a named target is 0', () => {
    const ports = [
      { name: 'http', port: 80, targetPort: 'web' },
      { name: 'tls', port: 443, targetPort: 8443 },
      { name: 'dns', port: 53, targetPort: 53, protocol: 'UDP' },
    ];
    const network = namespace('istio-system', { 'topology.istio.io/network': 'n1' });
    expect(one(WEB, network, service('web', { ports, clusterIPs: ['10.96.0.1', '::1'] }))).toEqual({
      name: 'web',
      namespace: 'default',
      hostname: 'web.default.svc.cluster.local',
      addresses: [
        { network: 'n1', address: base64(10, 96, 0, 1) },
        { network: 'n1', address: base64(...Array<number>(15).fill(0), 1) },
      ],
      ports: [
        { servicePort: 80, appProtocol: 'HTTP11' },
        { servicePort: 443, targetPort: 8443, appProtocol: 'TLS' },
        { servicePort: 53, targetPort: 53 },
      ],
      canonical: true,
    });
  });
  it.each<[string, JsonObject, string | undefined]>([
    ['one family', { ipFamilies: ['IPv6'] }, 'IPV6_ONLY'],
    ['two families', { ipFamilies: ['IPv4', 'IPv6'] }, 'DUAL'],
    ['none', {}, undefined],
  ])('says its address families: %s', (_, spec, expected) => {
    expect(one(WEB, service('web', spec))?.ipFamilies).toBe(expected);
  });
  it.each<[string, JsonObject, unknown]>([
    [
      'traffic that stays on the node',
      { internalTrafficPolicy: 'Local', trafficDistribution: 'PreferClose' },
      { routingPreference: ['NODE'], mode: 'STRICT' },
    ],
    [
      'close endpoints',
      { trafficDistribution: 'PreferClose' },
      { routingPreference: ['NETWORK', 'REGION', 'ZONE'], mode: 'FAILOVER' },
    ],
    ['endpoints that are not ready', { publishNotReadyAddresses: true }, { healthPolicy: 'ALLOW_ALL' }],
    ['any endpoint', {}, undefined],
  ])('prefers %s', (_, spec, expected) => {
    expect(one(WEB, service('web', spec))?.loadBalancing).toEqual(expected);
  });
  it('is not sent if it is another name of a host, or where ambient mode is off', () => {
    expect(one(WEB, service('web', { type: 'ExternalName', externalName: 'a.com' }))).toBeUndefined();
    expect(servicesOf(world([service('web')]))).toEqual({});
  });
  it('names its waypoint, and whether ingress gateways use it', () => {
    const labels = { 'istio.io/use-waypoint': 'w', 'istio.io/ingress-use-waypoint': '1' };
    expect(one(WEB, waypoint('w'), service('web', {}, { labels }))).toMatchObject({
      waypoint: {
        hostname: { namespace: 'default', hostname: 'w.default.svc.cluster.local' },
        hboneMtlsPort: 15008,
      },
      ingressUseWaypoint: true,
    });
  });
});

describe('a ServiceEntry', () => {
  it('is a service for each host, with ranges as their first address', () => {
    const spec = { hosts: ['a.com', 'b.com'], addresses: ['10.1.2.3/8', '10.9.0.1/32'], subjectAltNames: ['san'] };
    const found = servicesOf(ambientWorld([serviceEntry('ext', spec)]));
    expect(Object.keys(found)).toEqual(['default/a.com', 'default/b.com']);
    expect(found['default/a.com']).toMatchObject({
      name: 'ext',
      addresses: [{ address: base64(10, 0, 0, 0), length: 8 }, { address: base64(10, 9, 0, 1) }],
      ports: [{ servicePort: 80, targetPort: 80, appProtocol: 'HTTP11' }],
      subjectAltNames: ['san'],
      canonical: true,
    });
  });
  it('keeps a range of all addresses apart from one address', () => {
    const spec = { hosts: ['a.com'], addresses: ['0.0.0.0/0'], resolution: 'NONE' };
    expect(one('default/a.com', serviceEntry('ext', spec))?.addresses).toEqual([
      { address: base64(0, 0, 0, 0), length: 0 },
    ]);
  });
  it('without resolution passes traffic on to where it was sent', () => {
    const found = one('default/a.com', serviceEntry('ext', { hosts: ['a.com'], resolution: 'NONE' }));
    expect(found?.loadBalancing).toEqual({ mode: 'PASSTHROUGH', healthPolicy: 'ALLOW_ALL' });
  });
});

describe('of several objects with one host', () => {
  const HOST = 'web.default.svc.cluster.local';
  const entry = (name: string, day: number, space = 'default'): JsonObject =>
    serviceEntry(name, { hosts: [HOST] }, { namespace: space, day });
  const canonical = (...parts: readonly WorldPart[]): unknown =>
    Object.entries(servicesOf(ambientWorld(parts))).map(([key, { name, canonical: c }]) => [key, name, c ?? false]);
  it('the Service counts in its namespace, and is canonical', () => {
    expect(canonical(service('web', {}, { day: 9 }), entry('old', 1), entry('other', 1, 'prod'))).toEqual([
      [`default/${HOST}`, 'web', true],
      [`prod/${HOST}`, 'other', false],
    ]);
  });
  it('the oldest ServiceEntry counts in each namespace, and the oldest of all is canonical', () => {
    expect(canonical(entry('new', 3), entry('old', 2), entry('first', 1, 'prod'))).toEqual([
      [`default/${HOST}`, 'old', false],
      [`prod/${HOST}`, 'first', true],
    ]);
  });
});
