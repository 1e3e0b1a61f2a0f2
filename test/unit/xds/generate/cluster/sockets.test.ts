// The transport sockets of a cluster, from what was chosen for it: TLS, tunnels, PROXY protocol.

import { describe, expect, it } from 'vitest';
import type { UpstreamTlsInputs } from '../../../../../src/core/select/cluster/upstream-tls.ts';
import { upstreamTls, withProxyProtocol, withTunnels } from '../../../../../src/xds/generate/cluster/upstream-tls.ts';
import { vipSocket } from '../../../../../src/xds/generate/cluster/waypoint.ts';
import { rawBuffer } from '../../../../../src/xds/generate/common/internal-upstream.ts';
import { typeUrl } from '../../../../../src/xds/proto/any.ts';
import type { CommonTlsContext, TransportSocket, UpstreamTlsContext } from '../../../../../src/xds/proto/types.gen.ts';

const INTERNAL = typeUrl('envoy.extensions.transport_sockets.internal_upstream.v3.InternalUpstreamTransport');
const DESTINATION = 'envoy.filters.listener.original_dst';

const inputs: UpstreamTlsInputs = {
  mode: 'ISTIO_MUTUAL',
  conditional: false,
  sni: '',
  subjectAltNames: [],
  clientCertificate: '',
  privateKey: '',
  caCertificates: '',
  caCrl: '',
  credentialName: '',
  skipVerify: false,
  http2: false,
  peerExchange: true,
  cipherSuites: [],
  ecdhCurves: [],
  compliance: '',
  credentialSocket: false,
  fileCertificates: 'sds-grpc',
  overAds: false,
};

function contextOf(more: Partial<UpstreamTlsInputs>): UpstreamTlsContext {
  return upstreamTls.run({ ...inputs, ...more }).socket!.typedConfig as UpstreamTlsContext;
}

function context(more: Partial<UpstreamTlsInputs>): CommonTlsContext {
  return contextOf(more).commonTlsContext!;
}

describe('mesh mTLS', () => {
  const accounts = (subjectAltNames: readonly string[]) =>
    context({ subjectAltNames }).combinedValidationContext?.defaultValidationContext;

  it('verifies the accounts of the service, and any identity of the mesh where there are none', () => {
    expect(accounts(['a', 'b'])).toEqual({ matchSubjectAltNames: [{ exact: 'a' }, { exact: 'b' }] });
    expect(accounts([])).toEqual({});
  });

  it.each<[boolean, boolean, readonly string[]]>([
    [true, false, ['istio-peer-exchange', 'istio']],
    [true, true, ['istio-peer-exchange', 'istio', 'h2']],
    [false, false, ['istio']],
  ])('with exchange of metadata %s and HTTP/2 %s offers %j', (peerExchange, http2, expected) => {
    expect(context({ peerExchange, http2 }).alpnProtocols).toEqual(expected);
  });

  it('restricts TLS to what the mesh names', () => {
    const plain = { tlsMinimumProtocolVersion: 3, tlsMaximumProtocolVersion: 4 };
    expect(context({}).tlsParams).toEqual(plain);
    expect(context({ cipherSuites: ['C'], ecdhCurves: ['E'] }).tlsParams).toEqual({
      ...plain,
      cipherSuites: ['C'],
      ecdhCurves: ['E'],
    });
  });

  it('is known as such, also to what puts a tunnel in its place', () => {
    const made = upstreamTls.run(inputs);
    expect(made.mesh).toBe(true);
    expect(upstreamTls.run({ ...inputs, mode: 'SIMPLE' }).mesh).toBe(false);
  });
});

