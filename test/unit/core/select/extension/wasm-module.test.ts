// Where the code of a Wasm module is from, for proxies with an agent and without one.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { Query } from '../../../../../src/core/query/reader.ts';
import {
  type ExtensionConfigInputs,
  selectExtensionConfig,
} from '../../../../../src/core/select/extension/extension-config.ts';
import { type ModuleCode, moduleServers } from '../../../../../src/core/select/extension/wasm-module.ts';
import { ask, inCluster, nodeOf, proxyOf, type WorldPart, world } from '../../../world.ts';
import { shop, sidecarProxy, waypointProxy } from '../../../xds/ambient/mesh.ts';
import { metadata, service } from '../../registry/fixtures.ts';
import { ambientWorld, hbone, namespace, waypoint } from '../ambient/fixtures.ts';

const SHA = '0123456789abcdef'.repeat(4);
const ENGINE = 'envoy.wasm.runtime.v8';
const STOCK = ['envoy.filters.http.router', 'envoy.filters.http.wasm', ENGINE];

const module = (url: string, more: JsonObject = {}, name = 'a', namespace = 'default'): JsonObject => ({
  apiVersion: 'extensions.istio.io/v1alpha1',
  kind: 'TrafficExtension',
  metadata: metadata(name, { namespace }),
  spec: { wasm: { url, ...more } },
});
const IDENTITY = 'spiffe://cluster.local/ns/default/sa/client';
const proxy = (extensions?: readonly string[], more: JsonObject = {}, identities: readonly string[] = [IDENTITY]) => ({
  ...proxyOf(nodeOf({ metadata: { SERVICE_ACCOUNT: 'client', ...more } })),
  identities,
  extensions: extensions === undefined ? undefined : new Set(extensions),
});
const AGENT = proxy();
const BARE = proxy(STOCK);

const config: Query<string, ExtensionConfigInputs | undefined> = {
  name: 'test/config',
  run: (reader, name) => selectExtensionConfig(reader, `extensions.istio.io/trafficextension/${name}`),
};
const configOf = (parts: readonly WorldPart[], of = AGENT, name = 'default.a') => ask(world(parts), config, name, of);
const codeOf = (url: string, more: JsonObject = {}, of = AGENT): ModuleCode | undefined =>
  configOf([module(url, more)], of)?.code;
const servers = (parts: readonly WorldPart[], of = BARE) => ask(world(parts), moduleServers, '', of);

describe('the code of a module', () => {
  it('is fetched by the agent from where its author says, oci by default', () => {
    const remote = { kind: 'remote', cluster: '_', sha256: '', direct: false };
    expect(codeOf('reg.test/a:1')).toEqual({ ...remote, uri: 'oci://reg.test/a:1' });
    expect(codeOf('https://a.test/x', { sha256: SHA })).toEqual({ ...remote, uri: 'https://a.test/x', sha256: SHA });
  });

  it.each<[string, string]>([
    ['file:///a/b.wasm', '/a/b.wasm'],
    ['file:/a/b.wasm', 'file:/a/b.wasm'],
  ])('at %s is the file %s, with and without an agent', (url, path) => {
    for (const of of [AGENT, BARE]) expect(codeOf(url, {}, of)).toEqual({ kind: 'file', path });
  });

  it.each<[string, string, number]>([
    ['https://a.test/x', 'https', 443],
    ['http://a.test/x', 'http', 80],
    ['http://a.test:8080/x', 'http', 8080],
    ['http://a.test:1/x', 'http', 1],
    ['http://a.test:65535/x', 'http', 65_535],
  ])('at %s is fetched by a proxy without an agent, by %s from port %i', (uri, scheme, port) => {
    const cluster = `wasm-modules|${scheme}|a.test|${port}`;
    expect(codeOf(uri, { sha256: SHA }, BARE)).toEqual({ kind: 'remote', uri, cluster, sha256: SHA, direct: true });
    expect(servers([module(uri, { sha256: SHA })])).toEqual([
      { cluster, tls: scheme === 'https', host: 'a.test', port },
    ]);
  });

  it.each<[string, JsonObject]>([
    ['https://a.test/x', {}],
    ['oci://a.test/x', { sha256: SHA }],
    ['http:///x', { sha256: SHA }],
    ['http://a.test:0/x', { sha256: SHA }],
    ['http://a.test:65536/x', { sha256: SHA }],
  ])('at %s with %j cannot be had without an agent', (url, more) => {
    expect(codeOf(url, more, BARE)).toEqual({ kind: 'unavailable' });
    expect(servers([module(url, more)])).toEqual([]);
  });

  it('cannot be had by a proxy without the filter or the engine', () => {
    const network = { type: 'NETWORK' };
    const [router = ''] = STOCK;
    const kind = (extensions: readonly string[], more: JsonObject = {}) =>
      codeOf('file:///a', more, proxy(extensions))?.kind;
    expect(kind([router, ENGINE])).toBe('unavailable');
    expect(kind([router, 'envoy.filters.http.wasm'])).toBe('unavailable');
    expect(kind(STOCK, network)).toBe('unavailable');
    expect(kind([router, ENGINE, 'envoy.filters.network.wasm'], network)).toBe('file');
  });
});

