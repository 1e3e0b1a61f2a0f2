// Private keys of workloads at the last moment: a generated Secret has a placeholder where the key belongs, made of
// the certificate's fingerprint. Version, digest and receipt are those of the placeholder; the bytes that leave have
// the key.
//
// Invariant: bytes with a key are made for one response and kept nowhere. Without the key there is no response: a
// client is never sent a placeholder.

import { type EncodedResource, encodedAs } from '../engine/encode.ts';
import { KEY_PLACEHOLDER } from '../generate/secret/secret.ts';
import type { Secret } from '../proto/types.gen.ts';
import { SDS } from '../session/types.ts';
import { typeOf } from '../wire/registry.ts';
import { decodeBytes } from '../wire/unpack.ts';

/** The key (PEM) of the certificate with this fingerprint (sha256, hex); undefined: it is not here. */
export type KeyOf = (fingerprint: string) => string | undefined;

export const noKeys: KeyOf = () => undefined;

/** Bytes of the placeholder, as they stand in an encoded Secret. */
const MARK = Buffer.from(KEY_PLACEHOLDER);

/** True if the resource lacks a private key of ours. */
export function lacksKey(resource: EncodedResource): boolean {
  return resource.typeUrl === SDS && resource.body.includes(MARK);
}

/** The resource as it is sent. Throws if the key is not here. */
export function withKey(resource: EncodedResource, keyOf: KeyOf): EncodedResource {
  if (!lacksKey(resource)) return resource;
  const type = typeOf('envoy.extensions.transport_sockets.tls.v3.Secret');
  const [message] = [decodeBytes(type, contentOf(resource.body))] as readonly [Secret];
  const placeholder = message.tlsCertificate?.privateKey?.inlineString ?? '';
  const fingerprint = placeholder.startsWith(KEY_PLACEHOLDER) ? placeholder.slice(KEY_PLACEHOLDER.length) : '';
  const key = keyOf(fingerprint);
  if (key === undefined) throw new Error(`the key of certificate ${fingerprint} is not here any more`);
  const tlsCertificate = { ...message.tlsCertificate, privateKey: { inlineString: key } };
  return encodedAs(resource, { ...message, tlsCertificate });
}

/** The value of a google.protobuf.Any: field 2, behind the type URL. */
function contentOf(any: Buffer): Buffer {
  const { value } = typeOf('google.protobuf.Any').decode(any) as unknown as { readonly value: Uint8Array };
  return Buffer.from(value);
}
