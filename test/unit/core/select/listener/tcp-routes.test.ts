// Where TCP connections go, and with which settings of the DestinationRule in force.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { Port } from '../../../../../src/core/model/service.ts';
import type { ProxyReader } from '../../../../../src/core/query/reader.ts';
import { terminalCodec } from '../../../../../src/core/select/listener/tcp-codec.ts';
import {
  fallthroughRoute,
  plainTcpRoute,
  ruleTcpRoute,
  serviceTcpRoute,
  sniTcpRoute,
  type TcpRoute,
} from '../../../../../src/core/select/listener/tcp-routes.ts';
import { scopeService } from '../../../../../src/core/select/scope/sidecar-scope.ts';
import { ask, type NodeOptions, nodeOf, proxyOf, type WorldPart, world } from '../../../world.ts';
import { destinationRule, service, sidecar } from '../../registry/fixtures.ts';
import { reading } from './plans.ts';

interface Options {
  readonly env?: Readonly<Record<string, string>>;
  readonly mesh?: JsonObject;
  readonly node?: NodeOptions;
}

const WEB = 'web.default.svc.cluster.local';
const OWNER = { name: 'v', namespace: 'shop' };
const listener: Port = { port: 9000, name: 'tcp', protocol: 'TCP' };
const tcp = (port: number): JsonObject => ({ name: `tcp-${port}`, port });
const web = service('web', { ports: [tcp(80)] });
const two = service('web', { ports: [tcp(80), tcp(81)] });

function routeOf<R>(parts: readonly WorldPart[], run: (reader: ProxyReader) => R, options: Options = {}): R {
  const { env = {}, mesh = {}, node = {} } = options;
  return ask(world(parts, { mesh, settings: { env } }), reading('test/tcpRoute', run), '', proxyOf(nodeOf(node)));
}
const toService = (parts: readonly WorldPart[], options: Options = {}, port = 9000): TcpRoute =>
  routeOf(parts, reader => serviceTcpRoute(reader, reader.get(scopeService, WEB)!, port), options);
const byRule = (parts: readonly WorldPart[], routes: readonly JsonObject[], options: Options = {}) =>
  routeOf(parts, reader => ruleTcpRoute(reader, routes, listener, OWNER), options);
const to = (destination: JsonObject, weight?: number): JsonObject => ({
  destination,
  ...(weight !== undefined && { weight }),
});
const policy = (trafficPolicy: JsonObject, subsets: readonly JsonObject[] = []): JsonObject =>
  destinationRule('r', WEB, { trafficPolicy, subsets: [...subsets] });
const pool = (settings: JsonObject): JsonObject => ({ connectionPool: { tcp: settings } });
const hashing: JsonObject = { loadBalancer: { consistentHash: { useSourceIp: true } } };
const IDLE = { metadata: { IDLE_TIMEOUT: '7s' } };

describe('the route to a service', () => {
  it('leads to the only port of the service, else to that of the listener', () => {
    expect(toService([web])).toEqual({
      clusters: [`outbound|80||${WEB}`],
      weights: [],
      statPrefix: `outbound|80||${WEB}`,
      idleTimeout: '',
      maxDuration: undefined,
      hashSourceIp: false,
      tunnelHost: '',
      tunnelPost: false,
    });
    expect(toService([two]).clusters).toEqual([`outbound|9000||${WEB}`]);
    expect(toService([two], {}, 81).clusters).toEqual([`outbound|81||${WEB}`]);
  });

  it('has a name in statistics by the pattern of the mesh, without the name of the port', () => {
    const mesh = { outboundClusterStatName: '%SERVICE%/%SERVICE_PORT%/%SERVICE_PORT_NAME%/%SUBSET_NAME%' };
    expect(toService([web], { mesh }).statPrefix).toBe('web.default/80//');
  });

  it('has the timeouts of the rule, else that of the proxy', () => {
    expect(toService([web], { node: IDLE }).idleTimeout).toBe('7s');
    const timed = toService([web, policy(pool({ idleTimeout: '3s', maxConnectionDuration: '9s' }))], { node: IDLE });
    expect(timed.idleTimeout).not.toBe('7s');
    expect(timed.maxDuration).not.toBeUndefined();
    expect(toService([web, policy(pool({ maxConnections: 1 }))], { node: IDLE }).idleTimeout).toBe('7s');
  });

  it('keeps clients at an endpoint only by their address', () => {
    const hashed = (consistentHash: JsonObject) =>
      toService([web, policy({ loadBalancer: { consistentHash } })]).hashSourceIp;
    expect(hashed({ useSourceIp: true })).toBe(true);
    expect(hashed({ httpHeaderName: 'x' })).toBe(false);
    expect(toService([web, policy({ loadBalancer: { simple: 'RANDOM' } })]).hashSourceIp).toBe(false);
  });

  it('goes through the tunnel of the rule', () => {
    const tunnelled = (tunnel: JsonObject) => {
      const { tunnelHost, tunnelPost } = toService([web, policy({ tunnel })]);
      return [tunnelHost, tunnelPost];
    };
    expect(tunnelled({ targetHost: 'a.com', targetPort: 443 })).toEqual(['a.com:443', false]);
    expect(tunnelled({ targetHost: 'a.com', targetPort: 443, protocol: 'POST' })).toEqual(['a.com:443', true]);
    expect(tunnelled({ targetHost: '2001:db8::1', targetPort: 443 })).toEqual(['[2001:db8::1]:443', false]);
  });
});

