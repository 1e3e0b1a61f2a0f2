// What the inbound clusters of a sidecar are made of: the services of its ports, and what its Sidecar declares.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { Tracker } from '../../../../../src/core/query/tracker.ts';
import {
  bindInputs,
  type InboundClusterInputs,
  inboundClusterHosts,
  inboundClusters,
} from '../../../../../src/core/select/cluster/inbound.ts';
import { ask, type NodeOptions, nodeOf, proxyOf, type WorldPart, world } from '../../../world.ts';
import { destinationRule, pod, service, serviceEntry, sidecar } from '../../registry/fixtures.ts';

interface Options {
  readonly env?: Readonly<Record<string, string>>;
  readonly mesh?: JsonObject;
  readonly node?: NodeOptions;
}

const OWN = '10.0.0.1';
const node = (more: NodeOptions = {}) => proxyOf(nodeOf({ name: 'web', ip: OWN, labels: { app: 'web' }, ...more }));
const worldOf = (parts: readonly WorldPart[], { env = {}, mesh = {} }: Options) =>
  world([pod('web', OWN, { labels: { app: 'web' } }), ...parts], { mesh, settings: { env } });

function inbound(parts: readonly WorldPart[], options: Options = {}): readonly InboundClusterInputs[] {
  return ask(worldOf(parts, options), inboundClusters, '', node(options.node));
}
const hostsOf = (parts: readonly WorldPart[], name: string): readonly string[] =>
  ask(worldOf(parts, {}), inboundClusterHosts, name, node());

const HOST = 'web.default.svc.cluster.local';
const ports = (...numbers: readonly number[]) => ({
  ports: numbers.map(port => ({ name: `http-${port}`, port, targetPort: 8080 })),
});
const selected = { selector: { app: 'web' } };
const web = service('web', ports(80));
const listens = (number: number, rest: JsonObject = {}): JsonObject => ({
  port: { number, protocol: 'HTTP', name: 'own' },
  ...rest,
});
const own = (...ingress: readonly JsonObject[]) => sidecar('own', { ingress });

