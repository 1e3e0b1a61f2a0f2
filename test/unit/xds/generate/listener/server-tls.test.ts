// The server side of TLS, of mesh and users, and the listeners of gRPC programs and of tunnels.
// Source of the rules: Istio pilot/pkg/networking/core/gateway.go (buildGatewayListenerTLSContext),
// pilot/pkg/security/model/authentication.go, pilot/pkg/networking/grpcgen/lds.go.

import { describe, expect, it } from 'vitest';
import type { ServerTLSSettings } from '../../../../../src/core/schema/istio-types.gen.ts';
import type { GatewayTlsInputs } from '../../../../../src/core/select/listener/gateway-tls.ts';
import { gatewayTls } from '../../../../../src/xds/generate/listener/gateway-tls.ts';
import { meshTls } from '../../../../../src/xds/generate/listener/mesh-tls.ts';
import {
  proxylessClientListener,
  proxylessServerListener,
} from '../../../../../src/xds/generate/listener/proxyless.ts';
import { tunnelOpenerListener } from '../../../../../src/xds/generate/listener/tunnels.ts';
import { typeUrl } from '../../../../../src/xds/proto/any.ts';
import type { CommonTlsContext, TransportSocket } from '../../../../../src/xds/proto/types.gen.ts';

const TLS = typeUrl('envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext');
const HCM = typeUrl('envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager');
const files = { certificate: '', root: '', fileSource: false, overAds: false };

interface Server {
  readonly commonTlsContext: CommonTlsContext;
  readonly requireClientCertificate: { readonly value: boolean };
}
const serverOf = (socket: TransportSocket): Server => socket.typedConfig as unknown as Server;

describe('mesh mTLS of a server', () => {
  const settings = { ...files, tls13: false, ciphers: ['C'], trustDomains: ['td'], compliance: '' };

  it('verifies that clients are of a trust domain, by the workload’s certificate', () => {
    const made = meshTls.run({ alpn: ['h2'], settings });
    expect(made).toMatchObject({
      name: 'envoy.transport_sockets.tls',
      typedConfig: {
        '@type': TLS,
        requireClientCertificate: { value: true },
        commonTlsContext: {
          alpnProtocols: ['h2'],
          tlsParams: { tlsMinimumProtocolVersion: 3, tlsMaximumProtocolVersion: 4, cipherSuites: ['C'] },
          tlsCertificateSdsSecretConfigs: [{ name: 'default' }],
          combinedValidationContext: {
            defaultValidationContext: { matchSubjectAltNames: [{ prefix: 'spiffe://td/' }] },
            validationContextSdsSecretConfig: { name: 'ROOTCA' },
          },
        },
      },
    });
  });

  it('is TLS 1.3 where the mesh demands it', () => {
    const { tlsParams } = serverOf(meshTls.run({ alpn: [], settings: { ...settings, tls13: true } })).commonTlsContext;
    expect(tlsParams?.tlsMinimumProtocolVersion).toBe(4);
  });
});

