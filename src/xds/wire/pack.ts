// Encodes messages in the form that generators make: Any unpacked, Struct as JSON, maps in any order. One pass over the
// message into the sink (sink.ts); write-field.ts writes single fields.
//
// Why it is fast: messages made in one place have the same members in the same order, so the fields to write, sorted by
// number, are worked out for the first message of a shape only; and the bytes of message objects that resources share
// are copied (SHARED_MESSAGES). Invariant: the bytes equal those that protobufjs writes when Any are packed and map
// entries sorted (test/property/encode.test.ts).

import protojson from 'protobufjs/ext/protojson.js';
import { assert } from '../../core/base/assert.ts';
import type { Json, JsonObject } from '../../core/base/json.ts';
import { typeNameOf } from '../proto/any.ts';
import { copyingRepeats } from './copy-repeats.ts';
import { type CutContent, contentOf, type Fragment, type FragmentSizes, writeFragments } from './fragments.ts';
import {
  type Field,
  findType,
  isGivenAsJson,
  isMap,
  messageTypeOf,
  nameOf,
  type Plain,
  type Type,
  typeOf,
} from './registry.ts';
import { DEPTH_MAX, Sink, TOO_DEEP } from './sink.ts';
import { ANY, BOXED, LIST_VALUE, STRUCT, VALUE } from './well-known.ts';
import { type FieldWriter, fieldWriter, type MessageElement, type WriteElement } from './write-field.ts';
import { listFragments, structFragments, valueFragments, writeList, writeStruct, writeValue } from './write-json.ts';

/** Shapes kept for each type: a few places make messages of it, and patches (EnvoyFilter) can have any members. */
const SHAPES_MAX = 16;
/**
 * Types and fields whose message objects (of a map: the map) are shared by several messages, or survive a change of the
 * message around them. Their bytes are kept and copied; each entry costs the memory of its bytes once more, so only
 * those that measurably pay are listed.
 */
const SHARED_MESSAGES: ReadonlySet<string> = new Set([
  'envoy.config.route.v3.Route.metadata',
  'envoy.config.route.v3.Route.route',
  'envoy.config.route.v3.RouteAction.retryPolicy',
  'envoy.config.accesslog.v3.AccessLog',
  'envoy.config.cluster.v3.CircuitBreakers',
  'envoy.config.cluster.v3.Cluster.TransportSocketMatch',
  'envoy.config.cluster.v3.Cluster.typedExtensionProtocolOptions',
  'envoy.config.cluster.v3.Filter',
  'envoy.config.core.v3.ConfigSource',
  'envoy.config.core.v3.TransportSocket',
  'envoy.config.route.v3.VirtualHost',
  'envoy.config.listener.v3.Filter',
  'envoy.config.listener.v3.FilterChain',
  'envoy.config.listener.v3.ListenerFilter',
  'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.Tracing',
  'envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter',
  'envoy.extensions.filters.network.http_connection_manager.v3.RequestIDExtension',
  'envoy.extensions.transport_sockets.tls.v3.CommonTlsContext',
  'envoy.type.tracing.v3.CustomTag',
  'istio.workload.Workload.services',
]);
/** Resources up to this size are written in one step; about as many bytes as a slice of an evaluation encodes. */
export const WHOLE_BYTES_MAX = 1 << 20;
/** Fields of google.protobuf.Any, length-delimited. */
const ANY_TYPE_URL = 0x0a;
const ANY_VALUE_ID = 2;
const LENGTH_DELIMITED = 2;
const TAG_SHIFT = 3;
const ANY_VALUE = (ANY_VALUE_ID << TAG_SHIFT) | LENGTH_DELIMITED;

/** The members of a message object, in their order, and the fields to write for them. */
interface Shape {
  readonly names: readonly string[];
  /** In ascending field number. */
  readonly fields: readonly FieldWriter[];
}

interface MessageWriter {
  readonly type: Type;
  readonly fieldWriters: Map<string, FieldWriter>;
  /** The newest first. */
  readonly shapes: Shape[];
}

const sink = new Sink();
const messageWriters = new WeakMap<Type, MessageWriter>();
/** Size of the length of the last frame. */
let frameWidth = 1;

export function encodeUnpacked(type: Type, message: Plain): Buffer {
  return sink.collect(() => writeMessage(messageWriterOf(type), message));
}

/** A field that holds an Any, as it stands in the sink. */
export interface WrittenAny {
  /** The field. Overwritten by the next message. */
  readonly field: Buffer;
  /** Bytes of the Any: the last ones of the field. */
  readonly length: number;
  /** Bytes of the content of the Any: the last ones of it. */
  readonly contentLength: number;
}

