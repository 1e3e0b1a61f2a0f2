// EnvoyFilters for tests: an object of given entries, and a small mesh around them.

import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { type ListenerScene, workloadScene } from '../listener/scene.ts';
import { httpService } from '../route/scene.ts';

export interface FilterOptions {
  readonly namespace?: string;
  readonly priority?: number;
  readonly created?: string;
  readonly more?: JsonObject;
}

/** An EnvoyFilter of `prod` with these entries. */
export function envoyFilter(name: string, entries: readonly JsonObject[], options: FilterOptions = {}): JsonObject {
  const { namespace = 'prod', priority = 0, created = '2026-01-01T00:00:00Z', more = {} } = options;
  return {
    apiVersion: 'networking.istio.io/v1alpha3',
    kind: 'EnvoyFilter',
    metadata: { name, namespace, creationTimestamp: created },
    spec: { priority, configPatches: entries, ...more },
  };
}

/** One entry. */
export function entry(applyTo: string, operation: string, value?: JsonObject, match: JsonObject = {}): JsonObject {
  return { applyTo, match, patch: { operation, ...(value === undefined ? {} : { value }) } };
}

export const HCM = 'envoy.filters.network.http_connection_manager';
export const LUA = 'type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua';

/** An HTTP filter `name` with inline code. */
export function luaFilter(name: string, code = 'a'): JsonObject {
  return { name, typed_config: { '@type': LUA, inline_code: code } };
}

/** Matches the HTTP filter `name`. */
export function httpFilter(name: string, context = 'SIDECAR_OUTBOUND'): JsonObject {
  return { context, listener: { filterChain: { filter: { name: HCM, subFilter: { name } } } } };
}

/** A sidecar `app` on ports 8000 (HTTP) and 9000 (TCP), with the service `shop` on port 8080 to call. */
export function patchScene(filters: readonly JsonObject[], metadata: JsonObject = {}): ListenerScene {
  const ports = [
    { name: 'http', port: 8000 },
    { name: 'tcp', port: 9000 },
  ];
  return workloadScene(ports, [httpService('shop', 'prod', 8080, '10.96.0.9'), ...filters], {}, metadata);
}