describe('TLS that a user configures for a server', () => {
  const plain: GatewayTlsInputs = {
    ...files,
    tls: { mode: 'SIMPLE' },
    agent: true,
    alpn: ['h2'],
    quic: false,
    externalSds: '',
    compliance: '',
    minVersion: '',
    maxVersion: '',
    ciphers: [],
    curves: [],
  };
  const made = (tls: ServerTLSSettings, more: Partial<GatewayTlsInputs> = {}) =>
    gatewayTls.run({ ...plain, ...more, tls });
  const context = (tls: ServerTLSSettings, more: Partial<GatewayTlsInputs> = {}) =>
    serverOf(made(tls, more)).commonTlsContext;
  const names = (tls: ServerTLSSettings, more: Partial<GatewayTlsInputs> = {}) =>
    context(tls, more).tlsCertificateSdsSecretConfigs?.map(({ name }) => name);
  const root = ({ combinedValidationContext }: CommonTlsContext) =>
    combinedValidationContext?.validationContextSdsSecretConfig?.name;
  const cert = { serverCertificate: '/c', privateKey: '/k' };

  it.each<[ServerTLSSettings['mode'], boolean, boolean]>([
    ['SIMPLE', false, false],
    ['MUTUAL', true, true],
    ['ISTIO_MUTUAL', true, true],
    ['OPTIONAL_MUTUAL', false, true],
  ])('in mode %s requires a certificate of clients: %s, and verifies one: %s', (mode, required, validated) => {
    const server = serverOf(made({ mode: mode!, credentialName: 'cred' }));
    expect(server.requireClientCertificate).toEqual({ value: required });
    expect(server.commonTlsContext.combinedValidationContext !== undefined).toBe(validated);
  });

  it('has versions, ciphers and curves only as they are chosen', () => {
    expect(context({ mode: 'SIMPLE' }).tlsParams).toBeUndefined();
    const chosen = (more: Partial<GatewayTlsInputs>) => context({ mode: 'SIMPLE' }, more).tlsParams;
    expect(chosen({ minVersion: 'TLSV1_2' })).toEqual({ tlsMinimumProtocolVersion: 3 });
    expect(chosen({ maxVersion: 'TLSV1_3' })).toEqual({ tlsMaximumProtocolVersion: 4 });
    expect(chosen({ minVersion: 'TLSV9' })).toBeUndefined();
    expect(chosen({ ciphers: ['C'] })).toEqual({ cipherSuites: ['C'] });
    expect(chosen({ curves: ['E'] })).toEqual({ ecdhCurves: ['E'] });
    expect(context({ mode: 'ISTIO_MUTUAL' }, { ciphers: ['C'] }).tlsParams).toBeUndefined();
  });

  it('over QUIC is a context inside of its socket', () => {
    expect(made({ mode: 'MUTUAL', credentialName: 'cred' }, { quic: true })).toMatchObject({
      name: 'envoy.transport_sockets.quic',
      typedConfig: {
        '@type': typeUrl('envoy.extensions.transport_sockets.quic.v3.QuicDownstreamTransport'),
        downstreamTlsContext: {
          requireClientCertificate: { value: true },
          commonTlsContext: { alpnProtocols: ['h2'] },
        },
      },
    });
  });

  it('of the mesh verifies the names and revocations that it gives', () => {
    const mesh = context({ mode: 'ISTIO_MUTUAL', subjectAltNames: ['a'], caCrl: '/crl' });
    expect(mesh.tlsCertificateSdsSecretConfigs?.map(({ name }) => name)).toEqual(['default']);
    expect(mesh.combinedValidationContext).toMatchObject({
      defaultValidationContext: { matchSubjectAltNames: [{ exact: 'a' }], crl: { filename: '/crl' } },
      validationContextSdsSecretConfig: { name: 'ROOTCA' },
    });
    const open = context({ mode: 'ISTIO_MUTUAL', caCrl: '' }).combinedValidationContext?.defaultValidationContext;
    expect(open).toEqual({});
  });

  it('by a credential has the authority that goes with it, or one of its own', () => {
    const mutual = { mode: 'MUTUAL', credentialName: 'cred' } as const;
    expect(names(mutual)).toEqual(['kubernetes://cred']);
    expect(root(context(mutual))).toBe('kubernetes://cred-cacert');
    expect(root(context({ ...mutual, caCertCredentialName: '' }))).toBe('kubernetes://cred-cacert');
    expect(root(context({ ...mutual, caCertCredentialName: 'own' }))).toBe('kubernetes://own');
    const pinned = { ...mutual, verifyCertificateSpki: ['s'], verifyCertificateHash: ['h'], subjectAltNames: ['a'] };
    expect(context(pinned).combinedValidationContext?.defaultValidationContext).toEqual({
      matchSubjectAltNames: [{ exact: 'a' }],
      verifyCertificateSpki: ['s'],
      verifyCertificateHash: ['h'],
    });
    expect(context(mutual).combinedValidationContext?.defaultValidationContext).toEqual({});
  });

  it('by a credential in mode SIMPLE verifies names alone, if there are any', () => {
    const simple = { mode: 'SIMPLE', credentialName: 'cred' } as const;
    expect(context(simple).validationContext).toBeUndefined();
    expect(context({ ...simple, subjectAltNames: ['a'] }).validationContext).toEqual({
      matchSubjectAltNames: [{ exact: 'a' }],
    });
  });

  it('by files has them from the agent, and the certificate of the workload where they are not named', () => {
    expect(names({ mode: 'SIMPLE', ...cert })).toEqual(['file-cert:/c~/k']);
    expect(names({ mode: 'SIMPLE' })).toEqual(['default']);
    expect(names({ mode: 'SIMPLE', serverCertificate: '/c' })).toEqual(['default']);
    expect(names({ mode: 'SIMPLE', privateKey: '/k' })).toEqual(['default']);
    const several = {
      mode: 'SIMPLE',
      tlsCertificates: [cert, { serverCertificate: '/c2', privateKey: '/k2' }],
    } as const;
    expect(names(several)).toEqual(['file-cert:/c~/k', 'file-cert:/c2~/k2']);
    expect(JSON.stringify(made({ mode: 'SIMPLE', ...cert }))).toContain('"sds-grpc"');
    expect(JSON.stringify(made({ mode: 'SIMPLE', ...cert }, { fileSource: true }))).toContain('"sds-files-grpc"');
  });

  it('by files verifies clients by the roots that are named, or by those of the mesh', () => {
    expect(root(context({ mode: 'MUTUAL', ...cert, caCertificates: '/r' }))).toBe('file-root:/r');
    expect(root(context({ mode: 'MUTUAL', ...cert }))).toBe('ROOTCA');
    const listed = [{ ...cert }, { ...cert, caCertificates: '/r2' }];
    expect(root(context({ mode: 'MUTUAL', tlsCertificates: listed }))).toBe('file-root:/r2');
    expect(context({ mode: 'SIMPLE', ...cert, caCertificates: '/r' }).combinedValidationContext).toBeUndefined();
  });

  it('by files is read by a proxy without an agent itself, and is never served where a file is not named', () => {
    const bare = (tls: ServerTLSSettings) => context(tls, { agent: false });
    const mutual = bare({ mode: 'MUTUAL', ...cert, caCertificates: '/r', subjectAltNames: ['a'] });
    expect(mutual).toMatchObject({
      tlsCertificates: [{ certificateChain: { filename: '/c' }, privateKey: { filename: '/k' } }],
      validationContext: { trustedCa: { filename: '/r' }, matchSubjectAltNames: [{ exact: 'a' }] },
    });
    expect(mutual.tlsCertificateSdsSecretConfigs).toBeUndefined();
    expect(bare({ mode: 'SIMPLE', ...cert }).validationContext).toBeUndefined();
    const half = bare({ mode: 'MUTUAL', caCertificates: '/r', tlsCertificates: [cert, { privateKey: '/k' }] });
    expect(half.tlsCertificates).toBeUndefined();
    expect(half.tlsCertificateSdsSecretConfigs?.map(({ name }) => name)).toEqual(['invalid://']);
    expect(half.validationContext).toEqual({ trustedCa: { filename: '/r' } });
  });
});

