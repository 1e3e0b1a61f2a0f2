// Arbitrary VirtualServices whose conditions requests do meet: one or two of them in a match, over the values that
// questions are made of. Those of src/testing's worlds set most fields at once, which is good for generators and seldom
// matches a request.

import fc from 'fast-check';
import type { Json, JsonObject } from '../../../src/core/base/json.ts';
import { NAMES, NAMESPACES } from '../../../src/testing/worlds/pools.ts';
import { serviceHost } from './read.ts';

/** Values of headers and query parameters. */
export const VALUES = ['one', '/one', 'jason', '/api', 'a', 'b', 'bc', '/v1/x', 'other'] as const;
export const PATHS = ['/', '/one', '/ONE', '/api', '/api/x', '/Api/y', '/apiary', '/v12/x', '/v7/a/b', '/d/e'] as const;

const maybe = (value: fc.Arbitrary<Json>): fc.Arbitrary<Json | undefined> => fc.option(value, { nil: undefined });
const record = (fields: Readonly<Record<string, fc.Arbitrary<Json | undefined>>>): fc.Arbitrary<JsonObject> =>
  fc.record(fields).map(found => JSON.parse(JSON.stringify(found)) as JsonObject);

const condition: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom(...VALUES).map(exact => ({ exact })),
  fc.constantFrom('j', '/', 'o', 'b').map(prefix => ({ prefix })),
  fc.constantFrom('.*', '(a|b)c?', '/v[0-9]+/.*', 'o.*').map(regex => ({ regex })),
);
const uri: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom(...PATHS).map(exact => ({ exact })),
  fc.constantFrom('/', '/api', '/api/', '/v', '/o').map(prefix => ({ prefix })),
  fc.constantFrom('.*', '/v[0-9]+/.*', '/api.?', '/[a-z]+').map(regex => ({ regex })),
);
const presence: fc.Arbitrary<Json> = fc.constant({});

/** Conditions on the request, each alone. */
const conditions: fc.Arbitrary<JsonObject> = fc.oneof(
  { weight: 4, arbitrary: uri.map(value => ({ uri: value })) },
  { weight: 2, arbitrary: fc.oneof(condition, presence).map(value => ({ headers: { 'x-user': value } })) },
  { weight: 1, arbitrary: fc.oneof(condition, presence).map(value => ({ withoutHeaders: { 'x-not': value } })) },
  { weight: 1, arbitrary: condition.map(value => ({ queryParams: { q: value } })) },
  { weight: 1, arbitrary: fc.constantFrom('GET', 'POST').map(exact => ({ method: { exact } })) },
  { weight: 1, arbitrary: fc.constantFrom('alpha', 'beta.', 'API').map(prefix => ({ authority: { prefix } })) },
  { weight: 1, arbitrary: fc.constantFrom('http', 'https').map(exact => ({ scheme: { exact } })) },
);
/** Conditions on where the request comes from and goes to. */
const source: fc.Arbitrary<JsonObject> = fc.constantFrom<JsonObject>(
  { port: 80 },
  { port: 7070 },
  { sourceLabels: { app: 'alpha' } },
  { sourceNamespace: 'prod' },
  { sourceNamespace: 'test', sourceLabels: { app: 'other' } },
  { gateways: ['mesh'], sourceNamespace: 'test' },
  { gateways: ['istio-system/alpha'] },
  { ignoreUriCase: true },
);
const match: fc.Arbitrary<Json> = fc
  .tuple(conditions, fc.oneof({ weight: 2, arbitrary: fc.constant({}) }, conditions), fc.option(source, { freq: 3 }))
  .map(([a, b, c]) => ({ ...a, ...b, ...c }));

const destination: fc.Arbitrary<JsonObject> = fc
  .record({
    host: fc.oneof(
      fc.constantFrom<string>(...NAMES),
      fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom(...NAMESPACES)).map(([n, ns]) => serviceHost(n, ns)),
      fc.constant('api.example.com'),
    ),
    subset: fc.constantFrom(undefined, undefined, 'v1', 'v1', 'v2', 'v2', 'next'),
    port: fc.constantFrom<Json | undefined>(undefined, undefined, { number: 80 }, { number: 7070 }),
  })
  .map(found => JSON.parse(JSON.stringify(found)) as JsonObject);

