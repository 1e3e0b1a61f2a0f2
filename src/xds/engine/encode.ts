// Encodes each generated resource once. An unchanged resource object costs a look-up; in a changed one, unchanged
// virtual hosts and filter chains cost a copy of their bytes (wire/pack.ts). A response is then a concatenation of
// existing frames. A large resource shares the bytes of its previous version (shared-parts.ts).
//
// Invariant: messages are immutable after they are handed over, since everything here is memoised by object identity.
// The bytes are a function of the value: fields by number, map entries by key. (Go writes another order; compare
// decoded messages.)

import { hash } from 'node:crypto';
import { resourceUrlOf, type TypeName } from '../proto/any.ts';
import type { TypeMap } from '../proto/types.gen.ts';
import { framedString, header } from '../wire/frame.ts';
import { encodeAny, encodeUnpacked, type WrittenAny } from '../wire/pack.ts';
import { type Plain, typeOf } from '../wire/registry.ts';
import { sharedParts } from './shared-parts.ts';

export { loadProto } from '../wire/registry.ts';

export interface EncodedResource {
  readonly name: string;
  readonly typeUrl: string;
  /**
   * Hash of the content (64 bits as 16 hex digits): equal messages have equal versions, in every replica and after
   * every restart.
   */
  readonly version: string;
  /** Bytes of `body`. */
  readonly size: number;
  /** The resource as an encoded google.protobuf.Any. Put together on each use if the resource is large. */
  readonly body: Buffer;
  /** `body` as a `resources` field of a DiscoveryResponse, in parts. */
  readonly sotwFrame: readonly Buffer[];
  /** Name, version and `body` as a `resources` field of a DeltaDiscoveryResponse, in parts. */
  readonly deltaFrame: readonly Buffer[];
}

const VERSION_LENGTH = 16;
/** `resources` is field 2 of both responses. */
const RESOURCES = 2;
/** Resources from this size on share bytes with their previous version. */
const LARGE_BYTES = 64 * 1024;

const resources = new WeakMap<object, Encoded>();

/** Deterministic. Any are unpacked and Struct is JSON in `message`; the header of types.gen.ts has the conventions. */
export function encodeMessage<K extends TypeName>(type: K, message: TypeMap[K]): Uint8Array {
  return encodeUnpacked(typeOf(type), message as Plain);
}

/**
 * `message` must be of the type of the resources of `url`. Memoised by `message`; `before` is called only if it has to
 * be encoded. `previous`: what the same client had before, to share bytes with; it changes none.
 */
export function encodeResource(
  url: string,
  name: string,
  message: object,
  before?: () => void,
  previous?: EncodedResource,
): EncodedResource {
  const known = resources.get(message);
  if (known !== undefined && known.name === name && known.typeUrl === url) return known;
  before?.();
  const encoded = new Encoded(url, name, message as Plain, { previous });
  resources.set(message, encoded);
  return encoded;
}

/**
 * `message` in place of the resource's own, under the same version: what is sent differs from what is recorded. Not
 * remembered.
 */
export function encodedAs({ typeUrl, name, version }: EncodedResource, message: object): EncodedResource {
  return new Encoded(typeUrl, name, message as Plain, { version });
}

interface Given {
  readonly version?: string;
  readonly previous?: EncodedResource | undefined;
}

/**
 * What is kept is the frame for delta: envoy.service.discovery.v3.Resource (version 1, resource 2, name 3). Its
 * `resource` is field 2, as is `resources` of a DiscoveryResponse, so the other frame is a part of it. One buffer for
 * most resources; of a large one the content of the Any is in parts between two small buffers.
 */
class Encoded implements EncodedResource {
  readonly name: string;
  readonly typeUrl: string;
  readonly version: string;
  readonly size: number;
  readonly deltaFrame: readonly Buffer[];
  /** Bytes of the frame for delta before and after the other one. */
  readonly #before: number;
  readonly #after: number;

  constructor(url: string, name: string, message: Plain, { version, previous }: Given) {
    const nameField = framedString(3, name);
    const take = ({ field, length, contentLength }: WrittenAny): Taken => {
      const body = field.subarray(field.length - length);
      const hashed = version ?? hash('sha256', body, 'hex').slice(0, VERSION_LENGTH);
      const versionField = framedString(1, hashed);
      const head = header(RESOURCES, versionField.length + field.length + nameField.length);
      const before = head.length + versionField.length;
      const isLarge = contentLength >= LARGE_BYTES;
      const alone = field.length - (isLarge ? contentLength : 0);
      const first = Buffer.allocUnsafe(before + alone + (isLarge ? 0 : nameField.length));
      first.set(head, 0);
      first.set(versionField, head.length);
      field.copy(first, before, 0, alone);
      if (!isLarge) first.set(nameField, before + alone);
      const content = isLarge ? sharedParts(field.subarray(alone), contentOf(previous)) : undefined;
      const parts = content === undefined ? [first] : [first, ...content, nameField];
      return { version: hashed, length, before, parts };
    };
    const taken = encodeAny(RESOURCES, resourceUrlOf(url), message, take);
    this.name = name;
    this.typeUrl = url;
    this.version = taken.version;
    this.size = taken.length;
    this.deltaFrame = taken.parts;
    this.#before = taken.before;
    this.#after = nameField.length;
  }

  get sotwFrame(): readonly Buffer[] {
    const parts = this.deltaFrame;
    const [first, last] = [parts[0]!, parts.at(-1)!];
    if (parts.length === 1) return [first.subarray(this.#before, first.length - this.#after)];
    return [first.subarray(this.#before), ...parts.slice(1, -1), last.subarray(0, last.length - this.#after)];
  }

  get body(): Buffer {
    const parts = this.sotwFrame;
    const whole = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
    return whole.subarray(whole.length - this.size);
  }
}

interface Taken {
  readonly version: string;
  readonly length: number;
  /** Bytes before the frame for the other protocol. */
  readonly before: number;
  readonly parts: readonly Buffer[];
}

/** The parts of the content of a large resource; none of another. */
function contentOf(previous: EncodedResource | undefined): readonly Buffer[] {
  return previous?.deltaFrame.slice(1, -1) ?? [];
}