describe('the listeners of a gRPC program', () => {
  const at = (address: string) => ({ socketAddress: { address, portValue: 80 } });
  const filters = ['envoy.filters.http.fault', 'envoy.filters.http.router'];

  it('as a client name the routes of a host', () => {
    const client = { name: 'a:80', address: '1.1.1.1', moreAddresses: ['::1'], port: 80, routeName: 'r', session: '' };
    const { name, message, problems } = proxylessClientListener.run(client);
    expect([name, problems]).toEqual(['a:80', []]);
    const { apiListener, ...rest } = message;
    expect(rest).toEqual({ name: 'a:80', address: at('1.1.1.1'), additionalAddresses: [{ address: at('::1') }] });
    expect(apiListener?.apiListener).toMatchObject({
      '@type': HCM,
      httpFilters: filters.map(filter => ({ name: filter })),
      rds: { configSource: { ads: {} }, routeConfigName: 'r' },
    });
  });

  it('as a server hold one chain, whose requests the program answers', () => {
    const server = {
      name: 's',
      address: '1.1.1.1',
      moreAddresses: [],
      port: 80,
      mtls: false,
      authorization: undefined,
    };
    const made = proxylessServerListener.run(server);
    expect(made.problems).toEqual([]);
    expect(made.message).toMatchObject({ name: 's', address: at('1.1.1.1') });
    const [chain] = made.message.filterChains ?? [];
    expect(chain).toEqual({
      name: 'inbound-plaintext',
      filters: [
        {
          name: 'inbound-hcmplaintext',
          typedConfig: {
            '@type': HCM,
            routeConfig: {
              name: 'inbound',
              virtualHosts: [{ domains: ['*'], routes: [{ match: { prefix: '/' }, nonForwardingAction: {} }] }],
            },
            httpFilters: [
              {
                name: 'envoy.filters.http.router',
                typedConfig: { '@type': typeUrl('envoy.extensions.filters.http.router.v3.Router') },
              },
            ],
          },
        },
      ],
    });
    const [secure] = proxylessServerListener.run({ ...server, mtls: true }).message.filterChains ?? [];
    expect(secure).toMatchObject({ name: 'inbound-mtls', filters: [{ name: 'inbound-hcmmtls' }] });
    expect(secure?.transportSocket).toMatchObject({
      name: 'envoy.transport_sockets.tls',
      typedConfig: {
        '@type': TLS,
        requireClientCertificate: { value: true },
        commonTlsContext: { tlsCertificateProviderInstance: { instanceName: 'default' } },
      },
    });
  });
});

