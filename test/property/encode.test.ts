// Laws of the encoder, over random messages of the types that are served: nothing is lost or changed, the bytes are a
// function of the value, and bytes put together from parts are those of the whole.

import fc from 'fast-check';
import { isRight } from 'fp-ts/lib/Either.js';
import protojson from 'protobufjs/ext/protojson.js';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/core/base/json.ts';
import { encodeMessage, encodeResource } from '../../src/xds/engine/encode.ts';
import { anyStruct, type TypeName, typeUrl } from '../../src/xds/proto/any.ts';
import { deltaDiscoveryResponse, discoveryResponse } from '../../src/xds/serve/discovery.ts';
import { generatedJson } from '../../src/xds/wire/generated-json.ts';
import { encodeInParts, encodeUnpacked } from '../../src/xds/wire/pack.ts';
import { fromProtoJson, toProtoJson } from '../../src/xds/wire/protojson.ts';
import { type Plain, typeOf } from '../../src/xds/wire/registry.ts';
import { decodeBytes } from '../../src/xds/wire/unpack.ts';
import { verifyMessage } from '../../src/xds/wire/verify.ts';
import { arbitraryMessage } from './arbitrary-message.ts';
import { parameters } from './seed.ts';

const SERVED = [
  'envoy.config.cluster.v3.Cluster',
  'envoy.config.listener.v3.Listener',
  'envoy.config.route.v3.RouteConfiguration',
  'envoy.config.endpoint.v3.ClusterLoadAssignment',
  'envoy.extensions.transport_sockets.tls.v3.Secret',
  'istio.networking.nds.v1.NameTable',
] as const satisfies readonly TypeName[];

const RUNS = 100;

/** The same value with the members of every object in the opposite order. */
function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, reversed(member)]),
  );
}

describe.each(SERVED)('encoding of %s', name => {
  const type = typeOf(name);
  const encode = (message: Plain): Uint8Array => encodeMessage(name, message as never);

  test('generates valid random messages', () => {
    fc.assert(
      fc.property(arbitraryMessage(name, 3, { unknownTypes: true }), message => {
        expect(verifyMessage(name, message)).toEqual([]);
      }),
      parameters(RUNS),
    );
  });

  test('decodes to the encoded message, Any and Struct included', () => {
    fc.assert(
      fc.property(arbitraryMessage(name, 4, { unknownTypes: true }), message => {
        expect(decodeBytes(type, encode(message))).toEqual(message);
      }),
      parameters(RUNS),
    );
  });

  test('ignores the order of members and map entries', () => {
    fc.assert(
      fc.property(arbitraryMessage(name, 4, { unknownTypes: true }), message => {
        expect(Buffer.from(encode(reversed(message) as Plain))).toEqual(Buffer.from(encode(message)));
      }),
      parameters(RUNS),
    );
  });

  test('is lossless through protojson, and protobufjs packs it to the same bytes', () => {
    fc.assert(
      fc.property(arbitraryMessage(name, 3), message => {
        const bytes = encode(message);
        const json = toProtoJson(name, bytes);
        const read = fromProtoJson(name, json);
        expect(isRight(read) && read.right).toEqual(message);
        expect(Buffer.from(type.encode(protojson.fromJson(type, json)).finish())).toEqual(Buffer.from(bytes));
      }),
      parameters(RUNS),
    );
  });

  test('is shown as JSON without encoding, as its bytes are', () => {
    fc.assert(
      fc.property(arbitraryMessage(name, 4, { unknownTypes: true }), message => {
        expect(JSON.stringify(generatedJson(type, message))).toBe(JSON.stringify(toProtoJson(name, encode(message))));
      }),
      parameters(RUNS),
    );
  });

  test('gives the bytes of the whole if composed of parts', () => {
    fc.assert(
      fc.property(arbitraryMessage(name, 4), message => {
        const whole = Buffer.from(encodeUnpacked(type, message));
        expect(Buffer.from(encode(message))).toEqual(whole);
        // What has come twice is remembered from then on.
        expect(Buffer.from(encode({ ...message }))).toEqual(whole);
        expect(Buffer.from(encode({ ...message }))).toEqual(whole);
      }),
      parameters(RUNS),
    );
  });
});

