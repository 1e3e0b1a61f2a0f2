// Encodes each generated resource once. An unchanged resource object costs a look-up; in a changed one, unchanged
// virtual hosts and filter chains cost a copy of their bytes (wire/pack.ts). A response is then a concatenation of
// existing frames. A large resource shares the bytes of its previous version (shared-parts.ts); a very large one is
// encoded, hashed and kept in parts, in steps between which the caller may pause.
//
// Invariant: messages are immutable after they are handed over, since everything here is memoised by object identity.
// The bytes are a function of the value: fields by number, map entries by key. (Go writes another order; compare
// decoded messages.)

import { createHash, hash } from 'node:crypto';
import { resourceUrlOf, type TypeName } from '../proto/any.ts';
import type { TypeMap } from '../proto/types.gen.ts';
import { framedString, header, joinSmallParts, lengthOf, MESSAGE_BYTES_MAX } from '../wire/frame.ts';
import { encodeAny, encodeInParts, encodeUnpacked, WHOLE_BYTES_MAX, type WrittenAny } from '../wire/pack.ts';
import { type Plain, typeOf } from '../wire/registry.ts';
import { sharedParts, sharedWithParts } from './shared-parts.ts';

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
/** Other fields of a resource for delta. */
const VERSION = 1;
const NAME = 3;
/** Fields of google.protobuf.Any. */
const ANY_URL = 1;
const ANY_VALUE = 2;
/**
 * A resource that is too large for one step is full of small messages: its bytes take this many times as long as those
 * of others.
 */
const WORK_OF_LARGE = 4;
/** Bytes that are hashed in the time in which one is encoded. */
const HASHED_PER_ENCODED = 8 * WORK_OF_LARGE;
/** Resources from this size on share bytes with their previous version. */
const LARGE_BYTES = 64 * 1024;

const resources = new WeakMap<object, EncodedResource>();
/** Why a message cannot be encoded: that is found once, not at every push. */
const refused = new WeakMap<object, Error>();

/** Deterministic. Any are unpacked and Struct is JSON in `message`; the header of types.gen.ts has the conventions. */
export function encodeMessage<K extends TypeName>(type: K, message: TypeMap[K]): Uint8Array {
  return encodeUnpacked(typeOf(type), message as Plain);
}

/** Counts what the encoding of a resource costs, and may interrupt it. */
export interface EncodingWork {
  /** Called before each step. May throw: a later call for the same message continues there. */
  readonly before: () => void;
  /** Called after each step, which took as long as encoding this many bytes. */
  readonly after: (bytes: number) => void;
}

const unbounded: EncodingWork = { before: () => undefined, after: () => undefined };

/**
 * `message` must be of the type of the resources of `url`. Memoised by `message`; `work` is used only if it has to be
 * encoded. `previous`: what the same client had before, to share bytes with; it changes none.
 */
export function encodeResource(
  url: string,
  name: string,
  message: object,
  work = unbounded,
  previous?: EncodedResource,
): EncodedResource {
  const known = resources.get(message);
  if (known !== undefined && known.name === name && known.typeUrl === url) return known;
  const encoded = encodedBy(work, url, name, message as Plain, { previous });
  resources.set(message, encoded);
  return encoded;
}

/**
 * `message` in place of the resource's own, under the same version: what is sent differs from what is recorded. Not
 * remembered.
 */
export function encodedAs({ typeUrl, name, version }: EncodedResource, message: object): EncodedResource {
  return encodedBy(unbounded, typeUrl, name, message as Plain, { version });
}

interface Given {
  readonly version?: string;
  readonly previous?: EncodedResource | undefined;
}

/** The encoding of a large resource that was begun. */
interface Begun {
  readonly url: string;
  readonly name: string;
  readonly steps: Generator<number, EncodedResource>;
}

const begun = new WeakMap<object, Begun>();