describe('the listener that opens a tunnel', () => {
  const inputs = {
    name: 'connect_originate',
    target: '%DST%',
    header: '',
    headerValue: '',
    filters: [{ name: 'first' }],
    readsDestination: false,
    accessLog: undefined,
    tunnelLog: [],
  };
  const config = (more: object) => {
    const [, filter] = tunnelOpenerListener.run({ ...inputs, ...more }).message.filterChains?.[0]?.filters ?? [];
    return filter;
  };

  it('is internal, and asks for the target', () => {
    expect(tunnelOpenerListener.run(inputs)).toEqual({
      name: 'connect_originate',
      problems: [],
      message: {
        name: 'connect_originate',
        internalListener: {},
        useOriginalDst: { value: false },
        filterChains: [
          {
            filters: [
              { name: 'first' },
              {
                name: 'envoy.filters.network.tcp_proxy',
                typedConfig: {
                  '@type': typeUrl('envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy'),
                  cluster: 'connect_originate',
                  statPrefix: 'connect_originate',
                  tunnelingConfig: { hostname: '%DST%' },
                },
              },
            ],
          },
        ],
      },
    });
  });

  it('reads the destination, logs, and sends a header, where told to', () => {
    const log = [{ name: 'log' }];
    const { listenerFilters, accessLog } = tunnelOpenerListener.run({
      ...inputs,
      readsDestination: true,
      accessLog: log,
    }).message;
    expect([listenerFilters?.map(({ name }) => name), accessLog]).toEqual([
      ['envoy.filters.listener.original_dst'],
      log,
    ]);
    expect(config({ tunnelLog: log })).toMatchObject({ typedConfig: { accessLog: log } });
    const header = (value: string) => config({ header: 'h', headerValue: value })?.typedConfig;
    const sent = (value: object) => ({
      tunnelingConfig: { hostname: '%DST%', headersToAdd: [{ header: { key: 'h', ...value }, appendAction: 2 }] },
    });
    expect(header('v')).toMatchObject(sent({ value: 'v' }));
    expect(header('')).toMatchObject(sent({}));
  });
});
