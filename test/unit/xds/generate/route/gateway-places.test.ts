// Where the routes of a VirtualService stand on a gateway: at which servers and hosts, and which services they lead to.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { httpService, istio, routerNode, Scene, type SceneOptions, service } from './scene.ts';

type Rule = JsonObject;

const server = (number: number, hosts: readonly string[], more: JsonObject = {}): JsonObject => ({
  port: { number, name: `s-${number}-${hosts.length}`, protocol: 'HTTP' },
  hosts,
  ...more,
});
const gateway = (...servers: readonly JsonObject[]): JsonObject =>
  istio('Gateway', 'edge', 'gw', { selector: { istio: 'ingressgateway' }, servers });
const virtualService = (hosts: readonly string[], http: readonly Rule[], more: JsonObject = {}): JsonObject =>
  istio('VirtualService', 'prod', 'v', { hosts, gateways: ['edge/gw'], http, ...more });
const to = (host: string, more: JsonObject = {}): Rule => ({ route: [{ destination: { host } }], ...more });
const entry = (namespace: string, number: number, exportTo: readonly string[]): JsonObject =>
  istio('ServiceEntry', namespace, 'ext', {
    hosts: ['ext.example.com'],
    ports: [{ number, name: 'http', protocol: 'HTTP' }],
    resolution: 'DNS',
    exportTo,
  });
const shop = httpService('shop', 'prod', 8080, '10.96.0.1');

function scene(objects: readonly JsonObject[], options: SceneOptions = {}): Scene {
  const made = new Scene([shop, ...objects], options);
  made.connect('gw', routerNode('edge'));
  return made;
}
const hostsOf = (made: Scene, route = 'http.80') =>
  (made.route('gw', route).virtualHosts ?? []).map(({ name, domains, routes = [] }) => [name, domains, routes.length]);
const clustersOf = (made: Scene, host: string, route = 'http.80') =>
  made.routes('gw', route, host).map(found => found.route?.cluster);

describe('a VirtualService on a gateway', () => {
  it('has its routes once at a host that two hosts of the server cover', () => {
    const hosts = server(80, ['a.example.com', '*.example.com', 'prod/a.example.com']);
    expect(hostsOf(scene([gateway(hosts), virtualService(['a.example.com'], [to('shop')])]))).toEqual([
      ['a.example.com:80', ['a.example.com'], 1],
    ]);
  });

  it('is there only if the namespace of the gateway may see it', () => {
    const exported = (exportTo: string) =>
      hostsOf(
        scene([gateway(server(80, ['*'])), virtualService(['a.example.com'], [to('shop')], { exportTo: [exportTo] })]),
      );
    expect(exported('.')).toEqual([['blackhole:80', ['*'], 0]]);
    expect(exported('far')).toEqual([['blackhole:80', ['*'], 0]]);
    expect(exported('edge')).toEqual([['a.example.com:80', ['a.example.com'], 1]]);
  });

  it('has the rules for the port of the first server with a host of it, not of one without', () => {
    const target = service('gw', 'edge', {
      clusterIP: '10.96.0.9',
      selector: { istio: 'ingressgateway' },
      // Of ports with one target and one protocol the first alone leads there.
      ports: ['http', 'alt', 'grpc'].map((name, i) => ({ name, port: 80 + i, targetPort: 8080 })),
    });
    const rules = [80, 81, 82].map(port => ({ ...to('shop', { match: [{ port }] }), name: `of-${port}` }));
    const servers = [server(80, ['other.example.com']), server(81, ['a.example.com']), server(82, ['b.example.com'])];
    const made = scene([
      target,
      gateway(...servers),
      virtualService(['*.example.org', 'a.example.com', 'b.example.com'], rules),
    ]);
    const names = made.routes('gw', 'http.8080', 'a.example.com:81').map(({ name }) => name);
    expect(names).toEqual(['of-81']);
    expect(hostsOf(made, 'http.8080')).toEqual([['a.example.com:81', ['a.example.com', 'b.example.com'], 1]]);
  });

  it('has hosts with a wildcard after the others where they are joined', () => {
    const hosts = ['*.very-long-name.example.com', 'b.example.com'];
    const made = scene([gateway(server(80, ['*'])), virtualService(hosts, [to('shop')])]);
    expect(hostsOf(made)).toEqual([['b.example.com:80', ['b.example.com', '*.very-long-name.example.com'], 1]]);
  });

  it('leads to the service of its own namespace if the gateway may see it, else to the one which the gateway sees', () => {
    const port = (exportTo: readonly string[]) => {
      const entries = [entry('edge', 2222, ['*']), entry('prod', 1111, exportTo)];
      const made = scene([
        ...entries,
        gateway(server(80, ['*'])),
        virtualService(['a.example.com'], [to('ext.example.com')]),
      ]);
      return clustersOf(made, 'a.example.com:80');
    };
    expect(port(['*'])).toEqual(['outbound|1111||ext.example.com']);
    expect(port(['edge'])).toEqual(['outbound|1111||ext.example.com']);
    expect(port(['.'])).toEqual(['outbound|2222||ext.example.com']);
  });

  it('mirrors to the only port of a service, too', () => {
    const other = httpService('other', 'prod', 7070, '10.96.0.2');
    const more = httpService('more', 'prod', 6060, '10.96.0.3');
    const mirrors = [{ destination: { host: 'more' } }, { destination: { host: 'other' } }];
    const rules = [
      to('shop', { match: [{ uri: { prefix: '/one' } }], mirror: { host: 'other' } }),
      to('shop', { mirrors }),
    ];
    const made = scene([other, more, gateway(server(80, ['*'])), virtualService(['a.example.com'], rules)]);
    const clusters = made
      .routes('gw', 'http.80', 'a.example.com:80')
      .map(({ route }) => route?.requestMirrorPolicies?.map(({ cluster }) => cluster));
    const otherCluster = 'outbound|7070||other.prod.svc.cluster.local';
    expect(clusters).toEqual([[otherCluster], ['outbound|6060||more.prod.svc.cluster.local', otherCluster]]);
  });

  it('sends to the only port of each of several services', () => {
    const other = httpService('other', 'prod', 7070, '10.96.0.2');
    const rules = [to('shop', { match: [{ uri: { prefix: '/shop' } }] }), to('other')];
    const made = scene([other, gateway(server(80, ['*'])), virtualService(['a.example.com'], rules)]);
    expect(clustersOf(made, 'a.example.com:80')).toEqual([
      'outbound|8080||shop.prod.svc.cluster.local',
      'outbound|7070||other.prod.svc.cluster.local',
    ]);
  });
});

