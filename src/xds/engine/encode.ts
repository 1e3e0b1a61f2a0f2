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
import { framed, framedString, header } from '../wire/frame.ts';
import { encodeAny, encodeUnpacked } from '../wire/pack.ts';
import { type Plain, typeOf } from '../wire/registry.ts';

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

function headOf(field: number, length: number): Buffer {
  return Buffer.from(header(field, length));
}

class Encoded implements EncodedResource {
  readonly name: string;
  readonly typeUrl: string;
  readonly version: string;
  #body: Buffer;
  #sotwFrame: Buffer | undefined;
  #deltaFrame: Buffer | undefined;

  constructor(url: string, name: string, message: Plain, version?: string) {
    this.name = name;
    this.typeUrl = url;
    // One buffer for both: the body is the end of the frame.
    const { frame, length } = encodeAny(RESOURCES, resourceUrlOf(url), message);
    this.#sotwFrame = frame;
    this.#body = frame.subarray(frame.length - length);
    this.version = version ?? hash('sha256', this.#body, 'hex').slice(0, VERSION_LENGTH);
  }

  get body(): Buffer {
    return this.#body;
  }

  get sotwFrame(): Buffer {
    this.#sotwFrame ??= framed(RESOURCES, this.#body);
    return this.#sotwFrame;
  }

  /**
   * Made on first use and then the only copy of the body, since most meshes speak one of the two protocols; the other
   * frame is made again if it is used. envoy.service.discovery.v3.Resource: version 1, resource 2, name 3.
   */
  get deltaFrame(): Buffer {
    if (this.#deltaFrame !== undefined) return this.#deltaFrame;
    const [version, name] = [framedString(1, this.version), framedString(3, this.name)];
    const pieces = [version, headOf(2, this.#body.length), this.#body, name];
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    const frame = Buffer.concat([headOf(RESOURCES, length), ...pieces]);
    const end = frame.length - name.length;
    this.#deltaFrame = frame;
    this.#body = frame.subarray(end - this.#body.length, end);
    this.#sotwFrame = undefined;
    return frame;
  }
}
