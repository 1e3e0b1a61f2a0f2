// Arbitrary policies for one workload, and questions that touch what they name: small pools of identities, paths,
// addresses and claims, so that rules and questions meet often.

import fc from 'fast-check';
import type { Json, JsonObject } from '../../../src/core/base/json.ts';
import type { Connection } from '../../../src/oracle/question.ts';
import type { Workload } from './inbound-model.ts';
import type { PolicyQuestion } from './policy-model.ts';
import { ROOT_NAMESPACE } from './read.ts';

export const WORKLOAD: Workload = { namespace: 'prod', labels: { app: 'alpha', version: 'v1' }, address: '10.1.200.1' };
export const HTTP_PORT = 8_080;
export const TCP_PORT = 5_433;
/** Both ways to be asked. */
export const AUTHORIZER = {
  address: '10.1.250.1',
  http: { name: 'http', port: 9_000 },
  grpc: { name: 'grpc', port: 9_001 },
} as const;

const DOMAINS = ['cluster.local', 'new-td', 'old-td', 'foreign'] as const;
const NAMESPACES = ['prod', 'prod-x', 'test', 'te.t'] as const;
const ACCOUNTS = ['web', 'web.a', 'webXa', 'job'] as const;
const PATHS = ['/', '/x', '/x/y', '/x/y/z', '/X', '/x?a=/x/y', '/x/'] as const;
const HOSTS = ['alpha', 'Alpha', 'a.example.com', 'a.example.com:80'] as const;
const METHODS = ['GET', 'POST', 'PUT'] as const;
const ADDRESSES = ['10.1.99.1', '10.1.99.2', '10.2.0.1', '192.168.0.1'] as const;
const ISSUERS = ['https://a.example.com', 'https://b.example.com'] as const;
const SUBJECTS = ['alice', 'bob'] as const;

const oneOf = <T extends string>(...values: readonly T[]): fc.Arbitrary<T> => fc.constantFrom(...values);
const identityIn = (...domains: readonly string[]) =>
  fc
    .tuple(oneOf(...domains), oneOf(...NAMESPACES), oneOf(...ACCOUNTS))
    .map(([domain, namespace, account]) => ({ domain, namespace, account }));
const identity = identityIn(...DOMAINS);

const principal = fc.oneof(
  identity.map(({ domain, namespace, account }) => `${domain}/ns/${namespace}/sa/${account}`),
  identity.map(({ domain, namespace }) => `${domain}/ns/${namespace}/sa/*`),
  identity.map(({ namespace, account }) => `*/ns/${namespace}/sa/${account}`),
  identity.map(({ account }) => `*/sa/${account}`),
  fc.constant('*'),
);
const requestPrincipal = fc.oneof(
  fc.tuple(oneOf(...ISSUERS), oneOf(...SUBJECTS)).map(pair => pair.join('/')),
  oneOf(...ISSUERS).map(issuer => `${issuer}/*`),
  oneOf(...SUBJECTS).map(subject => `*/${subject}`),
  fc.constant('*'),
);
const range = fc.oneof(oneOf(...ADDRESSES), oneOf('10.1.99.0/24', '10.0.0.0/8', '10.1.99.3/31', '192.168.0.0/16'));

/** Values and negated values of one field, one of both at least. */
function field(name: string, value: fc.Arbitrary<string>): fc.Arbitrary<JsonObject> {
  const values = fc.uniqueArray(value, { minLength: 1, maxLength: 2 });
  const negated = `not${name[0]!.toUpperCase()}${name.slice(1)}`;
  return fc.oneof(
    { weight: 3, arbitrary: values.map((list): JsonObject => ({ [name]: list })) },
    { weight: 2, arbitrary: values.map((list): JsonObject => ({ [negated]: list })) },
    { weight: 1, arbitrary: fc.tuple(values, values).map(([a, b]): JsonObject => ({ [name]: a, [negated]: b })) },
  );
}

/** One field or two. */
const fields = (...of: readonly fc.Arbitrary<JsonObject>[]): fc.Arbitrary<JsonObject> =>
  fc.array(fc.oneof(...of), { minLength: 1, maxLength: 2 }).map(found => Object.assign({}, ...found) as JsonObject);