describe('encoding in parts', () => {
  const sizes = fc.record({ partBytes: fc.integer({ min: 1, max: 300 }), weightMax: fc.integer({ min: 1, max: 30 }) });

  test.each([...SERVED, 'istio.workload.Address'] as const)('of %s gives the bytes of the whole, at any size', name => {
    const type = typeOf(name);
    fc.assert(
      fc.property(arbitraryMessage(name, 5, { unknownTypes: true }), sizes, (message, sizesOfParts) => {
        const whole = Buffer.from(encodeUnpacked(type, message));
        const steps = encodeInParts(typeUrl(name), message, sizesOfParts);
        let step = steps.next();
        while (step.done !== true) {
          // Others are encoded between two steps.
          encodeUnpacked(type, message);
          step = steps.next();
        }
        expect(Buffer.concat(step.value)).toEqual(whole);
      }),
      parameters(RUNS),
    );
  });

  test('cuts lists, maps, Any and Struct, and what is nested in them', () => {
    const small = { partBytes: 100, weightMax: 10 };
    const many = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
    const json = (count: number): JsonObject => Object.fromEntries(many(count).map(i => [`k${i}`, { list: [i, 'v'] }]));
    const values = { few: { a: json(9), b: [json(9), null] }, many: json(40), list: many(300), text: 'x'.repeat(500) };
    const message = {
      name: 'l',
      filterChains: many(20).map(i => ({
        name: `chain ${i}`,
        filters: [{ name: 'f', typedConfig: anyStruct(i === 7 ? values : { i }) }],
      })),
      metadata: { filterMetadata: { one: values, two: { x: 1 } } },
    };
    const steps = encodeInParts(typeUrl('envoy.config.listener.v3.Listener'), message, small);
    const sizesOfSteps: number[] = [];
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) sizesOfSteps.push(step.value);
    const parts = step.value as readonly Buffer[];
    expect(Buffer.concat(parts)).toEqual(Buffer.from(encodeMessage('envoy.config.listener.v3.Listener', message)));
    // The long text can't be cut.
    expect(parts.filter(({ length }) => length > 300)).toHaveLength(2);
    expect(Math.max(...sizesOfSteps.filter(size => size < 500))).toBeLessThanOrEqual(300);
  });

  test('writes what was cut once, whichever chains and metrics have it', () => {
    const dimensions = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`tag ${i}`, 'value']));
    const filter = {
      name: 'istio.stats',
      typedConfig: {
        '@type': typeUrl('stats.PluginConfig'),
        metrics: ['a', 'b', 'c'].map(name => ({ name, dimensions })),
      },
    };
    const message = { filterChains: ['1', '2', '3', '4'].map(name => ({ name, filters: [{ ...filter }, filter] })) };
    const steps = encodeInParts(typeUrl('envoy.config.listener.v3.Listener'), message, {
      partBytes: 1_000,
      weightMax: 10,
    });
    let bytes = 0;
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) bytes += step.value;
    const whole = Buffer.from(encodeMessage('envoy.config.listener.v3.Listener', message));
    expect(Buffer.concat(step.value as readonly Buffer[])).toEqual(whole);
    expect(bytes).toBeLessThan(whole.length / 12);
  });
});

test('canary: without sorting, the order of map entries shows in the encoding', () => {
  const type = typeOf('istio.networking.nds.v1.NameTable');
  const table = (...names: readonly string[]): Buffer =>
    Buffer.from(type.encode({ table: Object.fromEntries(names.map(n => [n, {}])) }).finish());
  expect(table('a', 'b')).not.toEqual(table('b', 'a'));
});

test('responses composed from frames have the bytes that protobufjs encodes', () => {
  const resource = arbitraryMessage('envoy.config.cluster.v3.Cluster', 2);
  const text = fc.string({ maxLength: 300, size: 'max' });
  fc.assert(
    fc.property(
      fc.array(fc.tuple(text, resource), { maxLength: 4 }),
      text,
      text,
      fc.array(text),
      (all, version, nonce, removed) => {
        const url = typeUrl('envoy.config.cluster.v3.Cluster');
        const encoded = all.map(([name, message]) => encodeResource(url, name, message));
        const unpacked = all.map(([, message]) => ({ '@type': url, ...message }));
        const common = { typeUrl: url, nonce, controlPlane: version };
        const sotw = discoveryResponse({ ...common, versionInfo: version, frames: encoded.flatMap(e => e.sotwFrame) });
        const controlPlane = { identifier: version };
        expect(sotw).toEqual(
          wire('envoy.service.discovery.v3.DiscoveryResponse', {
            versionInfo: version,
            resources: unpacked,
            typeUrl: url,
            nonce,
            ...(version === '' ? {} : { controlPlane }),
          }),
        );
        const delta = deltaDiscoveryResponse({
          ...common,
          systemVersionInfo: version,
          frames: encoded.flatMap(e => e.deltaFrame),
          removed,
        });
        expect(delta).toEqual(
          wire('envoy.service.discovery.v3.DeltaDiscoveryResponse', {
            systemVersionInfo: version,
            resources: encoded.map((e, i) => ({ name: e.name, version: e.version, resource: unpacked[i] })),
            typeUrl: url,
            nonce,
            removedResources: removed,
            ...(version === '' ? {} : { controlPlane }),
          }),
        );
      },
    ),
    parameters(RUNS),
  );
});

function wire(name: string, message: Plain): Buffer {
  return Buffer.from(encodeUnpacked(typeOf(name), message));
}
