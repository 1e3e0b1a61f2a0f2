// What decides sockets, TLS and ends of tunnels: flags, settings of the mesh, metadata.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { ServerTLSSettings } from '../../../../../src/core/schema/istio-types.gen.ts';
import { gatewayTcp, plainHttp, serverTcp } from '../../../../../src/core/select/listener/alpn.ts';
import { takesProxyProtocol } from '../../../../../src/core/select/listener/gateway-listeners.ts';
import { httpProxyPort } from '../../../../../src/core/select/listener/http-proxy.ts';
import { protocolDetectionTimeout, socketSettings } from '../../../../../src/core/select/listener/listener-settings.ts';
import { fileCertificates, meshTlsSettings } from '../../../../../src/core/select/listener/mesh-tls.ts';
import { isKnownCipher, tlsChoice } from '../../../../../src/core/select/listener/tls-versions.ts';
import { tunnelTlsSettings } from '../../../../../src/core/select/listener/tunnel-tls.ts';
import { filterStateFactory, ownNetwork, selectTunnelEnd } from '../../../../../src/core/select/listener/tunnels.ts';
import { selectVirtualOutbound } from '../../../../../src/core/select/listener/virtual-outbound.ts';
import { type EmptyMesh as Options, ofEmptyMesh as of } from './plans.ts';

describe('a list of ALPN', () => {
  const tcp = ['istio-peer-exchange', 'h2', 'http/1.1'];
  const http = ['h2', 'http/1.1'];

  it('of plain HTTP has HTTP/1.0 with the flag', () => {
    expect(of(plainHttp)).toEqual(['http/1.1', 'h2c']);
    expect(of(plainHttp, { env: { PILOT_HTTP10: 'true' } })).toEqual(['http/1.0', 'http/1.1', 'h2c']);
  });

  it.each<[string, Options, readonly string[], readonly string[]]>([
    ['by default', {}, tcp, tcp],
    ['without metadata exchange', { env: { PILOT_ENABLE_METADATA_EXCHANGE: 'false' } }, http, tcp],
    ['without its ALPN', { env: { PILOT_DISABLE_MX_ALPN: 'true' } }, http, http],
    ['of a stock Envoy', { stock: true }, http, http],
  ])('of TCP %s names the exchange of peers, or not', (_what, options, sidecar, gateway) => {
    expect([of(serverTcp, options), of(gatewayTcp, options)]).toEqual([sidecar, gateway]);
  });
});

describe('the port of the HTTP proxy', () => {
  const port = (requested: string) =>
    of(httpProxyPort, { mesh: { proxyHttpPort: 15_007 }, metadata: { HTTP_PROXY_PORT: requested } });

  it('is that of the metadata if it is a number, else that of the mesh', () => {
    expect(port('15080')).toBe(15_080);
    expect(['', 'x15080', '15080x', '-1'].map(port)).toEqual([15_007, 15_007, 15_007, 15_007]);
  });
});

describe('the sockets of a listener', () => {
  it('are balanced exactly if the metadata says so, and limited by the flag', () => {
    const settings = (metadata: JsonObject, env: Readonly<Record<string, string>> = {}) =>
      of(reader => socketSettings(reader, 'INBOUND_LISTENER_EXACT_BALANCE'), { metadata, env });
    expect(settings({})).toEqual({ maxConnectionsPerEvent: 1, exactBalance: false });
    expect(settings({ INBOUND_LISTENER_EXACT_BALANCE: 'true' }).exactBalance).toBe(true);
    expect(settings({ OUTBOUND_LISTENER_EXACT_BALANCE: 'true' }).exactBalance).toBe(false);
    expect(settings({}, { MAX_CONNECTIONS_PER_SOCKET_EVENT_LOOP: '7' }).maxConnectionsPerEvent).toBe(7);
  });

  it('wait for the first bytes as the mesh says', () => {
    const mesh = { protocolDetectionTimeout: '5s' };
    expect(of(protocolDetectionTimeout, { mesh })).not.toEqual(of(protocolDetectionTimeout));
  });

  it('of virtualOutbound are at its port on the wildcards, transparent in TPROXY, never balanced exactly', () => {
    const metadata = { OUTBOUND_LISTENER_EXACT_BALANCE: 'true' };
    expect(of(selectVirtualOutbound, { metadata })).toEqual({
      bind: '0.0.0.0',
      moreBinds: [],
      port: 15_001,
      transparent: false,
      maxConnectionsPerEvent: 1,
      exactBalance: false,
    });
    const transparent = of(selectVirtualOutbound, { metadata: { INTERCEPTION_MODE: 'TPROXY' } });
    expect(transparent.transparent).toBe(true);
  });

  it.each<[string, Readonly<Record<string, string>>, readonly string[]]>([
    ['10.0.0.1', { ISTIO_ENABLE_IPV4_OUTBOUND_LISTENER_FOR_IPV6_CLUSTERS: 'true' }, ['0.0.0.0']],
    ['fd00::1', { ISTIO_ENABLE_IPV4_OUTBOUND_LISTENER_FOR_IPV6_CLUSTERS: 'true' }, ['::', '0.0.0.0']],
    ['fd00::1', {}, ['::']],
    ['10.0.0.1,fd00::1', {}, ['0.0.0.0']],
    ['10.0.0.1,fd00::1', { ISTIO_DUAL_STACK: 'true' }, ['0.0.0.0', '::']],
  ])('of virtualOutbound at %s with %j are at %j', (ip, env, binds) => {
    const { bind, moreBinds } = of(selectVirtualOutbound, { node: { ip }, env });
    expect([bind, ...moreBinds]).toEqual(binds);
  });
});

