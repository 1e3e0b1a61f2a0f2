import { isLeft, isRight } from 'fp-ts/lib/Either.js';
import { describe, expect, test } from 'vitest';
import type { Json } from '../../../../src/core/base/json.ts';
import { showProblem } from '../../../../src/core/base/problem.ts';
import { type DecodeOptions, makeDecoder, PROBLEMS_MAX } from '../../../../src/core/schema/decode.ts';
import { decodeIstio } from '../../../../src/core/schema/istio.ts';
import type { Schema } from '../../../../src/core/schema/schema.ts';

interface Shape {
  readonly 'x.Root': Readonly<Record<string, unknown>>;
  readonly 'x.Leaf': Readonly<Record<string, unknown>>;
}
const schema: Schema = {
  messages: {
    'x.Root': [
      { name: 'text', type: 'string' },
      { name: 'on', type: 'bool' },
      { name: 'smallNumber', protoName: 'small_number', type: 'int32' },
      { name: 'port', type: 'uint32' },
      { name: 'big', type: 'int64' },
      { name: 'size', type: 'uint64' },
      { name: 'ratio', type: 'double' },
      { name: 'single', type: 'float' },
      { name: 'blob', type: 'bytes' },
      { name: 'timeout', type: 'duration' },
      { name: 'when', type: 'timestamp' },
      { name: 'config', type: 'struct' },
      { name: 'whatever', type: 'value' },
      { name: 'target', type: 'intOrString' },
      { name: 'mode', type: { enum: 'x.Mode' } },
      { name: 'modes', type: { enum: 'x.Mode' }, repeated: true },
      { name: 'leaf', type: { message: 'x.Leaf' } },
      { name: 'leaves', type: { message: 'x.Leaf' }, repeated: true },
      { name: 'byName', protoName: 'by_name', type: { message: 'x.Leaf' }, map: 'string' },
      { name: 'byPort', type: 'string', map: 'uint32' },
      { name: 'left', type: 'string', oneof: 'side' },
      { name: 'right', type: { message: 'x.Leaf' }, oneof: 'side' },
    ],
    'x.Leaf': [{ name: 'name', type: 'string' }],
  },
  enums: { 'x.Mode': { OFF: 0, ON: 1, ALSO_ON: 1 } },
};
const decode = makeDecoder<Shape>(schema);

function value(json: Json, options?: DecodeOptions): unknown {
  const decoded = decode('x.Root', json, 'spec', options);
  return isRight(decoded) ? decoded.right : decoded.left.map(showProblem);
}
function problems(json: Json, options?: DecodeOptions): readonly string[] {
  const decoded = decode('x.Root', json, 'spec', options);
  return isLeft(decoded) ? decoded.left.map(showProblem) : [];
}

describe('decoding accepts', () => {
  test.each<readonly [string, Json, unknown]>([
    ['an empty object', {}, {}],
    ['null members count as absent', { text: null, leaf: null, leaves: null, mode: null }, {}],
    [
      'zero values are present',
      { text: '', on: false, port: 0, leaves: [], byName: {} },
      { text: '', on: false, port: 0, leaves: [], byName: {} },
    ],
    ['the proto name', { small_number: 3, by_name: { a: {} } }, { smallNumber: 3, byName: { a: {} } }],
    ['both names', { smallNumber: 1, small_number: 3 }, { smallNumber: 1 }],
    ['both names the other way round', { small_number: 'no', smallNumber: 1 }, { smallNumber: 1 }],
    [
      'numbers as text',
      { port: '80', big: '-9007199254740991', size: '5', ratio: '0.5' },
      { port: 80, big: -9007199254740991, size: 5, ratio: 0.5 },
    ],
    [
      'integers with a point or an exponent',
      { port: 80.0, smallNumber: '1e3', big: '5.0' },
      { port: 80, smallNumber: 1000, big: 5 },
    ],
    [
      'special floats',
      { ratio: 'Infinity', single: '-Infinity' },
      { ratio: Number.POSITIVE_INFINITY, single: Number.NEGATIVE_INFINITY },
    ],
    [
      'the ends of the ranges',
      { port: 4294967295, smallNumber: -2147483648 },
      { port: 4294967295, smallNumber: -2147483648 },
    ],
    ['both base64 alphabets, padded or not', { blob: '_-8' }, { blob: '/+8=' }],
    [
      'enum names and numbers',
      { mode: 'ALSO_ON', modes: [0, 1, 'ON'] },
      { mode: 'ALSO_ON', modes: ['OFF', 'ON', 'ON'] },
    ],
    [
      'a struct as it is',
      { config: { b: [null, 1], a: { '@type': 'x' } } },
      { config: { b: [null, 1], a: { '@type': 'x' } } },
    ],
    ['null as a value', { whatever: null }, { whatever: null }],
    ['an integer or a string', { target: 8080 }, { target: 8080 }],
    ['a time', { when: '2026-01-31T12:00:00.25Z' }, { when: '2026-01-31T12:00:00.25Z' }],
    ['numeric map keys', { byPort: { '8080': 'a', '80': 'b' } }, { byPort: { '80': 'b', '8080': 'a' } }],
    ['one member of a oneof', { right: {} }, { right: {} }],
    ['a null member beside the set one of a oneof', { left: null, right: {} }, { right: {} }],
  ])('%s', (_, json, expected) => {
    expect(value(json)).toEqual(expected);
  });

  test('an absent object as an empty one', () => {
    expect(decode('x.Root', undefined, 'spec')).toMatchObject({ _tag: 'Right', right: {} });
    expect(decode('x.Root', null, 'spec')).toMatchObject({ _tag: 'Right', right: {} });
  });

  test('map entries in any order, sorts them, and allows the key __proto__', () => {
    const json = JSON.parse('{"byName": {"b": {}, "__proto__": {"name": "p"}, "a": {}}}') as Json;
    const decoded = value(json) as { byName: object };
    expect(Object.entries(decoded.byName)).toEqual([
      ['__proto__', { name: 'p' }],
      ['a', {}],
      ['b', {}],
    ]);
  });

  test('unknown fields if they are to be ignored', () => {
    expect(value({ nope: 1, leaf: { name: 'x', nope: {} } }, { ignoreUnknown: true })).toEqual({ leaf: { name: 'x' } });
  });
});

