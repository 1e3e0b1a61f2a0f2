// The filter that asks an external authorizer, by the settings of its provider.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { filterNames, hcm, httpService, workloadScene } from './scene.ts';

const policy: JsonObject = {
  apiVersion: 'security.istio.io/v1',
  kind: 'AuthorizationPolicy',
  metadata: { name: 'p', namespace: 'prod' },
  spec: { action: 'CUSTOM', provider: { name: 'authz' }, rules: [{}] },
};
const SERVICE = 'authz.prod.svc.cluster.local';
const CLUSTER = `outbound|8000||${SERVICE}`;
const TEN_MINUTES = { seconds: 600, nanos: 0 };

function scene(
  kind: 'envoyExtAuthzHttp' | 'envoyExtAuthzGrpc',
  settings: JsonObject,
): ReturnType<typeof workloadScene> {
  const provider = { name: 'authz', [kind]: { service: SERVICE, port: 8000, ...settings } };
  const ports = [
    { name: 'http', port: 80, targetPort: 8080 },
    { name: 'tcp', port: 9000 },
  ];
  const more = [policy, httpService('authz', 'prod', 8000, '10.96.0.9')];
  return workloadScene(ports, more, { mesh: { extensionProviders: [provider] } });
}

function chainOf(made: ReturnType<typeof workloadScene>, port: number) {
  return made.chains('app', 'virtualInbound').find(chain => chain.filterChainMatch?.destinationPort?.value === port);
}

/** What the settings of a provider make of the HTTP filter, without what is the same for all. */
function httpFilter(
  kind: 'envoyExtAuthzHttp' | 'envoyExtAuthzGrpc',
  settings: JsonObject = {},
): Record<string, unknown> {
  const filters = hcm(chainOf(scene(kind, settings), 8080)).httpFilters ?? [];
  const config = filters.find(({ name }) => name === 'envoy.filters.http.ext_authz')?.typedConfig;
  if (config === undefined) throw new Error('no filter asks the authorizer');
  const all: Readonly<Record<string, unknown>> = { ...config };
  const { '@type': _type, transportApiVersion: _version, filterEnabledMetadata: _shadow, ...rest } = all;
  return JSON.parse(JSON.stringify(rest)) as Record<string, unknown>;
}

describe('an external authorizer over HTTP', () => {
  const serverUri = { uri: `http://${SERVICE}`, cluster: CLUSTER, timeout: TEN_MINUTES };

  it('with nothing but its address is asked for each request, and its answer changes no header', () => {
    expect(httpFilter('envoyExtAuthzHttp')).toEqual({ httpService: { serverUri } });
  });

  it.each<[string, JsonObject, JsonObject]>([
    ['failOpen', { failOpen: true }, { failureModeAllow: true }],
    ['statusOnError', { statusOnError: '503' }, { statusOnError: { code: 503 } }],
    ['a body', { includeRequestBodyInCheck: { maxRequestBytes: 9 } }, { withRequestBody: { maxRequestBytes: 9 } }],
    [
      'a body in part and in bytes',
      { includeRequestBodyInCheck: { maxRequestBytes: 9, allowPartialMessage: true, packAsBytes: true } },
      { withRequestBody: { maxRequestBytes: 9, allowPartialMessage: true, packAsBytes: true } },
    ],
    [
      'headers of the request, in each form',
      { includeRequestHeadersInCheck: ['a', 'b*', '*c'] },
      {
        allowedHeaders: {
          patterns: [
            { exact: 'a', ignoreCase: true },
            { prefix: 'b', ignoreCase: true },
            { suffix: 'c', ignoreCase: true },
          ],
        },
      },
    ],
    [
      'headers of the request by the old name',
      { includeHeadersInCheck: ['old'] },
      { allowedHeaders: { patterns: [{ exact: 'old', ignoreCase: true }] } },
    ],
    [
      'headers of the request by both names',
      { includeRequestHeadersInCheck: ['new'], includeHeadersInCheck: ['old'] },
      { allowedHeaders: { patterns: [{ exact: 'new', ignoreCase: true }] } },
    ],
  ])('with %s', (_what, settings, expected) => {
    expect(httpFilter('envoyExtAuthzHttp', settings)).toEqual({ ...expected, httpService: { serverUri } });
  });

  it.each<[string, JsonObject, JsonObject]>([
    ['a path prefix', { pathPrefix: '/check' }, { pathPrefix: '/check' }],
    ['a timeout', { timeout: '2s' }, { serverUri: { ...serverUri, timeout: { seconds: 2, nanos: 0 } } }],
    [
      'headers added to its request, by name',
      { includeAdditionalHeadersInCheck: { b: '2', a: '1' } },
      {
        authorizationRequest: {
          headersToAdd: [
            { key: 'a', value: '1' },
            { key: 'b', value: '2' },
          ],
        },
      },
    ],
    [
      'headers of its answer for the workload',
      { headersToUpstreamOnAllow: ['x-user'] },
      { authorizationResponse: { allowedUpstreamHeaders: { patterns: [{ exact: 'x-user', ignoreCase: true }] } } },
    ],
    [
      'headers of its refusal for the client',
      { headersToDownstreamOnDeny: ['set-cookie'] },
      { authorizationResponse: { allowedClientHeaders: { patterns: [{ exact: 'set-cookie', ignoreCase: true }] } } },
    ],
    [
      'headers of its consent for the client',
      { headersToDownstreamOnAllow: ['x-ok'] },
      { authorizationResponse: { allowedClientHeadersOnSuccess: { patterns: [{ exact: 'x-ok', ignoreCase: true }] } } },
    ],
  ])('is called with %s', (_what, settings, expected) => {
    expect(httpFilter('envoyExtAuthzHttp', settings)).toEqual({ httpService: { serverUri, ...expected } });
  });
});

describe('an external authorizer over gRPC', () => {
  const grpcService = { envoyGrpc: { clusterName: CLUSTER, authority: SERVICE }, timeout: TEN_MINUTES };

  it('is asked for requests and for connections', () => {
    expect(httpFilter('envoyExtAuthzGrpc')).toEqual({ grpcService });
    const chain = chainOf(scene('envoyExtAuthzGrpc', {}), 9000);
    const config = chain?.filters?.find(({ name }) => name === 'envoy.filters.network.ext_authz')?.typedConfig;
    expect(config).toMatchObject({ statPrefix: 'tcp.', grpcService });
  });

  it('has its timeout, and fails open where failOpen is set', () => {
    expect(httpFilter('envoyExtAuthzGrpc', { timeout: '2s', failOpen: true })).toEqual({
      failureModeAllow: true,
      grpcService: { ...grpcService, timeout: { seconds: 2, nanos: 0 } },
    });
  });
});

it('an authorizer over HTTP is asked for requests alone: as in Istio its policy does not concern other connections', () => {
  const names = filterNames(chainOf(scene('envoyExtAuthzHttp', {}), 9000));
  expect(names).toEqual(['istio.metadata_exchange', 'envoy.filters.network.tcp_proxy']);
});
