// Arbitrary VirtualServices: every member of HTTP routes, TLS and TCP routes.

import type { Arbitrary } from 'fast-check';
import type { Json, JsonObject } from '../../core/base/json.ts';
import { fc } from '../fast-check.ts';
import {
  all,
  both,
  duration,
  exportTo,
  host,
  istio,
  list,
  oneOf,
  portNumber,
  type Shape,
  some,
  subset,
  type Value,
} from './pools.ts';

const text: Shape = oneOf({
  exact: fc.constantFrom('one', '/one', 'jason'),
  prefix: fc.constantFrom('/api', '/', 'ja'),
  regex: fc.constantFrom('.*', '/v[0-9]+/.*', '(a|b)c'),
});
const percent = fc.constantFrom<Json>({ value: 0 }, { value: 33.3 }, { value: 100 });

const destination: Shape = both(all({ host }), some({ subset, port: portNumber.map(number => ({ number })) }));

const headers: Shape = some({
  request: some({
    set: fc.constant<Json>({ 'x-set': 'a' }),
    add: fc.constant<Json>({ 'x-add': '%REQ(x)%' }),
    remove: fc.constant<Json>(['x-gone']),
  }),
  response: some({ set: fc.constant<Json>({ 'x-set': 'b' }), remove: fc.constant<Json>(['x-gone', 'server']) }),
});

const httpMatch: Shape = some({
  uri: text,
  scheme: text,
  method: text,
  authority: text,
  headers: fc.oneof(
    text.map(value => ({ 'x-user': value })),
    fc.constantFrom<JsonObject>({ 'x-there': {} }, { 'x-a': { exact: 'a' }, 'x-b': { prefix: 'b' } }),
  ),
  withoutHeaders: text.map(value => ({ 'x-not': value })),
  queryParams: text.map(value => ({ q: value })),
  port: fc.constantFrom(80, 8080),
  sourceLabels: fc.constant<Json>({ app: 'alpha' }),
  sourceNamespace: fc.constant('prod'),
  gateways: fc.constantFrom<Json>(['mesh'], ['istio-system/alpha'], ['istio-system/alpha', 'mesh']),
  ignoreUriCase: fc.boolean(),
  name: fc.constant('first'),
  statPrefix: fc.constant('stats'),
});

const weighted: Arbitrary<Json> = fc.oneof(
  fc.tuple(destination, headers).map(([d, h]): Json => [{ destination: d, headers: h }]),
  destination.map((d): Json => [{ destination: d }]),
  fc.tuple(destination, destination, fc.integer({ min: 0, max: 99 })).map(
    ([a, b, weight]): Json => [
      { destination: a, weight },
      { destination: b, weight: 100 - weight },
    ],
  ),
);

const fault: Shape = some({
  delay: both(all({ fixedDelay: duration }), some({ percentage: percent })),
  abort: both(
    oneOf({ httpStatus: fc.constantFrom(500, 418), grpcStatus: fc.constant('UNAVAILABLE') }),
    some({ percentage: percent }),
  ),
}).filter(found => Object.keys(found).length > 0);

const retries: Shape = both(
  all({ attempts: fc.constantFrom(0, 1, 5) }),
  fc.constantFrom<JsonObject>(
    {},
    { perTryTimeout: '2s' },
    { retryOn: '5xx,gateway-error,503,retriable-headers' },
    { perTryTimeout: '1s', retryOn: 'connect-failure', retryRemoteLocalities: true },
    { backoff: '0.1s', retryIgnorePreviousHosts: false },
  ),
).map(found => (found.attempts === 0 ? { attempts: 0 } : found));

const cors: Shape = both(
  some({ allowOrigins: list(text, 1, 2) }),
  some({
    allowMethods: fc.constant<Json>(['GET', 'POST']),
    allowHeaders: fc.constant<Json>(['x-a']),
    exposeHeaders: fc.constant<Json>(['x-b']),
    maxAge: duration.filter(value => !value.startsWith('0')),
    allowCredentials: fc.boolean(),
    unmatchedPreflights: fc.constantFrom('FORWARD', 'IGNORE'),
  }),
);

