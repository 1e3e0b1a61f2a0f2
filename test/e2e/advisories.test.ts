// Istio's past advisories about policies, paths, headers, hosts and tokens, before a real Envoy that Periplus
// configures: what was let pass then is refused, and what is meant to pass does. Each fails without the rule that
// prevents it; test/unit/xds/generate/listener/security-advisories.test.ts has the same and those that cannot be shown
// here, by the oracle. Needs an Envoy, root and Linux.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/base/json.ts';
import type { Connection, HttpRequest } from '../../src/oracle/question.ts';
import { tokenMaker } from '../identity/tokens.ts';
import { HTTP_PORT, SERVICES, TCP_PORT, WORKLOAD } from '../property/mesh/policy-world.ts';
import { envoyFor } from './oracle/trial.ts';
import { behindEnvoy } from './oracle/workload.ts';

const binary = await envoyFor('test/e2e/advisories.test.ts');

const issuer = tokenMaker();
const USERS = 'https://users.example.com';

const object = (kind: string, name: string, spec: JsonObject): JsonObject => ({
  apiVersion: 'security.istio.io/v1',
  kind,
  metadata: { name, namespace: WORKLOAD.namespace },
  spec,
});
const deny = (rule: JsonObject): JsonObject => object('AuthorizationPolicy', 'p', { action: 'DENY', rules: [rule] });
const allow = (...rules: readonly JsonObject[]): JsonObject => object('AuthorizationPolicy', 'p', { rules });
const tokens = (rule: JsonObject): JsonObject =>
  object('RequestAuthentication', 't', { jwtRules: [{ issuer: USERS, ...rule }] });
const onPath = (path: string): JsonObject => ({ to: [{ operation: { paths: [path] } }] });
const from = (source: JsonObject): JsonObject => ({ from: [{ source }] });

const source = { address: '10.1.99.1', port: 0 };
const peer = (account: string, alpn: string): Pick<Connection, 'tls'> => ({
  tls: { certificate: `spiffe://cluster.local/ns/${account.replace('/', '/sa/')}`, alpn: [alpn, 'istio'] },
});
/** By an account over mTLS, or in plaintext. */
function request(of: Partial<HttpRequest>, account?: string): Connection {
  const destination = { address: WORKLOAD.address, port: HTTP_PORT };
  const http = { authority: 'alpha', path: '/', method: 'GET', headers: {}, ...of };
  return { arrives: 'inbound', source, destination, http, ...(account ? peer(account, 'istio-http/1.1') : {}) };
}
function bytes(account?: string): Connection {
  const destination = { address: WORKLOAD.address, port: TCP_PORT };
  return { arrives: 'inbound', source, destination, ...(account ? peer(account, 'istio-peer-exchange') : {}) };
}
const bearer = (token: string): Partial<HttpRequest> => ({ headers: { authorization: `Bearer ${token}` } });

interface Row {
  readonly advisory: string;
  readonly says: string;
  readonly objects: readonly JsonObject[];
  readonly mesh?: JsonObject;
  readonly asked: readonly (readonly [connection: Connection, seen: string])[];
}

const passes = 'forwarded';
const refused = 'answered 403';
const merging = { pathNormalization: { normalization: 'DECODE_AND_MERGE_SLASHES' } };

