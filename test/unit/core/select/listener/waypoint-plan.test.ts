// Which chains a waypoint has for the ports of the services behind it, and which ports are not inspected.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { selectWaypointPlan, type WaypointPlan } from '../../../../../src/core/select/listener/waypoint.ts';
import { directTcpRoute, waypointTcpRoute } from '../../../../../src/core/select/listener/waypoint-tcp.ts';
import { ask } from '../../../world.ts';
import { port, service, shop, waypointProxy } from '../../../xds/ambient/mesh.ts';
import { destinationRule, serviceEntry, virtualService } from '../../registry/fixtures.ts';
import { ambientWorld, waypoint } from '../ambient/fixtures.ts';
import { reading } from './plans.ts';

/** The mesh without a service of its own. */
const empty = (gateway?: JsonObject): readonly JsonObject[] =>
  shop(gateway === undefined ? {} : { gateway }).filter(
    object => !['web', 'web-1'].includes(String((object.metadata as JsonObject).name)),
  );
const forWorkloads = (): readonly JsonObject[] => {
  const gateway = waypoint('way', { namespace: 'shop', labels: { 'istio.io/waypoint-for': 'all' } });
  return shop({ gateway });
};

function planOf(
  objects: readonly JsonObject[],
  env: Readonly<Record<string, string>> = {},
  base = empty(),
): WaypointPlan {
  const state = ambientWorld([...base, ...objects], env);
  return ask(state, reading('test/waypointPlan', selectWaypointPlan), '', waypointProxy());
}
const named = (name: string, ip: string, ...ports: readonly JsonObject[]): JsonObject => service(name, ip, ports);
/** `host:port carried`. */
const chains = (plan: WaypointPlan): readonly string[] =>
  plan.chains.map(({ service: of, port: at, carries }) => `${of.hostname.split('.')[0]}:${at.port} ${carries}`);
const entry = (spec: JsonObject, name = 'e'): JsonObject =>
  serviceEntry(name, { resolution: 'STATIC', ...spec }, { namespace: 'shop' });

describe('a port of a service behind a waypoint', () => {
  it('has a chain of what it carries, both where it does not say, none for UDP', () => {
    const udp = { ...port('dns', 53), protocol: 'UDP' };
    const ports = [port('http', 80), port('tcp', 90), port('other', 70), port('tls', 443), port('grpc', 81), udp];
    expect(chains(planOf([named('a', '10.0.0.5', ...ports)]))).toEqual([
      'a:80 http',
      'a:90 tcp',
      'a:70 tcp',
      'a:70 http',
      'a:443 tcp',
      'a:81 http',
    ]);
  });

  it('has its chains at each address of its service, sorted by port', () => {
    const found = planOf([named('a', '10.0.0.5', port('http', 80), port('tcp', 20), port('other', 70))]);
    const name = (at: number, carries: string) => `inbound-vip|${at}|${carries}|a.shop.svc.cluster.local`;
    expect(found.services).toEqual([
      {
        addresses: ['10.0.0.5'],
        ports: [
          [20, { http: '', tcp: name(20, 'tcp') }],
          [70, { http: name(70, 'http'), tcp: name(70, 'tcp') }],
          [80, { http: name(80, 'http'), tcp: '' }],
        ],
      },
    ]);
    const subjects = found.chains.map(({ subject }) => subject);
    expect(new Set(subjects)).toEqual(new Set(['Service shop/a']));
  });

  it('has no place among addresses if it carries nothing', () => {
    const udp = { ...port('dns', 53), protocol: 'UDP' };
    expect(planOf([named('a', '10.0.0.5', udp)]).services).toEqual([]);
  });

  it.each<[string, string, string, boolean]>([
    ['TLS', '*.e.com', 'DYNAMIC_DNS', false],
    ['HTTP', '*.e.com', 'DYNAMIC_DNS', true],
    ['TLS', 'e.com', 'STATIC', true],
    ['TLS', '*.e.com', 'NONE', true],
    ['TLS', 'e.com', 'DNS', true],
  ])('of %s for %s by %s has a chain without the flag for wildcards: %s', (protocol, host, resolution, served) => {
    const dynamic = entry({
      hosts: [host],
      addresses: resolution === 'DYNAMIC_DNS' ? [] : ['10.9.0.1'],
      ports: [{ number: 443, name: 'p', protocol }],
      resolution,
    });
    const flag = (value: string) => ({ ENABLE_WILDCARD_HOST_SERVICE_ENTRIES_FOR_TLS: value });
    expect(planOf([dynamic], flag('false')).chains).toHaveLength(served ? 1 : 0);
    expect(planOf([dynamic], flag('true')).chains).toHaveLength(1);
  });
});