describe('TLS of the mesh', () => {
  const settings = (options: Options = {}) => of(reader => reader.get(meshTlsSettings, ''), options);

  it('has the version and ciphers of the mesh', () => {
    expect(settings()).toMatchObject({ tls13: false, compliance: '', trustDomains: ['cluster.local'] });
    expect(settings().ciphers).toHaveLength(6);
    expect(settings().ciphers.every(isKnownCipher)).toBe(true);
    expect(settings({ mesh: { meshMTLS: { minProtocolVersion: 'TLSV1_3' } } }).tls13).toBe(true);
    expect(settings({ mesh: { meshMTLS: { minProtocolVersion: 'TLSV1_2' } } }).tls13).toBe(false);
    const cipherSuites = ['ECDHE-RSA-AES256-GCM-SHA384'];
    expect(settings({ mesh: { meshMTLS: { cipherSuites } } }).ciphers).toEqual(cipherSuites);
    expect(settings({ mesh: { meshMTLS: { cipherSuites: [] } } }).ciphers).toHaveLength(6);
  });

  it.each([
    ['of connections', meshTlsSettings],
    ['of tunnels', tunnelTlsSettings],
  ] as const)('%s checks trust domains unless the flag skips that, and complies with the flag', (_what, query) => {
    const found = (env: Readonly<Record<string, string>> = {}) =>
      of<{ readonly trustDomains: readonly string[]; readonly compliance: string }>(reader => reader.get(query, ''), {
        env,
      });
    expect(found()).toMatchObject({ trustDomains: ['cluster.local'], compliance: '' });
    expect(found({ PILOT_SKIP_VALIDATE_TRUST_DOMAIN: 'true' }).trustDomains).toEqual([]);
    expect(found({ COMPLIANCE_POLICY: 'fips-140-2' }).compliance).toBe('fips-140-2');
  });

  it('takes certificates from files that the proxy announces, with their key', () => {
    const files = (metadata: JsonObject) => {
      const { certificate, root } = of(fileCertificates, { metadata });
      return [certificate, root];
    };
    const chain = { TLS_SERVER_CERT_CHAIN: '/c' };
    const key = { TLS_SERVER_KEY: '/k' };
    expect(files({ ...chain, ...key, TLS_SERVER_ROOT_CERT: '/r' })).toEqual(['file-cert:/c~/k', 'file-root:/r']);
    expect([files(chain), files(key), files({})]).toEqual([
      ['', ''],
      ['', ''],
      ['', ''],
    ]);
  });
});