/**
 * `message` in an Any with this URL, as field `field` of another message, for `take` to copy; undefined if it needs
 * room for more than WHOLE_BYTES_MAX.
 */
export function encodeAny<T>(
  field: number,
  url: string,
  message: Plain,
  take: (written: WrittenAny) => T,
): T | undefined {
  const writer = servedWriter(url);
  let isWhole = false;
  let length = 0;
  let contentLength = 0;
  const write = (): void => {
    sink.varint((field << TAG_SHIFT) | LENGTH_DELIMITED);
    const guess = frameWidth;
    const open = sink.openFrame(guess);
    contentLength = writeAnyOf(writer, message);
    length = sink.at - open;
    frameWidth = sink.closeFrame(open, guess);
  };
  const attempt = (): void => {
    isWhole = sink.attempt(WHOLE_BYTES_MAX, write);
  };
  return sink.written(attempt, bytes => (isWhole ? take({ field: bytes, length, contentLength }) : undefined));
}

/** The content of that Any in parts, in steps: fragments.ts. */
export function encodeInParts(
  url: string,
  message: Plain,
  sizes?: FragmentSizes,
): Generator<number, readonly Buffer[]> {
  const { write, cut } = servedWriter(url).content;
  const fragments = cut?.fragments(message) ?? [{ write: () => write(message) }];
  return writeFragments(sink, fragments, cut?.isMessage ? 1 : 0, sizes);
}

function servedWriter(url: string): AnyWriter {
  return anyWriter(url) ?? anyWriterOf(url, typeOf(typeNameOf(url)));
}

function messageWriterOf(type: Type): MessageWriter {
  let writer = messageWriters.get(type);
  if (writer === undefined) {
    writer = { type, fieldWriters: new Map(), shapes: [] };
    messageWriters.set(type, writer);
  }
  return writer;
}

function writeMessage(writer: MessageWriter, message: Plain): void {
  assert(sink.depth < DEPTH_MAX, TOO_DEEP);
  sink.depth++;
  const { fields } = shapeOf(writer, message);
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i]!;
    const value = message[field.name];
    if (value !== undefined && value !== null) field.write(sink, value);
  }
  sink.depth--;
}

function shapeOf(writer: MessageWriter, message: Plain): Shape {
  const { shapes } = writer;
  for (let i = 0; i < shapes.length; i++) if (hasShape(message, shapes[i]!.names)) return shapes[i]!;
  const names = Object.keys(message);
  const fields = names.flatMap(name => fieldWriterOf(writer, name) ?? []).sort((a, b) => a.id - b.id);
  const shape: Shape = { names, fields };
  writer.shapes.unshift(shape);
  if (writer.shapes.length > SHAPES_MAX) writer.shapes.pop();
  return shape;
}

/** Avoids Object.keys: its lists would be most of what encoding allocates. */
function hasShape(message: Plain, names: readonly string[]): boolean {
  let i = 0;
  for (const name in message) if (name !== names[i++]) return false;
  return i === names.length;
}

/** Undefined: the type has no such field, as with `@type` in an Any. */
function fieldWriterOf(writer: MessageWriter, name: string): FieldWriter | undefined {
  const known = writer.fieldWriters.get(name);
  if (known !== undefined || !Object.hasOwn(writer.type.fields, name)) return known;
  const field = writer.type.fields[name]!.resolve();
  const made = isMap(field) ? mapFieldWriter(field) : fieldWriter(field, elementWriter(field));
  writer.fieldWriters.set(name, made);
  return made;
}

/** As `writeMessage`, the fields one by one. */
function* messageFragments(writer: MessageWriter, message: Plain): Iterable<Fragment> {
  for (const { name, write, fragments } of shapeOf(writer, message).fields) {
    const value = message[name];
    if (value === undefined || value === null) continue;
    if (fragments === undefined) yield { write: () => write(sink, value) };
    else yield* fragments(sink, value);
  }
}

function mapFieldWriter(field: Field): FieldWriter {
  const made = fieldWriter(field, elementWriter(field));
  if (!SHARED_MESSAGES.has(nameOf(field))) return made;
  const write = copyingRepeats(made.write);
  return { ...made, write: (to, value) => write(to, value, false) };
}

/** Writes one message of the field with its length; undefined if the field holds no messages. */
function elementWriter(field: Field): MessageElement | undefined {
  const type = messageTypeOf(field);
  if (type === undefined) return undefined;
  const { write, cut } = contentWriter(type);
  let width = 1;
  const framed: WriteElement = (_, value) => {
    const guess = width;
    const start = sink.openFrame(guess);
    write(value);
    width = sink.closeFrame(start, guess);
  };
  const remembered = SHARED_MESSAGES.has(nameOf(type)) || SHARED_MESSAGES.has(nameOf(field));
  return { write: remembered ? copyingRepeats(framed) : framed, cut };
}

