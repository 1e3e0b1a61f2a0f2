import { describe, expect, it } from 'vitest';

import { base64OfText, textOfBase64 } from '../../../../../src/core/base/base64.ts';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { Tracker } from '../../../../../src/core/query/tracker.ts';
import { urlText } from '../../../../../src/core/schema/go-url.ts';
import type { State } from '../../../../../src/core/state.ts';
import { withoutPrivateKeys } from '../../../../../src/history/private-fields.ts';
import { clusters } from '../../../../../src/xds/assemble/cluster/resources.ts';
import { extensionNamed } from '../../../../../src/xds/assemble/extension/resources.ts';
import { listeners } from '../../../../../src/xds/assemble/listener/resources.ts';
import { Cluster_DnsLookupFamily } from '../../../../../src/xds/proto/types.gen.ts';
import { nodeOf, proxyOf, world } from '../../../world.ts';

const SHA = 'a'.repeat(64);
const PLUGIN = 'extensions.istio.io/trafficextension/shop.auth~istio-translated-wasmplugin';
const CONFIG = 'e30=';

const plugin = (spec: JsonObject, namespace = 'shop', name = 'auth'): JsonObject => ({
  apiVersion: 'extensions.istio.io/v1alpha1',
  kind: 'WasmPlugin',
  metadata: { namespace, name, resourceVersion: '7' },
  spec: { url: 'oci://registry.test/auth:1', ...spec },
});

const secret = (namespace: string, name: string, type = 'kubernetes.io/dockerconfigjson'): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  type,
  metadata: { namespace, name },
  data: { '.dockerconfigjson': CONFIG },
});

const STOCK = ['envoy.filters.http.router', 'envoy.filters.http.wasm', 'envoy.wasm.runtime.v8'];

function sidecar(
  options: {
    readonly extensions?: readonly string[];
    readonly identities?: readonly string[];
    readonly app?: string;
    readonly ips?: string;
  } = {},
) {
  const { extensions, identities = ['spiffe://td/ns/shop/sa/cart'], app = 'cart', ips = '10.0.0.99' } = options;
  const labels = { app };
  const metadata = { SERVICE_ACCOUNT: 'cart', CLUSTER_ID: 'Kubernetes', INSTANCE_IPS: ips };
  const node = nodeOf({ namespace: 'shop', labels, metadata });
  return { ...proxyOf(node), identities, extensions: extensions === undefined ? undefined : new Set(extensions) };
}

/** The content of the Any, as far as these tests look at it. */
interface Shown {
  readonly '@type': string;
  readonly config: {
    readonly configuration: { readonly value?: string };
    readonly vmConfig: {
      readonly code: { readonly remote?: unknown };
      readonly environmentVariables: { readonly keyValues: Readonly<Record<string, string>> };
    };
  };
}

function configOf(state: State, proxy = sidecar(), name = PLUGIN): Shown {
  return new Tracker().get(state, proxy, extensionNamed, name)?.message.typedConfig as unknown as Shown;
}

const variablesOf = (state: State, proxy = sidecar(), name = PLUGIN): Readonly<Record<string, string>> =>
  configOf(state, proxy, name).config.vmConfig.environmentVariables.keyValues;

