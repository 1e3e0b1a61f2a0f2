// ISTIO-SECURITY-2026-002: with the guard, nothing routes for a host of another namespace inside the mesh.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { defaultSettings } from '../../../../../src/core/mesh/settings.ts';
import { virtualServicesFor } from '../../../../../src/core/select/scope/virtual-services.ts';
import { findingsOf } from '../../../../../src/offline/findings.ts';
import { configIn } from '../../../../../src/offline/held.ts';
import { ask, world } from '../../../world.ts';

const ON = { PERIPLUS_GUARD_VIRTUAL_SERVICE_HOSTS: 'true' };
const ALPHA = { PILOT_ENABLE_ALPHA_GATEWAY_API: 'true' };
const CLIENT: JsonObject = {
  id: 'sidecar~10.1.0.9~client.shop~shop.svc.cluster.local',
  metadata: { NAMESPACE: 'shop', INSTANCE_IPS: '10.1.0.9' },
};

const service = (name: string, namespace: string, ip: string): string => `
apiVersion: v1
kind: Service
metadata: {name: ${name}, namespace: ${namespace}}
spec: {clusterIP: ${ip}, ports: [{name: http, port: 80}, {name: tcp, port: 5432}, {name: tls, port: 8443}]}
---`;
const entry = (namespace: string, host: string, year: number): string => `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: entry, namespace: ${namespace}, creationTimestamp: '${year}-01-01T00:00:00Z'}
spec: {hosts: ['${host}'], ports: [{number: 80, name: http, protocol: HTTP}, {number: 5432, name: tcp, protocol: TCP}], resolution: DNS}
---`;
const services = `${service('pay', 'bank', '10.96.0.1')}${service('thief', 'evil', '10.96.0.2')}`;
const entries = `${entry('bank', 'api.example.com', 2020)}${entry('evil', 'own.example.org', 2020)}`;

const takeover = (host: string, more = ''): string => `${services}${entries}
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: take, namespace: evil}
spec:
  hosts: ['${host}']
  ${more}
  http:
    - match: [{uri: {prefix: /taken}}]
      route: [{destination: {host: thief.evil.svc.cluster.local}}]
`;

/** A route of the Gateway API, of another namespace than its parent. */
const route = (kind: string, parent: string): string => `${services}${entries}
apiVersion: gateway.networking.k8s.io/v1alpha2
kind: ${kind}
metadata: {name: take, namespace: evil}
spec:
  parentRefs: [${parent}]
  ${kind === 'TLSRoute' ? "hostnames: ['pay.bank.svc.cluster.local']" : ''}
  rules: [{backendRefs: [{name: thief, port: 5432}]}]
`;
const PAY = "{group: '', kind: Service, name: pay, namespace: bank, port: 5432}";
const API = '{group: networking.istio.io, kind: ServiceEntry, name: entry, namespace: bank}';

const heldText = (env: Record<string, string>, files: string): string => {
  const { routes, listeners } = configIn({ files: { 'mesh.yaml': files }, env }, CLIENT);
  return JSON.stringify([routes, listeners]);
};
const isTaken = (env: Record<string, string>, files: string): boolean => heldText(env, files).includes('/taken');
const found = (env: Record<string, string>, files: string, mesh: JsonObject = {}): readonly string[] =>
  findingsOf(world([files], { mesh, settings: { ...defaultSettings, env } }))
    .filter(({ code }) => code === 'guarded')
    .map(({ object, path }) => `${object} ${path}`);

