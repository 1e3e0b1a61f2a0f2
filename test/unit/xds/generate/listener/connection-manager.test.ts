// HTTP connection managers and their filters, each field from the one setting that makes it.
// Source of the rules: Istio pilot/pkg/networking/core/listener_builder.go, pilot/pkg/networking/util/proxy_headers.go.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { HcmSettings } from '../../../../../src/core/select/listener/http-connection-manager.ts';
import {
  hcmBaseGenerator,
  hcmFilter,
  headerFields,
} from '../../../../../src/xds/generate/listener/http-connection-manager.ts';
import {
  type HttpFilterInputs,
  httpFilterList,
  waypointHttpFilterList,
} from '../../../../../src/xds/generate/listener/http-filters.ts';
import { typeUrl } from '../../../../../src/xds/proto/any.ts';

const never = { seconds: 0, nanos: 0 };
const formatter = {
  name: 'preserve_case',
  typedConfig: {
    '@type': typeUrl('envoy.extensions.http.header_formatters.preserve_case.v3.PreserveCaseFormatterConfig'),
  },
};

type Base = Parameters<typeof hcmBaseGenerator.run>[0];
const settings: Base = {
  traffic: 'outbound',
  headers: {},
  topology: undefined,
  pathNormalization: 'NONE',
  useRemoteAddress: false,
  internalNetworks: [],
  continue100: false,
  http10: false,
  idleTimeout: '',
  sampleByRequestId: true,
  forwardsIdentity: false,
  accessLog: undefined,
  tracing: undefined,
};
const plain = {
  streamIdleTimeout: never,
  upgradeConfigs: [{ upgradeType: 'websocket' }],
  requestIdExtension: {
    typedConfig: {
      '@type': typeUrl('envoy.extensions.request_id.uuid.v3.UuidRequestIdConfig'),
      useRequestIdForTraceSampling: { value: true },
    },
  },
  normalizePath: { value: false },
  pathWithEscapedSlashesAction: 1,
  useRemoteAddress: { value: false },
};
const base = (more: Partial<Base>) => hcmBaseGenerator.run({ ...settings, ...more });

