// Messages to bytes, from the form that generators make: Any unpacked, Struct as JSON, maps in any order. One pass, without copies in between.
//
// Messages made in one place have the same members in the same order, so which fields to write, and in which order (by number), is worked out for
// the first of them only. What it takes to write a field is in write-field.ts.
// The bytes are those that protobufjs writes when Any are packed and map entries sorted (test/property/encode.test.ts).

import { assert } from '../../core/base/assert.ts';
import type { Json, JsonObject } from '../../core/base/json.ts';
import { typeNameOf } from '../proto/any.ts';
import { type Field, findType, messageTypeOf, nameOf, type Plain, type Type, typeOf } from './registry.ts';
import { type Mark, Sink } from './sink.ts';
import { ANY, BOXED, LIST_VALUE, STRUCT, VALUE } from './well-known.ts';
import { type FieldWriter, fieldWriter, type WriteElement } from './write-field.ts';
import { writeList, writeStruct, writeValue } from './write-json.ts';

/** Messages within messages; as protobufjs has it. */
const DEPTH_MAX = 100;
/** Kept of a type: several places make messages of it, and patches come with any members. */
const SHAPES_MAX = 16;
/** Types, or fields of a type: messages that several others share, or that stay when what they are part of changes. Each costs memory for its bytes once more. */
const REMEMBERED: ReadonlySet<string> = new Set([
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
]);
/** Messages of one field of which it is known that they have been written. */
const MET_LATELY = 16;
/** Fields of google.protobuf.Any, length-delimited. */
const ANY_TYPE_URL = 0x0a;
const ANY_VALUE = 0x12;
const LENGTH_DELIMITED = 2;
const TAG_SHIFT = 3;

/** Messages with these members in this order. */
interface Shape {
  readonly names: readonly string[];
  /** By number. */
  readonly fields: readonly FieldWriter[];
}

interface Plan {
  readonly type: Type;
  readonly writers: Map<string, FieldWriter>;
  /** The one made last comes first. */
  readonly shapes: Shape[];
}

const sink = new Sink();
const plans = new WeakMap<Type, Plan>();
let depth = 0;
/** Bytes that the length of the last frame took. */
let frameWidth = 1;

export function encodePrepared(type: Type, message: Plain): Buffer {
  return written(() => writeMessage(planOf(type), message));
}

/** `message` in an Any with that URL, as field `field` of another message: tag and length before it. `length`: of the Any alone. */
export function encodeAny(
  field: number,
  url: string,
  message: Plain,
): { readonly frame: Buffer; readonly length: number } {
  const plan = anyPlan(url) ?? planOfUrl(url, typeOf(typeNameOf(url)));
  let length = 0;
  const frame = written(() => {
    sink.varint((field << TAG_SHIFT) | LENGTH_DELIMITED);
    const guess = frameWidth;
    const start = sink.open(guess);
    writeAnyOf(plan, message);
    length = sink.at - start;
    frameWidth = sink.close(start, guess);
  });
  return { frame, length };
}

/** Whatever was thrown before, depth is counted from here. */
function written(write: () => void): Buffer {
  depth = 0;
  return sink.written(write);
}

function planOf(type: Type): Plan {
  let plan = plans.get(type);
  if (plan === undefined) {
    plan = { type, writers: new Map(), shapes: [] };
    plans.set(type, plan);
  }
  return plan;
}

function writeMessage(plan: Plan, message: Plain): void {
  assert(depth < DEPTH_MAX, 'messages are nested too deeply');
  depth++;
  const { fields } = shapeOf(plan, message);
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i]!;
    const value = message[field.name];
    if (value !== undefined && value !== null) field.write(sink, value);
  }
  depth--;
}

function shapeOf(plan: Plan, message: Plain): Shape {
  const { shapes } = plan;
  for (let i = 0; i < shapes.length; i++) if (hasShape(message, shapes[i]!.names)) return shapes[i]!;
  const names = Object.keys(message);
  const fields = names.flatMap(name => writerOf(plan, name) ?? []).sort((a, b) => a.id - b.id);
  const shape: Shape = { names, fields };
  plan.shapes.unshift(shape);
  if (plan.shapes.length > SHAPES_MAX) plan.shapes.pop();
  return shape;
}

/** Without a list of the message's own names, which would be most of what encoding allocates. */
function hasShape(message: Plain, names: readonly string[]): boolean {
  let i = 0;
  for (const name in message) if (name !== names[i++]) return false;
  return i === names.length;
}

/** undefined: the type has no such field, as with the `@type` of an Any. */
function writerOf(plan: Plan, name: string): FieldWriter | undefined {
  const known = plan.writers.get(name);
  if (known !== undefined || !Object.hasOwn(plan.type.fields, name)) return known;
  const field = plan.type.fields[name]!.resolve();
  const made = fieldWriter(field, elementWriter(field));
  plan.writers.set(name, made);
  return made;
}