describe('TLS that a rule asks for', () => {
  const files = { clientCertificate: '/c', privateKey: '/k' };
  const certificates = [{ certificateChain: { filename: '/c' }, privateKey: { filename: '/k' } }];
  const system = '/etc/ssl/certs/ca-certificates.crt';

  it.each([
    ['', system],
    ['system', system],
    ['/r', '/r'],
  ])('from files without an agent takes the roots %j from %s', (caCertificates, filename) => {
    const made = context({ ...files, mode: 'SIMPLE', caCertificates, fileCertificates: 'direct' });
    expect(made.tlsCertificates).toBeUndefined();
    expect(made.validationContext).toEqual({ trustedCa: { filename } });
  });

  it('from files without an agent presents a certificate in mode MUTUAL alone, and validates unless told not to', () => {
    const mutual = { ...files, mode: 'MUTUAL', fileCertificates: 'direct' } as const;
    const strict = context({ ...mutual, subjectAltNames: ['a'], caCrl: '/crl' });
    expect(strict.tlsCertificates).toEqual(certificates);
    expect(strict.validationContext).toEqual({
      trustedCa: { filename: system },
      matchSubjectAltNames: [{ exact: 'a' }],
      crl: { filename: '/crl' },
    });
    expect(context({ ...mutual, skipVerify: true }).validationContext).toEqual({});
  });

  it('from files over SDS names them, the roots of the system by default', () => {
    const simple = context({ mode: 'SIMPLE' });
    expect(simple.tlsCertificateSdsSecretConfigs).toBeUndefined();
    expect(simple.alpnProtocols).toBeUndefined();
    expect(simple.combinedValidationContext?.validationContextSdsSecretConfig?.name).toBe('file-root:system');
    const mutual = context({ ...files, mode: 'MUTUAL', caCertificates: '/r', http2: true, caCrl: '/crl' });
    expect(mutual.tlsCertificateSdsSecretConfigs?.map(({ name }) => name)).toEqual(['file-cert:/c~/k']);
    expect(mutual.combinedValidationContext).toMatchObject({
      defaultValidationContext: { crl: { filename: '/crl' } },
      validationContextSdsSecretConfig: { name: 'file-root:/r' },
    });
    expect(mutual.alpnProtocols).toEqual(['h2']);
    expect(context({ mode: 'SIMPLE', skipVerify: true })).toMatchObject({ validationContext: {} });
  });

  it('from a credential fetches it from the control plane, or a server behind a mounted socket', () => {
    const of = (more: Partial<UpstreamTlsInputs>) => context({ mode: 'MUTUAL', credentialName: 'cred', ...more });
    const made = of({ subjectAltNames: ['a'] });
    expect(made.tlsCertificateSdsSecretConfigs?.[0]).toMatchObject({
      name: 'kubernetes://cred',
      sdsConfig: { ads: {} },
    });
    expect(made.combinedValidationContext).toMatchObject({
      defaultValidationContext: { matchSubjectAltNames: [{ exact: 'a' }] },
      validationContextSdsSecretConfig: { name: 'kubernetes://cred-cacert' },
    });
    const external = of({ credentialName: 'sds://cred', credentialSocket: true });
    expect(JSON.stringify(external.tlsCertificateSdsSecretConfigs)).toContain('"clusterName":"sds-external"');
    const unserved = of({ credentialName: 'sds://cred' }).tlsCertificateSdsSecretConfigs;
    expect(unserved).toMatchObject([{ name: 'kubernetes://cred', sdsConfig: { ads: {} } }]);
    expect(of({ mode: 'SIMPLE' }).tlsCertificateSdsSecretConfigs).toBeUndefined();
    expect(of({ skipVerify: true }).combinedValidationContext).toBeUndefined();
  });

  it('names the server only if the rule does', () => {
    expect(contextOf({ mode: 'SIMPLE', sni: 'a' }).sni).toBe('a');
    expect(contextOf({ mode: 'SIMPLE' }).sni).toBeUndefined();
  });
});