/** Service accounts do not stand beside principals or namespaces. */
const source = fc.oneof(
  {
    weight: 4,
    arbitrary: fields(
      field('principals', principal),
      field('requestPrincipals', requestPrincipal),
      field('trustDomains', fc.oneof(oneOf(...DOMAINS), oneOf('*', 'new*', '*-td'))),
      field('namespaces', fc.oneof(oneOf(...NAMESPACES), oneOf('prod*', '*t', '*'))),
      field('ipBlocks', range),
      field('remoteIpBlocks', range),
    ),
  },
  {
    weight: 1,
    arbitrary: field('serviceAccounts', fc.oneof(oneOf(...ACCOUNTS), oneOf('test/web', 'te.t/web.a', 'prod/job'))),
  },
);

const operation = fields(
  field('methods', fc.oneof(oneOf(...METHODS), oneOf('P*', '*'))),
  field('paths', fc.oneof(oneOf('/x', '/x/y', '/x/*', '*/y', '*', '/', '/x/{*}', '/{*}/y', '/x/{**}', '/{**}/z'))),
  field('hosts', fc.oneof(oneOf(...HOSTS), oneOf('*.example.com', 'a.example.com:*', 'AL*', '*'))),
  field('ports', oneOf(String(HTTP_PORT), String(TCP_PORT), '1')),
);

const condition = fc.oneof(
  ...(
    [
      ['request.headers[X-User]', oneOf('alice', 'al*', '*ob', '*')],
      ['request.auth.claims[groups]', oneOf('admin', 'dev', 'ad*')],
      ['request.auth.claims[nested][role]', oneOf('r', 's', '*')],
      ['request.auth.audiences', oneOf('web', 'api')],
      ['request.auth.presenter', oneOf('one', 'o*')],
      ['request.auth.principal', requestPrincipal],
      ['source.ip', range],
      ['remote.ip', range],
      ['source.namespace', oneOf(...NAMESPACES)],
      ['source.principal', principal],
      ['source.serviceAccount', oneOf('test/web', 'te.t/web.a')],
      ['destination.port', oneOf(String(HTTP_PORT), String(TCP_PORT))],
      ['destination.ip', oneOf('10.1.200.1', '10.1.200.0/24', '10.2.0.0/16')],
    ] as const
  ).map(([key, value]) => field('values', value).map((of): JsonObject => ({ key, ...of }))),
);

const rule = fc
  .record({
    from: fc.array(source, { maxLength: 2 }),
    to: fc.array(operation, { maxLength: 2 }),
    when: fc.array(condition, { maxLength: 1 }),
  })
  .map(
    ({ from, to, when }): JsonObject => ({
      ...(from.length === 0 ? {} : { from: from.map(one => ({ source: one })) }),
      ...(to.length === 0 ? {} : { to: to.map(one => ({ operation: one })) }),
      ...(when.length === 0 ? {} : { when }),
    }),
  );

const selector = fc.constantFrom<JsonObject>(
  {},
  {},
  { selector: { matchLabels: { app: 'alpha' } } },
  { selector: { matchLabels: { app: 'beta' } } },
);
const namespace = oneOf('prod', 'prod', ROOT_NAMESPACE, 'test');

const NOT_IN_CUSTOM =
  /request\.auth|source\.[a-hj-z]|"(not)?(requestPrincipals|principals|namespaces|trustDomains|serviceAccounts)"/i;

const authorization = fc
  .record({
    namespace,
    selector,
    rules: fc.array(rule, { maxLength: 3 }),
    action: oneOf('ALLOW', 'ALLOW', 'DENY', 'DENY', 'AUDIT', 'CUSTOM'),
    dryRun: fc.nat(5).map(n => n === 0),
    provider: oneOf('ext-http', 'ext-grpc', 'ext-grpc', 'unknown'),
  })
  .map(of => (of.rules.length === 0 && of.action !== 'ALLOW' ? { ...of, rules: [{}] } : of))
  // External authorizers are asked before tokens are checked, and know identities themselves: validation refuses both
  // in CUSTOM.
  .filter(({ action, rules }) => action !== 'CUSTOM' || !NOT_IN_CUSTOM.test(JSON.stringify(rules)))
  .map(({ action, provider, dryRun, ...of }) => ({
    namespace: of.namespace,
    dryRun: dryRun && (action === 'ALLOW' || action === 'DENY'),
    spec: { ...of.selector, rules: of.rules, action, ...(action === 'CUSTOM' ? { provider: { name: provider } } : {}) },
  }));

