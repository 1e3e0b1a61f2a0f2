// Patches of route configurations: of sidecars by port, of gateways by the server's port, and inside of inbound chains.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { RouteConfiguration } from '../../../../../src/xds/proto/types.gen.ts';
import { hcm, ListenerScene } from '../listener/scene.ts';
import { httpService, istio, routerNode } from '../route/scene.ts';
import { entry, envoyFilter, patchScene } from './patch-scene.ts';

const SHOP = 'shop.prod.svc.cluster.local:8080';
const route = (name: string): JsonObject => ({ name, match: { prefix: '/x' }, direct_response: { status: 418 } });
const host = (name: string): JsonObject => ({ name, domains: [`${name}.test`], routes: [route('r')] });
const of = (match: JsonObject, context = 'SIDECAR_OUTBOUND'): JsonObject => ({ context, routeConfiguration: match });
const hosts = ({ virtualHosts = [] }: RouteConfiguration): readonly (string | undefined)[] =>
  virtualHosts.map(({ name }) => name);

function routes(name: string, ...entries: readonly JsonObject[]): RouteConfiguration {
  return patchScene([envoyFilter('one', entries)]).route('app', name);
}

describe('a patch of virtual hosts', () => {
  it('adds behind the catch-all, whatever the virtual host of the match', () => {
    const added = routes('8080', entry('VIRTUAL_HOST', 'ADD', host('added'), of({ vhost: { name: 'none' } })));
    expect(hosts(added).slice(-2)).toEqual(['allow_any', 'added']);
  });

  it('removes, and drops what is added under the removed name', () => {
    const remove = entry('VIRTUAL_HOST', 'REMOVE', undefined, of({ vhost: { name: SHOP } }));
    expect(hosts(routes('8080', remove))).toEqual(['allow_any']);
    expect(hosts(routes('8080', remove, entry('VIRTUAL_HOST', 'ADD', host(SHOP), of({}))))).toEqual(['allow_any']);
  });

  it('replaces in place, and later patches find the new one', () => {
    const replace = entry('VIRTUAL_HOST', 'REPLACE', host('new'), of({ vhost: { name: SHOP } }));
    const merge = entry('VIRTUAL_HOST', 'MERGE', { require_tls: 'ALL' }, of({ vhost: { domainName: 'new.test' } }));
    const { virtualHosts = [] } = routes('8080', replace, merge);
    expect(virtualHosts[0]).toMatchObject({ name: 'new', requireTls: 2 });
  });

  it('cannot reset what has no presence', () => {
    const [before] = routes('8080').virtualHosts ?? [];
    const value = { include_request_attempt_count: false };
    const [after] = routes('8080', entry('VIRTUAL_HOST', 'MERGE', value, of({}))).virtualHosts ?? [];
    expect(after?.includeRequestAttemptCount).toBe(before?.includeRequestAttemptCount);
  });
});

describe('a patch of routes', () => {
  const names = (...entries: readonly JsonObject[]): readonly (string | undefined)[] =>
    (routes('8080', ...entries).virtualHosts?.[0]?.routes ?? []).map(({ name }) => name);
  const on = (found: JsonObject): JsonObject => of({ vhost: { name: SHOP, route: found } });

  it.each<[string, JsonObject, readonly string[]]>([
    ['INSERT_FIRST', { action: 'ROUTE' }, ['new', 'default']],
    ['INSERT_FIRST', { action: 'REDIRECT' }, ['default']],
    ['INSERT_BEFORE', { name: 'default' }, ['new', 'default']],
    ['INSERT_AFTER', { name: 'default' }, ['default', 'new']],
    ['INSERT_AFTER', { name: 'none' }, ['default']],
    ['ADD', { name: 'none' }, ['default', 'new']],
    ['REMOVE', { name: 'default' }, []],
    ['REPLACE', { name: 'default' }, ['default']],
  ])('%s with the match %j gives %j', (operation, match, expected) => {
    expect(names(entry('HTTP_ROUTE', operation, route('new'), on(match)))).toEqual(expected);
  });

  it('merges into the action of the route: another action takes its place', () => {
    const [only] =
      routes('8080', entry('HTTP_ROUTE', 'MERGE', { redirect: { path_redirect: '/y' } }, on({}))).virtualHosts?.[0]
        ?.routes ?? [];
    expect(only?.route).toBeUndefined();
    expect(only?.redirect).toEqual({ pathRedirect: '/y' });
  });
});

