import { isLeft, isRight } from 'fp-ts/lib/Either.js';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../../../src/core/base/json.ts';
import { encodeMessage } from '../../../../src/xds/engine/encode.ts';
import { any, type TypeName } from '../../../../src/xds/proto/any.ts';
import { fromProtoJson, toProtoJson } from '../../../../src/xds/wire/protojson.ts';

const FILTER = 'envoy.config.listener.v3.Filter';

/** Encoded from what was read, and shown again. */
function roundTrip(name: TypeName, json: Json): Json {
  const read = fromProtoJson(name, json);
  if (isLeft(read)) throw new Error(read.left);
  return toProtoJson(name, encodeMessage(name, read.right as never));
}

describe('protojson', () => {
  test.each<readonly [string, TypeName, Json]>([
    ['enums by name', 'envoy.config.cluster.v3.Cluster', { name: 'x', type: 'EDS', lbPolicy: 'MAGLEV' }],
    [
      '64-bit integers as text',
      'envoy.config.core.v3.SocketOption',
      { level: '1', name: '9007199254740991', intValue: '0' },
    ],
    [
      'well-known types in an Any under value',
      FILTER,
      { typedConfig: { '@type': 'type.googleapis.com/google.protobuf.Duration', value: '1.500s' } },
    ],
    [
      'a wrapper in an Any',
      FILTER,
      { typedConfig: { '@type': 'type.googleapis.com/google.protobuf.UInt32Value', value: 5 } },
    ],
    [
      'an Any in an Any',
      FILTER,
      {
        typedConfig: {
          '@type': 'type.googleapis.com/google.protobuf.Any',
          value: { '@type': 'type.googleapis.com/google.protobuf.StringValue', value: 'x' },
        },
      },
    ],
    [
      'a list in an Any',
      FILTER,
      { typedConfig: { '@type': 'type.googleapis.com/google.protobuf.ListValue', value: [1, null, { a: 'b' }] } },
    ],
    ['an empty message in an Any', FILTER, { typedConfig: { '@type': 'type.googleapis.com/google.protobuf.Empty' } }],
    ['an Any of nothing', FILTER, { name: 'x', typedConfig: {} }],
    [
      'a TypedStruct',
      FILTER,
      {
        typedConfig: {
          '@type': 'type.googleapis.com/udpa.type.v1.TypedStruct',
          typeUrl: 'x/y.Z',
          value: { a: [true, 1.5, 's', null, {}] },
        },
      },
    ],
    [
      'map of messages with Any',
      'envoy.config.cluster.v3.Cluster',
      {
        typedExtensionProtocolOptions: { a: { '@type': 'type.googleapis.com/google.protobuf.BoolValue', value: true } },
      },
    ],
  ])('reads and writes %s', (_, name, json) => {
    expect(roundTrip(name, json)).toEqual(json);
  });

  test('accepts both spellings of a field, and durations in the form of Istio patches', () => {
    const read = fromProtoJson('envoy.config.cluster.v3.Cluster', { connect_timeout: '0.25s', lbPolicy: 'RANDOM' });
    expect(isRight(read) && read.right).toEqual({ connectTimeout: { nanos: 250_000_000 }, lbPolicy: 3 });
  });

  test.each<readonly [Json, RegExp]>([
    [{ nope: 1 }, /unknown field/],
    [{ type: 'NOPE' }, /unknown enum value/],
    [{ name: 5 }, /expected string/],
    [{ transportSocket: { typedConfig: { '@type': 'type.googleapis.com/contrib.Filter' } } }, /contrib\.Filter/],
    [[], /expected object/],
  ])('refuses %j with a reason', (json, reason) => {
    const read = fromProtoJson('envoy.config.cluster.v3.Cluster', json);
    expect(isLeft(read) && read.left).toMatch(reason);
  });

  test('shows an Any whose bytes are not of its type as base64', () => {
    const good = encodeMessage(FILTER, { typedConfig: any('google.protobuf.StringValue', { value: 'abc' }) });
    const broken = Uint8Array.from(good);
    broken[broken.length - 4] = 0x7f;
    const shown = toProtoJson(FILTER, broken) as { readonly typedConfig: { readonly value: string } };
    expect(Buffer.from(shown.typedConfig.value, 'base64').subarray(-3).toString()).toBe('abc');
  });

  test('refuses malformed bytes', () => {
    expect(() => toProtoJson(FILTER, Uint8Array.of(0x0a, 0x05, 0x41))).toThrow();
  });
});
