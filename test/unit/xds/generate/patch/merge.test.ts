// What a merge does with each kind of field of a message.

import { describe, expect, it } from 'vitest';
import { Grown, mergeAny, mergeMessage } from '../../../../../src/xds/generate/patch/merge.ts';

const CLUSTER = 'envoy.config.cluster.v3.Cluster';
const ROUTE = 'envoy.config.route.v3.Route';
const METADATA = 'envoy.config.core.v3.Metadata';
const HOST = 'envoy.config.route.v3.VirtualHost';
const TLS = 'envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext';
const STRUCT = 'google.protobuf.Struct';
/** If each merge copies the map: a minute. */
const CPU_MS_MAX = 5_000;

describe('a merge', () => {
  it.each<[string, string, object, object, object]>([
    ['sets a text', CLUSTER, { name: 'a' }, { altStatName: 'b' }, { name: 'a', altStatName: 'b' }],
    ['replaces a text', CLUSTER, { name: 'a' }, { name: 'b' }, { name: 'b' }],
    ['does not empty a text', CLUSTER, { name: 'a' }, { name: '' }, { name: 'a' }],
    [
      'does not reset a flag',
      HOST,
      { includeRequestAttemptCount: true },
      { includeRequestAttemptCount: false },
      { includeRequestAttemptCount: true },
    ],
    ['does not set a flag that is off', HOST, {}, { includeRequestAttemptCount: false }, {}],
    ['replaces an enum', CLUSTER, { lbPolicy: 1 }, { lbPolicy: 2 }, { lbPolicy: 2 }],
    ['does not reset an enum', CLUSTER, { lbPolicy: 1 }, { lbPolicy: 0 }, { lbPolicy: 1 }],
    ['sets no enum to its first value', CLUSTER, {}, { lbPolicy: 0 }, {}],
    ['sets an enum of a oneof to its first value', CLUSTER, {}, { type: 0 }, { type: 0 }],
    ['switches a oneof', CLUSTER, { type: 2 }, { clusterType: { name: 'x' } }, { clusterType: { name: 'x' } }],
    [
      'replaces inside of a oneof',
      CLUSTER,
      { clusterType: { name: 'x' } },
      { clusterType: { name: 'y' } },
      { clusterType: { name: 'y' } },
    ],
    [
      'replaces a duration whole',
      CLUSTER,
      { connectTimeout: { seconds: 5, nanos: 7 } },
      { connectTimeout: { seconds: 0, nanos: 9 } },
      { connectTimeout: { seconds: 0, nanos: 9 } },
    ],
    [
      'merges messages',
      CLUSTER,
      { commonLbConfig: { closeConnectionsOnHostSetChange: true } },
      { commonLbConfig: { ignoreNewHostsUntilFirstHc: true } },
      { commonLbConfig: { closeConnectionsOnHostSetChange: true, ignoreNewHostsUntilFirstHc: true } },
    ],
    ['appends to lists', HOST, { domains: ['a'] }, { domains: ['a', 'b'] }, { domains: ['a', 'a', 'b'] }],
    ['takes a list that is missing or empty', HOST, { domains: [] }, { domains: ['b'] }, { domains: ['b'] }],
    ['leaves a list for an empty one', HOST, { domains: ['a'] }, { domains: [] }, { domains: ['a'] }],
    [
      'replaces entries of a map',
      HOST,
      { typedPerFilterConfig: { a: { '@type': 'x' }, b: { '@type': 'x' } } },
      { typedPerFilterConfig: { b: { '@type': 'y' } } },
      { typedPerFilterConfig: { a: { '@type': 'x' }, b: { '@type': 'y' } } },
    ],
    [
      'leaves a map for an empty one',
      HOST,
      { typedPerFilterConfig: { a: { '@type': 'x' } } },
      { typedPerFilterConfig: {} },
      { typedPerFilterConfig: { a: { '@type': 'x' } } },
    ],
    [
      'replaces a wrapped number',
      CLUSTER,
      { perConnectionBufferLimitBytes: { value: 5 } },
      { perConnectionBufferLimitBytes: { value: 6 } },
      { perConnectionBufferLimitBytes: { value: 6 } },
    ],
    [
      'does not reset a wrapped number',
      CLUSTER,
      { perConnectionBufferLimitBytes: { value: 5 } },
      { perConnectionBufferLimitBytes: { value: 0 } },
      { perConnectionBufferLimitBytes: { value: 5 } },
    ],
    [
      'sets a wrapped zero that is missing',
      CLUSTER,
      {},
      { perConnectionBufferLimitBytes: { value: 0 } },
      { perConnectionBufferLimitBytes: { value: 0 } },
    ],
    [
      'merges structs by their first keys',
      METADATA,
      { filterMetadata: { x: { a: 1 } } },
      { filterMetadata: { x: { b: 2 } } },
      { filterMetadata: { x: { b: 2 } } },
    ],
    [
      'replaces an Any',
      CLUSTER,
      { loadBalancingPolicy: { policies: [] }, upstreamConfig: { name: 'a', typedConfig: { '@type': 'x' } } },
      { upstreamConfig: { typedConfig: { '@type': 'y' } } },
      { loadBalancingPolicy: { policies: [] }, upstreamConfig: { name: 'a', typedConfig: { '@type': 'y' } } },
    ],
    [
      'leaves an Any for an empty one',
      CLUSTER,
      { upstreamConfig: { typedConfig: { '@type': 'x' } } },
      { upstreamConfig: { typedConfig: { '@type': '' } } },
      { upstreamConfig: { typedConfig: { '@type': 'x' } } },
    ],
    [
      'passes over what is undefined or unknown',
      CLUSTER,
      { name: 'a' },
      { altStatName: undefined, unknown: 1 },
      { name: 'a' },
    ],
    [
      'another action takes the place of a route',
      ROUTE,
      { name: 'r', route: { cluster: 'a' }, match: { prefix: '/' } },
      { redirect: { pathRedirect: '/x' } },
      { name: 'r', match: { prefix: '/' }, redirect: { pathRedirect: '/x' } },
    ],
  ])('%s', (_, type, into, patch, expected) => {
    const given = structuredClone(into);
    const merged = mergeMessage(type, into, patch);
    expect(merged).toEqual(expected);
    expect(into).toEqual(given);
    if (JSON.stringify(into) === JSON.stringify(expected)) expect(merged).toBe(into);
  });

  it('takes the patch for a message without a schema', () => {
    const patch = { a: 1 };
    expect(mergeMessage('x.Unknown', { b: 2 }, patch)).toBe(patch);
  });
});