describe('a waypoint inspects', () => {
  const a = (...ports: readonly JsonObject[]) => named('a', '10.0.0.5', ...ports);
  const b = (...ports: readonly JsonObject[]) => named('b', '10.0.0.6', ...ports);
  const uninspected = (...objects: readonly JsonObject[]) => planOf(objects).uninspected;

  it('the ports that do not say whether they carry HTTP', () => {
    expect(uninspected(a(port('tcp', 90), port('http', 80), port('other', 70)))).toEqual([80, 90]);
    expect(planOf([a(port('http', 80))]).httpNames).toEqual(['http/1.1', 'h2c']);
  });

  it.each<[string, string, readonly number[]]>([
    ['http', 'http', [80]],
    ['http', 'grpc', [80]],
    ['http2', 'http', [80]],
    ['tcp', 'tcp', [80]],
    ['tcp', 'tls', [80]],
    ['tls', 'tcp', [80]],
    ['http', 'tcp', []],
    ['tcp', 'http', []],
    ['http', 'other', []],
    ['other', 'http', []],
    ['other', 'tcp', []],
    ['tcp', 'other', []],
  ])('a port of two services with %s and %s unless they carry the same: %j', (first, second, expected) => {
    expect(uninspected(a(port(first, 80)), b(port(second, 80)))).toEqual(expected);
  });

  it('every port where it is one for workloads, whose addresses it takes', () => {
    const found = planOf([], {}, forWorkloads());
    expect(found.uninspected).toEqual([]);
    expect(found.direct).toEqual(['10.1.0.2']);
    expect(planOf([], {}, shop()).direct).toEqual([]);
  });

  it('ports of TLS for names, if there are any', () => {
    const withoutTls = (...objects: readonly JsonObject[]) => planOf(objects).withoutTls;
    expect(withoutTls(a(port('http', 80), port('tcp', 90)))).toBeUndefined();
    const services = [a(port('http', 80), port('tls', 443), port('tcp', 20)), b(port('https', 444), port('http', 80))];
    expect(withoutTls(...services)).toEqual([20, 80]);
    expect(withoutTls(a(port('tls', 443)), b(port('tcp', 443), port('tcp2', 9)))).toEqual([9]);
  });
});

describe('TCP through a waypoint', () => {
  const WEB = 'web.shop.svc.cluster.local';
  const OWN = `inbound-vip|9000|tcp|${WEB}`;
  const to = (destination: JsonObject, weight?: number): JsonObject => ({
    destination,
    ...(weight !== undefined && { weight }),
  });
  const routeOf = (routes: readonly JsonObject[], ...more: readonly JsonObject[]) => {
    const rules = virtualService('v', { hosts: [WEB], tcp: [{ route: [...routes] }] }, { namespace: 'shop' });
    const state = ambientWorld([...shop(), ...(routes.length > 0 ? [rules] : []), ...more]);
    return ask(
      state,
      reading('test/waypointTcp', reader => {
        const chain = selectWaypointPlan(reader).chains.find(({ name }) => name === OWN);
        return waypointTcpRoute(reader, chain!);
      }),
      '',
      waypointProxy(),
    );
  };
  const hashing = (host: string, subsets: readonly JsonObject[] = []) => {
    const trafficPolicy = { loadBalancer: { consistentHash: { useSourceIp: true } } };
    return destinationRule('r', host, { trafficPolicy, subsets: [...subsets] }, { namespace: 'shop' });
  };
  const none = { name: 'v1', trafficPolicy: { loadBalancer: { simple: 'RANDOM' } } };

  it('goes to the cluster of the chain without a rule, with the settings for its service', () => {
    expect(routeOf([])).toMatchObject({ clusters: [OWN], weights: [], hashSourceIp: false });
    expect(routeOf([], hashing(WEB)).hashSourceIp).toBe(true);
  });

  it('has the settings for the first destination, of its subset if it is the only one', () => {
    const far = { host: 'far.com', port: { number: 1 } };
    const near = (subset: string) => ({ host: WEB, subset });
    const hashed = (routes: readonly JsonObject[]) => routeOf(routes, hashing(WEB, [none])).hashSourceIp;
    expect(hashed([to(near(''))])).toBe(true);
    expect(hashed([to(near('v1'))])).toBe(false);
    expect(hashed([to(near('v1'), 1), to(far, 1)])).toBe(true);
    expect(hashed([to(far, 1), to(near(''), 1)])).toBe(false);
  });

  it('is split among destinations of some weight', () => {
    const far = (name: string) => ({ host: `${name}.com`, port: { number: 1 } });
    const { clusters, weights } = routeOf([to(far('a'), 10), to(far('b'), 0), to(far('c')), to(far('d'), 90)]);
    expect(clusters.map(name => name.split('|').at(-1))).toEqual(['a.com', 'd.com']);
    expect(weights).toEqual([10, 90]);
  });

  it('to a workload goes into the tunnel', () => {
    const state = ambientWorld(shop());
    const route = ask(state, reading('test/directTcp', directTcpRoute), '', waypointProxy());
    expect(route).toMatchObject({ clusters: ['encap'], statPrefix: 'encap', tunnelHost: '' });
  });
});
