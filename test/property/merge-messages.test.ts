// A merge of two random messages of Envoy agrees with a model that knows nothing of the merge: it reads the protobuf
// descriptors of the bundle, not the schema of the core, and takes messages apart into single assignments, which it
// makes one after the other.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergeMessage } from '../../src/xds/generate/patch/merge.ts';
import { encodeUnpacked } from '../../src/xds/wire/pack.ts';
import { isMap, messageTypeOf, nameOf, type Plain, type Type, typeOf } from '../../src/xds/wire/registry.ts';
import { arbitraryMessage } from './arbitrary-message.ts';
import { parameters } from './seed.ts';

const TYPES = [
  'envoy.config.cluster.v3.Cluster',
  'envoy.config.listener.v3.Listener',
  'envoy.config.route.v3.RouteConfiguration',
  'envoy.config.route.v3.VirtualHost',
  'envoy.config.route.v3.Route',
  'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
  'envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext',
  'xds.type.v3.TypedStruct',
];

interface Assignment {
  /** Fields from the outermost. */
  readonly path: readonly string[];
  readonly value: unknown;
  /** `put`: replaces what is there; `push`: appends; `entry`: puts under the last of the path; `open`: creates. */
  readonly how: 'put' | 'push' | 'entry' | 'open';
  /** Other members of the same oneof, at the same depth as the field `depth`. */
  readonly clears: readonly (readonly string[])[];
}

const isZero = (value: unknown): boolean =>
  value === 0 || value === '' || value === false || (value instanceof Uint8Array && value.length === 0);

/** Merged field by field; every other message is one value. */
const isNested = (type: Type): boolean => !/^google\.protobuf\.(Any|Value|ListValue|Duration)$/.test(nameOf(type));

function* assignments(type: Type, message: Plain, path: readonly string[] = []): IterableIterator<Assignment> {
  for (const [name, value] of Object.entries(message)) {
    const field = type.fields[name]!;
    const at = [...path, name];
    const others = (field.partOf?.fieldsArray ?? []).filter(other => other !== field);
    const clears = others.map(other => [...path, other.name]);
    const inner = messageTypeOf(field);
    if (isMap(field)) {
      for (const [key, one] of Object.entries(value as object)) {
        yield { path: [...at, key], value: one, how: 'entry', clears };
      }
    } else if (field.repeated)
      for (const one of value as readonly unknown[]) yield { path: at, value: one, how: 'push', clears };
    else if (inner === undefined) {
      if (field.partOf || !isZero(value)) yield { path: at, value, how: 'put', clears };
    } else if (nameOf(inner) === 'google.protobuf.Struct') {
      yield { path: at, value: {}, how: 'open', clears };
      for (const [key, one] of Object.entries(value as object))
        yield { path: [...at, key], value: one, how: 'entry', clears };
    } else if (!isNested(inner)) {
      const isEmptyAny = nameOf(inner) === 'google.protobuf.Any' && (value as Plain)['@type'] === '';
      yield { path: at, value, how: isEmptyAny ? 'open' : 'put', clears };
    } else {
      yield { path: at, value: {}, how: 'open', clears };
      yield* assignments(inner, value as Plain, at);
    }
  }
}

function applied(into: Plain, { path, value, how, clears }: Assignment): Plain {
  const out = structuredClone(into) as Record<string, unknown>;
  for (const other of clears) remove(out, other);
  let at = out;
  for (const name of path.slice(0, -1)) {
    at[name] ??= {};
    at = at[name] as Record<string, unknown>;
  }
  const last = path.at(-1)!;
  if (how === 'push') at[last] = [...((at[last] as unknown[] | undefined) ?? []), value];
  else if (how === 'open') at[last] ??= value;
  else Object.defineProperty(at, last, { value, enumerable: true, configurable: true, writable: true });
  return out;
}

function remove(from: Record<string, unknown>, path: readonly string[]): void {
  let at: Record<string, unknown> | undefined = from;
  for (const name of path.slice(0, -1)) at = at?.[name] as Record<string, unknown> | undefined;
  if (at !== undefined) delete at[path.at(-1)!];
}

function modelOf(type: Type, into: Plain, patch: Plain): Plain {
  return [...assignments(type, patch)].reduce(applied, into);
}

describe('a merge of messages', () => {
  it.each(TYPES)('agrees with the model on %s', name => {
    const type = typeOf(name);
    fc.assert(
      fc.property(arbitraryMessage(name), arbitraryMessage(name), (into, patch) => {
        const before = structuredClone([into, patch]);
        const merged = mergeMessage(name, into, patch) as Plain;
        expect([into, patch]).toEqual(before);
        const expected = modelOf(type, into, patch);
        expect(encodeUnpacked(type, merged).toString('hex')).toBe(encodeUnpacked(type, expected).toString('hex'));
      }),
      parameters(40),
    );
  });

  it('gives the identical message if the patch sets nothing', () => {
    fc.assert(
      fc.property(arbitraryMessage(TYPES[0]!), into => mergeMessage(TYPES[0]!, into, {}) === into),
      parameters(20),
    );
  });
});