const routed: Shape = both(
  all({ route: weighted }),
  some({
    timeout: duration,
    rewrite: fc.constantFrom<Json>(
      { uri: '/new' },
      { authority: 'other.example.com' },
      { uri: '/', authority: 'x.example.com' },
      { uriRegexRewrite: { match: '/v([0-9]+)/(.*)', rewrite: '/\\2/\\1' } },
    ),
    retries,
    fault,
    corsPolicy: cors,
    headers,
    mirror: destination,
    mirrorPercentage: percent,
  }).map(found => (found.mirror === undefined ? { ...found, mirrorPercentage: undefined } : found)),
);

const redirect: Shape = all({
  redirect: both(
    some({
      uri: fc.constantFrom('/new', '%PREFIX()%/x'),
      authority: fc.constant('x.example.com'),
      scheme: fc.constantFrom('http', 'https'),
      redirectCode: fc.constantFrom(301, 302, 303, 307, 308),
    }),
    fc.oneof(
      fc.constant<JsonObject>({}),
      oneOf({ port: fc.constant(8443), derivePort: fc.constantFrom('FROM_PROTOCOL_DEFAULT', 'FROM_REQUEST_PORT') }),
    ),
  ).map(found => (found.uri === undefined && found.authority === undefined ? { ...found, uri: '/there' } : found)),
});

const direct: Shape = all({
  directResponse: both(
    all({ status: fc.constantFrom(200, 404, 503) }),
    some({ body: oneOf({ string: fc.constant('sorry'), bytes: fc.constant('c29ycnk=') }) }),
  ),
});

const http: Shape = both(
  some({ match: list(httpMatch, 1, 3), name: fc.constantFrom('here', 'there') }),
  fc.oneof({ weight: 6, arbitrary: routed }, { weight: 1, arbitrary: redirect }, { weight: 1, arbitrary: direct }),
);

const plainWeighted: Value = fc.oneof(
  destination.map((d): Json => [{ destination: d }]),
  fc.tuple(destination, destination).map(
    ([a, b]): Json => [
      { destination: a, weight: 20 },
      { destination: b, weight: 80 },
    ],
  ),
);
const l4Match = {
  destinationSubnets: fc.constantFrom<Json>(['10.96.0.0/16'], ['10.96.0.1', '10.97.0.0/24']),
  port: fc.constantFrom(443, 5432, 9000),
  sourceLabels: fc.constant<Json>({ app: 'alpha' }),
  gateways: fc.constantFrom<Json>(['mesh'], ['istio-system/beta', 'mesh']),
  sourceNamespace: fc.constant('prod'),
};
const tcp: Shape = both(some({ match: list(some(l4Match), 1, 2) }), all({ route: plainWeighted }));
/** SNI hosts must be among the hosts of the VirtualService. */
const tls: Shape = all({
  match: list(both(all({ sniHosts: fc.constant<Json>(['api.example.com']) }), some(l4Match)), 1, 2),
  route: plainWeighted,
});

const gateways: Value = fc.constantFrom<Json | undefined>(
  undefined,
  ['mesh'],
  ['istio-system/alpha', 'mesh'],
  ['istio-system/beta'],
);

export const virtualService: Shape = istio(
  'networking',
  'VirtualService',
  fc.oneof(
    {
      weight: 6,
      arbitrary: all({
        hosts: fc.uniqueArray(host, { minLength: 1, maxLength: 2 }),
        gateways,
        exportTo,
        http: list(http, 1, 3),
      }),
    },
    {
      weight: 1,
      arbitrary: all({ hosts: fc.uniqueArray(host, { minLength: 1, maxLength: 2 }), gateways, tcp: list(tcp, 1, 2) }),
    },
    {
      weight: 1,
      arbitrary: all({
        hosts: fc.constantFrom<Json>(['api.example.com'], ['*.example.com']),
        gateways,
        tls: list(tls, 1, 2),
      }),
    },
    {
      weight: 1,
      arbitrary: all({
        hosts: fc.constant<Json>(['api.example.com']),
        gateways: fc.constantFrom<Json>(['mesh'], ['istio-system/alpha']),
        http: fc.constant<Json>([
          { match: [{ uri: { prefix: '/d' } }], delegate: { name: 'gamma', namespace: 'prod' } },
          { route: [{ destination: { host: 'alpha' } }] },
        ]),
      }),
    },
    { weight: 1, arbitrary: all({ http: list(routed, 1, 2) }) },
  ),
);
