import { hash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  type EncodedResource,
  type EncodingWork,
  encodeMessage,
  encodeResource,
} from '../../../../src/xds/engine/encode.ts';
import { any, anyBytes, anyStruct, typeUrl } from '../../../../src/xds/proto/any.ts';
import { Cluster_DiscoveryType, type FilterChain, type VirtualHost } from '../../../../src/xds/proto/types.gen.ts';
import { framed, framedString } from '../../../../src/xds/wire/frame.ts';
import { encodeUnpacked } from '../../../../src/xds/wire/pack.ts';
import { toProtoJson } from '../../../../src/xds/wire/protojson.ts';
import { type Plain, typeOf } from '../../../../src/xds/wire/registry.ts';

const ROUTES = 'envoy.config.route.v3.RouteConfiguration';
const LISTENER = 'envoy.config.listener.v3.Listener';
const CLUSTER = 'envoy.config.cluster.v3.Cluster';

/** The same, and a list that grows by its name whenever it is encoded. */
function noted<M extends { readonly name?: string }>(message: M, encoded: string[]): M {
  return Object.defineProperty({ ...message }, 'name', {
    enumerable: true,
    get: () => {
      encoded.push(message.name ?? '');
      return message.name;
    },
  });
}

const host = (name: string): VirtualHost => ({
  name,
  domains: [name, `${name}:80`],
  routes: [{ match: { prefix: '/' }, route: { cluster: `outbound|80||${name}` } }],
});

describe('encoding of messages', () => {
  test('lists the keys of a long map once, for all messages that have it', () => {
    let listed = 0;
    const entries = Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`k${i}`, { i }]));
    const filterMetadata = new Proxy(entries, {
      ownKeys: target => {
        listed++;
        return Reflect.ownKeys(target);
      },
    });
    const [one, other] = ['a', 'b'].map(name => encodeMessage(CLUSTER, { name, metadata: { filterMetadata } }));
    expect(one!.length).toBe(other!.length);
    expect(listed).toBe(1);
  });

  test('packs nested Any, writes Struct as plain JSON, and shows all of it in protojson', () => {
    const router = any('envoy.extensions.filters.http.router.v3.Router', { suppressEnvoyHeaders: true });
    const manager = any('envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager', {
      statPrefix: 'inbound',
      httpFilters: [{ name: 'envoy.filters.http.router', typedConfig: router }],
    });
    const metadata = { istio: { services: [{ name: 'a', port: 80 }], none: null } };
    const bytes = encodeMessage(LISTENER, {
      name: 'virtualInbound',
      filterChains: [{ filters: [{ name: 'hcm', typedConfig: manager }] }],
      metadata: { filterMetadata: metadata, typedFilterMetadata: { s: anyStruct({ '@type': 'not a type' }) } },
      bindToPort: { value: false },
      listenerFiltersTimeout: { seconds: 1, nanos: 500_000_000 },
    });
    expect(toProtoJson(LISTENER, bytes)).toEqual({
      name: 'virtualInbound',
      filterChains: [
        {
          filters: [
            {
              name: 'hcm',
              typedConfig: {
                '@type': typeUrl('envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager'),
                statPrefix: 'inbound',
                httpFilters: [
                  {
                    name: 'envoy.filters.http.router',
                    typedConfig: {
                      '@type': typeUrl('envoy.extensions.filters.http.router.v3.Router'),
                      suppressEnvoyHeaders: true,
                    },
                  },
                ],
              },
            },
          ],
        },
      ],
      metadata: {
        filterMetadata: metadata,
        typedFilterMetadata: {
          s: { '@type': 'type.googleapis.com/google.protobuf.Struct', value: { '@type': 'not a type' } },
        },
      },
      bindToPort: false,
      listenerFiltersTimeout: '1.500s',
    });
  });

  test('keeps the bytes of an Any of an unknown type, shown as base64', () => {
    const typedConfig = anyBytes('type.googleapis.com/contrib.Filter', Uint8Array.of(1, 2, 3));
    const bytes = encodeMessage('envoy.config.listener.v3.Filter', { name: 'x', typedConfig });
    expect(toProtoJson('envoy.config.listener.v3.Filter', bytes)).toEqual({
      name: 'x',
      typedConfig: { '@type': 'type.googleapis.com/contrib.Filter', value: 'AQID' },
    });
  });

  test('refuses an Any of an unknown type without bytes', () => {
    const typedConfig = { '@type': 'type.googleapis.com/contrib.Filter', setting: 1 };
    expect(() => encodeMessage('envoy.config.listener.v3.Filter', { typedConfig })).toThrow(/contrib\.Filter/);
  });

  test('supports the name table of the DNS proxy', () => {
    const table = {
      'a.b.svc.cluster.local': { ips: ['10.0.0.1'], registry: 'Kubernetes', shortname: 'a', namespace: 'b' },
    };
    const bytes = encodeMessage('istio.networking.nds.v1.NameTable', { table });
    expect(toProtoJson('istio.networking.nds.v1.NameTable', bytes)).toEqual({ table });
  });

  test('accepts frozen messages', () => {
    const metadata = Object.freeze({ filterMetadata: Object.freeze({ b: Object.freeze({ x: 1 }), a: {} }) });
    expect(encodeMessage(CLUSTER, Object.freeze({ name: 'x', metadata })).length).toBeGreaterThan(0);
  });
});