describe('the configuration of a Wasm module', () => {
  it('is there for names of the own and the root namespace, selected or not, and for no others', () => {
    const elsewhere = { selector: { matchLabels: { app: 'other' } } };
    const state = world([plugin(elsewhere), plugin({}, 'istio-system'), plugin({}, 'bank')]);
    expect(configOf(state)['@type']).toBe('type.googleapis.com/envoy.extensions.filters.http.wasm.v3.Wasm');
    expect(configOf(state, sidecar(), PLUGIN.replace('shop', 'istio-system'))).toBeDefined();
    expect(configOf(state, sidecar(), PLUGIN.replace('shop', 'bank'))).toBeUndefined();
    expect(configOf(state, sidecar(), `${PLUGIN}x`)).toBeUndefined();
    expect(configOf(state, sidecar(), 'shop.auth')).toBeUndefined();
  });

  it('writes its settings as Go writes JSON', () => {
    const pluginConfig = { b: '<&>\u2028', a: { z: 1.5, y: [true, null] } };
    const state = world([plugin({ pluginConfig })]);
    expect(configOf(state).config.configuration.value).toBe(
      '{"a":{"y":[true,null],"z":1.5},"b":"\\u003c\\u0026\\u003e\\u2028"}',
    );
    expect(configOf(world([plugin({ pluginConfig: {} })])).config.configuration).toEqual({ '@type': '' });
  });

  it('has the variables of its author, which win, and names those of the host', () => {
    const env = [
      { name: 'A', value: '1' },
      { name: 'HOME', valueFrom: 'HOST' },
      { name: 'ISTIO_META_WASM_PLUGIN_RESOURCE_VERSION', value: 'mine' },
    ];
    const state = world([plugin({ imagePullPolicy: 'IfNotPresent', vmConfig: { env } })]);
    const { environmentVariables } = configOf(state).config.vmConfig;
    expect(environmentVariables).toEqual({
      keyValues: {
        A: '1',
        ISTIO_META_WASM_IMAGE_PULL_POLICY: 'IfNotPresent',
        ISTIO_META_WASM_PLUGIN_RESOURCE_VERSION: 'mine',
      },
      hostEnvKeys: ['HOME'],
    });
  });

  it('reads files as files', () => {
    const state = world([plugin({ url: 'file:///etc/auth.wasm', failStrategy: 'FAIL_RELOAD', type: 'NETWORK' })]);
    expect(configOf(state)['@type']).toContain('network.wasm');
    expect(configOf(state).config.vmConfig.code).toEqual({ local: { filename: '/etc/auth.wasm' } });
  });
});

describe('the pull secret of a module', () => {
  const VARIABLE = 'ISTIO_META_WASM_IMAGE_PULL_SECRET';
  const read = (imagePullSecret: string, more: readonly JsonObject[] = [secret('shop', 'reg')]) =>
    variablesOf(world([plugin({ imagePullSecret }), ...more]))[VARIABLE];

  it('is the Secret of that name in the namespace of the plugin, whatever namespace is written', () => {
    for (const name of ['reg', 'kubernetes://reg', 'other/reg', 'kubernetes://other/reg'])
      expect(read(name)).toBe('{}');
    expect(read('reg', [secret('other', 'reg')])).toBe('');
  });

  it('is empty if there is none or of another type, and absent for what names no Secret', () => {
    expect(read('none')).toBe('');
    expect(read('reg', [secret('shop', 'reg', 'Opaque')])).toBe('');
    for (const name of ['configmap://a/b', 'kubernetes-gateway://a/b', 'invalid://x']) expect(read(name)).toBe('');
    for (const name of ['builtin://x', 'configmap://a', 'kubernetes-gateway://a']) expect(read(name)).toBeUndefined();
  });

  it('is kept from proxies that prove nothing, that are not selected, and that have no agent', () => {
    const selector = { matchLabels: { app: 'cart' } };
    const state = world([plugin({ imagePullSecret: 'reg', selector, sha256: SHA }), secret('shop', 'reg')]);
    expect(variablesOf(state)[VARIABLE]).toBe('{}');
    expect(variablesOf(state, sidecar({ identities: [] }))[VARIABLE]).toBe('');
    expect(variablesOf(state, sidecar({ app: 'other' }))[VARIABLE]).toBe('');
    const http = world([
      plugin({ url: 'http://modules.test/auth', imagePullSecret: 'reg', sha256: SHA }),
      secret('shop', 'reg'),
    ]);
    expect(variablesOf(http, sidecar({ extensions: STOCK }))).toEqual({});
  });

  it('is replaced on every page', () => {
    const typed = configOf(world([plugin({ imagePullSecret: 'reg' }), secret('shop', 'reg')]));
    expect(JSON.stringify(withoutPrivateKeys(typed as unknown as JsonObject))).toContain(`"${VARIABLE}":"[redacted]"`);
  });
});