export const weighted: fc.Arbitrary<Json> = fc.oneof(
  destination.map(to => [{ destination: to }]),
  fc.tuple(destination, destination, fc.constantFrom(0, 1, 20, 50, 99)).map(([a, b, weight]) => [
    { destination: a, weight },
    { destination: b, weight: 100 - weight },
  ]),
);
const percentage = fc.constantFrom<Json>(
  { value: 0 },
  { value: 0.5 },
  { value: 33.3 },
  { value: 33.3 },
  { value: 100 },
);

const action: fc.Arbitrary<JsonObject> = fc.oneof(
  {
    weight: 8,
    arbitrary: record({
      route: weighted,
      timeout: maybe(fc.constantFrom('0.25s', '5s', '1m')),
      rewrite: maybe(
        fc.constantFrom<Json>(
          { uri: '/new' },
          { uri: '/', authority: 'x.example.com' },
          { authority: 'y.example.com' },
          { uriRegexRewrite: { match: '/v([0-9]+)/(.*)', rewrite: '/\\2/\\1' } },
        ),
      ),
      retries: maybe(fc.constantFrom<Json>({ attempts: 0 }, { attempts: 3, retryOn: '5xx' })),
      fault: maybe(percentage.map(value => ({ abort: { httpStatus: 418, percentage: value } }))),
      mirror: maybe(destination),
    }).chain(found =>
      found.mirror === undefined
        ? fc.constant(found)
        : fc
            .option(percentage, { nil: undefined })
            .map(value => (value === undefined ? found : { ...found, mirrorPercentage: value })),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<JsonObject>(
      { redirect: { uri: '/there' } },
      { redirect: { authority: 'x.example.com', scheme: 'https', redirectCode: 307 } },
      { redirect: { scheme: 'https' } },
      { redirect: { uri: '/there', port: 8443 } },
      { redirect: { authority: 'x.example.com', derivePort: 'FROM_REQUEST_PORT', redirectCode: 302 } },
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom(200, 503).map(status => ({ directResponse: { status } })) },
);

export const rule: fc.Arbitrary<Json> = fc
  .tuple(
    fc.oneof(
      { weight: 1, arbitrary: fc.constant(undefined) },
      { weight: 4, arbitrary: fc.array(match, { minLength: 1, maxLength: 2 }) },
    ),
    action,
  )
  .map(([matches, rest]) => (matches === undefined ? rest : { match: matches, ...rest }));

const DELEGATES = ['del-one', 'del-two'] as const;
/** What the rule left to another object says; its conditions are plain, since regular expressions are refused there. */
export const delegating: fc.Arbitrary<Json> = fc
  .record({
    match: fc.constantFrom<Json | undefined>(
      undefined,
      undefined,
      [{ uri: { prefix: '/' } }],
      [{ uri: { prefix: '/api' } }],
      [{ uri: { prefix: '/api' } }, { uri: { exact: '/one' }, method: { exact: 'GET' } }],
      [{ headers: { 'x-user': { prefix: 'o' } } }],
      [{ port: 80 }],
      [{ uri: { prefix: '/' }, sourceLabels: { app: 'alpha' } }],
    ),
    delegate: fc
      .tuple(fc.constantFrom(...DELEGATES), fc.constantFrom(undefined, undefined, ...NAMESPACES))
      .map(([name, namespace]): Json => (namespace === undefined ? { name } : { name, namespace })),
    timeout: maybe(fc.constantFrom('3s')),
    retries: maybe(fc.constant<Json>({ attempts: 4, retryOn: '5xx' })),
    rewrite: maybe(fc.constant<Json>({ uri: '/left' })),
    fault: maybe(percentage.map(value => ({ abort: { httpStatus: 419, percentage: value } }))),
  })
  .map(found => JSON.parse(JSON.stringify(found)) as JsonObject);

const hosts: fc.Arbitrary<Json> = fc.uniqueArray(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc
        .tuple(fc.constantFrom(...NAMES), fc.constantFrom(...NAMESPACES))
        .map(([n, ns]) => serviceHost(n, ns)),
    },
    { weight: 3, arbitrary: fc.constantFrom<string>(...NAMES) },
    {
      weight: 2,
      arbitrary: fc.constantFrom('api.example.com', '*.example.com', '*.prod.svc.cluster.local', '*.local'),
    },
  ),
  { minLength: 1, maxLength: 2 },
);