/** Of fields that hold messages. */
function elementWriter(field: Field): WriteElement | undefined {
  const type = messageTypeOf(field);
  if (type === undefined) return undefined;
  const write = contentWriter(type);
  let width = 1;
  const framed: WriteElement = (_, value) => {
    const guess = width;
    const start = sink.open(guess);
    write(value);
    width = sink.close(start, guess);
  };
  const remembered = REMEMBERED.has(nameOf(type)) || REMEMBERED.has(nameOf(field));
  return remembered ? remembering(framed) : framed;
}

/**
 * What was written of an object is copied the next time. Bytes of their own are kept with it when it comes a second time, in another resource, as most
 * come only once and keeping costs about what writing does; or at once, if it is one of many of which a few may change.
 */
function remembering(write: WriteElement): WriteElement {
  const known = new WeakMap<object, Buffer>();
  const lately = new Lately();
  return (_, value, ofMany) => {
    const bytes = known.get(value as object);
    if (bytes !== undefined) {
      sink.raw(bytes);
      return;
    }
    const met = lately.find(value);
    if (met?.round === sink.round) {
      sink.again(met);
      return;
    }
    const start = sink.at;
    write(sink, value, false);
    if (ofMany || met !== undefined) known.set(value as object, sink.copy(start));
    else lately.add(sink.mark(value, start));
  };
}

/** The last ones of a field that were written: among them are those that come again soon. */
class Lately {
  readonly #values: unknown[] = [];
  readonly #marks: Mark[] = [];
  #next = 0;

  find(value: unknown): Mark | undefined {
    const at = this.#values.indexOf(value);
    return at < 0 ? undefined : this.#marks[at];
  }

  add(mark: Mark): void {
    const at = this.#next++ % MET_LATELY;
    this.#values[at] = mark.value;
    this.#marks[at] = mark;
  }
}

function contentWriter(type: Type): (value: unknown) => void {
  switch (nameOf(type)) {
    case ANY:
      return value => writeAny(value as Plain);
    case STRUCT:
      return value => writeStruct(sink, value as JsonObject);
    case VALUE:
      return value => writeValue(sink, value as Json);
    case LIST_VALUE:
      return value => writeList(sink, value as readonly Json[]);
    default: {
      const plan = planOf(type);
      return value => writeMessage(plan, value as Plain);
    }
  }
}

/** An unpacked Any: `{'@type', ...fields}`, or `{'@type', value}` for boxed types and for bytes of an unknown type. */
function writeAny(content: Plain): void {
  const url = content['@type'];
  assert(typeof url === 'string', 'an Any has no @type');
  if (url === '') return;
  const plan = anyPlan(url) ?? unknownType(url, content);
  if (plan.boxed) assert('value' in content, `an Any of ${url} must have its content under \`value\``);
  writeAnyOf(plan, plan.boxed ? content.value : content);
}

function writeAnyOf(plan: AnyPlan, content: unknown): void {
  sink.raw(plan.head);
  const before = sink.at;
  sink.varint(ANY_VALUE);
  const { width } = plan;
  const start = sink.open(width);
  plan.write(content);
  // An empty value is the default.
  if (sink.at === start) sink.at = before;
  else plan.width = sink.close(start, width);
}

interface AnyPlan {
  /** The type URL, as a field. */
  readonly head: Buffer;
  readonly write: (value: unknown) => void;
  readonly boxed: boolean;
  /** Bytes that the length of the last one took. */
  width: number;
}

const anyPlans = new Map<string, AnyPlan>();

function anyPlan(url: string): AnyPlan | undefined {
  const known = anyPlans.get(url);
  if (known !== undefined) return known;
  const type = findType(typeNameOf(url));
  if (type === undefined) return undefined;
  const made = planOfUrl(url, type);
  // Names come from the network, but only those of types that there are get here.
  if (url === `type.googleapis.com/${nameOf(type)}`) anyPlans.set(url, made);
  return made;
}

function planOfUrl(url: string, type: Type): AnyPlan {
  return { head: headOf(url), write: contentWriter(type), boxed: BOXED.has(nameOf(type)), width: 1 };
}

function unknownType(url: string, { value }: Plain): AnyPlan {
  assert(value instanceof Uint8Array, `an Any of the unknown type ${url} must be given as bytes`);
  return { head: headOf(url), write: () => sink.raw(value), boxed: false, width: 1 };
}

function headOf(url: string): Buffer {
  return sink.written(() => {
    sink.varint(ANY_TYPE_URL);
    sink.text(url);
  });
}