describe('the settings of connection managers', () => {
  it('without any have no field of their own', () => {
    expect(base({})).toEqual(plain);
  });

  it.each<[Partial<HcmSettings>, object]>([
    [{ continue100: true }, { proxy100Continue: true }],
    [{ useRemoteAddress: true }, { useRemoteAddress: { value: true } }],
    [
      { internalNetworks: ['10.0.0.0/8'] },
      { internalAddressConfig: { cidrRanges: [{ addressPrefix: '10.0.0.0', prefixLen: { value: 8 } }] } },
    ],
    [{ idleTimeout: '5s' }, { commonHttpProtocolOptions: { idleTimeout: { seconds: 5, nanos: 0 } } }],
    [{ http10: true }, { httpProtocolOptions: { acceptHttp10: true } }],
    [
      { headers: { preserveHttp1HeaderCase: true } },
      { httpProtocolOptions: { headerKeyFormat: { statefulFormatter: formatter } } },
    ],
    [{ headers: { preserveHttp1HeaderCase: false } }, {}],
    [{ headers: { requestId: { disabled: true } } }, { generateRequestId: { value: false } }],
    [{ headers: { requestId: { disabled: false } } }, {}],
    [{ headers: { requestId: 'text' } }, {}],
    [{ headers: { xForwardedPort: { enabled: true } } }, { appendXForwardedPort: true }],
    [{ headers: { xForwardedPort: { enabled: false } } }, {}],
    [{ headers: { server: { disabled: true, value: 's' } } }, { serverHeaderTransformation: 2 }],
    [{ headers: { server: { value: 's' } } }, { serverName: 's' }],
    [{ headers: { server: { value: '' } } }, {}],
    [{ headers: { server: { value: 5 } } }, {}],
    [{ pathNormalization: 'BASE' }, { normalizePath: { value: true } }],
    [{ pathNormalization: 'MERGE_SLASHES' }, { normalizePath: { value: true }, mergeSlashes: true }],
    [
      { pathNormalization: 'DECODE_AND_MERGE_SLASHES' },
      { normalizePath: { value: true }, mergeSlashes: true, pathWithEscapedSlashesAction: 4 },
    ],
    [{ topology: { numTrustedProxies: 2 } }, { xffNumTrustedHops: 2 }],
    [{ topology: { numTrustedProxies: 0 } }, {}],
    [{ topology: { numTrustedProxies: '2' } }, {}],
  ])('%j add %j', (more, expected) => {
    expect(base(more)).toEqual({ ...plain, ...expected });
  });

  it('of a waypoint pass the client’s identity on where it asks for it', () => {
    const forwards = (forwardsIdentity: boolean) => base({ traffic: 'waypoint ', forwardsIdentity });
    expect(forwards(true).forwardClientCertDetails).toBe(4);
    expect([forwards(false).forwardClientCertDetails, forwards(true).setCurrentClientCertDetails]).toEqual([
      undefined,
      undefined,
    ]);
  });

  it('log and trace where there are logs and traces', () => {
    expect(base({ accessLog: [] })).toEqual(plain);
    expect(base({ accessLog: [{ name: 'l' }], tracing: {} })).toEqual({
      ...plain,
      accessLog: [{ name: 'l' }],
      tracing: {},
    });
  });

  it.each<[JsonObject, object, number]>([
    [{}, { subject: { value: true }, uri: true, dns: true }, 2],
    [
      { setCurrentClientCertDetails: { subject: false, uri: false, dns: false, cert: true, chain: true } },
      { subject: { value: false }, cert: true, chain: true },
      2,
    ],
    [
      { setCurrentClientCertDetails: { subject: true, uri: true, dns: true, cert: false, chain: false } },
      { subject: { value: true }, uri: true, dns: true },
      2,
    ],
    [{ forwardedClientCert: 'SANITIZE' }, { subject: { value: true }, uri: true, dns: true }, 0],
    [{ forwardedClientCert: 'UNDEFINED' }, { subject: { value: true }, uri: true, dns: true }, 2],
    [{ forwardedClientCert: 5 }, { subject: { value: true }, uri: true, dns: true }, 2],
  ])('of inbound traffic with %j tell of the client %j', (headers, details, forward) => {
    const made = base({ traffic: 'inbound', headers });
    expect([made.forwardClientCertDetails, made.setCurrentClientCertDetails]).toEqual([forward, details]);
    expect(made.serverName).toBe('istio-envoy');
  });

  it.each<[JsonObject, number, boolean]>([
    [{}, 3, true],
    [{ forwardClientCertDetails: 'APPEND_FORWARD' }, 2, true],
    [{ forwardClientCertDetails: 'FORWARD_ONLY' }, 1, false],
    [{ forwardClientCertDetails: 'ALWAYS_FORWARD_ONLY' }, 4, false],
  ])('of a gateway with the topology %j forward certificates by %i', (topology, forward, says) => {
    const made = base({ traffic: 'gateway', topology });
    expect(made.forwardClientCertDetails).toBe(forward);
    const all = { subject: { value: true }, cert: true, dns: true, uri: true };
    expect(made.setCurrentClientCertDetails).toEqual(says ? all : undefined);
    expect(made.httpProtocolOptions).toEqual({});
  });

  it('that a tunnel’s server takes without a base follow from the same headers', () => {
    expect(headerFields('inbound', {})).toEqual({
      serverName: 'istio-envoy',
      forwardClientCertDetails: 2,
      suppressDebugHeaders: false,
    });
    const headers = {
      requestId: { disabled: true },
      envoyDebugHeaders: { disabled: true },
      server: { disabled: true },
    };
    expect(headerFields('inbound', headers)).toEqual({
      serverHeaderTransformation: 2,
      generateRequestId: { value: false },
      forwardClientCertDetails: 2,
      suppressDebugHeaders: true,
    });
  });
});

describe('a connection manager', () => {
  const made = (more: object) =>
    hcmFilter.run({
      base: {},
      filters: [],
      statPrefix: 's',
      routes: 'r',
      http2: false,
      http3: false,
      httpProxy: false,
      ...more,
    });
  const filter = (config: object) => ({
    name: 'envoy.filters.network.http_connection_manager',
    typedConfig: {
      '@type': typeUrl('envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager'),
      statPrefix: 's',
      httpFilters: [],
      ...config,
    },
  });
  const rds = {
    rds: { configSource: { ads: {}, initialFetchTimeout: never, resourceApiVersion: 2 }, routeConfigName: 'r' },
  };

  it('asks for its routes by name, or has them itself', () => {
    expect(made({})).toEqual(filter(rds));
    expect(made({ routes: { name: 'own' } })).toEqual(filter({ routeConfig: { name: 'own' } }));
  });

  it('speaks HTTP/2 and HTTP/3, and takes absolute URLs as an HTTP proxy', () => {
    expect(made({ http2: true })).toEqual(filter({ ...rds, http2ProtocolOptions: {} }));
    expect(made({ http3: true })).toEqual(filter({ ...rds, codecType: 3, http3ProtocolOptions: {} }));
    const proxy = made({ httpProxy: true, base: { httpProtocolOptions: { acceptHttp10: true } } });
    expect(proxy).toEqual(
      filter({ ...rds, httpProtocolOptions: { acceptHttp10: true, allowAbsoluteUrl: { value: true } } }),
    );
  });
});