describe('TLS of a server', () => {
  const choice = (tls: JsonObject, tlsDefaults?: JsonObject) =>
    of(reader => tlsChoice(reader, tls as ServerTLSSettings), {
      mesh: tlsDefaults === undefined ? {} : { tlsDefaults },
    });

  it('has its versions, else the minimum of the mesh', () => {
    const versions = (...args: Parameters<typeof choice>) => {
      const { minVersion, maxVersion } = choice(...args);
      return [minVersion, maxVersion];
    };
    expect(versions({})).toEqual(['', '']);
    expect(versions({ minProtocolVersion: 'TLSV1_1', maxProtocolVersion: 'TLSV1_2' })).toEqual(['TLSV1_1', 'TLSV1_2']);
    expect(versions({ minProtocolVersion: 'TLS_AUTO', maxProtocolVersion: 'TLS_AUTO' })).toEqual(['', '']);
    expect(versions({}, { minProtocolVersion: 'TLSV1_3' })).toEqual(['TLSV1_3', '']);
    expect(versions({}, { minProtocolVersion: 'TLSV1_2' })).toEqual(['TLSV1_2', '']);
    expect(versions({}, { minProtocolVersion: 'TLSV1_1' })).toEqual(['', '']);
    expect(versions({ minProtocolVersion: 'TLSV1_0' }, { minProtocolVersion: 'TLSV1_3' })).toEqual(['TLSV1_0', '']);
  });

  it('has each of its known ciphers once, else those of the mesh', () => {
    const defaults = { cipherSuites: ['AES256-SHA'], ecdhCurves: ['P-256'] };
    const ciphers = (...cipherSuites: readonly string[]) =>
      choice({ cipherSuites: [...cipherSuites] }, defaults).ciphers;
    expect(ciphers('AES128-SHA', 'UNKNOWN', 'AES128-SHA')).toEqual(['AES128-SHA']);
    expect(ciphers('UNKNOWN')).toEqual(['AES256-SHA']);
    expect(choice({}, defaults)).toMatchObject({ ciphers: ['AES256-SHA'], curves: ['P-256'] });
    expect(choice({})).toMatchObject({ ciphers: [], curves: [] });
  });

  it.each<[string, boolean]>([
    ['', true],
    ['ALL', true],
    ['!MD5', true],
    ['[AES128-SHA|AES256-SHA]', true],
    ['-ALL', true],
    ['X', false],
    ['3DES', false],
    ...[
      'ECDHE-ECDSA-AES128-GCM-SHA256',
      'ECDHE-RSA-AES128-GCM-SHA256',
      'ECDHE-ECDSA-AES256-GCM-SHA384',
      'ECDHE-RSA-AES256-GCM-SHA384',
      'ECDHE-ECDSA-CHACHA20-POLY1305',
      'ECDHE-RSA-CHACHA20-POLY1305',
      'ECDHE-ECDSA-AES128-SHA',
      'ECDHE-RSA-AES128-SHA',
      'ECDHE-ECDSA-AES256-SHA',
      'ECDHE-RSA-AES256-SHA',
      'AES128-GCM-SHA256',
      'AES256-GCM-SHA384',
      'AES128-SHA',
      'AES256-SHA',
      'DES-CBC3-SHA',
    ].map((name): [string, boolean] => [name, true]),
  ])('takes the cipher "%s": %s', (name, known) => {
    expect(isKnownCipher(name)).toBe(known);
  });
});

describe('the end of a tunnel', () => {
  it('is on every address of the proxy', () => {
    const end = (ip: string) => of(selectTunnelEnd, { node: { ip } });
    expect(end('10.0.0.1,fd00::1')).toEqual({
      binds: ['0.0.0.0', '::'],
      headers: {},
      factory: 'istio.hashable_string',
    });
    expect(end('fd00::1').binds).toEqual(['::']);
  });

  it('of a proxy before 1.29.2 has plain text in the filter state', () => {
    const factory = (version: string) => of(filterStateFactory, { metadata: { ISTIO_VERSION: version } });
    expect(['1.29.1', '1.28.9', '1.29.2', '1.30.0'].map(factory)).toEqual([
      'envoy.string',
      'envoy.string',
      'istio.hashable_string',
      'istio.hashable_string',
    ]);
  });

  it('is of the network that the metadata names', () => {
    expect([of(ownNetwork, { metadata: { NETWORK: 'n1' } }), of(ownNetwork)]).toEqual(['n1', '']);
  });
});

describe('a gateway', () => {
  it('takes the PROXY protocol if its topology says so', () => {
    const takes = (gatewayTopology: JsonObject) =>
      of(takesProxyProtocol, { mesh: { defaultConfig: { gatewayTopology } } });
    expect([takes({ proxyProtocol: {} }), takes({ numTrustedProxies: 1 })]).toEqual([true, false]);
  });
});
