// What the metadata, the extensions and the stream of a proxy say of it.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { defaultSettings } from '../../../../../src/core/mesh/settings.ts';
import type { ProxyRecord } from '../../../../../src/core/model/proxy.ts';
import type { ProxyReader } from '../../../../../src/core/query/reader.ts';
import { nestsTunnels, opensTunnels, sendsHbone, takesTunnels } from '../../../../../src/core/select/proxy/hbone.ts';
import {
  certificatesOverAds,
  istioFilters,
  meshAuthority,
  meshMtls,
  metadataExchange,
} from '../../../../../src/core/select/proxy/proxy-capabilities.ts';
import { gatewayTopology, interceptionMode, proxyTracing } from '../../../../../src/core/select/proxy/proxy-config.ts';
import { routeHeaderOptions } from '../../../../../src/core/select/proxy/proxy-headers.ts';
import {
  isTrueText,
  metadataFlag,
  metadataText,
  preservesHeaderCase,
} from '../../../../../src/core/select/proxy/proxy-metadata.ts';
import { isWaypoint } from '../../../../../src/core/select/proxy/proxy-type.ts';
import { atLeast, isPatchedSince } from '../../../../../src/core/select/proxy/proxy-version.ts';
import { isProxyless } from '../../../../../src/core/select/proxy/proxyless.ts';
import { ask, type NodeOptions, nodeOf, proxyOf, type WorldPart, world } from '../../../world.ts';

interface Given extends NodeOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly mesh?: JsonObject;
  readonly objects?: readonly WorldPart[];
  readonly proxy?: Partial<ProxyRecord>;
  /** In place of the type in the node's id. */
  readonly nodeType?: string;
}

/** What `read` gives of a proxy. */
function of<R>(read: (reader: ProxyReader) => R, given: Given = {}): R {
  const { env = {}, mesh = {}, objects = [], proxy = {}, nodeType = 'sidecar' } = given;
  const node = nodeOf(given);
  const id = String(node.id).replace(/^sidecar/, nodeType);
  const state = world(objects, { mesh, settings: { ...defaultSettings, env } });
  return ask(state, { name: 'test/fact', key: () => '', run: read }, '', { ...proxyOf({ ...node, id }), ...proxy });
}
const AMBIENT = { PILOT_ENABLE_AMBIENT: 'true' };
const stock = { extensions: new Set(['envoy.filters.http.router']) };
const istio = (name: string) => ({ extensions: new Set(['envoy.filters.http.router', name]) });

describe('metadata', () => {
  it.each<[JsonObject[string], string, boolean, boolean]>([
    ['true', 'true', true, true],
    [true, 'true', true, false],
    ['1', '1', true, false],
    [1, '1', true, false],
    ['t', 't', true, false],
    ['false', 'false', false, false],
    ['yes', 'yes', false, false],
    [{ a: 'true' }, '', false, false],
  ])('%j is the text %j, on: %s, the word true: %s', (value, text, isOn, isWord) => {
    const given = { metadata: { KEY: value, credential: value } as JsonObject };
    expect(of(reader => metadataText(reader, 'KEY'), given)).toBe(text);
    expect(of(reader => metadataFlag(reader, 'KEY'), given)).toBe(isOn);
    expect(of(reader => isTrueText(reader, 'credential'), given)).toBe(isWord);
  });
  it('that is absent is empty and off', () => {
    expect(
      of(reader => [metadataText(reader, 'KEY'), metadataFlag(reader, 'KEY'), isTrueText(reader, 'credential')]),
    ).toEqual(['', false, false]);
  });
  it.each<[JsonObject[string] | undefined, string]>([
    [undefined, 'REDIRECT'],
    ['REDIRECT', 'REDIRECT'],
    ['TPROXY', 'TPROXY'],
    ['NONE', 'NONE'],
    ['none', 'REDIRECT'],
    [{}, 'REDIRECT'],
  ])('INTERCEPTION_MODE %j means %s', (mode, expected) => {
    expect(of(interceptionMode, mode === undefined ? {} : { metadata: { INTERCEPTION_MODE: mode } })).toBe(expected);
  });
  it('names the generator of a program without a proxy', () => {
    expect(of(isProxyless, { metadata: { GENERATOR: 'grpc' } })).toBe(true);
    expect(of(isProxyless, { metadata: { GENERATOR: 'api' } })).toBe(false);
    expect(of(isProxyless)).toBe(false);
  });
});