describe('the route of a rule', () => {
  it('leads to the port as written, else to the only one of the service, else to that of the listener', () => {
    const clusters = (parts: readonly WorldPart[], destination: JsonObject) =>
      byRule(parts, [to(destination)])?.clusters;
    expect(clusters([two], { host: WEB, port: { number: 81 } })).toEqual([`outbound|81||${WEB}`]);
    expect(clusters([web], { host: WEB })).toEqual([`outbound|80||${WEB}`]);
    expect(clusters([web], { host: WEB, port: { number: 0 } })).toEqual([`outbound|80||${WEB}`]);
    expect(clusters([two], { host: WEB })).toEqual([`outbound|9000||${WEB}`]);
    expect(clusters([], { host: 'a.com', subset: 'v1' })).toEqual(['outbound|9000|v1|a.com']);
  });

  it('without a host leads to a cluster that is unknown', () => {
    expect(byRule([], [to({ host: '' })])?.clusters).toEqual(['UnknownService']);
    expect(byRule([], [{}])?.clusters).toEqual(['UnknownService']);
  });

  it('to an alias leads to what that points to', () => {
    const alias = service('alias', { type: 'ExternalName', externalName: WEB, ports: [tcp(80)] });
    const found = byRule([web, alias], [to({ host: 'alias.default.svc.cluster.local', subset: 'v1' })]);
    expect(found?.clusters).toEqual([`outbound|80|v1|${WEB}`]);
  });

  it('with destinations of some weight splits among these, and is named after its VirtualService', () => {
    const a = to({ host: 'a.com' }, 30);
    const b = to({ host: WEB }, 70);
    expect(byRule([web], [a, to({ host: 'c.com' }, 0), to({ host: 'd.com' }), b])).toMatchObject({
      clusters: ['outbound|9000||a.com', `outbound|80||${WEB}`],
      weights: [30, 70],
      statPrefix: 'v.shop',
    });
  });

  it('without any destination, or any of some weight, leads nowhere', () => {
    expect(byRule([web], [])).toBeUndefined();
    expect(byRule([web], [to({ host: 'a.com' }), to({ host: WEB }, 0)])).toBeUndefined();
  });

  it('has the settings of the rule for the first destination, of its subset where there is one destination', () => {
    const subsets = [
      { name: 'v1', trafficPolicy: { ...hashing, tunnel: { targetHost: 'one.com', targetPort: 1 } } },
      { name: 'v2' },
    ];
    const parts = [web, policy({ tunnel: { targetHost: 'all.com', targetPort: 1 } }, subsets)];
    const settings = (...routes: readonly JsonObject[]) => {
      const found = byRule(parts, routes);
      return [found?.hashSourceIp, found?.tunnelHost];
    };
    expect(settings(to({ host: WEB }))).toEqual([false, 'all.com:1']);
    expect(settings(to({ host: WEB, subset: 'v1' }))).toEqual([true, 'one.com:1']);
    expect(settings(to({ host: WEB, subset: 'v2' }))).toEqual([false, '']);
    expect(settings(to({ host: WEB, subset: 'none' }))).toEqual([false, '']);
    expect(settings(to({ host: WEB, subset: 'v1' }, 1), to({ host: 'a.com' }, 1))).toEqual([false, 'all.com:1']);
    expect(settings(to({ host: 'a.com' }, 1), to({ host: WEB }, 1))).toEqual([false, '']);
  });

  it('has the load balancer of the rule where the subset has none', () => {
    const parts = [
      web,
      policy(hashing, [
        { name: 'v1', trafficPolicy: { loadBalancer: { simple: 'RANDOM' } } },
        { name: 'v2', trafficPolicy: pool({ maxConnections: 1 }) },
      ]),
    ];
    const hashed = (subset: string) => byRule(parts, [to({ host: WEB, subset })])?.hashSourceIp;
    expect([hashed('v1'), hashed('v2'), hashed('none')]).toEqual([false, true, true]);
  });

  it('to one destination has a name in statistics with the port of the listener and the subset', () => {
    const mesh = { outboundClusterStatName: '%SERVICE%/%SERVICE_PORT%/%SERVICE_PORT_NAME%/%SUBSET_NAME%' };
    const name = (host: string) => byRule([web], [to({ host, subset: 'v1' })], { mesh })?.statPrefix;
    expect(name(WEB)).toBe('web.default/9000/tcp/v1');
    expect(name('a.com')).toBe('outbound|9000|v1|a.com');
  });
});