describe('the inbound cluster of a target port', () => {
  it('has what the service, its rule and the mesh say, and no more', () => {
    expect(inbound([web])).toEqual([
      {
        connectTimeout: { seconds: 10, nanos: 0 },
        meshKeepalive: undefined,
        trackRemaining: false,
        bindAddress: '127.0.0.6',
        extraBindAddress: '',
        name: 'inbound|8080||',
        statName: 'inbound|8080||',
        destination: 'passthrough',
        address: '',
        port: 0,
        portOverride: 0,
        finalProtocol: 'unset',
        headerCase: false,
        connectionPool: undefined,
        retryBudget: undefined,
        serviceHosts: [HOST],
        serviceNames: ['web'],
        serviceNamespaces: ['default'],
        ruleName: '',
        ruleNamespace: '',
      },
    ]);
  });

  it('names the oldest service first, each once, and those of its service port alone', () => {
    const later = service('later', { ...selected, ...ports(80) }, { day: 2 });
    const other = service('other', { ...selected, ...ports(81) }, { day: 3 });
    const found = inbound([other, later, web]);
    expect(found.map(({ serviceNames }) => serviceNames)).toEqual([['web', 'later']]);
  });

  it('has the policy of the oldest service at its service port', () => {
    const at = (number: number, maxConnections: number) => ({
      port: { number },
      connectionPool: { tcp: { maxConnections } },
    });
    const trafficPolicy = {
      retryBudget: { minRetryConcurrency: 5 },
      portLevelSettings: [at(8080, 1), at(80, 2)],
    };
    const [found] = inbound([web, destinationRule('r', HOST, { trafficPolicy })]);
    expect(found?.connectionPool?.tcp?.maxConnections).toBe(2);
    expect([found?.retryBudget, found?.ruleName, found?.ruleNamespace]).toEqual([undefined, 'r', 'default']);
    const { portLevelSettings: _, ...whole } = trafficPolicy;
    expect(inbound([web, destinationRule('r', HOST, { trafficPolicy: whole })])[0]?.retryBudget).toEqual({
      minRetryConcurrency: 5,
    });
  });

  it('names a rule only for its policy, and beside a service', () => {
    const named = (spec: JsonObject, env: Readonly<Record<string, string>> = {}) => {
      const [found] = inbound([web, destinationRule('r', HOST, spec)], { env });
      return [found?.ruleName, found?.ruleNamespace];
    };
    expect(named({ subsets: [{ name: 'v1' }] })).toEqual(['', '']);
    expect(named({ trafficPolicy: { tls: { mode: 'DISABLE' } } })).toEqual(['r', 'default']);
    expect(named({ trafficPolicy: { tls: { mode: 'DISABLE' } } }, { PILOT_ENABLE_TELEMETRY_LABEL: 'false' })).toEqual([
      '',
      '',
    ]);
  });

  it('names no service from outside of the mesh', () => {
    const entry = (location: string) =>
      serviceEntry('e', {
        hosts: ['e.com'],
        location,
        ports: [{ number: 80, name: 'http', protocol: 'HTTP', targetPort: 8080 }],
        workloadSelector: { labels: { app: 'web' } },
      });
    expect(inbound([entry('MESH_INTERNAL')]).map(({ serviceHosts }) => serviceHosts)).toEqual([['e.com']]);
    expect(inbound([entry('MESH_EXTERNAL')]).map(({ serviceHosts }) => serviceHosts)).toEqual([[]]);
  });

  it.each<[string, readonly [string, string]]>([
    ['http', ['unset', 'http1']],
    ['grpc', ['http2', 'http2']],
    ['x', ['downstream', 'downstream']],
    ['tcp', ['unset', 'unset']],
  ])('of a port named %s speaks, without and with the case of headers kept, %j', (name, expected) => {
    const one = service('web', { ports: [{ name, port: 80, targetPort: 8080 }] });
    const keeps = { metadata: { PROXY_CONFIG: { proxyHeaders: { preserveHttp1HeaderCase: true } } } };
    const found = [{}, { node: keeps }].map(options => inbound([one], options)[0]?.finalProtocol);
    expect(found).toEqual(expected);
  });

  it('is named in statistics by the target port and the service', () => {
    const mesh = { inboundClusterStatName: '%SERVICE_NAME%_%SERVICE_PORT%_%SERVICE_PORT_NAME%_%TARGET_PORT%' };
    expect(inbound([web], { mesh })[0]?.statName).toBe('web_80_http-80_8080');
    expect(inbound([own(listens(9000))], { mesh })[0]?.statName).toBe('own.default_9000_own_9000');
  });

  it('leads to loopback, unbound, if the mesh says so', () => {
    const mode = (value: string, ip = OWN) => {
      const [found] = inbound([web, pod('six', '2001:db8::1', { labels: { app: 'web' } })], {
        mesh: { inboundTrafficPolicy: { mode: value } },
        node: { name: ip === OWN ? 'web' : 'six', ip },
      });
      return [found?.destination, found?.address, found?.port, found?.bindAddress];
    };
    expect(mode('LOCALHOST')).toEqual(['address', '127.0.0.1', 8080, '']);
    expect(mode('LOCALHOST', '2001:db8::1')).toEqual(['address', '::1', 8080, '']);
    expect(mode('PASSTHROUGH')).toEqual(['passthrough', '', 0, '127.0.0.6']);
  });

  it('of a proxy without interception exists only as an ingress listener', () => {
    const none = { node: { metadata: { INTERCEPTION_MODE: 'NONE' } } };
    expect(inbound([web], none)).toEqual([]);
    expect(inbound([web, own(listens(8080))], none).map(({ name }) => name)).toEqual(['inbound|8080||']);
  });
});

