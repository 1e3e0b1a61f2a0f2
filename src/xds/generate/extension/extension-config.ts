// Extension configurations: Wasm modules for HTTP and for TCP filters, or the filter that takes the place of a module
// which the proxy cannot have.
// Source: Istio pilot/pkg/model/extensions.go (BuildHTTPWasmFilter, BuildNetworkWasmFilter), pkg/wasm/convert.go.

import type { Resource } from '../../../core/model/resource.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { FailStrategy } from '../../../core/schema/istio-types.gen.ts';
import type { ExtensionConfigInputs } from '../../../core/select/extension/extension-config.ts';
import { ENGINE, type ModuleCode } from '../../../core/select/extension/wasm-module.ts';
import { any, emptyAny } from '../../proto/any.ts';
import {
  type AnyMessage,
  type AsyncDataSource,
  type TypedExtensionConfig,
  WasmFailurePolicy,
  type WasmPluginConfig,
} from '../../proto/types.gen.ts';
import { orNone } from '../common/or-none.ts';

export const extensionConfig: Generator<ExtensionConfigInputs, Resource<TypedExtensionConfig>> = {
  name: 'extension/config',
  run: inputs => {
    const { filterName: name, code } = inputs;
    const typedConfig = code.kind === 'unavailable' ? substitute(inputs) : wasm(inputs, code);
    return { name, message: { name, typedConfig }, problems: [] };
  },
};

/** How long the agent, or Envoy, may take for a module. */
const FETCH_TIMEOUT = { seconds: 30, nanos: 0 };

const policies: Readonly<Record<FailStrategy, WasmFailurePolicy>> = {
  FAIL_CLOSE: WasmFailurePolicy.FAIL_CLOSED,
  FAIL_OPEN: WasmFailurePolicy.FAIL_OPEN,
  FAIL_RELOAD: WasmFailurePolicy.FAIL_RELOAD,
};

/**
 * Envoy takes two modules that it fetches itself for one while their machines have equal ids, and goes on running the
 * first; so the id names extension and digest.
 */
function wasm(inputs: ExtensionConfigInputs, code: Exclude<ModuleCode, { kind: 'unavailable' }>): AnyMessage {
  const { environment, hostEnvironment, configuration } = inputs;
  const keyValues: Record<string, string> = {};
  for (let i = 0; i < environment.length; i += 2) keyValues[environment[i]!] = environment[i + 1]!;
  const config: WasmPluginConfig = {
    name: inputs.moduleName,
    rootId: inputs.rootId === '' ? undefined : inputs.rootId,
    configuration:
      configuration === undefined ? emptyAny : any('google.protobuf.StringValue', { value: configuration }),
    failurePolicy: policies[inputs.failStrategy],
    vmConfig: {
      vmId: code.kind === 'remote' && code.direct ? `${inputs.moduleName}|${code.sha256}` : undefined,
      runtime: ENGINE,
      code: sourceOf(code),
      environmentVariables: { keyValues, hostEnvKeys: orNone(hostEnvironment) },
    },
  };
  return inputs.network
    ? any('envoy.extensions.filters.network.wasm.v3.Wasm', { config })
    : any('envoy.extensions.filters.http.wasm.v3.Wasm', { config });
}

function sourceOf(code: Exclude<ModuleCode, { kind: 'unavailable' }>): AsyncDataSource {
  if (code.kind === 'file') return { local: { filename: code.path } };
  const { uri, cluster, sha256 } = code;
  return { remote: { httpUri: { uri, cluster, timeout: FETCH_TIMEOUT }, sha256: sha256 === '' ? undefined : sha256 } };
}

/** Without rules everything passes; with rules that name no policy nothing does. */
function substitute({ network, failStrategy }: ExtensionConfigInputs): AnyMessage {
  const open = failStrategy === 'FAIL_OPEN';
  const prefix = open ? 'wasm-default-allow' : 'wasm-default-deny';
  const rules = open ? undefined : {};
  return network
    ? any('envoy.extensions.filters.network.rbac.v3.RBAC', { rules, statPrefix: prefix })
    : any('envoy.extensions.filters.http.rbac.v3.RBAC', { rules, rulesStatPrefix: prefix });
}
