// What `proxyHeaders` and `gatewayTopology` of a ProxyConfig change in HTTP connection managers.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { HttpConnectionManager } from '../../../../../src/xds/proto/types.gen.ts';
import { istio, routerNode } from '../route/scene.ts';
import { hcm, httpService, ListenerScene, podNode, workloadScene } from './scene.ts';

const gateway = istio('Gateway', 'prod', 'gw', {
  selector: { istio: 'ingressgateway' },
  servers: [{ port: { number: 8080, name: 'http', protocol: 'HTTP' }, hosts: ['*'] }],
});

/** The connection managers of a workload's inbound port, of its outbound port, and of a gateway. */
function managers(
  defaultConfig: JsonObject,
): Readonly<Record<'inbound' | 'outbound' | 'gateway', HttpConnectionManager>> {
  const mesh = { defaultConfig };
  const workload = workloadScene([{ name: 'http', port: 80, targetPort: 8080 }], [], { mesh });
  const inbound = workload
    .chains('app', 'virtualInbound')
    .find(chain => chain.filterChainMatch?.destinationPort?.value === 8080);
  const others = new ListenerScene([httpService('a', 'prod', 80, '10.96.0.1'), gateway], { mesh });
  others.connect('client', podNode('client', 'prod', '10.1.0.1'));
  others.connect('gw', routerNode('prod'));
  return {
    inbound: hcm(inbound),
    outbound: hcm(others.chains('client', '0.0.0.0_80')[0]),
    gateway: hcm(others.chains('gw', '0.0.0.0_8080')[0]),
  };
}
const withHeaders = (proxyHeaders: JsonObject) => managers({ proxyHeaders });

describe('the headers of a proxy', () => {
  it('have a request id of Envoy, unless that is disabled', () => {
    for (const manager of Object.values(withHeaders({}))) {
      expect(manager.generateRequestId).toBeUndefined();
      expect(manager.appendXForwardedPort).toBeUndefined();
    }
    for (const manager of Object.values(withHeaders({ requestId: { disabled: true } }))) {
      expect(manager.generateRequestId).toEqual({ value: false });
    }
  });

  it('have the forwarded port where that is enabled', () => {
    for (const manager of Object.values(withHeaders({ xForwardedPort: { enabled: true } }))) {
      expect(manager.appendXForwardedPort).toBe(true);
    }
  });

  it.each<[JsonObject, string | undefined, string | undefined, number | undefined]>([
    [{}, 'istio-envoy', undefined, undefined],
    [{ value: 'mine' }, 'mine', 'mine', undefined],
    [{ value: '' }, 'istio-envoy', undefined, undefined],
    [{ disabled: true, value: 'mine' }, undefined, undefined, 2],
  ])(
    'with the server %j have its name on answers to others, and a name that is set on all',
    (server, others, own, how) => {
      const found = withHeaders({ server });
      expect([found.inbound.serverName, found.gateway.serverName, found.outbound.serverName]).toEqual([
        others,
        others,
        own,
      ]);
      for (const manager of Object.values(found)) expect(manager.serverHeaderTransformation).toBe(how);
    },
  );

  it.each<[string | undefined, number]>([
    [undefined, 2],
    ['UNDEFINED', 2],
    ['SANITIZE', 0],
    ['FORWARD_ONLY', 1],
    ['APPEND_FORWARD', 2],
    ['SANITIZE_SET', 3],
    ['ALWAYS_FORWARD_ONLY', 4],
  ])('with forwardedClientCert %s pass the certificate on to the workload in way %s', (value, expected) => {
    const { inbound, outbound } = withHeaders(value === undefined ? {} : { forwardedClientCert: value });
    expect(inbound.forwardClientCertDetails).toBe(expected);
    expect([outbound.forwardClientCertDetails, outbound.setCurrentClientCertDetails]).toEqual([undefined, undefined]);
  });

  it.each<[JsonObject, object]>([
    [{}, { subject: { value: true }, uri: true, dns: true }],
    [{ subject: false, uri: false, dns: false }, { subject: { value: false } }],
    [
      { cert: true, chain: true },
      { subject: { value: true }, uri: true, dns: true, cert: true, chain: true },
    ],
  ])('with %j pass on these details of the certificate', (setCurrentClientCertDetails, expected) => {
    expect(withHeaders({ setCurrentClientCertDetails }).inbound.setCurrentClientCertDetails).toEqual(expected);
  });
});

describe('the topology of a gateway', () => {
  it.each<[string | undefined, number, boolean]>([
    [undefined, 3, true],
    ['SANITIZE', 0, false],
    ['FORWARD_ONLY', 1, false],
    ['APPEND_FORWARD', 2, true],
    ['SANITIZE_SET', 3, true],
    ['ALWAYS_FORWARD_ONLY', 4, false],
  ])('with forwardClientCertDetails %s forwards in way %s, and adds details: %s', (value, expected, adds) => {
    const manager = managers({ gatewayTopology: { ...(value && { forwardClientCertDetails: value }) } }).gateway;
    expect(manager.forwardClientCertDetails).toBe(expected);
    expect(manager.setCurrentClientCertDetails).toEqual(
      adds ? { subject: { value: true }, cert: true, dns: true, uri: true } : undefined,
    );
  });

  it.each([
    [0, undefined],
    [2, 2],
  ])('with %s trusted proxies trusts %s hops', (numTrustedProxies, expected) => {
    expect(managers({ gatewayTopology: { numTrustedProxies } }).gateway.xffNumTrustedHops).toBe(expected);
  });
});

describe('path normalization of the mesh', () => {
  it.each<[string, boolean, boolean, number]>([
    ['NONE', false, false, 1],
    ['BASE', true, false, 1],
    ['DEFAULT', true, false, 1],
    ['MERGE_SLASHES', true, true, 1],
    ['DECODE_AND_MERGE_SLASHES', true, true, 4],
  ])(
    '%s normalizes: %s, merges slashes: %s, handles escaped ones in way %s',
    (normalization, normal, merges, escaped) => {
      const mesh = { pathNormalization: { normalization } };
      const scene = new ListenerScene([gateway], { mesh });
      scene.connect('gw', routerNode('prod'));
      const manager = hcm(scene.chains('gw', '0.0.0.0_8080')[0]);
      expect(manager.normalizePath).toEqual({ value: normal });
      expect(manager.mergeSlashes).toBe(merges ? true : undefined);
      expect(manager.pathWithEscapedSlashesAction).toBe(escaped);
    },
  );
});