describe('the route by a name in TLS', () => {
  it('has settings of the subset, but no tunnel', () => {
    const tunnel = { targetHost: 'all.com', targetPort: 1, protocol: 'POST' };
    const trafficPolicy = { ...hashing, tunnel };
    const rule = { host: WEB, trafficPolicy: { tunnel }, subsets: [{ name: 'v1', trafficPolicy }] };
    const found = routeOf([web], reader => {
      const to = { service: reader.get(scopeService, WEB)!, port: listener, subset: 'v1' };
      return sniTcpRoute(reader, 'the-cluster', to, rule as Parameters<typeof sniTcpRoute>[3]);
    });
    expect(found).toMatchObject({ clusters: ['the-cluster'], hashSourceIp: true, tunnelHost: '', tunnelPost: false });
  });
});

describe('the route of connections that match no service', () => {
  const cluster = (parts: readonly WorldPart[], mesh: JsonObject = {}) =>
    routeOf(parts, fallthroughRoute, { mesh }).clusters;
  const allowing = (egressProxy: JsonObject) =>
    sidecar('s', { outboundTrafficPolicy: { mode: 'ALLOW_ANY', egressProxy } });

  it('leads on, or nowhere if the mesh or its Sidecar knows no other services', () => {
    expect(cluster([])).toEqual(['PassthroughCluster']);
    expect(cluster([], { outboundTrafficPolicy: { mode: 'REGISTRY_ONLY' } })).toEqual(['BlackHoleCluster']);
    expect(cluster([sidecar('s', { outboundTrafficPolicy: { mode: 'REGISTRY_ONLY' } })])).toEqual(['BlackHoleCluster']);
  });

  it('leads to the proxy that the Sidecar names', () => {
    expect(cluster([allowing({ host: 'gw.com', subset: 'v1', port: { number: 15_443 } })])).toEqual([
      'outbound|15443|v1|gw.com',
    ]);
    expect(cluster([allowing({ host: 'gw.com', port: { number: 80 } })])).toEqual(['outbound|80||gw.com']);
  });

  it('has the timeout of the proxy, and is named after its cluster', () => {
    expect(routeOf([], reader => plainTcpRoute(reader, 'c'), { node: IDLE })).toEqual({
      clusters: ['c'],
      weights: [],
      statPrefix: 'c',
      idleTimeout: '7s',
      hashSourceIp: false,
      tunnelHost: '',
      tunnelPost: false,
    });
  });
});

describe('bytes of TCP are looked into', () => {
  it.each([
    ['Mongo', 'PILOT_ENABLE_MONGO_FILTER', 'mongo'],
    ['Redis', 'PILOT_ENABLE_REDIS_FILTER', 'redis'],
    ['MySQL', 'PILOT_ENABLE_MYSQL_FILTER', 'mysql'],
  ] as const)('as %s with %s', (protocol, flag, codec) => {
    const of = (value: string, carried: Port['protocol'] = protocol) =>
      routeOf([], reader => terminalCodec(reader, carried), { env: { [flag]: value } });
    expect(of('true')).toBe(codec);
    expect(of('false')).toBe('');
    expect(of('true', 'TCP')).toBe('');
  });
});