const plainMatch = fc.constantFrom<Json>(
  {},
  { port: 5432 },
  { port: 27_017 },
  { sourceLabels: { app: 'alpha' } },
  { sourceNamespace: 'test' },
  { gateways: ['mesh'], port: 9000 },
  { gateways: ['istio-system/alpha'] },
  { port: 5432, destinationSubnets: ['10.96.0.0/16'] },
  { port: 5432, destinationSubnets: ['10.97.0.0/16'] },
  { port: 9000, destinationSubnets: ['10.97.0.0/16'] },
  { destinationSubnets: ['10.97.0.0/16', '10.96.0.0/16'] },
);
const plainRule: fc.Arbitrary<Json> = fc
  .tuple(fc.option(fc.array(plainMatch, { minLength: 1, maxLength: 2 }), { nil: undefined }), weighted)
  .map(([found, route]) => (found === undefined ? { route } : { match: found, route }));
/** Server names must be among the hosts. */
const namedRule: fc.Arbitrary<Json> = fc
  .tuple(
    fc.array(
      fc
        .tuple(
          fc.constantFrom('api.example.com', 'x.example.com', '*.example.com'),
          fc.constantFrom<JsonObject>({}, {}, { port: 443 }, { sourceNamespace: 'test' }, { port: 15_443 }),
        )
        .map(([sni, rest]) => ({ sniHosts: [sni], ...rest })),
      { minLength: 1, maxLength: 2 },
    ),
    weighted,
  )
  .map(([found, route]) => ({ match: found, route }));

export const visibility = fc.constantFrom<Json | undefined>(undefined, undefined, ['.'], ['*'], ['test']);

/** Without the members that are undefined. */
function virtualService(metadata: object, spec: object): JsonObject {
  const object = { apiVersion: 'networking.istio.io/v1', kind: 'VirtualService', metadata, spec };
  return JSON.parse(JSON.stringify(object)) as JsonObject;
}

/** VirtualServices for connections that are not HTTP. */
export const focusedPlainRules: fc.Arbitrary<JsonObject> = fc
  .record({
    name: fc.constantFrom('seven', 'eight', 'nine'),
    namespace: fc.constantFrom(...NAMESPACES),
    spec: fc.oneof(
      fc.record({ hosts, exportTo: visibility, tcp: fc.array(plainRule, { minLength: 1, maxLength: 3 }) }),
      fc.record({
        hosts: fc.constant(['*.example.com']),
        exportTo: visibility,
        tls: fc.array(namedRule, { minLength: 1, maxLength: 2 }),
      }),
    ),
  })
  .map(({ name, namespace, spec }) => virtualService({ name, namespace }, spec));

export const focusedVirtualService: fc.Arbitrary<JsonObject> = fc
  .record({
    name: fc.constantFrom('one', 'two', 'three', 'four', 'five', 'six'),
    namespace: fc.constantFrom(...NAMESPACES),
    age: fc.constantFrom<Json | undefined>(undefined, '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'),
    hosts,
    gateways: fc.constantFrom<Json | undefined>(
      undefined,
      undefined,
      ['mesh'],
      ['istio-system/alpha', 'mesh'],
      ['istio-system/beta'],
    ),
    exportTo: fc.constantFrom<Json | undefined>(undefined, undefined, ['.'], ['*'], ['test'], ['prod', 'test']),
    http: fc.array(fc.oneof({ weight: 3, arbitrary: rule }, { weight: 1, arbitrary: delegating }), {
      minLength: 1,
      maxLength: 4,
    }),
  })
  .map(({ name, namespace, age, ...spec }) => virtualService({ name, namespace, creationTimestamp: age }, spec));

/** VirtualServices without hosts, for others to leave rules to: most of those that are asked for. */
export const delegates: fc.Arbitrary<readonly JsonObject[]> = fc
  .tuple(...NAMESPACES.flatMap(namespace => DELEGATES.map(name => fc.option(delegate(name, namespace), { freq: 3 }))))
  .map(found => found.flatMap(one => (one === null ? [] : [one])));

function delegate(name: string, namespace: string): fc.Arbitrary<JsonObject> {
  return fc
    .record({
      exportTo: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, visibility),
      http: fc.array(rule, { minLength: 1, maxLength: 3 }),
    })
    .map(spec => virtualService({ name, namespace }, spec));
}