const authentication = fc.record({
  namespace,
  selector,
  rules: fc.array(
    fc.record({
      issuer: oneOf(...ISSUERS),
      ownHeader: fc.nat(2).map(n => n === 0),
    }),
    { minLength: 1, maxLength: 2 },
  ),
});

function object(kind: string, name: string, of: { namespace: string; spec: JsonObject; dryRun?: boolean }): JsonObject {
  const annotations = of.dryRun === true ? { annotations: { 'istio.io/dry-run': 'true' } } : {};
  const metadata = { name, namespace: of.namespace, ...annotations };
  return { apiVersion: 'security.istio.io/v1', kind, metadata, spec: of.spec };
}

const audienceField = (audiences: readonly string[]): JsonObject => (audiences.length === 0 ? {} : { audiences });

/** Stands for the keys of every issuer. */
export const JWKS = '{"keys":[{"kty":"RSA","e":"AQAB","n":"xAE7eB6qugXyCAG3yhh7pkDkT65pHymX"}]}';

const policies: fc.Arbitrary<readonly JsonObject[]> = fc
  .tuple(
    fc.array(authorization, { minLength: 1, maxLength: 4 }),
    fc.array(authentication, { maxLength: 2 }),
    // Rules of one issuer have the same audiences: of unlike ones the API does not say which counts, and Envoy takes
    // any.
    fc.array(fc.subarray(['web', 'api']), { minLength: ISSUERS.length, maxLength: ISSUERS.length }),
  )
  .map(([authorizations, authentications, audiencesOf]) => [
    ...authorizations.map((one, i) => object('AuthorizationPolicy', `policy-${i}`, one)),
    ...authentications.map(({ selector: selected, rules, ...of }, i) =>
      object('RequestAuthentication', `tokens-${i}`, {
        ...of,
        spec: {
          ...selected,
          jwtRules: rules.map(({ issuer, ownHeader }) => ({
            issuer,
            jwks: JWKS,
            ...audienceField(audiencesOf[ISSUERS.indexOf(issuer)] ?? []),
            ...(ownHeader ? { fromHeaders: [{ name: 'x-token' }] } : {}),
          })),
        },
      }),
    ),
  ]);

/** The workload's, and one for both authorizers. */
export const SERVICES: readonly JsonObject[] = [
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'alpha', namespace: 'prod' },
    spec: {
      clusterIP: '10.96.1.1',
      ports: [
        { name: 'http', port: 80, targetPort: HTTP_PORT },
        { name: 'tcp', port: 5_432, targetPort: TCP_PORT },
      ],
      selector: { app: 'alpha' },
    },
  },
  {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'alpha', namespace: 'prod', labels: { 'kubernetes.io/service-name': 'alpha' } },
    addressType: 'IPv4',
    ports: [
      { name: 'http', port: HTTP_PORT, protocol: 'TCP' },
      { name: 'tcp', port: TCP_PORT, protocol: 'TCP' },
    ],
    endpoints: [{ addresses: [WORKLOAD.address], conditions: { ready: true } }],
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'authorizer', namespace: 'prod' },
    spec: { clusterIP: '10.96.1.2', ports: [AUTHORIZER.http, AUTHORIZER.grpc] },
  },
  {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'authorizer', namespace: 'prod', labels: { 'kubernetes.io/service-name': 'authorizer' } },
    addressType: 'IPv4',
    ports: [AUTHORIZER.http, AUTHORIZER.grpc],
    endpoints: [{ addresses: [AUTHORIZER.address], conditions: { ready: true } }],
  },
];

const external = ({ port }: { readonly port: number }): JsonObject => ({
  service: 'authorizer.prod.svc.cluster.local',
  port,
});

