// The ProxyConfig in force for a proxy, part by part: metadata PROXY_CONFIG as the agent sent it, else the mesh's
// defaultConfig. The two are never merged here: the injector has merged them already (Istio pilot/pkg/model/context.go,
// proxyConfigOrDefault). Each part is a facet of its own, so that proxies which differ in, say, their concurrency still
// share listeners.

import { isLeft } from 'fp-ts/lib/Either.js';
import { goBoolean } from '../../base/go-boolean.ts';
import { isObject, type JsonObject } from '../../base/json.ts';
import type { Derivation, ProxyReader } from '../../query/reader.ts';
import { decodeIstio } from '../../schema/istio.ts';
import type { IstioTypeMap, ProxyConfig } from '../../schema/istio-types.gen.ts';

/** An unreadable value counts as absent. (Istio refuses the proxy.) */
function part(name: keyof ProxyConfig & string, type: keyof IstioTypeMap & string): Derivation<JsonObject> {
  return {
    name: `proxy config ${name}`,
    run: reader => {
      const sent = reader.metadata('PROXY_CONFIG');
      if (!isObject(sent)) return (reader.mesh('defaultConfig')[name] ?? {}) as JsonObject;
      if (sent[name] === undefined) return {};
      const decoded = decodeIstio(type, sent[name], name, { ignoreUnknown: true });
      return isLeft(decoded) ? {} : (decoded.right as JsonObject);
    },
  };
}

/** `proxyHeaders`, decoded; empty if unset. */
export const proxyHeaders = part('proxyHeaders', 'istio.mesh.v1alpha1.ProxyConfig.ProxyHeaders');
/** `gatewayTopology`, decoded; empty if unset. */
export const gatewayTopology = part('gatewayTopology', 'istio.mesh.v1alpha1.Topology');
/** `tracing`, decoded; empty if unset. */
export const proxyTracing = part('tracing', 'istio.mesh.v1alpha1.Tracing');
/** `privateKeyProvider`, decoded; empty if unset. */
export const privateKeyProvider = part('privateKeyProvider', 'istio.mesh.v1alpha1.PrivateKeyProvider');

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