function encodedBy(work: EncodingWork, url: string, name: string, message: Plain, given: Given): EncodedResource {
  const error = refused.get(message);
  if (error !== undefined) throw error;
  const known = begun.get(message);
  const isKnown = known?.url === url && known.name === name;
  work.before();
  if (!isKnown) {
    const whole = encodeWhole(url, name, message, given);
    work.after(whole?.size ?? WHOLE_BYTES_MAX * WORK_OF_LARGE);
    if (whole !== undefined) return whole;
  }
  const steps = isKnown ? known.steps : encodeInSteps(url, name, message, given);
  // A step that throws is not gone on with.
  begun.delete(message);
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
    begun.set(message, { url, name, steps });
    work.after(step.value * WORK_OF_LARGE);
    work.before();
    begun.delete(message);
  }
}

/** Undefined: the resource is too large for one step. */
function encodeWhole(
  url: string,
  name: string,
  message: Plain,
  { version, previous }: Given,
): EncodedResource | undefined {
  const nameField = framedString(NAME, name);
  const take = ({ field, length, contentLength }: WrittenAny): EncodedResource => {
    const hashed = version ?? hash('sha256', field.subarray(field.length - length), 'hex').slice(0, VERSION_LENGTH);
    const versionField = framedString(VERSION, hashed);
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
    return new Encoded(url, name, hashed, parts, { size: length, before, after: nameField.length });
  };
  return encodeAny(RESOURCES, resourceUrlOf(url), message, take);
}

/** Yields after each step how many bytes would have taken as long to encode. */
function* encodeInSteps(
  url: string,
  name: string,
  message: Plain,
  { version, previous }: Given,
): Generator<number, EncodedResource> {
  const anyUrl = resourceUrlOf(url);
  const written = joinSmallParts(yield* encodeInParts(anyUrl, message));
  const contentLength = lengthOf(written);
  const opening = Buffer.concat([framedString(ANY_URL, anyUrl), Buffer.from(header(ANY_VALUE, contentLength))]);
  const size = opening.length + contentLength;
  if (size > MESSAGE_BYTES_MAX) throw tooLarge(message, `${url} ${name}`, size);
  const hashed = version ?? (yield* versionOf([opening, ...written]));
  const nameField = framedString(NAME, name);
  const versionField = framedString(VERSION, hashed);
  const field = Buffer.from(header(RESOURCES, size));
  const head = Buffer.from(header(RESOURCES, versionField.length + field.length + size + nameField.length));
  const first = Buffer.concat([head, versionField, field, opening]);
  const parts = [first, ...sharedWithParts(written, contentOf(previous)), nameField];
  const before = head.length + versionField.length;
  return new Encoded(url, name, hashed, parts, { size, before, after: nameField.length });
}

function tooLarge(message: Plain, what: string, size: number): Error {
  const error = new Error(`${what} has ${size} bytes, and a message at most ${MESSAGE_BYTES_MAX}`);
  refused.set(message, error);
  return error;
}

function* versionOf(parts: readonly Buffer[]): Generator<number, string> {
  const sum = createHash('sha256');
  for (const part of parts) {
    sum.update(part);
    yield part.length / HASHED_PER_ENCODED;
  }
  return sum.digest('hex').slice(0, VERSION_LENGTH);
}

/** Lengths in bytes. */
interface Layout {
  /** `body`. */
  readonly size: number;
  /** The frame for delta before and after the other one. */
  readonly before: number;
  readonly after: number;
}

/**
 * What is kept is the frame for delta: envoy.service.discovery.v3.Resource (version 1, resource 2, name 3). Its
 * `resource` is field 2, as is `resources` of a DiscoveryResponse, so the other frame is a part of it. One buffer for
 * most resources; of a large one the content of the Any is in parts between two small buffers.
 */
class Encoded implements EncodedResource {
  readonly typeUrl: string;
  readonly name: string;
  readonly version: string;
  readonly size: number;
  readonly deltaFrame: readonly Buffer[];
  readonly #before: number;
  readonly #after: number;

  constructor(typeUrl: string, name: string, version: string, parts: readonly Buffer[], layout: Layout) {
    this.typeUrl = typeUrl;
    this.name = name;
    this.version = version;
    this.size = layout.size;
    this.deltaFrame = parts;
    this.#before = layout.before;
    this.#after = layout.after;
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

/** The parts of the content of a large resource; none of another. */
function contentOf(previous: EncodedResource | undefined): readonly Buffer[] {
  return previous?.deltaFrame.slice(1, -1) ?? [];
}
