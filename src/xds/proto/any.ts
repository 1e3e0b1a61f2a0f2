// How generators put a typed message into a google.protobuf.Any field: it stays unpacked, `{'@type': url, ...fields}`,
// until encode.ts packs it. So generated resources are plain data that can be compared, patched (EnvoyFilter) and
// shown, and the fields are checked by the compiler.

import type { JsonObject } from '../../core/base/json.ts';
import type { AnyMessage, TypeMap } from './types.gen.ts';

export type { AnyMessage } from './types.gen.ts';

export const TYPE_URL_PREFIX = 'type.googleapis.com/';

export type TypeName = keyof TypeMap;
export type TypeUrl<K extends TypeName = TypeName> = `type.googleapis.com/${K}`;
export type TypedAny<K extends TypeName> = { readonly '@type': TypeUrl<K> } & TypeMap[K];

/** `message` as the content of an Any: `any('envoy.extensions.filters.http.router.v3.Router', { … })`. */
export function any<K extends TypeName>(type: K, message: TypeMap[K]): TypedAny<K> {
  return { '@type': typeUrl(type), ...message };
}

/**
 * A google.protobuf.Struct as the content of an Any. Its members could be named `@type`, so they stand under `value`,
 * as in protojson.
 */
export function anyStruct(value: JsonObject): AnyMessage & { readonly value: JsonObject } {
  return { '@type': `${TYPE_URL_PREFIX}google.protobuf.Struct`, value };
}

/** An Any of a type that the bundle does not know, already encoded. */
export function anyBytes(url: string, value: Uint8Array): AnyMessage & { readonly value: Uint8Array } {
  return { '@type': url, value };
}

/**
 * An Any that is present and holds nothing, `{}` in protojson, as istiod sets for a Wasm plugin without configuration.
 */
export const emptyAny: AnyMessage = { '@type': '' };

/**
 * The identical text each time: there are as many of them as there are Any, and each is looked up when it is packed.
 */
export function typeUrl<K extends TypeName>(type: K): TypeUrl<K> {
  let url = urls.get(type);
  if (url === undefined) {
    url = `${TYPE_URL_PREFIX}${type}`;
    urls.set(type, url);
  }
  return url as TypeUrl<K>;
}

const urls = new Map<TypeName, string>();

/** What a client of the generator `api` subscribes to for the mesh configuration. */
export const MESH_CONFIG_URL = 'core/v1alpha1/MeshConfig';

/**
 * The URL of the resources in a response of a type. They differ for configuration alone (`group/version/Kind`), whose
 * resources are envelopes.
 */
export function resourceUrlOf(url: string): string {
  if (url.startsWith(TYPE_URL_PREFIX)) return url;
  const name = url === MESH_CONFIG_URL ? 'istio.mesh.v1alpha1.MeshConfig' : 'istio.mcp.v1alpha1.Resource';
  return `${TYPE_URL_PREFIX}${name}`;
}

/** The full name of the message that a type URL names: what follows the last slash. */
export function typeNameOf(url: string): string {
  return url.slice(url.lastIndexOf('/') + 1);
}