describe('the inbound cluster of an ingress listener', () => {
  it('passes through without an endpoint, to a host that is neither loopback nor any, or not at all', () => {
    const leads = (defaultEndpoint?: string) => {
      const listener = listens(9000, defaultEndpoint === undefined ? {} : { defaultEndpoint });
      return inbound([own(listener)]).map(one => [one.destination, one.address, one.port, one.bindAddress]);
    };
    const passes = [['passthrough', '', 0, '127.0.0.6']];
    expect(leads()).toEqual(passes);
    expect(leads('127.0.0.1:12345')).toEqual([['address', '127.0.0.1', 12_345, '']]);
    expect(leads('[::1]:80')).toEqual([['address', '127.0.0.1', 80, '']]);
    expect(leads('0.0.0.0:80')).toEqual([['address', OWN, 80, '127.0.0.6']]);
    expect(leads('unix:///a/b')).toEqual([['pipe', '/a/b', 0, '127.0.0.6']]);
  });

  it('has a rule at the number of the listener, by the first service with that target port', () => {
    const trafficPolicy = {
      portLevelSettings: [{ port: { number: 8080 }, connectionPool: { tcp: { maxConnections: 4 } } }],
    };
    const later = service('later', { ...selected, ...ports(80) }, { day: 2 });
    const [found] = inbound([later, web, destinationRule('r', HOST, { trafficPolicy }), own(listens(8080))]);
    expect([found?.serviceNames, found?.connectionPool?.tcp?.maxConnections]).toEqual([['web'], 4]);
  });

  it('speaks the protocol of the listener, not of the service', () => {
    const listener = { port: { number: 8080, protocol: 'GRPC', name: 'x' } };
    expect(inbound([web, own(listener)])[0]?.finalProtocol).toBe('http2');
  });

  it('stands, merged by the flag, before those of the ports that are not declared', () => {
    const env = { PILOT_ALLOW_SIDECAR_SERVICE_INBOUND_LISTENER_MERGE: 'true' };
    const two = service('web', { ports: [80, 81].map(port => ({ name: `http-${port}`, port, targetPort: port })) });
    const names = (value: Options) => inbound([two, own(listens(80))], value).map(({ name }) => name);
    expect(names({ env })).toEqual(['inbound|80||', 'inbound|81||']);
    expect(names({})).toEqual(['inbound|80||']);
  });
});

describe('a patch finds an inbound cluster', () => {
  const later = service('later', { ...selected, ...ports(81) }, { day: 2 });

  it('by the host of every service with the target port', () => {
    expect(hostsOf([web, later], 'inbound|8080||')).toEqual([HOST, 'later.default.svc.cluster.local']);
    expect(hostsOf([web, later], 'inbound|80||')).toEqual([]);
    expect(hostsOf([web], 'InboundPassthroughCluster')).toEqual([]);
  });

  it('of a declared port by the first service, or by the Sidecar', () => {
    expect(hostsOf([web, later, own(listens(8080))], 'inbound|8080||')).toEqual([HOST]);
    expect(hostsOf([web, own(listens(9000))], 'inbound|9000||')).toEqual(['own.default']);
    expect(hostsOf([web, later, own(listens(8080), listens(9000))], 'inbound|8080||')).toEqual([HOST]);
    expect(hostsOf([web, later, own(listens(9000))], 'inbound|8080||')).toHaveLength(2);
    expect(hostsOf([web, sidecar('own', { egress: [{ hosts: ['*/*'] }] })], 'inbound|8080||')).toEqual([HOST]);
  });
});

describe('connections to the workload come from', () => {
  it.each([
    ['ipv4', true, '127.0.0.6', ''],
    ['ipv6', true, '::6', ''],
    ['dual', true, '127.0.0.6', '::6'],
    ['dual', false, '127.0.0.6', ''],
  ] as const)('an address of the family %s, of both: %s', (mode, both, bindAddress, extraBindAddress) => {
    expect(bindInputs(mode, both)).toEqual({ bindAddress, extraBindAddress });
  });
});

describe('a Sidecar with thousands of ingress listeners', () => {
  it('has each of them worked out once, also in slices', () => {
    const ingress = Array.from({ length: 3_000 }, (_, i) => ({
      port: { number: 1 + i, name: `http-${i}`, protocol: 'HTTP' },
      defaultEndpoint: `127.0.0.1:${1 + i}`,
    }));
    const tracker = new Tracker();
    const state = worldOf([sidecar('all', { ingress })], {});
    const look = () => tracker.within(200, () => tracker.get(state, node(), inboundClusters, '')).value;
    let made = look();
    let slices = 1;
    for (; made === undefined; made = look()) slices++;
    expect(made).toHaveLength(ingress.length);
    expect(slices).toBeGreaterThan(10);
    expect(tracker.stats.runs).toBeLessThan(ingress.length + 50 * slices);
  });
});