describe('the servers of modules', () => {
  it('stand once each, without those of files, Lua and other proxies', () => {
    const lua = { ...module('x', {}, 'l'), spec: { lua: { inlineCode: 'x' } } };
    const parts = [
      module('http://a.test/x', { sha256: SHA }, 'a'),
      module('http://a.test/y', { sha256: SHA }, 'b'),
      module('https://a.test/y', { sha256: SHA }, 'c'),
      module('file:///y', {}, 'd'),
      module('http://other.test/y', { sha256: SHA }, 'e', 'bank'),
      lua,
    ];
    expect(servers(parts).map(({ cluster }) => cluster)).toEqual([
      'wasm-modules|http|a.test|80',
      'wasm-modules|https|a.test|443',
    ]);
    expect(servers(parts, AGENT)).toEqual([]);
  });
});

describe('the configuration of a module', () => {
  it('has what its author says, and defaults', () => {
    expect(configOf([module('reg.test/a')])).toEqual({
      filterName: 'extensions.istio.io/trafficextension/default.a',
      moduleName: 'default.a',
      rootId: '',
      network: false,
      configuration: undefined,
      failStrategy: 'FAIL_CLOSE',
      code: { kind: 'remote', uri: 'oci://reg.test/a', cluster: '_', sha256: '', direct: false },
      environment: ['ISTIO_META_WASM_PLUGIN_RESOURCE_VERSION', ''],
      hostEnvironment: [],
    });
    const more = { pluginName: 'p', type: 'NETWORK', failStrategy: 'FAIL_OPEN', pluginConfig: { b: 1, a: '<' } };
    expect(configOf([module('reg.test/a', more)])).toMatchObject({
      rootId: 'p',
      network: true,
      failStrategy: 'FAIL_OPEN',
      configuration: '{"a":"\\u003c","b":1}',
    });
    expect(configOf([module('reg.test/a', { pluginConfig: {} })])?.configuration).toBeUndefined();
  });

  it('is none of Lua, of a module without code and of another namespace', () => {
    expect(configOf([{ ...module('x'), spec: { lua: { inlineCode: 'x' } } }])).toBeUndefined();
    expect(configOf([module('x')], AGENT, 'default.b')).toBeUndefined();
    expect(configOf([module('x', {}, 'a', 'bank')], AGENT, 'bank.a')).toBeUndefined();
    expect(configOf([module('x', {}, 'a', 'istio-system')], AGENT, 'istio-system.a')).toBeDefined();
  });

  it('is for a waypoint also that of a namespace whose services are behind it, and of no further one', () => {
    const gateway = waypoint('way', { namespace: 'shop', listeners: [hbone({ from: 'All' })] });
    const labels = { 'istio.io/use-waypoint': 'way', 'istio.io/use-waypoint-namespace': 'shop' };
    const state = ambientWorld([
      ...shop({ gateway }),
      ...['bank', 'edge'].map(name => namespace(name)),
      service('till', {}, { namespace: 'bank', labels }),
      service('till', {}, { namespace: 'edge' }),
      ...['shop', 'bank', 'edge'].map(name => module('reg.test/a', {}, 'a', name)),
    ]);
    const isServed = (name: string): boolean => ask(state, config, `${name}.a`, waypointProxy()) !== undefined;
    expect(['shop', 'bank', 'edge'].filter(isServed)).toEqual(['shop', 'bank']);
    expect(ask(state, config, 'bank.a', sidecarProxy())).toBeUndefined();
  });

  const env = [
    { name: 'Z', value: '1' },
    { name: 'A', value: '2' },
    { name: 'M', value: '3', valueFrom: 'INLINE' },
    { name: 'HOME', valueFrom: 'HOST' },
    { name: 'ISTIO_META_WASM_IMAGE_PULL_SECRET', value: 'theirs' },
  ];

  it('has variables by name; one that would name a pull secret is empty', () => {
    const found = configOf([module('x', { vmConfig: { env }, imagePullPolicy: 'Always' })]);
    expect(found?.environment).toEqual([
      'A',
      '2',
      'ISTIO_META_WASM_IMAGE_PULL_POLICY',
      'Always',
      'ISTIO_META_WASM_IMAGE_PULL_SECRET',
      '',
      'ISTIO_META_WASM_PLUGIN_RESOURCE_VERSION',
      '',
      'M',
      '3',
      'Z',
      '1',
    ]);
    expect(found?.hostEnvironment).toEqual(['HOME']);
  });

  it('has no variables for an agent where there is none', () => {
    const found = configOf([module('x', { vmConfig: { env }, imagePullPolicy: 'Always' })], BARE);
    expect(found?.environment).toEqual(['A', '2', 'M', '3', 'Z', '1']);
  });
});