describe('encoding of resources', () => {
  const cluster = { name: 'c', type: Cluster_DiscoveryType.EDS, metadata: { filterMetadata: { a: {}, b: {} } } };

  test('happens once per object', () => {
    const encoded: string[] = [];
    const one = noted(cluster, encoded);
    const first = encodeResource(typeUrl(CLUSTER), 'c', one);
    expect(encodeResource(typeUrl(CLUSTER), 'c', one)).toBe(first);
    expect(encoded).toHaveLength(1);
  });

  test('gives equal content one version, and other content another', () => {
    const { version } = encodeResource(typeUrl(CLUSTER), 'c', cluster);
    expect(version).toMatch(/^[0-9a-f]{16}$/);
    const reordered = { metadata: { filterMetadata: { b: {}, a: {} } }, type: 3, name: 'c' } as const;
    expect(encodeResource(typeUrl(CLUSTER), 'c', reordered).version).toBe(version);
    expect(encodeResource(typeUrl(CLUSTER), 'c', { ...cluster, name: 'd' }).version).not.toBe(version);
  });

  test('gives the same object under another name or type another resource', () => {
    const empty = {};
    const one = encodeResource(typeUrl(CLUSTER), 'one', empty);
    expect(encodeResource(typeUrl(CLUSTER), 'two', empty).name).toBe('two');
    expect(encodeResource(typeUrl(LISTENER), 'one', empty).version).not.toBe(one.version);
  });

  test('writes frames around bodies of any length', () => {
    for (const length of [0, 1, 126, 127, 128, 16_383, 16_384, 2_097_152]) {
      const encoded = encodeResource(typeUrl(CLUSTER), 'n', { name: 'x'.repeat(length) });
      const read = typeOf('envoy.service.discovery.v3.DiscoveryResponse').decode(
        Buffer.concat(encoded.sotwFrame),
      ) as unknown as {
        readonly resources: readonly { readonly typeUrl: string; readonly value: Uint8Array }[];
      };
      expect(read.resources).toHaveLength(1);
      expect(read.resources[0]?.typeUrl).toBe(typeUrl(CLUSTER));
      expect(encoded.body).toHaveLength(encoded.size);
      expect(Buffer.concat(encoded.sotwFrame).includes(encoded.body)).toBe(true);
      expect(Buffer.concat(encoded.deltaFrame).includes(encoded.body)).toBe(true);
    }
  });

  test('keeps one copy of the bytes for both protocols', () => {
    // Longer than what Node cuts from a pool: 4 KiB in Node 20, 32 KiB in Node 24.
    const { body, sotwFrame, deltaFrame } = encodeResource(typeUrl(CLUSTER), 'c', { name: 'x'.repeat(40_000) });
    const [frame] = deltaFrame;
    expect([body.buffer, ...sotwFrame.map(part => part.buffer)]).toEqual([frame!.buffer, frame!.buffer]);
    expect(deltaFrame).toHaveLength(1);
    expect(frame!.buffer.byteLength).toBe(frame!.length);
  });

  test('of a large resource whose small part changed keeps only that part anew', () => {
    const hosts = Array.from({ length: 2_000 }, (_, i) => host(`host-${i}.example.com`));
    const routes = (virtualHosts: readonly VirtualHost[]): object => ({ name: '80', virtualHosts });
    const encode = (message: object, previous?: EncodedResource): EncodedResource =>
      encodeResource(typeUrl(ROUTES), '80', message, undefined, previous);
    const buffersOf = ({ deltaFrame }: EncodedResource): ReadonlySet<ArrayBufferLike> =>
      new Set(deltaFrame.filter(({ length }) => length > 1_000).map(({ buffer }) => buffer));
    const changed = hosts.with(1_000, host('another.example.com'));
    const first = encode(routes(hosts));
    const second = encode(routes(changed), first);
    const alone = encode(routes(changed));
    expect(second.size).toBeGreaterThan(100_000);
    expect(second).not.toBe(alone);
    expect(buffersOf(second)).toEqual(buffersOf(first));
    expect(second.version).toBe(alone.version);
    expect(second.body).toEqual(alone.body);
    for (const frame of ['sotwFrame', 'deltaFrame'] as const) {
      expect(Buffer.concat(second[frame])).toEqual(Buffer.concat(alone[frame]));
    }
  });

  describe('of a very large resource', () => {
    const count = 20_000;
    const encoded: string[] = [];
    const hostsOf = (changed = -1): VirtualHost[] =>
      Array.from({ length: count }, (_, i) => host(`${i === changed ? 'other' : 'host'}-${i}.example.com`));
    const routes = (virtualHosts: readonly VirtualHost[]): object => ({ name: '80', virtualHosts });
    const step = { paused: true };
    /** Pauses after each step. */
    const encodeInTurns = (message: object, previous?: EncodedResource): { made: EncodedResource; turns: number[] } => {
      const turns: number[] = [];
      let spent = false;
      const work: EncodingWork = {
        before: () => {
          if (spent) throw step;
        },
        after: bytes => {
          spent = true;
          turns.push(bytes);
        },
      };
      for (;;) {
        spent = false;
        try {
          return { made: encodeResource(typeUrl(ROUTES), '80', message, work, previous), turns };
        } catch (error) {
          if (error !== step) throw error;
        }
      }
    };
    const wholeOf = (message: object): Buffer =>
      Buffer.concat([framedString(1, typeUrl(ROUTES)), framed(2, encodeMessage(ROUTES, message))]);

    test('is made in steps, with the bytes of the whole, and only what did not fit is written twice', () => {
      const plain = routes(hostsOf());
      const { made, turns } = encodeInTurns(routes(hostsOf().map(one => noted(one, encoded))));
      expect(made.size).toBeGreaterThan(2 * 1024 * 1024);
      expect(made.body.equals(wholeOf(plain))).toBe(true);
      expect(made.version).toBe(hash('sha256', made.body, 'hex').slice(0, 16));
      expect(Math.max(...turns)).toBeLessThanOrEqual(4 * 1024 * 1024);
      // It is full of small messages, each of which takes longer than its bytes.
      expect(turns.reduce((sum, bytes) => sum + bytes)).toBeGreaterThan(4 * made.size);
      expect(turns.length).toBeGreaterThan(10);
      expect(new Set(encoded).size).toBe(count);
      expect(encoded.length).toBe(count + 1);
      expect(made.deltaFrame.length).toBeLessThan(30);
      const other = encodeResource(typeUrl(ROUTES), '80', plain);
      for (const frame of ['sotwFrame', 'deltaFrame'] as const) {
        expect(Buffer.concat(other[frame]).equals(Buffer.concat(made[frame]))).toBe(true);
      }
    });

    test('writes the entries of a wide map once: it is known to be large before they are written', () => {
      let read = 0;
      const dimensions = Object.fromEntries(Array.from({ length: 120_000 }, (_, i) => [`t${i}`, 'x']));
      const counted = Object.defineProperty(dimensions, 'a', {
        enumerable: true,
        get: () => {
          read++;
          return 'x';
        },
      });
      const typedConfig = { '@type': typeUrl('stats.PluginConfig'), metrics: [{ dimensions: counted }] };
      const { turns } = encodeInTurns(routes([{ name: 'a', typedPerFilterConfig: { f: typedConfig } }]));
      expect(turns.length).toBeGreaterThan(3);
      expect(read).toBe(1);
    });

    test('tries in vain to write one of the elements that share a large part, and none of those after it', () => {
      const metrics = Array.from({ length: 40_000 }, (_, i) => ({ name: `metric-${i}` }));
      const shared = { f: { '@type': typeUrl('stats.PluginConfig'), metrics } };
      const worked = (hosts: number): number => {
        const sharing = Array.from({ length: hosts }, (_, i) => ({ ...host(`${i}`), typedPerFilterConfig: shared }));
        return encodeInTurns(routes(sharing)).turns.reduce((sum, bytes) => sum + bytes);
      };
      expect(worked(100) / worked(2)).toBeLessThan(6);
    });

    test('keeps only what changed anew', () => {
      const { made } = encodeInTurns(routes(hostsOf()));
      const { made: changed } = encodeInTurns(routes(hostsOf(9_000)), made);
      expect(changed.body.equals(wholeOf(routes(hostsOf(9_000))))).toBe(true);
      const old = new Set(made.deltaFrame.map(({ buffer }) => buffer));
      const anew = changed.deltaFrame.filter(({ buffer }) => !old.has(buffer));
      expect(anew.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(100_000);
    });

    test('is refused if it is larger than a message may be, and not encoded a second time to find that', () => {
      const dimensions = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`t${i}`, 'x'.repeat(10)]));
      const typedConfig = { '@type': typeUrl('stats.PluginConfig'), metrics: [{ dimensions }] };
      const shared = { f: typedConfig };
      const message = routes(
        Array.from({ length: 1_200 }, (_, i) => ({ ...host(`${i}`), typedPerFilterConfig: shared })),
      );
      const why =
        /^type\.googleapis\.com\/\S+RouteConfiguration 80 has \d{10} bytes, and a message at most 2147483647$/;
      expect(() => encodeInTurns(message)).toThrow(why);
      const work: EncodingWork = { before: () => undefined, after: () => expect.unreachable() };
      expect(() => encodeResource(typeUrl(ROUTES), '80', message, work)).toThrow(why);
    });

    test('is begun again after an error', () => {
      const wrong = { name: '80', virtualHosts: [...hostsOf(), { typedPerFilterConfig: { f: { '@type': 1 } } }] };
      expect(() => encodeInTurns(wrong)).toThrow('no @type');
      expect(() => encodeInTurns(wrong)).toThrow('no @type');
      expect(encodeResource(typeUrl(ROUTES), '1', { name: '1' }).size).toBeLessThan(200);
    });
  });

  test('refuses an unknown type by name', () => {
    expect(() => encodeResource('type.googleapis.com/no.Such', 'x', {})).toThrow('no protobuf type no.Such');
  });
});