describe('with the guard (ISTIO-SECURITY-2026-002)', () => {
  it.each([
    'pay.bank.svc.cluster.local',
    '*.svc.cluster.local',
    '*.bank.svc.cluster.local',
    '*.cluster.local',
    '*.local',
    'api.example.com',
    '*.example.com',
  ])('a VirtualService does not route %s, which is of another namespace, and is named', host => {
    expect(isTaken({}, takeover(host))).toBe(true);
    expect(isTaken(ON, takeover(host))).toBe(false);
    expect(found(ON, takeover(host))).toEqual(['VirtualService/evil/take spec.hosts']);
    expect(found({}, takeover(host))).toEqual([]);
  });

  it.each(['thief.evil.svc.cluster.local', 'own.example.org', '*.evil.svc.cluster.local'])(
    'a VirtualService routes %s of its own namespace',
    host => {
      expect(isTaken(ON, takeover(host))).toBe(true);
      expect(found(ON, takeover(host))).toEqual([]);
    },
  );

  it('a VirtualService does not route a host that a wildcard of another namespace covers', () => {
    const wide = `${entry('bank', '*.example.net', 2020).replace('name: entry', 'name: wide').replace('DNS', 'NONE')}`;
    expect(isTaken(ON, wide + takeover('api.example.net'))).toBe(false);
    expect(isTaken(ON, wide + takeover('example.net'))).toBe(true);
  });

  it('of two ServiceEntries of a host the older says whose it is', () => {
    const later = `${entry('evil', 'api.example.com', 2021).replace('name: entry', 'name: later')}`;
    const sooner = later.replace('2021', '2019');
    expect(isTaken(ON, later + takeover('api.example.com'))).toBe(false);
    expect(isTaken(ON, sooner + takeover('api.example.com'))).toBe(true);
  });

  it('a VirtualService with such a host goes on routing at the gateways that it names', () => {
    const gateways = (env: Record<string, string>, gatewaysOfIt: string) => {
      const state = world([takeover('api.example.com', `gateways: [${gatewaysOfIt}]`)], {
        settings: { ...defaultSettings, env },
      });
      return ['mesh', 'evil/gw'].filter(
        gateway => ask(state, virtualServicesFor, { namespace: 'shop', gateway }).length > 0,
      );
    };
    expect(gateways({}, 'gw, mesh')).toEqual(['mesh', 'evil/gw']);
    expect(gateways(ON, 'gw, mesh')).toEqual(['evil/gw']);
    expect(gateways(ON, 'gw')).toEqual(['evil/gw']);
    expect(gateways(ON, 'mesh')).toEqual([]);
    expect(found(ON, takeover('api.example.com', 'gateways: [gw]'))).toEqual([]);
  });

  it('a VirtualService that its own namespace alone sees routes what it likes: it takes nothing from others', () => {
    expect(found(ON, takeover('pay.bank.svc.cluster.local', "exportTo: ['.']"))).toEqual([]);
    expect(found(ON, takeover('pay.bank.svc.cluster.local', 'exportTo: [evil]'))).toEqual([]);
    expect(found(ON, takeover('pay.bank.svc.cluster.local'), { defaultVirtualServiceExportTo: ['.'] })).toEqual([]);
    expect(found(ON, takeover('pay.bank.svc.cluster.local', 'exportTo: [shop]'))).toHaveLength(1);
  });

  it.each([
    ['TCPRoute', PAY],
    ['TLSRoute', PAY.replace('5432', '8443')],
    ['TCPRoute', API],
  ])('a %s of the parent %s of another namespace has no effect, and is named', (kind, parent) => {
    expect(heldText({ ...ALPHA, ...ON }, route(kind, parent))).toBe(heldText(ON, services + entries));
    expect(heldText(ALPHA, route(kind, parent))).not.toBe(heldText({}, services + entries));
    expect(found({ ...ALPHA, ...ON }, route(kind, parent))).toEqual([`${kind}/evil/take spec.parentRefs`]);
  });

  it('an HTTPRoute of such a parent applies to its own namespace alone, with and without the guard', () => {
    const http = route('HTTPRoute', PAY).replace('v1alpha2', 'v1');
    expect(heldText({}, http)).toBe(heldText({}, services + entries));
    expect(found(ON, http)).toEqual([]);
  });
});
