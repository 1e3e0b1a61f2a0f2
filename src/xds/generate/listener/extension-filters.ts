// The filters of traffic extensions in listeners: Lua code in place, Wasm modules by reference to a configuration that
// the proxy asks for over ECDS. A module may turn out to be a filter that lets everything pass or denies everything, so
// the reference allows both types.
// Source: Istio pilot/pkg/networking/core/extension/wasmplugin.go, lua.go.

import type { Generator } from '../../../core/query/memo.ts';
import { any, typeUrl } from '../../proto/any.ts';
import { ApiVersion, type ExtensionConfigSource, type Filter, type HttpFilter } from '../../proto/types.gen.ts';

export interface ModuleFilterInputs {
  readonly name: string;
  readonly network: boolean;
  /** The Wasm filter is compiled into the proxy, which refuses a reference to a type that it does not know. */
  readonly wasm: boolean;
}

export interface LuaFilterInputs {
  readonly name: string;
  readonly source: string;
}

/** For a chain of either kind. */
export const moduleFilter: Generator<ModuleFilterInputs, Filter & HttpFilter> = {
  name: 'listener/moduleFilter',
  run: ({ name, network, wasm }) => ({
    name,
    configDiscovery: network ? discovery(networkTypes, wasm) : discovery(httpTypes, wasm),
  }),
};

export const luaFilter: Generator<LuaFilterInputs, HttpFilter> = {
  name: 'listener/luaFilter',
  run: ({ name, source }) => ({
    name,
    typedConfig: any('envoy.extensions.filters.http.lua.v3.Lua', { defaultSourceCode: { inlineString: source } }),
  }),
};

const httpTypes = [
  typeUrl('envoy.extensions.filters.http.wasm.v3.Wasm'),
  typeUrl('envoy.extensions.filters.http.rbac.v3.RBAC'),
] as const;
const networkTypes = [
  typeUrl('envoy.extensions.filters.network.wasm.v3.Wasm'),
  typeUrl('envoy.extensions.filters.network.rbac.v3.RBAC'),
] as const;

/** The listener is not ready before it has the configuration. */
function discovery([module, substitute]: readonly [string, string], wasm: boolean): ExtensionConfigSource {
  return {
    configSource: { ads: {}, initialFetchTimeout: { seconds: 0, nanos: 0 }, resourceApiVersion: ApiVersion.V3 },
    typeUrls: wasm ? [module, substitute] : [substitute],
  };
}
