import { describe, expect, test } from 'vitest';
import { encodeMessage, encodeResource } from '../../../../src/xds/engine/encode.ts';
import { any, typeUrl } from '../../../../src/xds/proto/any.ts';
import {
  decodeDeltaDiscoveryRequest,
  decodeDiscoveryRequest,
  deltaDiscoveryResponse,
  discoveryResponse,
  NAMES_MAX,
  NODE_FIELDS_MAX,
  namesMaxOf,
} from '../../../../src/xds/serve/discovery.ts';
import { toProtoJson } from '../../../../src/xds/wire/protojson.ts';

const CLUSTER = 'envoy.config.cluster.v3.Cluster';
const encoded = ['a', 'b'].map(name => encodeResource(typeUrl(CLUSTER), name, { name }));

/** One more than a node may have. */
function list<T>(make: (i: number) => T): T[] {
  return Array.from({ length: NODE_FIELDS_MAX + 1 }, (_, i) => make(i));
}

function repeated<T>(make: (i: number) => readonly [string, T]): Record<string, T> {
  return Object.fromEntries(list(make));
}

function names(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `n${i}`);
}

describe('encoded discovery responses', () => {
  test('decode to their content in state of the world', () => {
    const bytes = discoveryResponse({
      versionInfo: 'v1',
      typeUrl: typeUrl(CLUSTER),
      nonce: 'n1',
      frames: encoded.flatMap(e => e.sotwFrame),
      controlPlane: '{"Component":"periplus"}',
    });
    expect(toProtoJson('envoy.service.discovery.v3.DiscoveryResponse', bytes)).toEqual({
      versionInfo: 'v1',
      resources: [
        { '@type': typeUrl(CLUSTER), name: 'a' },
        { '@type': typeUrl(CLUSTER), name: 'b' },
      ],
      typeUrl: typeUrl(CLUSTER),
      nonce: 'n1',
      controlPlane: { identifier: '{"Component":"periplus"}' },
    });
  });

  test('decode to their content in delta', () => {
    const bytes = deltaDiscoveryResponse({
      systemVersionInfo: 'v1',
      typeUrl: typeUrl(CLUSTER),
      nonce: 'n1',
      frames: encoded.flatMap(e => e.deltaFrame),
      removed: ['gone', ''],
    });
    expect(toProtoJson('envoy.service.discovery.v3.DeltaDiscoveryResponse', bytes)).toEqual({
      systemVersionInfo: 'v1',
      resources: encoded.map(({ name, version }) => ({ name, version, resource: { '@type': typeUrl(CLUSTER), name } })),
      typeUrl: typeUrl(CLUSTER),
      nonce: 'n1',
      removedResources: ['gone', ''],
    });
  });

  test('without resources contain only type and nonce', () => {
    const empty = discoveryResponse({ versionInfo: '', typeUrl: 't', nonce: 'n', frames: [] });
    expect(toProtoJson('envoy.service.discovery.v3.DiscoveryResponse', empty)).toEqual({ typeUrl: 't', nonce: 'n' });
  });
});