describe('the filters of a connection manager', () => {
  const none = { AUTHN: [], AUTHZ: [], STATS: [], UNSPECIFIED: [] };
  const inputs: HttpFilterInputs = {
    exchangedLabels: undefined,
    peerDirection: 'upstream',
    picksEndpoints: false,
    grpcWeb: false,
    overridesAlpn: false,
    keepsSessions: false,
    dynamicForwardProxy: '',
    suppressDebugHeaders: false,
    forwardsIdentity: false,
    customAuthorization: [],
    requestAuthentication: [],
    authorization: [],
    stats: [],
    extensions: none,
  };
  const named = (name: string) => [{ name }];
  const everything: HttpFilterInputs = {
    ...inputs,
    exchangedLabels: '',
    picksEndpoints: true,
    grpcWeb: true,
    overridesAlpn: true,
    keepsSessions: true,
    dynamicForwardProxy: 'h',
    forwardsIdentity: true,
    customAuthorization: named('custom'),
    requestAuthentication: named('jwt'),
    authorization: named('rbac'),
    stats: named('stats'),
    extensions: { AUTHN: named('authn'), AUTHZ: named('authz'), STATS: named('of-stats'), UNSPECIFIED: named('own') },
  };
  const names = (list: readonly { readonly name?: string }[]) =>
    list.map(({ name = '' }) => name.replace('envoy.filters.http.', ''));
  const ofNetwork = ['grpc_stats', 'fault', 'cors', 'router'];

  it('are in this order', () => {
    expect(names(httpFilterList.run(inputs))).toEqual(ofNetwork);
    expect(names(httpFilterList.run(everything))).toEqual(
      (
        'istio.metadata_exchange custom authn jwt authz rbac of-stats own ext_proc grpc_web grpc_stats istio.alpn fault ' +
        'cors stats stateful_session dynamic_forward_proxy router'
      ).split(' '),
    );
  });

  it('of a waypoint are in another', () => {
    const peers = 'waypoint_upstream_peer_metadata';
    expect(names(waypointHttpFilterList.run(inputs))).toEqual([...ofNetwork.slice(0, 3), peers, 'router']);
    expect(names(waypointHttpFilterList.run(everything))).toEqual(
      (
        'istio.waypoint.xfcc_client_identity custom authn jwt authz rbac grpc_web grpc_stats fault cors ' +
        `dynamic_forward_proxy of-stats own ${peers} stats router`
      ).split(' '),
    );
  });

  it('resolve requested names in a cache that they share with the cluster of the host', () => {
    const found = httpFilterList.run({ ...inputs, dynamicForwardProxy: '*.a' }).at(-2);
    expect(found?.typedConfig).toEqual({
      '@type': typeUrl('envoy.extensions.filters.http.dynamic_forward_proxy.v3.FilterConfig'),
      dnsCacheConfig: { name: '*.a_dfp_dns_cache', dnsLookupFamily: 1 },
    });
  });

  it('exchange metadata with peers by headers and by discovery, in the mesh alone where told so', () => {
    const of = (peerDirection: HttpFilterInputs['peerDirection'], exchangedLabels = '') =>
      httpFilterList.run({ ...inputs, peerDirection, exchangedLabels })[0]?.typedConfig;
    const config = (side: string, propagation: object, more: object = {}) => ({
      '@type': typeUrl('udpa.type.v1.TypedStruct'),
      typeUrl: 'type.googleapis.com/io.istio.http.peer_metadata.Config',
      value: {
        [`${side}_discovery`]: [{ istio_headers: {} }, { workload_discovery: {} }],
        [`${side}_propagation`]: [{ istio_headers: propagation }],
        ...more,
      },
    });
    expect(of('downstream')).toEqual(config('downstream', {}));
    expect(of('upstream', 'b,a')).toEqual(config('upstream', {}, { additional_labels: ['a', 'b'] }));
    expect(of('inMesh')).toEqual(config('upstream', { skip_external_clusters: true }));
  });

  it('end in a router that adds debug headers unless told not to', () => {
    const router = (suppressDebugHeaders: boolean) =>
      httpFilterList.run({ ...inputs, suppressDebugHeaders }).at(-1)?.typedConfig;
    const type = { '@type': typeUrl('envoy.extensions.filters.http.router.v3.Router') };
    expect([router(false), router(true)]).toEqual([type, { ...type, suppressEnvoyHeaders: true }]);
  });
});
