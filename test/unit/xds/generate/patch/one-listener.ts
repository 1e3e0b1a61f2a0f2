// One listener with patches for tests, and the messages that it is made of.

import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { EnvoyFilter_ListenerMatch } from '../../../../../src/core/schema/istio-types.gen.ts';
import type { ApplyTo, EnvoyPatch, Operation } from '../../../../../src/core/select/patch/envoy-patch.ts';
import type { ListenerPatches } from '../../../../../src/core/select/patch/proxy-patches.ts';
import { patchedListener } from '../../../../../src/xds/generate/patch/listener.ts';
import type { Filter, FilterChain, Listener } from '../../../../../src/xds/proto/types.gen.ts';
import { actedOf, patchOf } from './one-patch.ts';

export const TYPE = 'type.googleapis.com/';
export const HCM = 'envoy.filters.network.http_connection_manager';
export const HCM_TYPE = `${TYPE}envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager`;
export const TCP = `${TYPE}envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy`;
export const LUA = `${TYPE}envoy.extensions.filters.http.lua.v3.Lua`;
export const INSPECTOR = `${TYPE}envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector`;
export const TLS = `${TYPE}envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext`;

export const resource = (message: Listener) => ({ name: message.name ?? '', message, problems: [] });
export function patched(message: Listener, patches: readonly EnvoyPatch[]) {
  const of = (applyTo: ApplyTo) => patches.filter(patch => patch.applyTo === applyTo);
  const lists: ListenerPatches = {
    listener: of('LISTENER'),
    listenerFilter: of('LISTENER_FILTER'),
    filterChain: of('FILTER_CHAIN'),
    networkFilter: of('NETWORK_FILTER'),
    httpFilter: of('HTTP_FILTER'),
  };
  const listener = resource(message);
  const outcome = patchedListener.run({ listener, patches: lists });
  const { result } = outcome;
  return { ...outcome, message: result?.message, isSame: result === listener, places: actedOf(outcome, patches) };
}
export const patch = (
  applyTo: ApplyTo,
  operation: Operation,
  value: JsonObject,
  listener?: EnvoyFilter_ListenerMatch,
) => patchOf(applyTo, operation, value, { listener });

export const at = (portValue: number) => ({ socketAddress: { address: '0.0.0.0', portValue } });
const proxied = { '@type': TCP, cluster: 'c' };
export const tcp: Filter = { name: 'tcp', typedConfig: proxied };
export const chain = (name: string, more: FilterChain = {}): FilterChain => ({ name, filters: [tcp], ...more });
