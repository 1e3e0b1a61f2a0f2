// Arbitrary meshes with gateways: servers of every protocol on few ports and few hosts, so that they share ports, and
// VirtualServices bound to them.

import fc from 'fast-check';
import type { Json, JsonObject } from '../../../src/core/base/json.ts';
import { NAMES, NAMESPACES } from '../../../src/testing/worlds/pools.ts';
import { nameOf, namespaceOf, serviceHost } from './read.ts';
import { delegates, delegating, rule, visibility, weighted } from './rules.ts';
import { described, destinationRules, mesh, serviceEntries, services, unique, type World } from './world.ts';

export const OUTSIDE_HOSTS = ['api.example.com', 'x.example.com', 'shop.example.org'] as const;

const serverHosts = fc.constantFrom<Json>(
  ['*'],
  ['*'],
  ['api.example.com'],
  ['*.example.com'],
  ['prod/*.example.com'],
  ['./api.example.com'],
  ['*/x.example.com'],
  ['shop.example.org', 'api.example.com'],
);
const terminating: Json = { mode: 'SIMPLE', credentialName: 'cert' };

interface Kind {
  readonly number: number;
  readonly protocol: string;
  readonly tls?: Json;
}
const kinds = fc.constantFrom<Kind>(
  { number: 80, protocol: 'HTTP' },
  { number: 80, protocol: 'HTTP' },
  { number: 8080, protocol: 'HTTP2' },
  { number: 80, protocol: 'HTTP', tls: { httpsRedirect: true } },
  { number: 443, protocol: 'HTTPS', tls: terminating },
  { number: 443, protocol: 'HTTPS', tls: terminating },
  { number: 443, protocol: 'TLS', tls: { mode: 'PASSTHROUGH' } },
  { number: 15_443, protocol: 'TLS', tls: { mode: 'PASSTHROUGH' } },
  { number: 5432, protocol: 'TCP' },
  { number: 8443, protocol: 'TLS', tls: terminating },
);
export const GATEWAY_PORTS = [80, 8080, 443, 15_443, 5432, 8443] as const;
export const TLS_PORTS: readonly number[] = [443, 15_443, 8443];

const server = fc.tuple(kinds, serverHosts).map(([{ number, protocol, tls }, hosts]) => ({
  port: { number, protocol },
  hosts,
  ...(tls === undefined ? {} : { tls }),
}));

const gateway = fc
  .record({
    name: fc.constantFrom('alpha', 'beta'),
    namespace: fc.constantFrom('istio-system', 'istio-system', 'istio-system', 'prod'),
    age: fc.constantFrom(undefined, '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'),
    selector: fc.constantFrom<Json | undefined>(
      { istio: 'ingressgateway' },
      { istio: 'ingressgateway' },
      { istio: 'ingressgateway' },
      undefined,
      { istio: 'other' },
    ),
    servers: fc.array(server, { minLength: 2, maxLength: 4 }),
  })
  .map(({ name, namespace, age, selector, servers }) =>
    described(
      'Gateway',
      name,
      namespace,
      {
        ...(selector === undefined ? {} : { selector }),
        servers: servers.map(one => ({ ...one, port: { ...one.port, name: `port-${servers.indexOf(one)}` } })),
      },
      age,
    ),
  );

const hosts = fc.uniqueArray(
  fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom<string>(...OUTSIDE_HOSTS) },
    { weight: 4, arbitrary: fc.constantFrom('*.example.com', '*') },
  ),
  { minLength: 1, maxLength: 2 },
);
const bound = fc.constantFrom<Json>(
  ['istio-system/alpha'],
  ['istio-system/alpha', 'mesh'],
  ['istio-system/beta', 'istio-system/alpha'],
  ['istio-system/beta', 'istio-system/alpha', 'prod/alpha'],
  ['prod/alpha', 'istio-system/alpha', 'istio-system/beta'],
  ['istio-system/beta', 'istio-system/alpha', 'prod/alpha', 'mesh'],
  ['prod/alpha'],
  ['alpha'],
);

