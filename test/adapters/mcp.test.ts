// The adapter for another control plane's configuration, against a real gRPC server that misbehaves on demand: the rig
// of law 9, silent kinds, resources that cannot be decoded, and reconnects.

import { readFileSync } from 'node:fs';
import { credentials, Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js';
import protobuf from 'protobufjs';
import protojson from 'protobufjs/ext/protojson.js';
import { afterEach, describe, expect, it } from 'vitest';
import { McpAdapter } from '../../src/adapters/mcp/mcp-adapter.ts';
import { isObject, type JsonObject } from '../../src/core/base/json.ts';
import type { RawObject } from '../../src/core/event.ts';
import { mcpKindOf, mcpKinds, typeUrlOf } from '../../src/core/model/mcp-kinds.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import {
  FoldingSink,
  liveChanges,
  type RigSource,
  relistAfterGap,
  reorderedSources,
  resync,
} from '../../src/testing/adapter-rig.ts';

const bundle = readFileSync(new URL('../../src/core/schema/istio-api.gen.json', import.meta.url), 'utf8');
const root = protobuf.Root.fromJSON(JSON.parse(bundle) as protobuf.INamespace);
const type = (name: string): protobuf.Type => root.lookupType(name);
const bytesOf = (name: string, value: JsonObject): Buffer =>
  Buffer.from(
    type(name)
      .encode(protojson.fromJson(type(name), value))
      .finish(),
  );

interface Request {
  readonly typeUrl: string;
  readonly versionInfo: string;
  readonly responseNonce: string;
  readonly node?: { readonly metadata?: unknown };
}
type Stream = ServerDuplexStream<Request, Buffer>;

class FakePlane {
  readonly objects = new Map<string, RawObject>();
  readonly acks: string[] = [];
  /** Type URLs that are never answered. */
  readonly silent = new Set<string>();
  /** By `namespace/name`: the body's bytes, in place of the object's. */
  readonly broken = new Map<string, Buffer>();
  streams = 0;
  #server = new Server();
  #open = new Map<Stream, Set<string>>();
  #version = 0;

  async listen(port = 0): Promise<number> {
    this.#server = new Server();
    this.#server.addService(
      {
        ads: {
          path: '/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources',
          requestStream: true,
          responseStream: true,
          requestDeserialize: bytes => type('discovery.DiscoveryRequest').decode(bytes) as unknown as Request,
          requestSerialize: () => Buffer.alloc(0),
          responseSerialize: (bytes: Buffer) => bytes,
          responseDeserialize: bytes => bytes,
        },
      },
      { ads: (stream: Stream) => this.#serve(stream) },
    );
    return new Promise((resolve, reject) => {
      this.#server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      );
    });
  }

  async close(): Promise<void> {
    this.#server.forceShutdown();
    this.#open.clear();
  }

  changed(): void {
    for (const [stream, urls] of this.#open) for (const url of urls) this.#answer(stream, url);
  }

  #serve(stream: Stream): void {
    this.streams++;
    const asked = new Set<string>();
    this.#open.set(stream, asked);
    stream.on('data', ({ typeUrl, responseNonce }: Request) => {
      if (responseNonce !== '') this.acks.push(typeUrl);
      if (responseNonce !== '' || this.silent.has(typeUrl)) return;
      asked.add(typeUrl);
      this.#answer(stream, typeUrl);
    });
    stream.on('error', () => undefined);
    stream.on('close', () => this.#open.delete(stream));
  }

  #answer(stream: Stream, typeUrl: string): void {
    const kind = mcpKindOf(typeUrl);
    if (kind === undefined) return;
    const resources = [...this.objects.values()]
      .filter(object => object.kind === kind.kind)
      .map(object => this.#resource(kind.message, object));
    const response = { typeUrl, versionInfo: `${++this.#version}`, nonce: `n${this.#version}`, resources };
    stream.write(Buffer.from(type('discovery.DiscoveryResponse').encode(response).finish()));
  }

  #resource(message: string, { metadata, spec }: RawObject) {
    const { name, namespace, labels, creationTimestamp } = isObject(metadata) ? metadata : {};
    const full = `${namespace}/${name}`;
    const value = this.broken.get(full) ?? bytesOf(message, isObject(spec) ? spec : {});
    const created = creationTimestamp === undefined ? {} : { createTime: creationTimestamp };
    const meta = { name: full, labels: labels ?? {}, ...created };
    const envelope = type('istio.mcp.v1alpha1.Resource').encode({
      metadata: protojson.fromJson(type('istio.mcp.v1alpha1.Metadata'), meta as JsonObject),
      body: { typeUrl: `type.googleapis.com/${message}`, value },
    });
    return { typeUrl: 'type.googleapis.com/istio.mcp.v1alpha1.Resource', value: envelope.finish() };
  }
}

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Fifty times as fast as the process: readiness waits 30 s for silent kinds. */
const chance = {
  now: systemClock.now,
  random: () => 0,
  after: (ms: number, run: () => void) => systemClock.after(ms / 50, run),
};

async function scene() {
  const plane = new FakePlane();
  const port = await plane.listen();
  closing.push(() => plane.close());
  const logged: string[] = [];
  const open = (): McpAdapter =>
    new McpAdapter({
      address: `127.0.0.1:${port}`,
      credentials: credentials.createInsecure(),
      channel: { 'grpc.initial_reconnect_backoff_ms': 20, 'grpc.max_reconnect_backoff_ms': 50 },
      namespace: 'istio-system',
      podName: 'periplus-0',
      revision: '',
      chance,
      log: (level, message) => void logged.push(`${level} ${message}`),
    });
  return { plane, port, logged, open, source: `mcp/127.0.0.1:${port}` };
}