describe('decoded discovery requests', () => {
  test('have a node in the first request of a stream', () => {
    const bytes = encodeMessage('envoy.service.discovery.v3.DiscoveryRequest', {
      node: {
        id: 'sidecar~10.0.0.1~a.b~b.svc.cluster.local',
        cluster: 'a.b',
        metadata: { NAMESPACE: 'b', LABELS: { app: 'a' }, ISTIO_VERSION: '1.30.3', INSTANCE_IPS: null },
        locality: { region: 'r' },
        userAgentName: 'envoy',
        userAgentBuildVersion: { version: { majorNumber: 1, minorNumber: 36 } },
        extensions: [{ name: 'envoy.filters.http.router', category: 'envoy.filters.http', typeUrls: ['x.Router'] }],
      },
      resourceNames: ['x', 'y'],
      typeUrl: typeUrl(CLUSTER),
    });
    expect(decodeDiscoveryRequest(bytes)).toEqual({
      versionInfo: '',
      node: {
        id: 'sidecar~10.0.0.1~a.b~b.svc.cluster.local',
        cluster: 'a.b',
        metadata: { NAMESPACE: 'b', LABELS: { app: 'a' }, ISTIO_VERSION: '1.30.3', INSTANCE_IPS: null },
        locality: { region: 'r' },
        userAgentName: 'envoy',
        userAgentBuildVersion: { version: { majorNumber: 1, minorNumber: 36 } },
        extensions: [{ name: 'envoy.filters.http.router', category: 'envoy.filters.http', typeUrls: ['x.Router'] }],
      },
      resourceNames: ['x', 'y'],
      typeUrl: typeUrl(CLUSTER),
      responseNonce: '',
      errorDetail: undefined,
    });
  });

  test('may be a NACK with details of any type', () => {
    const bytes = encodeMessage('envoy.service.discovery.v3.DiscoveryRequest', {
      versionInfo: 'v1',
      responseNonce: 'n2',
      errorDetail: {
        code: 13,
        message: 'no such filter',
        details: [any('google.protobuf.StringValue', { value: 'x' })],
      },
    });
    expect(decodeDiscoveryRequest(bytes)).toEqual({
      versionInfo: 'v1',
      node: undefined,
      resourceNames: [],
      typeUrl: '',
      responseNonce: 'n2',
      errorDetail: { code: 13, message: 'no such filter' },
    });
  });

  test('have the subscriptions and versions of delta', () => {
    const bytes = encodeMessage('envoy.service.discovery.v3.DeltaDiscoveryRequest', {
      typeUrl: typeUrl(CLUSTER),
      resourceNamesSubscribe: ['*', 'a'],
      resourceNamesUnsubscribe: ['b'],
      initialResourceVersions: { a: '1', __proto__x: '2' },
      responseNonce: 'n',
      errorDetail: {},
    });
    expect(decodeDeltaDiscoveryRequest(bytes)).toEqual({
      node: undefined,
      typeUrl: typeUrl(CLUSTER),
      resourceNamesSubscribe: ['*', 'a'],
      resourceNamesUnsubscribe: ['b'],
      initialResourceVersions: new Map([
        ['a', '1'],
        ['__proto__x', '2'],
      ]),
      responseNonce: 'n',
      errorDetail: { code: 0, message: '' },
    });
  });

  test.each([
    ['entries in its metadata', { metadata: { fields: repeated(i => [`k${i}`, { boolValue: true }]) } }],
    ['items in a list', { metadata: { fields: { l: { listValue: { values: list(() => ({ boolValue: true })) } } } } }],
    ['extensions', { extensions: list(() => ({ name: 'x' })) }],
    ['features', { clientFeatures: list(() => 'x') }],
  ])('are refused before they are decoded if the node has too many %s', (_, node) => {
    for (const [type, decode] of [
      ['DiscoveryRequest', decodeDiscoveryRequest],
      ['DeltaDiscoveryRequest', decodeDeltaDiscoveryRequest],
    ] as const) {
      const bytes = encodeMessage(`envoy.service.discovery.v3.${type}`, { node });
      expect(() => decode(bytes)).toThrow(/more than/);
    }
  });

  test('may have more names and versions than a node has fields', () => {
    const bytes = encodeMessage('envoy.service.discovery.v3.DeltaDiscoveryRequest', {
      node: { id: 'a' },
      resourceNamesSubscribe: list(() => 'x'),
      initialResourceVersions: repeated(i => [`k${i}`, 'v']),
    });
    expect(decodeDeltaDiscoveryRequest(bytes).resourceNamesSubscribe).toHaveLength(NODE_FIELDS_MAX + 1);
  });

  test.each([
    ['DiscoveryRequest', decodeDiscoveryRequest, (n: number) => ({ resourceNames: names(n) })],
    ['DeltaDiscoveryRequest', decodeDeltaDiscoveryRequest, (n: number) => ({ resourceNamesSubscribe: names(n) })],
    ['DeltaDiscoveryRequest', decodeDeltaDiscoveryRequest, (n: number) => ({ resourceNamesUnsubscribe: names(n) })],
    [
      'DeltaDiscoveryRequest',
      decodeDeltaDiscoveryRequest,
      (n: number) => ({ initialResourceVersions: Object.fromEntries(names(n).map(name => [name, 'v'])) }),
    ],
  ] as const)('are refused before they are decoded if a %s has too many names', (type, decode, made) => {
    const bytesOf = (n: number) => encodeMessage(`envoy.service.discovery.v3.${type}`, { typeUrl: 't', ...made(n) });
    expect(() => decode(bytesOf(5), 4)).toThrow('more than 4 names');
    expect(decode(bytesOf(4), 4).typeUrl).toBe('t');
    expect(() => decode(bytesOf(NAMES_MAX + 1))).toThrow(/more than \d+ names/);
  });

  test('may have more names where longer ones are taken', () => {
    expect(namesMaxOf(1_024)).toBe(NAMES_MAX);
    expect(namesMaxOf(4 * 1024 * 1024)).toBe(NAMES_MAX);
    expect(namesMaxOf(64 * 1024 * 1024)).toBe(16 * NAMES_MAX);
  });

  test('are errors if malformed', () => {
    expect(() => decodeDiscoveryRequest(Uint8Array.of(0x0a, 0xff))).toThrow();
    expect(() => decodeDeltaDiscoveryRequest(Uint8Array.of(0xff, 0xff, 0xff))).toThrow();
  });
});