describe('routes of a server of HTTPS', () => {
  const tls = { mode: 'SIMPLE', credentialName: 'cert' };
  const https = (number: number, host: string): JsonObject => ({
    port: { number, name: `https-${number}`, protocol: 'HTTPS' },
    hosts: [host],
    tls,
  });

  it('redirect to another host without the port that HTTPS has by default', () => {
    const redirect = { redirect: { authority: 'b.example.com', derivePort: 'FROM_REQUEST_PORT' } };
    const port = (one: JsonObject, route: string, host: string) =>
      scene([gateway(one), virtualService(['a.example.com'], [redirect])]).routes('gw', route, host)[0]?.redirect
        ?.portRedirect;
    expect(port(https(443, '*'), 'https.443.https-443.gw.edge', 'a.example.com:443')).toBeUndefined();
    expect(port(server(443, ['*']), 'http.443', 'a.example.com:443')).toBe(443);
    expect(port(server(80, ['*']), 'http.80', 'a.example.com:80')).toBeUndefined();
  });

  it('name HTTP/3 in responses if the server is served over UDP, too', () => {
    const target = service('gw', 'edge', {
      clusterIP: '10.96.0.9',
      selector: { istio: 'ingressgateway' },
      ports: [
        { name: 'https', port: 443, targetPort: 8443 },
        { name: 'quic', port: 443, targetPort: 8443, protocol: 'UDP' },
        { name: 'plain', port: 444, targetPort: 8444 },
      ],
    });
    const objects = [target, gateway(https(443, 'a.example.com'), https(444, 'b.example.com'))];
    const added = (env: Readonly<Record<string, string>>, number: number, host: string) =>
      scene([...objects, virtualService(['*'], [to('shop')])], { env })
        .routes('gw', `https.${number}.https-${number}.gw.edge`, `${host}:${number}`)[0]
        ?.responseHeadersToAdd?.map(({ header }) => header?.value);
    const quic = { PILOT_ENABLE_QUIC_LISTENERS: 'true' };
    expect(added(quic, 443, 'a.example.com')).toEqual(['h3=":443"; ma=86400']);
    expect(added(quic, 444, 'b.example.com')).toBeUndefined();
    expect(added({}, 443, 'a.example.com')).toBeUndefined();
  });
});