describe('the version of a proxy', () => {
  it.each<[string, boolean, boolean]>([
    ['1.29.9', false, false],
    ['1.30.0', true, false],
    ['1.30.2', true, false],
    ['1.30.3', true, true],
    ['1.30.4', true, true],
    ['1.31.0', true, true],
    ['2.0.0', true, true],
    ['2.29.0', true, true],
    ['0.31.9', false, false],
    ['unknown', true, true],
  ])('%s is at least 1.30: %s, at least 1.30.3: %s', (version, minor, patch) => {
    const given = { metadata: { ISTIO_VERSION: version } };
    expect(of(reader => atLeast(reader, 1, 30), given)).toBe(minor);
    expect(of(reader => isPatchedSince(reader, 1, 30, 3), given)).toBe(patch);
  });
});

describe('the ProxyConfig of a proxy', () => {
  const mesh = {
    defaultConfig: {
      gatewayTopology: { numTrustedProxies: 2 },
      tracing: { sampling: 5 },
      proxyHeaders: { preserveHttp1HeaderCase: true },
    },
  };
  const parts = (given: Given) => of(reader => [reader.derived(gatewayTopology), reader.derived(proxyTracing)], given);
  it('is what it sent, whole, and of the mesh only if it sent none', () => {
    expect(parts({ mesh })).toMatchObject([{ numTrustedProxies: 2 }, { sampling: 5 }]);
    const metadata = { PROXY_CONFIG: { gatewayTopology: { numTrustedProxies: 3, unknown: 1 } } };
    expect(parts({ mesh, metadata })).toEqual([{ numTrustedProxies: 3 }, {}]);
    expect(parts({ mesh, metadata: { PROXY_CONFIG: 'text' } })).toMatchObject([
      { numTrustedProxies: 2 },
      { sampling: 5 },
    ]);
    expect(parts({})[0]).toEqual({});
  });
  it('that cannot be read is none', () => {
    expect(parts({ mesh, metadata: { PROXY_CONFIG: { gatewayTopology: { numTrustedProxies: 'many' } } } })).toEqual([
      {},
      {},
    ]);
  });
  it('says whether the case of headers is kept', () => {
    const sent = (value: boolean) => ({
      mesh,
      metadata: { PROXY_CONFIG: { proxyHeaders: { preserveHttp1HeaderCase: value } } },
    });
    expect([of(preservesHeaderCase), of(preservesHeaderCase, { mesh })]).toEqual([false, true]);
    expect([of(preservesHeaderCase, sent(true)), of(preservesHeaderCase, sent(false))]).toEqual([true, false]);
  });
  it.each<[JsonObject, boolean, boolean]>([
    [{}, true, false],
    [{ attemptCount: {} }, true, false],
    [{ attemptCount: { disabled: false } }, true, false],
    [{ attemptCount: { disabled: true } }, false, false],
    [{ xForwardedHost: { enabled: true } }, true, true],
    [{ xForwardedHost: { enabled: false } }, true, false],
    [{ xForwardedHost: {} }, true, false],
  ])(
    'with the headers %j counts attempts: %s, and appends the host: %s',
    (proxyHeaders, attemptCount, appendXForwardedHost) => {
      const metadata = { PROXY_CONFIG: { proxyHeaders } };
      expect(of(reader => reader.derived(routeHeaderOptions), { metadata })).toEqual({
        attemptCount,
        appendXForwardedHost,
      });
    },
  );
});

describe('the extensions of a proxy', () => {
  it.each([
    'envoy.filters.network.metadata_exchange',
    'envoy.filters.network.upstream.metadata_exchange',
    'envoy.filters.http.peer_metadata',
    'envoy.filters.http.istio_stats',
  ])('with %s are those of istio-proxy', name => {
    expect(of(istioFilters, { proxy: istio(name) })).toBe(true);
  });
  it('are those of istio-proxy if it lists none, and without any of its filters those of a stock Envoy', () => {
    expect([of(istioFilters), of(istioFilters, { proxy: stock })]).toEqual([true, false]);
    expect([of(meshMtls), of(meshMtls, { proxy: stock })]).toEqual([true, false]);
  });
  it('and a flag decide whether proxies tell each other who they are', () => {
    const labels = { PILOT_MX_ADDITIONAL_LABELS: 'a,b' };
    expect(of(metadataExchange, { env: labels })).toEqual({ on: true, labels: 'a,b' });
    expect(of(metadataExchange, { env: labels, proxy: stock })).toEqual({ on: false, labels: '' });
    expect(of(metadataExchange, { env: { ...labels, PILOT_ENABLE_METADATA_EXCHANGE: 'false' } })).toEqual({
      on: false,
      labels: '',
    });
  });
});

