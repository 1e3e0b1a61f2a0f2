// Generated resources to bytes, each once. A resource is encoded when its object is first seen; an unchanged object costs a look-up, an unchanged
// virtual host or filter chain of a changed resource a copy of its bytes (wire/pack.ts). So a response is memory copies of what is already there.
//
// Everything here is memoised by object identity: messages must never be modified after they were handed over.
// The bytes are a function of the value: fields by number, map entries by key (they differ from Go's order; compare decoded messages).

import { hash } from 'node:crypto';
import type { TypeName } from '../proto/any.ts';
import type { TypeMap } from '../proto/types.gen.ts';
import { framed, framedString, header } from '../wire/frame.ts';
import { encodeAny, encodePrepared } from '../wire/pack.ts';
import { type Plain, typeOf } from '../wire/registry.ts';

export { loadProto } from '../wire/registry.ts';

export interface EncodedResource {
  readonly name: string;
  readonly typeUrl: string;
  /** Hash of the content (64 bits as 16 hex digits): equal messages have equal versions, in every replica and after every restart. */
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

/** Deterministic; Any are packed, Struct are given as JSON. See the head of types.gen.ts for the conventions. */
export function encodeMessage<K extends TypeName>(type: K, message: TypeMap[K]): Uint8Array {
  return encodePrepared(typeOf(type), message as Plain);
}

/** `message` must be of the type that `url` names. The result is remembered with the object. `before` is called if it is not yet. */
export function encodeResource(url: string, name: string, message: object, before?: () => void): EncodedResource {
  const known = resources.get(message);
  if (known !== undefined && known.name === name && known.typeUrl === url) return known;
  before?.();
  const encoded = new Encoded(url, name, message as Plain);
  resources.set(message, encoded);
  return encoded;
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

  constructor(url: string, name: string, message: Plain) {
    this.name = name;
    this.typeUrl = url;
    // One copy serves both: the frame ends with the body.
    const { frame, length } = encodeAny(RESOURCES, url, message);
    this.#sotwFrame = frame;
    this.#body = frame.subarray(frame.length - length);
    this.version = hash('sha256', this.#body, 'hex').slice(0, VERSION_LENGTH);
  }

  get body(): Buffer {
    return this.#body;
  }

  get sotwFrame(): Buffer {
    this.#sotwFrame ??= framed(RESOURCES, this.#body);
    return this.#sotwFrame;
  }

  /**
   * Made when first wanted, and then the only copy of the body: most meshes speak one of the two protocols, and those that speak both want the
   * other frame again. envoy.service.discovery.v3.Resource: version 1, resource 2, name 3.
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