describe('a merge into what JSON describes', () => {
  const SUBSETS = 'envoy.config.cluster.v3.Cluster.LbSubsetConfig';
  it.each<[string, object, object, object]>([
    [
      'a struct gets the keys of the patch',
      { a: 1, b: { x: 1 } },
      { b: { y: 2 }, c: null },
      { a: 1, b: { y: 2 }, c: null },
    ],
    ['an empty struct changes nothing', { a: 1 }, {}, { a: 1 }],
  ])('%s', (_, defaultSubset, patch, expected) => {
    const into = { defaultSubset };
    const merged = mergeMessage(SUBSETS, into, { defaultSubset: patch });
    expect(merged).toEqual({ defaultSubset: expected });
    if (Object.keys(patch).length === 0) expect(merged).toBe(into);
  });
  it.each<[unknown, unknown, unknown]>([
    [{ a: 1 }, { b: 2 }, { a: 1, b: 2 }],
    [[1], [2, 3], [1, 2, 3]],
    [{ a: 1 }, [2], [2]],
    [[1], { b: 2 }, { b: 2 }],
    [[1], 'x', 'x'],
    ['x', [1], [1]],
    ['x', '', ''],
    [5, 0, 0],
    [true, false, false],
  ])('of the values %j and %j comes %j', (value, patch, expected) => {
    expect(mergeMessage('envoy.config.core.v3.KeyValuePair', { key: 'k', value }, { value: patch })).toEqual({
      key: 'k',
      value: expected,
    });
  });
  it('a value is set to what is a default elsewhere', () => {
    expect(mergeMessage('envoy.config.core.v3.KeyValuePair', { key: 'k' }, { value: 0 })).toEqual({
      key: 'k',
      value: 0,
    });
  });
  it('a timestamp is merged by its parts', () => {
    const type = 'envoy.admin.v3.BootstrapConfigDump';
    const at = (seconds: number, nanos: number) => ({ lastUpdated: { seconds, nanos } });
    expect(mergeMessage(type, at(5, 6), at(0, 7))).toEqual(at(5, 7));
    expect(mergeMessage(type, at(5, 6), at(8, 0))).toEqual(at(8, 6));
  });
});

