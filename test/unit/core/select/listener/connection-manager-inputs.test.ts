// What decides an HTTP connection manager and its filters: class of traffic, flags, ProxyConfig, metadata.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { selectHcm } from '../../../../../src/core/select/listener/http-connection-manager.ts';
import { type HttpChainTraits, selectHttpFilters } from '../../../../../src/core/select/listener/http-filters.ts';
import { selectStats } from '../../../../../src/core/select/listener/istio-filters.ts';
import type { TrafficClass } from '../../../../../src/core/select/telemetry/traffic-class.ts';
import { type EmptyMesh as Options, ofEmptyMesh as of } from './plans.ts';

const WAYPOINT: TrafficClass = 'waypoint Service default/web';
const classes = ['inbound', 'outbound', 'gateway', WAYPOINT] as const;

describe('a connection manager', () => {
  const hcm = (traffic: TrafficClass, options: Options = {}, httpProxy = false) =>
    of(reader => selectHcm(reader, traffic, httpProxy), options);

  it('has these settings by default', () => {
    expect(hcm('inbound')).toEqual({
      traffic: 'inbound',
      headers: {},
      topology: undefined,
      pathNormalization: 'DEFAULT',
      useRemoteAddress: false,
      internalNetworks: [],
      continue100: true,
      http10: false,
      idleTimeout: '',
      sampleByRequestId: true,
      forwardsIdentity: false,
    });
  });

  it('takes the address of the connection for that of the client at gateways, at sidecars with the flag', () => {
    const env = { PILOT_SIDECAR_USE_REMOTE_ADDRESS: 'true' };
    expect(classes.map(traffic => hcm(traffic).useRemoteAddress)).toEqual([false, false, true, false]);
    expect(classes.map(traffic => hcm(traffic, { env }).useRemoteAddress)).toEqual([false, true, true, false]);
    expect(hcm('outbound', { env }, true).useRemoteAddress).toBe(false);
  });

  it('knows the networks of the mesh, sorted by address, where it takes that address, or with the flag', () => {
    const ranges = ['10.1.0.0/16', '9.0.0.0/8', '10.1.0.0/24', '10.1.0.0', '2001:db8::/32', 'fe80::/10', '9.0.0.0/8'];
    const networks = {
      networks: {
        n1: { endpoints: ranges.slice(0, 4).map(fromCidr => ({ fromCidr })) },
        n2: { endpoints: [{ fromRegistry: 'r' }, ...ranges.slice(4).map(fromCidr => ({ fromCidr }))] },
        n3: { gateways: [] },
      },
    };
    const sorted = ['9.0.0.0/8', '9.0.0.0/8', '10.1.0.0/16', '10.1.0.0/24', '10.1.0.0', '2001:db8::/32', 'fe80::/10'];
    const env = { ENABLE_HCM_INTERNAL_NETWORKS: 'true' };
    expect(hcm('gateway', { networks }).internalNetworks).toEqual(sorted);
    expect(hcm('inbound', { networks }).internalNetworks).toEqual([]);
    expect(hcm('inbound', { networks, env }).internalNetworks).toEqual(sorted);
    expect(hcm('inbound', { env }).internalNetworks).toEqual([]);
  });

  it('takes HTTP/1.0 with the flag or the metadata 1', () => {
    const http10 = (metadata: JsonObject, env: Readonly<Record<string, string>> = {}) =>
      hcm('inbound', { metadata, env }).http10;
    expect(http10({}, { PILOT_HTTP10: 'true' })).toBe(true);
    expect(http10({ HTTP10: '1' })).toBe(true);
    expect(http10({ HTTP10: '0' })).toBe(false);
  });

  it('has the timeout and the flag of its proxy, and the normalization of the mesh', () => {
    expect(hcm('inbound', { metadata: { IDLE_TIMEOUT: '5s' } }).idleTimeout).toBe('5s');
    expect(hcm('inbound', { env: { ENABLE_100_CONTINUE_HEADERS: 'false' } }).continue100).toBe(false);
    const mesh = { pathNormalization: { normalization: 'MERGE_SLASHES' } };
    expect(hcm('inbound', { mesh }).pathNormalization).toBe('MERGE_SLASHES');
  });

  it('of a gateway has its topology', () => {
    const mesh = { defaultConfig: { gatewayTopology: { numTrustedProxies: 2 } } };
    expect(hcm('gateway', { mesh }).topology).toEqual({ numTrustedProxies: 2 });
    expect(hcm('inbound', { mesh }).topology).toBeUndefined();
  });

  it('has the headers of ProxyConfig', () => {
    const proxyHeaders = { server: { disabled: true } };
    expect(hcm('inbound', { mesh: { defaultConfig: { proxyHeaders } } }).headers).toEqual(proxyHeaders);
  });

  it('of a waypoint passes on who the client is, if its annotation says true', () => {
    const asks = (value: unknown, traffic: TrafficClass = WAYPOINT) =>
      hcm(traffic, {
        metadata: { ANNOTATIONS: { 'ambient.istio.io/xfcc-include-client-identity': value as string } },
      }).forwardsIdentity;
    expect([asks('true'), asks('TRUE'), asks('false'), asks('yes'), asks(true)]).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
    expect([asks('true', 'inbound'), asks('true', 'outbound'), hcm(WAYPOINT).forwardsIdentity]).toEqual([
      false,
      false,
      false,
    ]);
  });
});

