// What one server of a Gateway is: its kind, the name of its routes, and the hosts it is found by.

import { describe, expect, it } from 'vitest';
import type { Server, ServerTLSSettings } from '../../../../../src/core/schema/istio-types.gen.ts';
import {
  gatewayRouteName,
  isHttp3Server,
  isHttpServer,
  isPlainHttp,
  isTlsServer,
  normalHosts,
  sniHosts,
} from '../../../../../src/core/select/gateway/gateway-servers.ts';

const server = (protocol: string, tls?: ServerTLSSettings, bind?: string): Server => ({
  port: { number: 443, name: 'p', protocol },
  hosts: ['*'],
  ...(tls && { tls }),
  ...(bind !== undefined && { bind }),
});

describe('a server', () => {
  it.each<[string, ServerTLSSettings | undefined, boolean, boolean]>([
    ['HTTP', undefined, true, false],
    ['HTTP2', undefined, true, false],
    ['GRPC', undefined, true, false],
    ['HTTP', { httpsRedirect: true }, true, false],
    ['HTTPS', { mode: 'SIMPLE' }, false, true],
    ['TLS', { mode: 'PASSTHROUGH' }, false, true],
    ['TCP', { mode: 'SIMPLE' }, false, true],
    ['TCP', undefined, false, false],
  ])('of protocol %s with %j is plain HTTP: %s, TLS: %s', (protocol, tls, plain, isTls) => {
    const one = server(protocol, tls);
    expect([isPlainHttp(one), isTlsServer(one)]).toEqual([plain, isTls]);
  });

  it.each<[string, ServerTLSSettings | undefined, boolean]>([
    ['HTTP', undefined, true],
    ['HTTPS', { mode: 'SIMPLE' }, true],
    ['HTTPS', { mode: 'PASSTHROUGH' }, false],
    ['HTTPS', { mode: 'AUTO_PASSTHROUGH' }, false],
    ['HTTPS', {}, false],
    ['HTTPS', undefined, false],
    ['TLS', { mode: 'SIMPLE' }, false],
    ['TCP', undefined, false],
  ])('of protocol %s with %j reads requests: %s', (protocol, tls, expected) => {
    expect(isHttpServer(server(protocol, tls))).toBe(expected);
  });

  it.each<[string, ServerTLSSettings | undefined, boolean]>([
    ['HTTPS', { mode: 'SIMPLE' }, true],
    ['HTTPS', { mode: 'OPTIONAL_MUTUAL' }, true],
    ['HTTPS', { mode: 'MUTUAL' }, false],
    ['HTTPS', { mode: 'ISTIO_MUTUAL' }, false],
    ['HTTPS', { mode: 'PASSTHROUGH' }, false],
    ['HTTPS', {}, false],
    ['HTTPS', undefined, false],
    ['TLS', { mode: 'SIMPLE' }, false],
    ['HTTP', { mode: 'SIMPLE' }, false],
  ])('of protocol %s with %j may be offered over QUIC: %s', (protocol, tls, expected) => {
    expect(isHttp3Server(server(protocol, tls))).toBe(expected);
  });

  it.each<[string, ServerTLSSettings | undefined, string | undefined, string]>([
    ['HTTP', undefined, undefined, 'http.8443'],
    ['HTTP', undefined, '', 'http.8443'],
    ['HTTP', undefined, '10.0.0.1', 'http.8443.10.0.0.1'],
    ['HTTPS', { mode: 'SIMPLE' }, undefined, 'https.443.p.gw.edge'],
    ['HTTPS', { mode: 'SIMPLE' }, '10.0.0.1', 'https.443.p.gw.edge.10.0.0.1'],
    ['HTTPS', { mode: 'PASSTHROUGH' }, undefined, ''],
    ['HTTPS', { mode: 'AUTO_PASSTHROUGH' }, undefined, ''],
    ['HTTPS', {}, undefined, ''],
    ['HTTPS', undefined, undefined, 'https.443.p.gw.edge'],
    ['TLS', { mode: 'SIMPLE' }, undefined, ''],
    ['TCP', undefined, undefined, ''],
  ])('of protocol %s with %j and bind %s has the routes "%s"', (protocol, tls, bind, expected) => {
    expect(gatewayRouteName(server(protocol, tls, bind), 8443, 'edge', 'gw')).toBe(expected);
  });
});

describe('the hosts of a server', () => {
  it.each<[readonly string[], readonly string[], readonly string[]]>([
    [
      ['b', 'a', 'b'],
      ['b', 'a', 'b'],
      ['a', 'b'],
    ],
    [
      ['./a', '*/b', 'far/c'],
      ['edge/a', 'b', 'far/c'],
      ['a', 'b', 'c'],
    ],
    [['far/a', 'near/a'], ['far/a', 'near/a'], ['a']],
    [['*/*', 'a'], ['*'], ['*']],
    [['*'], ['*'], ['*']],
  ])('%j are %j, and %j as server names', (written, normal, names) => {
    expect(normalHosts(written, 'edge')).toEqual(normal);
    expect(sniHosts(normal)).toEqual(names);
  });
});
