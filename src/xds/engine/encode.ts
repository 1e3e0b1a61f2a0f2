// Encodes each generated resource once. An unchanged resource object costs a look-up; in a changed one, unchanged
// virtual hosts and filter chains cost a copy of their bytes (wire/pack.ts). A response is then a concatenation of
// existing frames.
//
// Invariant: messages are immutable after they are handed over, since everything here is memoised by object identity.
// The bytes are a function of the value: fields by number, map entries by key. (Go writes another order; compare
// decoded messages.)

import { hash } from 'node:crypto';
import { resourceUrlOf, type TypeName } from '../proto/any.ts';
import type { TypeMap } from '../proto/types.gen.ts';
import { framedString, header } from '../wire/frame.ts';
import { encodeAny, encodeUnpacked } from '../wire/pack.ts';
import { type Plain, typeOf } from '../wire/registry.ts';
import type { Room } from '../wire/sink.ts';

export { loadProto } from '../wire/registry.ts';

export interface EncodedResource {
  readonly name: string;
  readonly typeUrl: string;
  /**
   * Hash of the content (64 bits as 16 hex digits): equal messages have equal versions, in every replica and after
   * every restart.
   */
  readonly version: string;
  /** The resource as an encoded google.protobuf.Any. */
  readonly body: Buffer;
  /** `body` as a `resources` field of a DiscoveryResponse. */
  readonly sotwFrame: Buffer;
  /** Name, version and `body` as a `resources` field of a DeltaDiscoveryResponse. */
  readonly deltaFrame: Buffer;
}

const VERSION_LENGTH = 16;
/** `resources` is field 2 of both responses. */
const RESOURCES = 2;

const resources = new WeakMap<object, Encoded>();

/** Deterministic. Any are unpacked and Struct is JSON in `message`; the header of types.gen.ts has the conventions. */
export function encodeMessage<K extends TypeName>(type: K, message: TypeMap[K]): Uint8Array {
  return encodeUnpacked(typeOf(type), message as Plain);
}

/**
 * `message` must be of the type of the resources of `url`. Memoised by `message`; `before` is called only if it has to
 * be encoded.
 */
export function encodeResource(url: string, name: string, message: object, before?: () => void): EncodedResource {
  const known = resources.get(message);
  if (known !== undefined && known.name === name && known.typeUrl === url) return known;
  before?.();
  const encoded = new Encoded(url, name, message as Plain);
  resources.set(message, encoded);
  return encoded;
}

/**
 * `message` in place of the resource's own, under the same version: what is sent differs from what is recorded. Not
 * remembered.
 */
export function encodedAs({ typeUrl, name, version }: EncodedResource, message: object): EncodedResource {
  return new Encoded(typeUrl, name, message as Plain, version);
}

/**
 * One buffer holds the frame for delta: envoy.service.discovery.v3.Resource (version 1, resource 2, name 3). Its
 * `resource` is field 2, as is `resources` of a DiscoveryResponse, so the other frame is a part of it.
 */
class Encoded implements EncodedResource {
  readonly name: string;
  readonly typeUrl: string;
  readonly version: string;
  readonly body: Buffer;
  readonly sotwFrame: Buffer;
  readonly deltaFrame: Buffer;

  constructor(url: string, name: string, message: Plain, version?: string) {
    const nameField = framedString(3, name);
    const versionBytes = framedBytes(version?.length ?? VERSION_LENGTH);
    const around = (frame: number): Room => {
      const head = header(RESOURCES, versionBytes + frame + nameField.length);
      return { before: head.length + versionBytes, after: nameField.length };
    };
    const { room, start, end, length } = encodeAny(RESOURCES, resourceUrlOf(url), message, around);
    this.name = name;
    this.typeUrl = url;
    this.body = room.subarray(end - length, end);
    this.sotwFrame = room.subarray(start, end);
    this.deltaFrame = room;
    this.version = version ?? hash('sha256', this.body, 'hex').slice(0, VERSION_LENGTH);
    room.set(header(RESOURCES, versionBytes + end - start + nameField.length), 0);
    room.set(framedString(1, this.version), start - versionBytes);
    room.set(nameField, end);
  }
}

/** Of a string field of that many characters of ASCII, fewer than 128. */
function framedBytes(length: number): number {
  return length === 0 ? 0 : 2 + length;
}