describe('encoding of parts', () => {
  const names = Array.from({ length: 20 }, (_, i) => `part-${i}`);

  test('of a changed route configuration repeats only the changed virtual host', () => {
    const encoded: string[] = [];
    const all = names.map(name => noted(host(name), encoded));
    encodeResource(typeUrl(ROUTES), '80', { name: '80', virtualHosts: all, validateClusters: { value: false } });
    expect(encoded).toEqual(names);
    const changed = all.with(3, noted(host('changed'), encoded)).reverse();
    const bytes = encodeMessage(ROUTES, { name: '80', virtualHosts: changed, validateClusters: { value: false } });
    expect(encoded).toEqual([...names, 'changed']);
    const afresh = {
      name: '80',
      virtualHosts: changed.map(({ name = '' }) => host(name)),
      validateClusters: { value: false },
    };
    expect(Buffer.from(bytes)).toEqual(Buffer.from(encodeMessage(ROUTES, afresh)));
  });

  test('of a changed listener repeats only the changed filter chain', () => {
    const chain = (name: string): FilterChain => ({ name, filters: [{ name: 'f', typedConfig: anyStruct({ name }) }] });
    const encoded: string[] = [];
    const all = names.map(name => noted(chain(name), encoded));
    const rest = { name: 'l', useOriginalDst: { value: true }, statPrefix: 's' };
    encodeResource(typeUrl(LISTENER), 'l', { name: 'l', filterChains: all });
    expect(encoded).toEqual(names);
    const changed = all.with(3, noted(chain('changed'), encoded)).reverse();
    const bytes = encodeMessage(LISTENER, { ...rest, filterChains: changed });
    expect(encoded).toEqual([...names, 'changed']);
    const afresh = { ...rest, filterChains: changed.map(({ name = '' }) => chain(name)) };
    expect(Buffer.from(bytes)).toEqual(Buffer.from(encodeMessage(LISTENER, afresh)));
  });

  test('happens twice at most in a short list', () => {
    const encoded: string[] = [];
    const few = [noted(host('a'), encoded), noted(host('b'), encoded)];
    for (let i = 0; i < 4; i++) encodeMessage(ROUTES, { name: `${i}`, virtualHosts: few });
    expect(encoded).toEqual(['a', 'b', 'a', 'b']);
    const afresh = { name: '4', virtualHosts: [host('a'), host('b')] };
    expect(encodeMessage(ROUTES, { name: '4', virtualHosts: few })).toEqual(encodeMessage(ROUTES, afresh));
  });

  test('treats parts repeated within a resource, at any depth, as different objects', () => {
    // Lengths on both sides of what takes another byte, so that what was written moves while it is remembered.
    for (const length of [1, 90, 118, 126, 127, 128, 300, 16_300, 20_000]) {
      const make = (): Plain => {
        const inner = { name: 'x'.repeat(length), typedConfig: anyStruct({ a: 'b' }) };
        const filters = [inner, { name: 'y'.repeat(length) }, inner];
        return {
          name: 'l',
          filterChains: [{ name: 'a', filters }, { name: 'b'.repeat(length), filters }, { filters }],
        };
      };
      const shared = make();
      const apart = JSON.parse(JSON.stringify(shared)) as Plain;
      const bytes = [1, 2, 3].map(() => Buffer.from(encodeUnpacked(typeOf(LISTENER), shared)));
      for (const one of bytes) expect(one).toEqual(Buffer.from(encodeUnpacked(typeOf(LISTENER), apart)));
    }
  });

  test('allows parts that are shared, empty or absent', () => {
    const a = host('a');
    for (const message of [{ virtualHosts: [a, a] }, { name: 'x', virtualHosts: [] }, { name: 'x' }]) {
      expect(Buffer.from(encodeMessage(ROUTES, message))).toEqual(Buffer.from(encodeUnpacked(typeOf(ROUTES), message)));
    }
  });
});