describe('a merge of two Any', () => {
  const any = (type: string, rest: object = {}) => ({ '@type': `type.googleapis.com/${type}`, ...rest });
  it('merges content of one known type', () => {
    expect(mergeAny(any(TLS, { sni: 'a', maxSessionKeys: { value: 1 } }), any(TLS, { sni: 'b' }))).toEqual(
      any(TLS, { sni: 'b', maxSessionKeys: { value: 1 } }),
    );
  });
  it('refuses other types, and types without a schema', () => {
    expect(mergeAny(any(TLS), any(CLUSTER))).toBeUndefined();
    expect(mergeAny(any('x.Unknown'), any('x.Unknown'))).toBeUndefined();
    expect(mergeAny(any(STRUCT), any(TLS))).toBeUndefined();
  });
});

describe('many merges into one resource', () => {
  const patchesOf = (i: number) => [
    { metadata: { filterMetadata: { [`k${i % 3}`]: { a: i } } } },
    { transportSocketMatches: [{ name: `m${i}` }] },
    { lbSubsetConfig: { defaultSubset: { [`s${i}`]: [i] } } },
    { lbSubsetConfig: { defaultSubset: JSON.parse(`{"__proto__": ${i}}`) } },
    { transportSocket: { name: `t${i}` } },
  ];

  it('give what each alone gives to the result of those before, and change neither what they began with nor a patch', () => {
    const into = {
      name: 'c',
      transportSocketMatches: [{ name: 'own' }],
      metadata: { filterMetadata: { k1: { b: 1 } } },
    };
    const patches = [0, 1, 2, 3, 4].flatMap(patchesOf);
    const given = structuredClone({ into, patches });
    const grown = new Grown();
    const together = patches.reduce<object>((message, patch) => mergeMessage(CLUSTER, message, patch, grown), into);
    expect({ into, patches }).toEqual(given);
    const apart = patches.reduce<object>((message, patch) => mergeMessage(CLUSTER, message, patch), into);
    expect(JSON.stringify(together)).toBe(JSON.stringify(apart));
    expect(JSON.stringify(together)).toContain('"__proto__":4');
  });

  it('cost what follows the size of the patches', () => {
    const before = process.cpuUsage();
    const grown = new Grown();
    let message: object = { name: 'c' };
    for (let i = 0; i < 20_000; i++) {
      message = mergeMessage(CLUSTER, message, { metadata: { filterMetadata: { [`k${i}`]: { a: 1 } } } }, grown);
    }
    const { user, system } = process.cpuUsage(before);
    expect(Object.keys((message as { metadata: { filterMetadata: object } }).metadata.filterMetadata)).toHaveLength(
      20_000,
    );
    expect((user + system) / 1_000).toBeLessThan(CPU_MS_MAX);
  });
});

describe('a map of a patch', () => {
  it('is shared by the messages that have none, and is not changed by a further merge', () => {
    const filterMetadata = { a: { b: 'c' } };
    const grown = new Grown();
    const first = mergeMessage(METADATA, {}, { filterMetadata }, grown) as { readonly filterMetadata: object };
    expect(first.filterMetadata).toBe(filterMetadata);
    const second = mergeMessage(METADATA, first, { filterMetadata: { d: { e: 'f' } } }, grown);
    expect(second).toEqual({ filterMetadata: { a: { b: 'c' }, d: { e: 'f' } } });
    expect(filterMetadata).toEqual({ a: { b: 'c' } });
  });
});