const rows: readonly Row[] = [
  {
    advisory: 'CVE-2020-8595',
    says: 'a query does not take a path out of the reach of tokens and rules',
    objects: [tokens({ jwks: issuer.jwks }), deny(onPath('/admin'))],
    asked: [
      [request({ path: '/x?y', ...bearer('garbage') }), 'answered 401'],
      [request({ path: '/admin?x' }), refused],
      [request({ path: '/x?y' }), passes],
    ],
  },
  {
    advisory: 'CVE-2020-16844',
    says: 'DENY of a principal by its end refuses connections without HTTP',
    objects: [deny(from({ principals: ['*/sa/job'] }))],
    asked: [
      [bytes('prod/job'), 'closed'],
      [bytes('prod/web'), passes],
      [request({}, 'prod/job'), refused],
    ],
  },
  {
    advisory: 'CVE-2021-31920',
    says: 'slashes that are repeated or escaped do not evade a rule, where the mesh normalises them',
    objects: [deny(onPath('/admin/x'))],
    mesh: merging,
    asked: [
      ...['//admin/x', '/admin//x', '/admin%2fx', '/admin%5Cx', '/a/../admin/x', '/a/%2e%2e/admin/x'].map(
        path => [request({ path }), refused] as const,
      ),
      [request({ path: '/admin/y' }), passes],
    ],
  },
  {
    advisory: 'CVE-2021-39155',
    says: 'the case of a host does not evade a rule',
    objects: [deny({ to: [{ operation: { hosts: ['secret.example.com'] } }] })],
    asked: [
      [request({ authority: 'SECRET.Example.com' }), refused],
      [request({ authority: 'open.example.com' }), passes],
    ],
  },
  {
    advisory: 'CVE-2021-39156',
    says: 'a fragment does not evade a rule',
    objects: [deny(onPath('/admin'))],
    asked: [
      [request({ path: '/admin#x' }), 'answered 400'],
      [request({ path: '/x' }), passes],
    ],
  },
  {
    advisory: 'ISTIO-SECURITY-2021-004',
    says: 'a caller without mTLS is no caller of a namespace: ALLOW by namespace refuses it',
    objects: [allow(from({ namespaces: ['prod'] }))],
    asked: [
      [request({}), refused],
      [request({}, 'other/web'), refused],
      [request({}, 'prod/web'), passes],
      [bytes(), 'closed'],
    ],
  },
  {
    advisory: 'ISTIO-SECURITY-2021-004',
    says: 'STRICT keeps a caller without mTLS from evading DENY by namespace',
    objects: [
      deny(from({ namespaces: ['prod'] })),
      object('PeerAuthentication', 'strict', { mtls: { mode: 'STRICT' } }),
    ],
    asked: [
      [request({}), 'closed'],
      [request({}, 'prod/web'), refused],
      [request({}, 'other/web'), passes],
    ],
  },
  {
    advisory: 'CVE-2026-31837',
    says: 'while keys are not fetched, no token is good, and what needs none passes',
    objects: [
      tokens({ jwksUri: 'https://users.example.com/keys' }),
      allow({ to: [{ operation: { paths: ['/open'] } }] }, from({ requestPrincipals: [`${USERS}/*`] })),
    ],
    asked: [
      [request({ path: '/x', ...bearer(issuer.token('a/b', { iss: USERS, sub: 'a' })) }), 'answered 401'],
      [request({ path: '/x' }), refused],
      [request({ path: '/open' }), passes],
    ],
  },
  {
    advisory: 'CVE-2026-39350',
    says: 'a dot in the name of an account or namespace stands for itself',
    objects: [allow(from({ serviceAccounts: ['prod/web.a'] }), from({ namespaces: ['te.t'] }))],
    asked: [
      [request({}, 'prod/web.a'), passes],
      [request({}, 'prod/webXa'), refused],
      [request({}, 'te.t/web'), passes],
      [request({}, 'test/web'), refused],
      [bytes('prod/webXa'), 'closed'],
    ],
  },
  {
    advisory: 'headers that the proxy trusts',
    says: 'a caller cannot write the claims of a token, or its own certificate, into headers',
    objects: [
      tokens({ jwks: issuer.jwks, outputClaimToHeaders: [{ header: 'x-group', claim: 'group' }] }),
      allow({ when: [{ key: 'request.headers[x-group]', values: ['staff'] }] }),
    ],
    asked: [
      [request({ headers: { 'x-group': 'staff' } }), refused],
      [request(bearer(issuer.token('a/b', { iss: USERS, sub: 'a', group: 'staff' }))), passes],
      [
        request({
          headers: { 'x-forwarded-client-cert': 'URI=spiffe://cluster.local/ns/prod/sa/web', 'x-group': 'staff' },
        }),
        refused,
      ],
    ],
  },
];

describe.runIf(binary !== undefined)('past advisories, before a real Envoy', () => {
  const behaviour = behindEnvoy(binary ?? '');

  it.each(rows.map(row => [`${row.advisory}: ${row.says}`, row] as const))(
    '%s',
    async (_, { objects, mesh, asked }) => {
      const { answers } = await behaviour(
        mesh ?? {},
        [...SERVICES, ...objects],
        asked.map(([connection]) => connection),
      );
      expect(answers.map(({ seen }, i) => [asked[i]![0].http ?? 'bytes', seen])).toEqual(
        asked.map(([{ http }, seen]) => [http ?? 'bytes', seen]),
      );
    },
  );
});