/** A Service of the rig becomes a ServiceEntry, which travels. */
function travelling(object: RawObject): RawObject {
  if (object.kind !== 'Service') return object;
  const { spec, metadata } = object as { spec: { ports: readonly { port: number }[] }; metadata: JsonObject };
  const ports = [{ number: spec.ports[0]?.port ?? 0, name: 'http', protocol: 'HTTP' }];
  const host = `${String(metadata.name)}.example.com`;
  const entry = { hosts: [host], ports, location: 'MESH_INTERNAL', resolution: 'STATIC' };
  return { apiVersion: 'networking.istio.io/v1', kind: 'ServiceEntry', metadata, spec: entry };
}

async function rigSource(): Promise<{ readonly source: RigSource; readonly name: string }> {
  const { plane, open, source: name } = await scene();
  const source: RigSource = {
    set: async (key, object) => {
      if (object === undefined) plane.objects.delete(key);
      else plane.objects.set(key, travelling(object));
      plane.changed();
    },
    open,
    held: async () => [...plane.objects.values()],
    seen: raw => raw,
  };
  return { source, name };
}

describe('law 9: the adapter of another control plane passes the rig', () => {
  it.each([false, true])('records adds, updates and deletes (each event sent twice: %s)', async twice => {
    const { source, name } = await rigSource();
    expect(await liveChanges(source, name, twice)).toEqual([]);
  });
  it('records the differences when it lists after a gap', async () => {
    const { source, name } = await rigSource();
    expect(await relistAfterGap(source, name)).toEqual([]);
    expect(await resync(source, name)).toEqual([]);
  });
  it('gives the same result in any order of servers', async () => {
    const [one, other] = [await rigSource(), await rigSource()];
    expect(await reorderedSources(one.source, other.source, [one.name, other.name])).toEqual([]);
  });
});

const route = (name: string, timeout: string): RawObject => ({
  apiVersion: 'networking.istio.io/v1',
  kind: 'VirtualService',
  metadata: { name, namespace: 'shop', creationTimestamp: '2026-01-02T03:04:05Z' },
  spec: { hosts: [name], http: [{ timeout, route: [{ destination: { host: name } }] }] },
});
const names = (sink: FoldingSink): readonly string[] => [...sink.state.objects.VirtualService.keys()].sort();

describe('the adapter of another control plane', () => {
  it('takes objects as they were written, and acknowledges each answer', async () => {
    const { plane, open, source } = await scene();
    plane.objects.set('a', route('a', '5s'));
    const sink = new FoldingSink(source);
    const adapter = open();
    closing.push(() => adapter.stop());
    await adapter.start(sink);
    expect([...sink.state.records.values()].map(({ raw }) => raw)).toEqual([route('a', '5s')]);
    await expect.poll(() => new Set(plane.acks).size).toBe(mcpKinds.length);
    expect(sink.facts.at(-1)).toEqual({ kind: 'Synced' });
  });

  it('keeps an object that cannot be decoded as it was, with the reason', async () => {
    const { plane, open, source } = await scene();
    plane.objects.set('a', route('a', '5s'));
    plane.objects.set('b', route('b', '5s'));
    const sink = new FoldingSink(source);
    const adapter = open();
    closing.push(() => adapter.stop());
    await adapter.start(sink);
    plane.broken.set('shop/a', Buffer.from([0x0a, 0xff]));
    plane.objects.delete('b');
    plane.changed();
    await expect.poll(() => names(sink)).toEqual(['shop/a']);
    const malformed = [...sink.state.malformed.values()].flatMap(({ reasons }) => reasons);
    expect(malformed).toEqual([expect.stringContaining('shop/a: the body cannot be decoded')]);
    plane.broken.clear();
    plane.changed();
    await expect.poll(() => [...sink.state.malformed.values()].flatMap(({ reasons }) => reasons)).toEqual([]);
  });

  it('keeps everything while the server is away, and takes the differences afterwards', async () => {
    const { plane, port, open, source } = await scene();
    plane.objects.set('a', route('a', '5s'));
    const sink = new FoldingSink(source);
    const adapter = open();
    closing.push(() => adapter.stop());
    await adapter.start(sink);
    await plane.close();
    await expect.poll(() => adapter.status().unreadable.map(({ what }) => what)).toEqual([source]);
    expect(names(sink)).toEqual(['shop/a']);
    plane.objects.clear();
    plane.objects.set('c', route('c', '5s'));
    await plane.listen(port);
    await expect.poll(() => names(sink), { timeout: 10_000 }).toEqual(['shop/c']);
    expect(adapter.status().unreadable).toEqual([]);
  });

  it('is ready without a kind that the server is silent about, and says so', async () => {
    const { plane, open, source } = await scene();
    const silent = mcpKinds.find(({ kind }) => kind === 'WasmPlugin')!;
    plane.silent.add(typeUrlOf(silent));
    const adapter = open();
    closing.push(() => adapter.stop());
    const starting = adapter.start(new FoldingSink(source));
    await expect.poll(() => adapter.status().waiting).toEqual(['WasmPlugin']);
    await starting;
    expect(adapter.status()).toMatchObject({ synced: true, unreadable: [{ what: `${source}/WasmPlugin` }] });
  });
});