describe('endpoints that take tunnels', () => {
  const tls: TransportSocket = { name: 'tls' };
  const plaintext = {
    name: 'tlsMode-disabled',
    match: {},
    transportSocket: rawBuffer('envoy.transport_sockets.raw_buffer'),
  };
  const tunnel = (inner: TransportSocket) => ({
    name: 'hbone',
    match: { tunnel: 'http' },
    transportSocket: {
      name: 'envoy.transport_sockets.internal_upstream',
      typedConfig: {
        '@type': INTERNAL,
        passthroughMetadata: [
          { kind: { host: {} }, name: DESTINATION },
          { kind: { cluster: {} }, name: 'istio' },
          { kind: { host: {} }, name: 'istio' },
        ],
        transportSocket: inner,
      },
    },
  });
  const bare = tunnel(plaintext.transportSocket);

  it('are reached through one, and others in plaintext', () => {
    expect(withTunnels({})).toEqual({ matches: [bare, plaintext] });
  });

  it('are reached through one in place of mesh mTLS', () => {
    const both = [{ name: 'tlsMode-istio', match: { tlsMode: 'istio' }, transportSocket: tls }, plaintext];
    expect(withTunnels({ matches: both })).toEqual({ matches: [bare, ...both] });
    const always = withTunnels({ socket: tls, mesh: true });
    expect(always).toEqual({ matches: [bare, { name: 'tlsMode-istio', transportSocket: tls }] });
  });

  it('are reached with the TLS of a rule inside of the tunnel, and others with it alone', () => {
    const expected = { matches: [tunnel(tls), { name: 'user', transportSocket: tls }] };
    expect(withTunnels({ socket: tls, mesh: false })).toEqual(expected);
  });
});

describe('the PROXY protocol', () => {
  const wrapped = (version: number, transportSocket: TransportSocket) => ({
    name: 'envoy.transport_sockets.upstream_proxy_protocol',
    typedConfig: {
      '@type': typeUrl('envoy.extensions.transport_sockets.proxy_protocol.v3.ProxyProtocolUpstreamTransport'),
      config: { version },
      transportSocket,
    },
  });
  const tls: TransportSocket = { name: 'tls' };

  it('precedes TLS, or plaintext, in the version of the rule', () => {
    expect(withProxyProtocol({ socket: tls }, { version: 'V2' })).toEqual({ socket: wrapped(1, tls) });
    expect(withProxyProtocol({ socket: tls }, { version: 'V1' })).toEqual({ socket: wrapped(0, tls) });
    expect(withProxyProtocol({}, {})).toEqual({ socket: wrapped(0, rawBuffer('raw_buffer')) });
  });

  it('precedes each socket of which the endpoint chooses one', () => {
    const matches = [{ name: 'a', match: { x: 'y' }, transportSocket: tls }];
    expect(withProxyProtocol({ matches }, { version: 'V2' })).toEqual({
      matches: [{ name: 'a', match: { x: 'y' }, transportSocket: wrapped(1, tls) }],
    });
  });

  it('and TLS of a rule are inside of the tunnel of a waypoint, which takes metadata of the endpoint', () => {
    const inside = (transportSocket: TransportSocket) => ({
      socket: {
        name: 'internal_upstream',
        typedConfig: {
          '@type': INTERNAL,
          passthroughMetadata: [
            { kind: { host: {} }, name: DESTINATION },
            { kind: { host: {} }, name: 'istio' },
          ],
          transportSocket,
        },
      },
    });
    const of = (sockets: { readonly socket: TransportSocket } | undefined, version?: 'V1' | 'V2') =>
      vipSocket.run({ tls: sockets, proxyProtocol: version === undefined ? undefined : { version } });
    expect(of(undefined)).toEqual(inside(rawBuffer('raw_buffer')));
    expect(of({ socket: tls })).toEqual(inside(tls));
    expect(of({ socket: tls }, 'V2')).toEqual(inside(wrapped(1, tls)));
    expect(of(undefined, 'V1')).toEqual(inside(wrapped(0, rawBuffer('raw_buffer'))));
  });
});