describe('decoding refuses', () => {
  test.each<readonly [Json, string]>([
    [[], 'spec: expected an object, found a list'],
    ['x', 'spec: expected an object, found the string "x"'],
    [{ nope: 1 }, 'spec.nope: unknown field'],
    [{ constructor: 1 }, 'spec.constructor: unknown field'],
    [{ text: 5 }, 'spec.text: expected a string, found 5'],
    [{ on: 'true' }, 'spec.on: expected true or false, found the string "true"'],
    [{ port: -1 }, 'spec.port: expected an integer from 0 to 4294967295, found -1'],
    [{ port: 4294967296 }, 'spec.port: expected an integer from 0 to 4294967295, found 4294967296'],
    [
      { smallNumber: '2147483648' },
      'spec.smallNumber: expected an integer from -2147483648 to 2147483647, found the string "2147483648"',
    ],
    [{ port: 1.5 }, 'spec.port: expected an integer, found 1.5'],
    [{ port: ' 80' }, 'spec.port: expected an integer, found the string " 80"'],
    [{ port: '' }, 'spec.port: expected an integer, found the string ""'],
    [{ port: '0x50' }, 'spec.port: expected an integer, found the string "0x50"'],
    [{ port: true }, 'spec.port: expected an integer, found true'],
    [
      { big: '9007199254740993' },
      'spec.big: expected an integer from -9007199254740991 to 9007199254740991, found the string "9007199254740993"',
    ],
    [{ ratio: 'half' }, 'spec.ratio: expected a number, found the string "half"'],
    [{ ratio: '1e999' }, 'spec.ratio: expected a number, found the string "1e999"'],
    [{ single: 1e39 }, 'spec.single: expected a 32-bit number, found 1e+39'],
    [{ blob: 'a*b=' }, 'spec.blob: expected base64 text, found the string "a*b="'],
    [{ blob: 'abcde' }, 'spec.blob: expected base64 text, found the string "abcde"'],
    [{ blob: 'abcd=' }, 'spec.blob: expected base64 text, found the string "abcd="'],
    [{ timeout: '5' }, 'spec.timeout: expected a duration such as 5s, 100ms or 1h30m, found the string "5"'],
    [{ timeout: { seconds: 5 } }, 'spec.timeout: expected a duration such as 5s, 100ms or 1h30m, found an object'],
    [{ when: 'yesterday' }, 'spec.when: expected a time such as 2026-01-31T12:00:00Z, found the string "yesterday"'],
    [{ config: [] }, 'spec.config: expected an object, found a list'],
    [{ target: 1.5 }, 'spec.target: expected an integer or a string, found 1.5'],
    [{ mode: 'on' }, 'spec.mode: expected one of OFF, ON, ALSO_ON, found the string "on"'],
    [{ mode: 7 }, 'spec.mode: expected one of OFF, ON, ALSO_ON, found 7'],
    [{ mode: 'toString' }, 'spec.mode: expected one of OFF, ON, ALSO_ON, found the string "toString"'],
    [{ leaves: {} }, 'spec.leaves: expected a list, found an object'],
    [{ leaves: [{}, null] }, 'spec.leaves[1]: null is not allowed here'],
    [{ leaves: [{}, { name: 3 }] }, 'spec.leaves[1].name: expected a string, found 3'],
    [{ byName: { 'a.b': { name: 3 } } }, 'spec.byName[a.b].name: expected a string, found 3'],
    [{ byName: { a: null } }, 'spec.byName[a]: null is not allowed here'],
    [{ byPort: { http: 'x' } }, 'spec.byPort[http]: the key must be an integer'],
    ...['8080.0', '8e3', '-0'].map(
      key =>
        [
          { byPort: { [key]: 'x' } },
          `spec.byPort[${key}]: the key must be plain digits, without leading zeros`,
        ] as const,
    ),
    [{ byPort: { '08080': 'x' } }, 'spec.byPort[08080]: the key must be an integer'],
    [{ byPort: { 4294967296: 'x' } }, 'spec.byPort[4294967296]: the key must be an integer from 0 to 4294967295'],
    [{ left: 'a', right: {} }, 'spec.right: cannot be set together with `left`'],
  ])('%j', (json, message) => {
    expect(problems(json)).toEqual([message]);
  });

  test('everything at once, in the order of the document', () => {
    expect(problems({ leaf: { nope: 1, name: 2 }, port: 'x', left: '', right: 3 })).toEqual([
      'spec.leaf.nope: unknown field',
      'spec.leaf.name: expected a string, found 2',
      'spec.port: expected an integer, found the string "x"',
      'spec.right: cannot be set together with `left`',
      'spec.right: expected an object, found 3',
    ]);
  });

  test('long values shortened, and long lists of problems truncated', () => {
    expect(problems({ port: 'x'.repeat(1000) })[0]?.length).toBeLessThan(120);
    const many = Object.fromEntries(Array.from({ length: 3 * PROBLEMS_MAX }, (_, i) => [`f${i}`, 1]));
    expect(problems(many)).toHaveLength(PROBLEMS_MAX + 1);
    expect(problems(many).at(-1)).toBe('there are more problems');
  });

  test('only known fields with problems if unknown ones are ignored', () => {
    expect(problems({ nope: 1, mode: 'nope', port: 'x' }, { ignoreUnknown: true })).toHaveLength(2);
  });
});