/** Destinations that are there in most worlds, for every request. */
const reaching = fc
  .record({
    name: fc.constantFrom(...NAMES),
    namespace: fc.constantFrom(...NAMESPACES),
    port: fc.constantFrom(80, 80, 7070, 9000),
    subset: fc.constantFrom(undefined, undefined, 'v1'),
  })
  .map(
    ({ name, namespace, port, subset }): JsonObject => ({
      host: serviceHost(name, namespace),
      port: { number: port },
      ...(subset === undefined ? {} : { subset }),
    }),
  );
const plainMatch = fc.constantFrom<Json>(
  {},
  { port: 5432 },
  { port: 8443 },
  { gateways: ['istio-system/alpha'] },
  { gateways: ['mesh'] },
);
const plainRule = fc
  .tuple(
    fc.option(fc.array(plainMatch, { minLength: 1, maxLength: 2 }), { nil: undefined }),
    fc.oneof(
      weighted,
      reaching.map((destination): Json => [{ destination }]),
    ),
  )
  .map(([match, route]): Json => (match === undefined ? { route } : { match, route }));

const namedRule = fc
  .tuple(
    fc.constantFrom<JsonObject>({}, {}, { port: 443 }, { port: 15_443 }, { gateways: ['istio-system/alpha'] }),
    fc.constantFrom('api.example.com', 'x.example.com', '*.example.com'),
    fc.oneof(
      weighted,
      reaching.map((destination): Json => [{ destination }]),
    ),
  )
  .map(([rest, sni, route]): Json => ({ match: [{ sniHosts: [sni], ...rest }], route }));

const lastRule = fc.oneof(
  { weight: 4, arbitrary: reaching.map((destination): Json => ({ route: [{ destination }] })) },
  { weight: 1, arbitrary: fc.constant<Json>({ redirect: { uri: '/there' } }) },
);
const httpRules = fc
  .tuple(
    fc.array(fc.oneof({ weight: 5, arbitrary: rule }, { weight: 1, arbitrary: delegating }), { maxLength: 3 }),
    fc.option(lastRule, { freq: 4 }),
    rule,
  )
  .map(([first, last, only]): JsonObject => {
    const http = last === null ? first : [...first, last];
    return { http: http.length === 0 ? [only] : http };
  });
const plainRules = fc.array(plainRule, { minLength: 1, maxLength: 2 }).map((tcp): JsonObject => ({ tcp }));
const namedRules = fc.array(namedRule, { minLength: 1, maxLength: 2 }).map((tls): JsonObject => ({ tls }));

function virtualService(
  rules: fc.Arbitrary<JsonObject>,
  of: fc.Arbitrary<Json>,
  prefix: string,
): fc.Arbitrary<JsonObject> {
  return fc
    .record({
      name: fc.constantFrom('one', 'two', 'three', 'four', 'five'),
      namespace: fc.constantFrom(...NAMESPACES),
      age: fc.constantFrom(undefined, '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'),
      hosts: of,
      gateways: bound,
      exportTo: fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, visibility),
      rules,
    })
    .map(({ name, namespace, age, exportTo, rules: found, ...spec }) =>
      described(
        'VirtualService',
        `${prefix}${name}`,
        namespace,
        { ...spec, ...(exportTo === undefined ? {} : { exportTo }), ...found },
        age,
      ),
    );
}

const namedHosts = fc.constantFrom<Json>(['*.example.com'], ['*.example.com', 'shop.example.org']);
const virtualServices = fc
  .tuple(
    fc.array(virtualService(httpRules, hosts, ''), { minLength: 4, maxLength: 8 }),
    fc.array(virtualService(plainRules, hosts, 'plain-'), { minLength: 2, maxLength: 4 }),
    fc.array(virtualService(namedRules, namedHosts, 'named-'), { minLength: 2, maxLength: 4 }),
    delegates,
  )
  .map(found => found.flat());

/** Names are used once for each kind and namespace, as in an API server. */
export const anyGatewayWorld: fc.Arbitrary<World> = fc
  .tuple(
    services,
    serviceEntries,
    destinationRules,
    fc.array(gateway, { minLength: 1, maxLength: 4 }),
    virtualServices,
    mesh,
  )
  .map(([a, b, c, d, e, config]) => ({
    objects: unique([...a, ...b, ...c, ...d, ...e], one => `${String(one.kind)} ${namespaceOf(one)} ${nameOf(one)}`),
    mesh: config,
  }));