describe('a module for a proxy without an agent', () => {
  const stock = sidecar({ extensions: STOCK });
  const clusterNames = (state: State, proxy = stock) =>
    new Tracker()
      .get(state, proxy, clusters, '')
      .map(({ name }) => name)
      .filter(name => name.startsWith('wasm-modules|'));

  it('is fetched by Envoy from a cluster of its own if it is served over HTTP and its digest is known', () => {
    const state = world([plugin({ url: 'https://modules.test/auth.wasm', sha256: SHA })]);
    expect(configOf(state, stock).config.vmConfig.code.remote).toEqual({
      httpUri: {
        uri: 'https://modules.test/auth.wasm',
        cluster: 'wasm-modules|https|modules.test|443',
        timeout: { seconds: 30, nanos: 0 },
      },
      sha256: SHA,
    });
    expect(clusterNames(state)).toEqual(['wasm-modules|https|modules.test|443']);
    expect(clusterNames(state, sidecar())).toEqual([]);
    expect(clusterNames(state, sidecar({ extensions: STOCK.slice(0, 2) }))).toEqual([]);
  });

  it.each<[string, keyof typeof Cluster_DnsLookupFamily]>([
    ['10.0.0.1', 'V4_ONLY'],
    ['2001:db8::1', 'V6_ONLY'],
    ['10.0.0.1,2001:db8::1', 'ALL'],
  ])('is resolved for a proxy at %s with %s', (ips, family) => {
    const state = world([plugin({ url: 'https://modules.test/auth.wasm', sha256: SHA })]);
    const all = new Tracker().get(state, sidecar({ extensions: STOCK, ips }), clusters, '');
    const found = all.find(({ name }) => name.startsWith('wasm-modules|'))?.message;
    expect(found?.dnsLookupFamily).toBe(Cluster_DnsLookupFamily[family]);
    const [group] = found?.loadAssignment?.endpoints ?? [];
    expect(group?.lbEndpoints?.[0]?.endpoint?.address?.socketAddress?.address).toBe('modules.test');
  });

  it('stands in the listener, with a machine of its own, because Envoy fetches only while a listener warms', () => {
    const state = world([plugin({ url: 'https://modules.test/auth.wasm', sha256: SHA })]);
    const lds = JSON.stringify(new Tracker().get(state, stock, listeners, ''));
    expect(lds).toContain(`"vmId":"shop.auth~istio-translated-wasmplugin|${SHA}"`);
    expect(lds).not.toContain('configDiscovery');
    expect(JSON.stringify(new Tracker().get(state, sidecar(), listeners, ''))).toContain('configDiscovery');
  });

  it('takes the form of a failed fetch where Envoy cannot have it', () => {
    const rbac = (url: string, failStrategy: string, extensions = STOCK) =>
      configOf(world([plugin({ url, failStrategy })]), sidecar({ extensions }));
    const deny = {
      '@type': 'type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC',
      rules: {},
      rulesStatPrefix: 'wasm-default-deny',
    };
    expect(rbac('oci://registry.test/auth:1', 'FAIL_CLOSE')).toEqual(deny);
    expect(rbac('http://modules.test/auth.wasm', 'FAIL_RELOAD')).toEqual(deny);
    expect(rbac('file:///auth.wasm', 'FAIL_CLOSE', STOCK.slice(0, 2))).toEqual(deny);
    expect(rbac('oci://registry.test/auth:1', 'FAIL_OPEN')).toEqual({
      ...deny,
      rules: undefined,
      rulesStatPrefix: 'wasm-default-allow',
    });
  });
});

describe('the text of a URL', () => {
  it('is that of Go', () => {
    const texts: readonly (readonly [string, string | undefined])[] = [
      ['ghcr.io/x/y:1', 'oci://ghcr.io/x/y:1'],
      ['/x/y', 'oci:///x/y'],
      ['//host/x', 'oci://host/x'],
      ['OCI://Host/x', 'oci://Host/x'],
      ['localhost:5000/x', 'localhost:5000/x'],
      ['https://h/a b?q=<>#', 'https://h/a%20b?q=<>'],
      ['https://h/%7Ea é#x', 'https://h/~a%20%C3%A9#x'],
      ['http://h', 'http://h'],
      ['10.0.0.1:5000/x', undefined],
    ];
    for (const [written, expected] of texts) expect(urlText(written, 'oci'), written).toBe(expected);
  });
});

describe('base64 of text', () => {
  it('reads back as the text, and damaged octets as replacement characters', () => {
    for (const text of ['', 'a', '{"é":"𝄞"}', '\u0000\uffff']) expect(textOfBase64(base64OfText(text))).toBe(text);
    expect(textOfBase64('/w==')).toBe('\ufffd');
    expect(textOfBase64('4oI=')).toBe('\ufffd\ufffd');
    expect(textOfBase64('7aCA')).toBe('\ufffd\ufffd\ufffd');
  });
});