describe('the pull secret', () => {
  const NAME = 'ISTIO_META_WASM_IMAGE_PULL_SECRET';
  const secret = (text: string, data?: JsonObject, type = 'kubernetes.io/dockerconfigjson'): JsonObject => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: metadata('reg'),
    type,
    data: data ?? { '.dockerconfigjson': Buffer.from(text).toString('base64') },
  });
  const read = (written: string, parts: readonly WorldPart[], of = AGENT) => {
    const found = configOf([module('x', { imagePullSecret: written }), ...parts], of)?.environment ?? [];
    return found.includes(NAME) ? found[found.indexOf(NAME) + 1] : undefined;
  };

  it('is that of the own cluster, else of the config cluster', () => {
    const remote = proxy(undefined, { CLUSTER_ID: 'remote' });
    expect(read('reg', [secret('own')], remote)).toBe('own');
    expect(read('reg', [secret('own'), inCluster('remote', secret('theirs'))], remote)).toBe('theirs');
    expect(read('reg', [inCluster('remote', secret('theirs'))])).toBe('');
  });

  it('has its key and type, and is for proxies that prove who they are', () => {
    expect(read('reg', [secret('', { other: 'e30=' })])).toBe('');
    expect(read('reg', [secret('x', undefined, 'Opaque')])).toBe('');
    expect(read('reg', [secret('x')], proxy(undefined, {}, []))).toBe('');
    expect(read('reg', [secret('x')])).toBe('x');
  });

  it.each([
    ['reg', 'x'],
    ['kubernetes://reg', 'x'],
    ['bank/reg', 'x'],
    ['kubernetes://bank/reg', 'x'],
    ['bank/other', ''],
    ['invalid://reg', ''],
    ['configmap://a/reg', ''],
    ['kubernetes-gateway://a/reg', ''],
    ['configmap://reg', undefined],
    ['kubernetes-gateway://reg', undefined],
    ['builtin://', undefined],
    ['builtin://reg', undefined],
    ['kubernetes://', ''],
  ])('that is written %s reads %j', (written, expected) => {
    expect(read(written, [secret('x')])).toBe(expected);
  });
});
