// Writers for single fields: tag, then value, list or map, in the bytes that protobufjs writes. Which writer a field
// gets is decided once for each field (pack.ts keeps it); writing then has no look-ups.

import protobuf from 'protobufjs/light.js';
import { isObject } from '../../core/base/json.ts';
import { type CutContent, contentOf, type Fragment, type FragmentContent, MANY, noteMembers } from './fragments.ts';
import { enumTypeOf, type Field, isMap, type Plain } from './registry.ts';
import type { Sink } from './sink.ts';
import { sortedKeys } from './write-json.ts';

export interface FieldWriter {
  readonly name: string;
  readonly id: number;
  /** `value` is neither undefined nor null. */
  readonly write: (sink: Sink, value: unknown) => void;
  /** The same in fragments; undefined: the field can only be written whole. */
  readonly fragments?: ((sink: Sink, value: unknown) => Iterable<Fragment>) | undefined;
}

/** Writes a value without its tag; messages and texts with their length. `ofMany`: it is an element of a long list. */
export type WriteElement = (sink: Sink, value: unknown, ofMany: boolean) => void;

/** Writes the messages of a field. */
export interface MessageElement {
  readonly write: WriteElement;
  readonly cut: CutContent | undefined;
}

/** Field of the value in an entry of a map. */
const MAP_VALUE = 2;

const VARINT = 0;
const FIXED_64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED_32 = 5;

/** `ofMessage`: writes a value of the field's message type; undefined if it holds something else. */
export function fieldWriter(field: Field, ofMessage: MessageElement | undefined): FieldWriter {
  const { name, id } = field;
  const kind = enumTypeOf(field) === undefined ? field.type : 'int32';
  const element = ofMessage?.write ?? scalarWriter(kind);
  const cut = ofMessage?.cut;
  const tag = tagOf(id, ofMessage === undefined ? wireType(kind) : LENGTH_DELIMITED);
  if (isMap(field)) return { name, id, ...mapWriter(field, element, ofMessage === undefined ? kind : undefined, cut) };
  if (field.repeated) {
    const packed = field.packed && wireType(kind) !== LENGTH_DELIMITED && ofMessage === undefined;
    if (packed) return { name, id, write: packedWriter(id, element) };
    return { name, id, write: listWriter(tag, element), fragments: listFragments(id, tag, element, cut) };
  }
  const write = (sink: Sink, value: unknown): void => {
    sink.varint(tag);
    element(sink, value, false);
  };
  const fragments = (sink: Sink, value: unknown): Iterable<Fragment> => [
    { write: () => write(sink, value), content: contentOf(cut, id, value, false) },
  ];
  if (ofMessage !== undefined) return { name, id, write, fragments };
  if (field.hasPresence) return { name, id, write };
  const isDefault = defaultTest(kind, field.typeDefault as unknown);
  return {
    name,
    id,
    write: (sink, value) => {
      if (!isDefault(value)) write(sink, value);
    },
  };
}

function tagOf(id: number, wire: number): number {
  return ((id << 3) | wire) >>> 0;
}

function wireType(kind: string): number {
  switch (kind) {
    case 'string':
    case 'bytes':
      return LENGTH_DELIMITED;
    case 'double':
    case 'fixed64':
    case 'sfixed64':
      return FIXED_64;
    case 'float':
    case 'fixed32':
    case 'sfixed32':
      return FIXED_32;
    default:
      return VARINT;
  }
}

function scalarWriter(kind: string): WriteElement {
  switch (kind) {
    case 'string':
      return (sink, value) => sink.text(value as string);
    case 'bool':
      return (sink, value) => sink.varint(value ? 1 : 0);
    case 'uint32':
      return (sink, value) => sink.varint((value as number) >>> 0);
    case 'int32':
      return (sink, value) => sink.int32((value as number) | 0);
    case 'double':
      return (sink, value) => sink.double(value as number);
    case 'int64':
    case 'uint64':
      return plainOr53(kind);
    case 'bytes':
      return (sink, value) => {
        sink.varint((value as Uint8Array).length);
        sink.raw(value as Uint8Array);
      };
    default:
      return rareWriter(kind as RareKind);
  }
}

/** Nearly all values are small and not negative, such as the seconds of durations. */
function plainOr53(kind: 'int64' | 'uint64'): WriteElement {
  const rare = rareWriter(kind);
  return (sink, value) => {
    if (Number.isSafeInteger(value) && (value as number) >= 0) sink.varint53(value as number);
    else rare(sink, value, false);
  };
}

type RareKind = 'int64' | 'uint64' | 'sint32' | 'sint64' | 'float' | 'fixed32' | 'fixed64' | 'sfixed32' | 'sfixed64';

/** Few fields have these kinds, so protobufjs writes them. */
function rareWriter(kind: RareKind): WriteElement {
  return (sink, value) =>
    sink.raw(
      protobuf.Writer.create()
        [kind](value as number)
        .finish(),
    );
}

