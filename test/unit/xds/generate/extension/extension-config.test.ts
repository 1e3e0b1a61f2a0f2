// Configurations of Wasm modules, and what stands in for a module that the proxy cannot have.
// Source of the rules: Istio pilot/pkg/model/extensions.go, pkg/wasm/convert.go.

import { describe, expect, it } from 'vitest';
import type { ExtensionConfigInputs } from '../../../../../src/core/select/extension/extension-config.ts';
import { extensionConfig } from '../../../../../src/xds/generate/extension/extension-config.ts';
import { emptyAny, typeUrl } from '../../../../../src/xds/proto/any.ts';
import type { WasmPluginConfig } from '../../../../../src/xds/proto/types.gen.ts';

const plain: ExtensionConfigInputs = {
  filterName: 'f',
  moduleName: 'shop.m',
  rootId: '',
  network: false,
  configuration: undefined,
  failStrategy: 'FAIL_CLOSE',
  code: { kind: 'file', path: '/m.wasm' },
  environment: [],
  hostEnvironment: [],
};
const made = (more: Partial<ExtensionConfigInputs>) => extensionConfig.run({ ...plain, ...more });
const configOf = (more: Partial<ExtensionConfigInputs>) =>
  (made(more).message.typedConfig as unknown as { readonly config: WasmPluginConfig }).config;
const remote = { kind: 'remote', uri: 'oci://m', cluster: 'agent', sha256: '', direct: false } as const;

describe('the configuration of a module', () => {
  it('in a file has nothing but its name, its code and what happens if it fails', () => {
    expect(made({})).toEqual({
      name: 'f',
      problems: [],
      message: {
        name: 'f',
        typedConfig: {
          '@type': typeUrl('envoy.extensions.filters.http.wasm.v3.Wasm'),
          config: {
            name: 'shop.m',
            configuration: emptyAny,
            failurePolicy: 2,
            vmConfig: {
              runtime: 'envoy.wasm.runtime.v8',
              code: { local: { filename: '/m.wasm' } },
              environmentVariables: { keyValues: {} },
            },
          },
        },
      },
    });
  });

  it('that is fetched has thirty seconds for it, a digest if the user gave one, and an own machine if Envoy does', () => {
    const code = (sha256: string, direct: boolean) => configOf({ code: { ...remote, sha256, direct } }).vmConfig!;
    const timeout = { seconds: 30, nanos: 0 };
    const fetched = { remote: { httpUri: { uri: 'oci://m', cluster: 'agent', timeout } } };
    expect([code('', false).code, code('', false).vmId]).toEqual([fetched, undefined]);
    expect(code('d1', false).code).toEqual({ remote: { ...fetched.remote, sha256: 'd1' } });
    expect(code('d1', false).vmId).toBeUndefined();
    expect(code('d1', true).vmId).toBe('shop.m|d1');
  });

  it('has the root id, settings and variables that the user gave', () => {
    const config = configOf({
      rootId: 'root',
      configuration: '{"a":1}',
      environment: ['A', '1', 'B', '2'],
      hostEnvironment: ['HOME'],
    });
    expect(config.rootId).toBe('root');
    expect(config.configuration).toEqual({ '@type': typeUrl('google.protobuf.StringValue'), value: '{"a":1}' });
    expect(config.vmConfig?.environmentVariables).toEqual({ keyValues: { A: '1', B: '2' }, hostEnvKeys: ['HOME'] });
    expect(configOf({}).rootId).toBeUndefined();
  });

  it.each([
    ['FAIL_CLOSE', 2],
    ['FAIL_OPEN', 3],
    ['FAIL_RELOAD', 1],
  ] as const)('that fails by %s has the policy %i', (failStrategy, expected) => {
    expect(configOf({ failStrategy }).failurePolicy).toBe(expected);
  });

  it('of a TCP filter is one for the network', () => {
    expect(made({ network: true }).message.typedConfig).toMatchObject({
      '@type': typeUrl('envoy.extensions.filters.network.wasm.v3.Wasm'),
      config: { name: 'shop.m' },
    });
  });
});

describe('a module that the proxy cannot have', () => {
  const substitute = (more: Partial<ExtensionConfigInputs>) =>
    made({ code: { kind: 'unavailable' }, ...more }).message.typedConfig;
  const http = { '@type': typeUrl('envoy.extensions.filters.http.rbac.v3.RBAC') };
  const tcp = { '@type': typeUrl('envoy.extensions.filters.network.rbac.v3.RBAC') };

  it('refuses all requests and connections, whatever its failure policy but FAIL_OPEN', () => {
    for (const failStrategy of ['FAIL_CLOSE', 'FAIL_RELOAD'] as const) {
      expect(substitute({ failStrategy })).toEqual({ ...http, rules: {}, rulesStatPrefix: 'wasm-default-deny' });
      const denied = { ...tcp, rules: {}, statPrefix: 'wasm-default-deny' };
      expect(substitute({ failStrategy, network: true })).toEqual(denied);
    }
  });

  it('lets all pass by FAIL_OPEN', () => {
    const failStrategy = 'FAIL_OPEN';
    expect(substitute({ failStrategy })).toEqual({ ...http, rulesStatPrefix: 'wasm-default-allow' });
    expect(substitute({ failStrategy, network: true })).toEqual({ ...tcp, statPrefix: 'wasm-default-allow' });
  });
});