describe('decoding a VirtualService', () => {
  const spec: Json = {
    hosts: ['reviews'],
    http: [
      {
        match: [{ headers: { 'end-user': { exact: 'jason' } }, sourceLabels: { app: 'a' } }],
        route: [{ destination: { host: 'reviews', subset: 'v2', port: { number: 9080 } }, weight: 100 }],
        timeout: '1m',
        retries: { attempts: 3, perTryTimeout: '250ms', retryRemoteLocalities: true },
        fault: { delay: { percentage: { value: 10 }, fixedDelay: '5s' } },
      },
    ],
  };
  test('gives a typed value', () => {
    const decoded = decodeIstio('istio.networking.v1alpha3.VirtualService', spec, 'spec');
    if (isLeft(decoded)) throw new Error(decoded.left.map(showProblem).join('\n'));
    const route = decoded.right.http?.[0];
    expect(route?.timeout).toEqual({ seconds: 60, nanos: 0 });
    expect(route?.retries).toEqual({
      attempts: 3,
      perTryTimeout: { seconds: 0, nanos: 250_000_000 },
      retryRemoteLocalities: true,
    });
    expect(route?.match?.[0]?.headers?.['end-user']?.exact).toBe('jason');
    expect(route?.fault?.delay?.fixedDelay?.seconds).toBe(5);
  });

  test('reports its problems', () => {
    const decoded = decodeIstio(
      'istio.networking.v1alpha3.VirtualService',
      { hosts: 'reviews', http: [{ timeout: 'soon', match: [{ uri: { exact: '/', prefix: '/' } }] }] },
      'spec',
    );
    expect(isLeft(decoded) && decoded.left.map(showProblem)).toEqual([
      'spec.hosts: expected a list, found the string "reviews"',
      'spec.http[0].timeout: expected a duration such as 5s, 100ms or 1h30m, found the string "soon"',
      'spec.http[0].match[0].uri.prefix: cannot be set together with `exact`',
    ]);
  });
});
