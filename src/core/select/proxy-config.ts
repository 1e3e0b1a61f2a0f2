// The ProxyConfig in force for a proxy, part by part: metadata PROXY_CONFIG as the agent sent it, else the mesh's defaultConfig.
// The two are never merged here: the injector has merged them already (Istio pilot/pkg/model/context.go, proxyConfigOrDefault).
// Each part is a facet of its own, so that proxies which differ in, say, their concurrency still share listeners.

import { goBoolean } from '../go-boolean.ts';
import { isObject, type JsonObject } from '../json.ts';
import type { Derivation, ProxyReader } from '../reader.ts';

function part(name: string): Derivation<JsonObject> {
  return {
    name: `proxy config ${name}`,
    run: reader => {
      const sent = reader.metadata('PROXY_CONFIG');
      const config = isObject(sent) ? sent : reader.mesh('defaultConfig');
      const value = isObject(config) ? config[name] : undefined;
      return isObject(value) ? value : {};
    },
  };
}

/** `proxyHeaders`, as in the JSON of ProxyConfig; empty if unset. */
export const proxyHeaders: Derivation<JsonObject> = part('proxyHeaders');
/** `gatewayTopology`, as in the JSON of ProxyConfig; empty if unset. */
export const gatewayTopology: Derivation<JsonObject> = part('gatewayTopology');
/** `tracing`, as in the JSON of ProxyConfig; empty if unset. */
export const proxyTracing: Derivation<JsonObject> = part('tracing');

/** `privateKeyProvider`, as in the JSON of ProxyConfig; empty if unset. */
export const privateKeyProvider: Derivation<JsonObject> = part('privateKeyProvider');

/** A metadata value as text; Istio turns booleans and numbers into text. */
export function metadataText(reader: ProxyReader, key: string): string {
  const value = reader.metadata(key);
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

/** A metadata value that Go's strconv.ParseBool or JSON takes for true. */
export function metadataFlag(reader: ProxyReader, key: string): boolean {
  return goBoolean(metadataText(reader, key)) === true;
}

export type InterceptionMode = 'REDIRECT' | 'TPROXY' | 'NONE';

/** Metadata INTERCEPTION_MODE; anything else counts as REDIRECT. */
export function interceptionMode(reader: ProxyReader): InterceptionMode {
  const mode = metadataText(reader, 'INTERCEPTION_MODE');
  return mode === 'TPROXY' || mode === 'NONE' ? mode : 'REDIRECT';
}