describe('the filters of a connection manager', () => {
  const filters = (traffic: TrafficClass, options: Options = {}, traits: Partial<HttpChainTraits> = {}) =>
    of(
      reader =>
        selectHttpFilters(reader, {
          traffic,
          grpcWeb: false,
          dynamicForwardProxy: '',
          httpProxy: false,
          extensionPort: 80,
          ...traits,
        }),
      options,
    );

  it('are these by default', () => {
    expect(filters('inbound')).toEqual({
      exchangedLabels: '',
      peerDirection: 'downstream',
      picksEndpoints: false,
      grpcWeb: false,
      overridesAlpn: false,
      keepsSessions: false,
      dynamicForwardProxy: '',
      suppressDebugHeaders: false,
      forwardsIdentity: false,
    });
    expect(filters('inbound', {}, { grpcWeb: true, dynamicForwardProxy: '*.a.com' })).toMatchObject({
      grpcWeb: true,
      dynamicForwardProxy: '*.a.com',
    });
  });

  it('exchange labels, but not from a tunnel to a service, nor of a stock Envoy, nor without the flag', () => {
    const env = { PILOT_MX_ADDITIONAL_LABELS: 'a,b' };
    const labels = (more: Options = {}, traits: Partial<HttpChainTraits> = {}) =>
      filters('inbound', { ...more, env: { ...env, ...more.env } }, traits).exchangedLabels;
    expect(labels()).toBe('a,b');
    expect(labels({}, { tunnelled: 'service' })).toBeUndefined();
    expect(labels({}, { tunnelled: 'passthrough' })).toBe('a,b');
    expect(labels({ stock: true })).toBeUndefined();
    expect(labels({ env: { PILOT_ENABLE_METADATA_EXCHANGE: 'false' } })).toBeUndefined();
  });

  it('look for peers downstream at servers, upstream at clients, there in the mesh alone if ProxyConfig says so', () => {
    const metadataExchangeHeaders = { mode: 'IN_MESH' };
    const inMesh = { mesh: { defaultConfig: { proxyHeaders: { metadataExchangeHeaders } } } };
    const directions = (options: Options) => classes.map(traffic => filters(traffic, options).peerDirection);
    expect(directions({})).toEqual(['downstream', 'upstream', 'upstream', 'downstream']);
    expect(directions(inMesh)).toEqual(['downstream', 'inMesh', 'inMesh', 'downstream']);
    expect(filters('outbound', inMesh, { httpProxy: true }).peerDirection).toBe('upstream');
  });

  it('of clients override ALPN and keep sessions with their flags', () => {
    const has = (name: 'overridesAlpn' | 'keepsSessions', options: Options = {}) =>
      classes.map(traffic => filters(traffic, options)[name]);
    const sessions = (value: string) => ({ env: { PILOT_ENABLE_PERSISTENT_SESSION_FILTER: value } });
    expect(has('overridesAlpn')).toEqual([false, true, true, false]);
    expect(has('overridesAlpn', { env: { PILOT_ENABLE_ALPN_FILTER: 'false' } })).not.toContain(true);
    expect(has('overridesAlpn', { stock: true })).not.toContain(true);
    expect(has('keepsSessions', sessions('true'))).toEqual([false, true, true, false]);
    expect(has('keepsSessions', sessions('false'))).not.toContain(true);
  });

  it('add no headers for debugging if ProxyConfig disables them', () => {
    const suppressed = (disabled: boolean) =>
      filters('inbound', { mesh: { defaultConfig: { proxyHeaders: { envoyDebugHeaders: { disabled } } } } })
        .suppressDebugHeaders;
    expect([suppressed(true), suppressed(false)]).toEqual([true, false]);
  });

  it('of a waypoint pass on who the client is', () => {
    const metadata = { ANNOTATIONS: { 'ambient.istio.io/xfcc-include-client-identity': 'true' } };
    expect(classes.map(traffic => filters(traffic, { metadata }).forwardsIdentity)).toEqual([
      false,
      false,
      false,
      true,
    ]);
  });

  it('count requests unless the proxy is a stock Envoy', () => {
    const counted = (options: Options = {}) => of(reader => selectStats(reader, 'inbound'), options);
    const mesh = { defaultProviders: { metrics: ['prometheus'] } };
    expect(counted({ mesh })).toMatchObject([{ waypoint: false }]);
    expect(of(reader => selectStats(reader, WAYPOINT), { mesh })).toMatchObject([{ waypoint: true }]);
    expect(counted({ mesh, stock: true })).toEqual([]);
  });
});