interface ContentWriter {
  readonly write: (value: unknown) => void;
  readonly cut?: CutContent;
}

function contentWriter(type: Type): ContentWriter {
  const json = (write: (value: never) => void, fragments: (value: never) => Iterable<Fragment>): ContentWriter => ({
    write: write as ContentWriter['write'],
    cut: { isMessage: false, fragments: fragments as CutContent['fragments'] },
  });
  switch (nameOf(type)) {
    case ANY:
      return json(writeAny, anyFragments);
    case STRUCT:
      return json(
        (value: JsonObject) => writeStruct(sink, value),
        (value: JsonObject) => structFragments(sink, value),
      );
    case VALUE:
      return json(
        (value: Json) => writeValue(sink, value),
        (value: Json) => valueFragments(sink, value),
      );
    case LIST_VALUE:
      return json(
        (value: readonly Json[]) => writeList(sink, value),
        (value: readonly Json[]) => listFragments(sink, value),
      );
    default: {
      if (isGivenAsJson(type)) return { write: value => sink.raw(encodeJson(type, value as JsonObject)) };
      const writer = messageWriterOf(type);
      return {
        write: value => writeMessage(writer, value as Plain),
        cut: { isMessage: true, fragments: value => messageFragments(writer, value as Plain) },
      };
    }
  }
}

/** An unpacked Any: `{'@type', ...fields}`, or `{'@type', value}` for boxed types and for bytes of an unknown type. */
function writeAny(given: Plain): void {
  const found = anyOf(given);
  if (found !== undefined) writeAnyOf(...found);
}

function* anyFragments(given: Plain): Iterable<Fragment> {
  const found = anyOf(given);
  if (found === undefined) return;
  const [writer, value] = found;
  const { cut } = writer.content;
  yield { write: () => sink.raw(writer.head) };
  yield {
    write: () => void writeAnyValue(writer, value),
    content: contentOf(cut, ANY_VALUE_ID, value, false),
  };
}

/** What writes the Any, and its content; undefined: it is empty. */
function anyOf(given: Plain): readonly [AnyWriter, unknown] | undefined {
  const url = given['@type'];
  assert(typeof url === 'string', 'an Any has no @type');
  if (url === '') return undefined;
  const writer = anyWriter(url) ?? unknownType(url, given);
  if (writer.boxed) assert('value' in given, `an Any of ${url} must have its content under \`value\``);
  return [writer, writer.boxed ? given.value : given];
}

/** Returns the length of the content. */
function writeAnyOf(writer: AnyWriter, content: unknown): number {
  sink.raw(writer.head);
  return writeAnyValue(writer, content);
}

function writeAnyValue(writer: AnyWriter, content: unknown): number {
  const before = sink.at;
  sink.varint(ANY_VALUE);
  const { width } = writer;
  const start = sink.openFrame(width);
  writer.content.write(content);
  const length = sink.at - start;
  // An Any without content has no `value` field.
  if (length === 0) sink.at = before;
  else writer.width = sink.closeFrame(start, width);
  return length;
}

interface AnyWriter {
  /** The field `type_url`. */
  readonly head: Buffer;
  readonly content: ContentWriter;
  readonly boxed: boolean;
  /** Size of the length of the last one. */
  width: number;
}

const anyWriters = new Map<string, AnyWriter>();

function anyWriter(url: string): AnyWriter | undefined {
  const known = anyWriters.get(url);
  if (known !== undefined) return known;
  const type = findType(typeNameOf(url));
  if (type === undefined) return undefined;
  const made = anyWriterOf(url, type);
  // URLs can come from the network, but only canonical URLs of known types are kept, so the map is bounded.
  if (url === `type.googleapis.com/${nameOf(type)}`) anyWriters.set(url, made);
  return made;
}

function anyWriterOf(url: string, type: Type): AnyWriter {
  return {
    head: headOf(url),
    content: contentWriter(type),
    boxed: BOXED.has(nameOf(type)) || isGivenAsJson(type),
    width: 1,
  };
}

function encodeJson(type: Type, json: JsonObject): Uint8Array {
  return type.encode(protojson.fromJson(type, json)).finish();
}

function unknownType(url: string, { value }: Plain): AnyWriter {
  assert(value instanceof Uint8Array, `an Any of the unknown type ${url} must be given as bytes`);
  return { head: headOf(url), content: { write: () => sink.raw(value) }, boxed: false, width: 1 };
}

function headOf(url: string): Buffer {
  return sink.collect(() => {
    sink.varint(ANY_TYPE_URL);
    sink.text(url);
  });
}