describe('a stock Envoy has its certificate from the control plane', () => {
  const anchors = (mode: string, name = 'istio-ca') => ({
    apiVersion: 'periplus.internal/v1',
    kind: 'TrustAnchors',
    metadata: { name },
    spec: { roots: 'PEM', mode },
  });
  const proven = { ...stock, identities: ['spiffe://cluster.local/ns/default/sa/web'] };
  const given = (mode: string, proxy: Partial<ProxyRecord>, name?: string): Given => ({
    objects: [anchors(mode, name)],
    proxy,
    metadata: { SERVICE_ACCOUNT: 'web' },
  });
  it('if its stream proves who it is and an authority signs for workloads', () => {
    for (const read of [certificatesOverAds, meshMtls]) {
      expect(of(read, given('self-signed', proven))).toBe(true);
      expect(of(read, given('self-signed', { ...stock, identities: [] }))).toBe(false);
      expect(of(read, given('registration', proven))).toBe(false);
      expect(of(read, given('self-signed', proven, 'istio-ra'))).toBe(false);
    }
    expect(of(certificatesOverAds, given('self-signed', { identities: proven.identities }))).toBe(false);
  });
  it('which is the one of its own cluster', () => {
    expect(of(meshAuthority, given('self-signed', {}))?.spec.mode).toBe('self-signed');
    expect(of(meshAuthority)).toBeUndefined();
  });
});

describe('the tunnels of ambient mode', () => {
  const flags = (...names: readonly string[]) => Object.fromEntries(names.map(name => [name, 'true']));
  const SENDING = { ...AMBIENT, ...flags('PILOT_ENABLE_SENDING_HBONE') };
  const waypoint = { nodeType: 'waypoint' };
  const without = { PILOT_ENABLE_AMBIENT: 'false' };
  it('are there for waypoints, and for others that the flag allows, with mTLS', () => {
    expect(of(isWaypoint, { ...waypoint, env: AMBIENT })).toBe(true);
    expect(of(isWaypoint, { ...waypoint, env: without })).toBe(true);
    expect(of(isWaypoint, { env: AMBIENT })).toBe(false);
    expect(of(sendsHbone, { ...waypoint, env: without })).toBe(false);
    expect(of(sendsHbone, { ...waypoint, env: { ...AMBIENT, PILOT_ENABLE_SENDING_HBONE: 'false' } })).toBe(true);
    expect(of(sendsHbone, { env: { ...AMBIENT, PILOT_ENABLE_SENDING_HBONE: 'false' } })).toBe(false);
    expect(of(sendsHbone, { env: SENDING })).toBe(true);
    expect(of(sendsHbone, { env: { ...SENDING, PILOT_ENABLE_AMBIENT: 'false' } })).toBe(false);
    expect(of(sendsHbone, { env: SENDING, proxy: stock })).toBe(false);
  });
  it('are opened unless the metadata forbids it', () => {
    expect(of(opensTunnels, { env: SENDING })).toBe(true);
    expect(of(opensTunnels, { env: SENDING, metadata: { DISABLE_HBONE_SEND: 'true' } })).toBe(false);
    expect(of(opensTunnels, { env: { ...AMBIENT, PILOT_ENABLE_SENDING_HBONE: 'false' } })).toBe(false);
  });
  it('are taken by a sidecar whose metadata demands it', () => {
    const env = { ...AMBIENT, ...flags('PILOT_ENABLE_SIDECAR_LISTENING_HBONE') };
    const metadata = { ENABLE_HBONE: 'true' };
    expect(of(takesTunnels, { env, metadata })).toBe(true);
    expect(of(takesTunnels, { env })).toBe(false);
    expect(of(takesTunnels, { env, metadata, proxy: stock })).toBe(false);
    expect(of(takesTunnels, { env: { ...env, PILOT_ENABLE_AMBIENT: 'false' }, metadata })).toBe(false);
    expect(of(takesTunnels, { env: { ...env, PILOT_ENABLE_SIDECAR_LISTENING_HBONE: 'false' }, metadata })).toBe(false);
  });
  it('are nested by waypoints that a Gateway manages, if the flag says so', () => {
    const env = { ...AMBIENT, ...flags('AMBIENT_ENABLE_MULTI_NETWORK_WAYPOINT') };
    const labels = { 'gateway.istio.io/managed': 'istio.io-mesh-controller' };
    expect(of(nestsTunnels, { ...waypoint, env, labels })).toBe(true);
    expect(of(nestsTunnels, { ...waypoint, env })).toBe(false);
    expect(of(nestsTunnels, { env, labels })).toBe(false);
    const off = { ...env, AMBIENT_ENABLE_MULTI_NETWORK_WAYPOINT: 'false' };
    expect(of(nestsTunnels, { ...waypoint, env: off, labels })).toBe(false);
    expect(of(nestsTunnels, { ...waypoint, env: { ...env, ...without }, labels })).toBe(false);
  });
});