const mesh: fc.Arbitrary<JsonObject> = fc
  .record({
    trustDomain: oneOf('cluster.local', 'new-td'),
    aliases: fc.subarray(['old-td', 'other', 'new-td', 'cluster.local']),
    failOpen: fc.boolean(),
  })
  .map(({ failOpen, trustDomain, aliases }) => ({
    trustDomain,
    trustDomainAliases: aliases.filter(alias => alias !== trustDomain),
    extensionProviders: [
      { name: 'ext-http', envoyExtAuthzHttp: { ...external(AUTHORIZER.http), failOpen } },
      { name: 'ext-grpc', envoyExtAuthzGrpc: { ...external(AUTHORIZER.grpc), failOpen } },
    ],
  }));

const token = fc.record({
  header: oneOf('authorization', 'authorization', 'x-token'),
  text: fc.constant('token-1'),
  claims: fc
    .record({
      iss: oneOf(...ISSUERS, 'https://c.example.com'),
      sub: oneOf(...SUBJECTS),
      aud: fc.constantFrom<Json>('web', ['api', 'other'], ['none']),
      azp: oneOf('one', 'two'),
      groups: fc.constantFrom<Json>('admin', ['dev', 'admin'], []),
      nested: fc.constantFrom<Json>({ role: 'r' }, { role: ['s'] }, {}),
    })
    .map(claims => claims as JsonObject),
  genuine: fc.nat(5).map(n => n > 0),
  expired: fc.nat(8).map(n => n === 0),
});

const request = fc.record({
  method: oneOf(...METHODS),
  path: oneOf(...PATHS),
  host: oneOf(...HOSTS),
  headers: fc.constantFrom<Record<string, string>>({}, { 'x-user': 'alice' }, { 'x-user': 'bob' }),
});

const question: fc.Arbitrary<PolicyQuestion> = fc
  .record({
    // Certificates of foreign trust domains are refused before any policy.
    identity: fc.option(identityIn('cluster.local', 'cluster.local', 'new-td', 'new-td', 'old-td', 'foreign'), {
      nil: undefined,
      freq: 4,
    }),
    address: oneOf(...ADDRESSES),
    forwardedFor: fc.option(oneOf('10.2.0.1', '1.2.3.4, 192.168.0.1'), { nil: undefined }),
    http: fc.option(request, { nil: undefined, freq: 3 }),
    token: fc.option(token, { nil: undefined }),
    authorizer: fc.constantFrom(undefined, 'allows', 'allows', 'denies', 'fails'),
  })
  .map(({ http, token: given, authorizer, ...caller }) => ({
    caller,
    called: { address: WORKLOAD.address, port: http === undefined ? TCP_PORT : HTTP_PORT, ...(http ? { http } : {}) },
    ...(given === undefined ? {} : { token: given }),
    ...(authorizer === undefined ? {} : { authorizer }),
  }));

export interface PolicyInquiry {
  readonly objects: readonly JsonObject[];
  readonly mesh: JsonObject;
  readonly questions: readonly PolicyQuestion[];
}

const QUESTIONS = 40;

export const policyInquiries = (questionCount: number): fc.Arbitrary<PolicyInquiry> =>
  fc
    .tuple(policies, mesh, fc.array(question, { minLength: questionCount, maxLength: questionCount }))
    .map(([some, config, questions]) => ({ objects: [...SERVICES, ...some], mesh: config, questions }));

export const policyInquiry = policyInquiries(QUESTIONS);

export function policyConnection({ caller, called, token: given, authorizer }: PolicyQuestion): Connection {
  const { identity: peer, forwardedFor } = caller;
  const certificate = peer && `spiffe://${peer.domain}/ns/${peer.namespace}/sa/${peer.account}`;
  const alpn = called.http === undefined ? ['istio-peer-exchange', 'istio'] : ['istio-http/1.1', 'istio'];
  const bearer = given && { [given.header]: given.header === 'authorization' ? `Bearer ${given.text}` : given.text };
  const http = called.http && {
    method: called.http.method,
    path: called.http.path,
    authority: called.http.host,
    headers: {
      ...called.http.headers,
      ...bearer,
      ...(forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }),
    },
    ...(given === undefined ? {} : { tokens: { [given.text]: given } }),
  };
  return {
    arrives: 'inbound',
    source: { address: caller.address, port: 40_000 },
    destination: { address: called.address, port: called.port },
    ...(certificate === undefined ? {} : { tls: { alpn, certificate } }),
    ...(http === undefined ? {} : { http }),
    ...(authorizer === undefined ? {} : { authorizer }),
  };
}