/** True for the default value, which is omitted in fields without presence. */
function defaultTest(kind: string, enumDefault: unknown): (value: unknown) => boolean {
  switch (kind) {
    case 'string':
      return value => value === '';
    case 'bytes':
      return value => (value as Uint8Array).length === 0;
    case 'bool':
      return value => value === false;
    case 'double':
    case 'float':
      return value => Object.is(value, 0);
    case 'int32':
      return value => value === enumDefault;
    case 'int64':
    case 'uint64':
    case 'sint64':
    case 'fixed64':
    case 'sfixed64':
      return value => (isObject(value as never) ? isZeroLong(value as Plain) : value === 0);
    default:
      return value => value === 0;
  }
}

function isZeroLong({ low, high }: Plain): boolean {
  return low === 0 && high === 0;
}

function listWriter(tag: number, element: WriteElement): FieldWriter['write'] {
  return (sink, list) => {
    const values = list as readonly unknown[];
    const { length } = values;
    for (let i = 0; i < length; i++) {
      sink.varint(tag);
      element(sink, values[i], length >= MANY);
    }
  };
}

function listFragments(
  id: number,
  tag: number,
  element: WriteElement,
  cut: CutContent | undefined,
): FieldWriter['fragments'] {
  return function* (sink, list) {
    const values = list as readonly unknown[];
    const ofMany = values.length >= MANY;
    for (const value of values) {
      const write = (): void => {
        sink.varint(tag);
        element(sink, value, ofMany);
      };
      yield { write, content: contentOf(cut, id, value, ofMany) };
    }
  };
}

function packedWriter(id: number, element: WriteElement): FieldWriter['write'] {
  const tag = tagOf(id, LENGTH_DELIMITED);
  return (sink, list) => {
    const values = list as readonly unknown[];
    if (values.length === 0) return;
    sink.varint(tag);
    const start = sink.openFrame(1);
    for (const value of values) element(sink, value, false);
    sink.closeFrame(start, 1);
  };
}

/** Entries sorted by key; keys that look like integers come first, ascending, as in every JavaScript object. */
function mapWriter(
  field: Field,
  element: WriteElement,
  kind: string | undefined,
  cut: CutContent | undefined,
): Pick<FieldWriter, 'write' | 'fragments'> {
  const { id } = field;
  const tag = tagOf(id, LENGTH_DELIMITED);
  const { keyType } = field as unknown as { readonly keyType: string };
  const key = keyWriter(keyType);
  const keyTag = tagOf(1, wireType(keyType));
  const valueTag = tagOf(MAP_VALUE, kind === undefined ? LENGTH_DELIMITED : wireType(kind));
  let width = 1;
  const writeKey = (sink: Sink, name: string): void => {
    sink.varint(keyTag);
    key(sink, name);
  };
  const writeValue = (sink: Sink, value: unknown): void => {
    sink.varint(valueTag);
    element(sink, value, false);
  };
  const writeEntry = (sink: Sink, name: string, value: unknown): void => {
    sink.varint(tag);
    const guess = width;
    const start = sink.openFrame(guess);
    writeKey(sink, name);
    writeValue(sink, value);
    width = sink.closeFrame(start, guess);
  };
  const write = (sink: Sink, map: unknown): void => {
    const entries = map as Plain;
    const names = keysOf(entries);
    if (names.length >= MANY) sink.charge(names.length);
    for (const name of names) {
      const value = entries[name];
      if (value !== undefined) writeEntry(sink, name, value);
    }
  };
  const entriesOf = function* (sink: Sink, map: unknown): Iterable<Fragment> {
    const entries = map as Plain;
    const names = keysOf(entries);
    for (const name of names) {
      const value = entries[name];
      if (value === undefined) continue;
      const inner = (): readonly Fragment[] => [
        { write: () => writeKey(sink, name) },
        { write: () => writeValue(sink, value), content: contentOf(cut, MAP_VALUE, value, false) },
      ];
      const content = { id, value, ofMany: names.length >= MANY, isMessage: false, fragments: inner };
      yield { write: () => writeEntry(sink, name, value), content };
    }
  };
  const entries = { id: undefined, ofMany: false, isMessage: false } as const;
  let ofSink: readonly [Sink, FragmentContent['fragments']] | undefined;
  const fragments = (sink: Sink, value: unknown): readonly Fragment[] => {
    if (ofSink?.[0] !== sink) ofSink = [sink, map => entriesOf(sink, map)];
    return [{ write: () => write(sink, value), content: { ...entries, value, fragments: ofSink[1] } }];
  };
  return { write, fragments };
}

/** The keys of long maps: listing those of one with tens of thousands takes as long as writing it. */
const longMaps = new WeakMap<object, readonly string[]>();
const LONG_MAP = 1_024;

function keysOf(map: object): readonly string[] {
  const known = longMaps.get(map);
  if (known !== undefined) return known;
  const keys = sortedKeys(map);
  if (keys.length < LONG_MAP) return keys;
  longMaps.set(map, keys);
  noteMembers(map, keys.length);
  return keys;
}

function keyWriter(kind: string): (sink: Sink, name: string) => void {
  if (kind === 'string') return (sink, name) => sink.text(name);
  if (kind === 'bool') return (sink, name) => sink.varint(name === 'true' ? 1 : 0);
  const write = scalarWriter(kind);
  return (sink, name) => write(sink, Number(name), false);
}