describe('a patch of a route configuration', () => {
  const merged = (configuration: RouteConfiguration): boolean =>
    configuration.requestHeadersToRemove?.includes('x-a') === true;
  const merge = (match: JsonObject, context?: string): JsonObject =>
    entry('ROUTE_CONFIGURATION', 'MERGE', { request_headers_to_remove: ['x-a'] }, of(match, context));

  it('of a sidecar matches the port in its name', () => {
    expect(merged(routes('8080', merge({ portNumber: 8080 })))).toBe(true);
    expect(merged(routes('8080', merge({ portNumber: 80 })))).toBe(false);
    expect(merged(routes('shop.prod.svc.cluster.local:8080', merge({ portNumber: 8080 })))).toBe(false);
  });

  it('of an inbound chain matches the target port', () => {
    const inbound = merge({ portNumber: 8000 }, 'SIDECAR_INBOUND');
    const chains = patchScene([envoyFilter('one', [inbound])]).chains('app', 'virtualInbound');
    const chain = chains.find(({ filterChainMatch }) => filterChainMatch?.destinationPort?.value === 8000);
    expect(merged(hcm(chain).routeConfig!)).toBe(true);
  });

  it('leaves the answer to a meaningless name of a sidecar alone', () => {
    expect(merged(routes('meaningless', merge({})))).toBe(false);
  });

  it('under another name is what a sidecar gets', () => {
    const rename = entry('ROUTE_CONFIGURATION', 'MERGE', { name: 'other' }, of({}));
    const resource = patchScene([envoyFilter('one', [rename])]).resource('app', '8080');
    expect([resource.name, resource.message.name]).toEqual(['other', 'other']);
  });
});

describe('a patch of the routes of a gateway', () => {
  const server = (number: number, protocol: string, more: JsonObject = {}): JsonObject => ({
    port: { number, name: protocol.toLowerCase(), protocol },
    hosts: ['a.test'],
    ...more,
  });
  const tls = { mode: 'SIMPLE', credentialName: 'cert' };
  const gateway = istio('Gateway', 'prod', 'edge', {
    selector: { istio: 'ingressgateway' },
    servers: [server(80, 'HTTP'), server(443, 'HTTPS', { tls })],
  });
  const ports = [
    { name: 'http', port: 80, targetPort: 8080 },
    { name: 'https', port: 443, targetPort: 8443 },
  ];
  const edge = {
    ...httpService('edge', 'prod', 80, '10.96.0.1'),
    spec: { ports, selector: { istio: 'ingressgateway' } },
  };

  function patched(name: string, match: JsonObject, on = gateway): boolean {
    const value = { request_headers_to_remove: ['x-a'] };
    const scene = new ListenerScene([
      on,
      edge,
      envoyFilter('one', [entry('ROUTE_CONFIGURATION', 'MERGE', value, of(match, 'GATEWAY'))]),
    ]);
    scene.connect('gw', routerNode('prod'));
    return scene.route('gw', name).requestHeadersToRemove !== undefined;
  }

  it('matches the port of the server, also in a configuration without servers', () => {
    expect(patched('http.80', { portNumber: 80 })).toBe(true);
    expect(patched('http.80', { portNumber: 8080 })).toBe(false);
    expect(patched('http.9999', { portNumber: 9999 })).toBe(true);
  });

  it('takes all names with an address for one port, as istiod does', () => {
    const bound = istio('Gateway', 'prod', 'edge', {
      selector: { istio: 'ingressgateway' },
      servers: [server(80, 'HTTP', { bind: '10.0.0.1' }), server(443, 'HTTPS', { bind: '10.0.0.1', tls })],
    });
    const plain = 'http.80.10.0.0.1';
    expect(patched(plain, { portNumber: 80 }, bound)).toBe(true);
    expect(patched(plain, { portNumber: 443 }, bound)).toBe(true);
    expect(patched(plain, { portNumber: 8080 }, bound)).toBe(false);
    expect(patched('https.443.https.edge.prod.10.0.0.1', { portNumber: 80 }, bound)).toBe(true);
  });

  it('knows port names and gateways of HTTPS servers alone', () => {
    const https = 'https.443.https.edge.prod';
    expect(patched(https, { portName: 'https', gateway: 'prod/edge' })).toBe(true);
    expect(patched(https, { gateway: 'prod/other' })).toBe(false);
    expect(patched('http.80', { portName: 'http' })).toBe(false);
  });
});
