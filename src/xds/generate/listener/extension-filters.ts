// The filters of traffic extensions in listeners: Lua code in place, Wasm modules by reference to a configuration that
// the proxy asks for over ECDS. A module may turn out to be a filter that lets everything pass or denies everything, so
// the reference allows both types.
//
// A proxy without an agent has the configuration of a module in place too: Envoy fetches a module only while a listener
// warms. A module that arrives later over ECDS is accepted, but never fetched, so it fails.
// Source: Istio pilot/pkg/networking/core/extension/wasmplugin.go, lua.go.

import type { Resource } from '../../../core/model/resource.ts';
import type { Generator } from '../../../core/query/memo.ts';
import { any, typeUrl } from '../../proto/any.ts';
import {
  ApiVersion,
  type ExtensionConfigSource,
  type Filter,
  type HttpFilter,
  type TypedExtensionConfig,
} from '../../proto/types.gen.ts';

export interface ModuleFilterInputs {
  readonly name: string;
  readonly network: boolean;
}

export interface LuaFilterInputs {
  readonly name: string;
  readonly source: string;
}

/** For a chain of either kind. */
export const moduleFilter: Generator<ModuleFilterInputs, Filter & HttpFilter> = {
  name: 'listener/moduleFilter',
  run: ({ name, network }) => ({ name, configDiscovery: discovery(network ? networkTypes : httpTypes) }),
};

/** For a chain of either kind. */
export const moduleInPlace: Generator<{ readonly config: Resource<TypedExtensionConfig> }, Filter & HttpFilter> = {
  name: 'listener/moduleInPlace',
  run: ({ config: { name, message } }) => ({ name, typedConfig: message.typedConfig }),
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
];
const networkTypes = [
  typeUrl('envoy.extensions.filters.network.wasm.v3.Wasm'),
  typeUrl('envoy.extensions.filters.network.rbac.v3.RBAC'),
];

/** The listener is not ready before it has the configuration. */
function discovery(typeUrls: readonly string[]): ExtensionConfigSource {
  return {
    configSource: { ads: {}, initialFetchTimeout: { seconds: 0, nanos: 0 }, resourceApiVersion: ApiVersion.V3 },
    typeUrls,
  };
}
