// Patches of listeners, their chains and their filters: where they act, and what a merge does.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { FilterChain } from '../../../../../src/xds/proto/types.gen.ts';
import { filterNames, hcm, tcpProxy } from '../listener/scene.ts';
import { entry, envoyFilter, HCM, httpFilter, LUA, luaFilter, patchScene } from './patch-scene.ts';

const TYPE = 'type.googleapis.com/';
const one = (...entries: readonly JsonObject[]): readonly JsonObject[] => [envoyFilter('one', entries)];
const SHOP = '0.0.0.0_8080';
const chain = (name: string, filters: readonly JsonObject[] = [{ name: 'x' }]): JsonObject => ({ name, filters });
const tls = (sni: string): JsonObject => ({
  name: 'envoy.transport_sockets.tls',
  typed_config: {
    '@type': `${TYPE}envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext`,
    ocsp_staple_policy: sni,
  },
});

function names(chains: readonly FilterChain[] | undefined): readonly (string | undefined)[] {
  return (chains ?? []).map(({ name }) => name);
}

describe('a patch of a listener', () => {
  it('merges what protobuf calls set: a wrapped false does not override', () => {
    const scene = patchScene(
      one(
        entry(
          'LISTENER',
          'MERGE',
          { bind_to_port: true, transparent: false, use_original_dst: false },
          {
            context: 'SIDECAR_OUTBOUND',
            listener: { name: SHOP },
          },
        ),
      ),
    );
    const before = patchScene([]).listener('app', SHOP);
    const after = scene.listener('app', SHOP);
    expect(before.bindToPort).toEqual({ value: false });
    expect(after.bindToPort).toEqual({ value: true });
    expect(scene.listener('app', 'virtualOutbound').bindToPort).toEqual(
      patchScene([]).listener('app', 'virtualOutbound').bindToPort,
    );
  });

  it('removes a virtual listener by name, and others stay', () => {
    const scene = patchScene(one(entry('LISTENER', 'REMOVE', undefined, { listener: { name: 'virtualOutbound' } })));
    expect(scene.names('app')).not.toContain('virtualOutbound');
    expect(scene.names('app')).toContain('virtualInbound');
  });

  it('adds one listener for any context, whatever the match', () => {
    const value = { name: 'added', address: { pipe: { path: '/x' } } };
    const scene = patchScene(one(entry('LISTENER', 'ADD', value, { listener: { name: 'none' } })));
    expect(scene.names('app').filter(name => name === 'added')).toHaveLength(1);
  });

  it('under a name that is taken is left out', () => {
    const value = { name: 'virtualInbound', address: { pipe: { path: '/x' } } };
    const scene = patchScene(one(entry('LISTENER', 'ADD', value)));
    expect(scene.names('app').filter(name => name === 'virtualInbound')).toHaveLength(1);
    expect(scene.listener('app', 'virtualInbound').address?.pipe).toBeUndefined();
  });
});

describe('a patch of filter chains', () => {
  it('removes a named chain, and the default chain by its name', () => {
    const match = { listener: { name: SHOP, filterChain: { name: 'PassthroughFilterChain' } } };
    const virtual = { listener: { name: 'virtualOutbound', filterChain: { name: 'virtualOutbound-trafficloop' } } };
    const removed = [match, virtual].map(of => entry('FILTER_CHAIN', 'REMOVE', undefined, of));
    const [before, scene] = [patchScene([]), patchScene(one(...removed))];
    expect(before.listener('app', SHOP).defaultFilterChain?.name).toBe('PassthroughFilterChain');
    expect(scene.listener('app', SHOP)).not.toHaveProperty('defaultFilterChain');
    const rest = before.chains('app', 'virtualOutbound').filter(({ name }) => name !== 'virtualOutbound-trafficloop');
    expect(names(scene.chains('app', 'virtualOutbound'))).toEqual(names(rest));
  });

  it('adds to virtual listeners of the context whatever the port', () => {
    const match = { context: 'SIDECAR_OUTBOUND', listener: { portNumber: 8080 } };
    const scene = patchScene(one(entry('FILTER_CHAIN', 'ADD', chain('added'), match)));
    expect(names(scene.chains('app', 'virtualOutbound'))).toContain('added');
    expect(names(scene.chains('app', SHOP))).toContain('added');
    expect(names(scene.chains('app', 'virtualInbound'))).not.toContain('added');
  });

  it('drops an added chain without filters', () => {
    const scene = patchScene(one(entry('FILTER_CHAIN', 'ADD', { name: 'empty' }, { context: 'SIDECAR_OUTBOUND' })));
    expect(names(scene.chains('app', SHOP))).not.toContain('empty');
  });

  it('merges a transport socket of the same name, and then nothing else', () => {
    const match = {
      context: 'SIDECAR_INBOUND',
      listener: { portNumber: 8000, filterChain: { transportProtocol: 'tls' } },
    };
    const value = { name: 'lost', transport_socket: tls('MUST_STAPLE') };
    const chains = patchScene(one(entry('FILTER_CHAIN', 'MERGE', value, match))).chains('app', 'virtualInbound');
    const ofPort = chains.filter(({ filterChainMatch }) => filterChainMatch?.destinationPort?.value === 8000);
    const secured = ofPort.filter(({ transportSocket }) => transportSocket !== undefined);
    expect(secured.length).toBeGreaterThan(0);
    for (const { name, transportSocket } of secured) {
      expect(name).not.toBe('lost');
      expect(transportSocket?.typedConfig).toMatchObject({
        ocspStaplePolicy: 2,
        requireClientCertificate: { value: true },
      });
    }
  });
});

describe('a patch of network filters', () => {
  const filter = (name: string, port = 9000): JsonObject => ({
    context: 'SIDECAR_INBOUND',
    listener: { portNumber: port, filterChain: { filter: { name } } },
  });
  const inbound = (entries: readonly JsonObject[], port: number): FilterChain =>
    patchScene(one(...entries))
      .chains('app', 'virtualInbound')
      .find(({ filterChainMatch }) => filterChainMatch?.destinationPort?.value === port)!;
  const TCP = 'envoy.filters.network.tcp_proxy';

  it('finds the chains of a port of a virtual listener', () => {
    const entries = [entry('NETWORK_FILTER', 'INSERT_BEFORE', { name: 'before' }, filter(TCP))];
    expect(filterNames(inbound(entries, 9000)).slice(-2)).toEqual(['before', TCP]);
    expect(filterNames(inbound(entries, 8000))).not.toContain('before');
  });

  it('replaces the first and removes every match; without a name it does neither', () => {
    const none = { context: 'SIDECAR_INBOUND', listener: { portNumber: 9000 } };
    expect(filterNames(inbound([entry('NETWORK_FILTER', 'REPLACE', { name: 'y' }, filter(TCP))], 9000))).toContain('y');
    expect(filterNames(inbound([entry('NETWORK_FILTER', 'REMOVE', undefined, filter(TCP))], 9000))).not.toContain(TCP);
    expect(filterNames(inbound([entry('NETWORK_FILTER', 'REMOVE', undefined, none)], 9000))).toContain(TCP);
    expect(filterNames(inbound([entry('NETWORK_FILTER', 'REPLACE', { name: 'y' }, none)], 9000))).not.toContain('y');
  });

  it('merges into a TCP proxy, and leaves one of another type alone', () => {
    const config = (type: string): JsonObject => ({
      name: TCP,
      typed_config: { '@type': `${TYPE}${type}`, max_connect_attempts: 3 },
    });
    const right = config('envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy');
    expect(tcpProxy(inbound([entry('NETWORK_FILTER', 'MERGE', right, filter(TCP))], 9000))).toMatchObject({
      maxConnectAttempts: { value: 3 },
      cluster: 'inbound|9000||',
    });
    const wrong = config('envoy.extensions.filters.network.redis_proxy.v3.RedisProxy');
    expect(tcpProxy(inbound([entry('NETWORK_FILTER', 'MERGE', wrong, filter(TCP))], 9000)).cluster).toBe(
      'inbound|9000||',
    );
  });

  it('renames a connection manager, which patches of HTTP filters then do not find', () => {
    const rename = entry('NETWORK_FILTER', 'MERGE', { name: 'other' }, filter(HCM, 8000));
    const add = entry('HTTP_FILTER', 'ADD', luaFilter('lua'), { context: 'SIDECAR_INBOUND' });
    const renamed = inbound([rename, add], 8000).filters?.find(({ name }) => name === 'other');
    expect(JSON.stringify(renamed)).not.toContain(LUA);
  });
});

describe('a patch of HTTP filters', () => {
  const filters = (...entries: readonly JsonObject[]): readonly (string | undefined)[] =>
    (hcm(patchScene(one(...entries)).chains('app', SHOP)[0]).httpFilters ?? []).map(({ name }) => name);
  const ROUTER = 'envoy.filters.http.router';

  it('inserts beside a filter that is there', () => {
    expect(filters(entry('HTTP_FILTER', 'INSERT_BEFORE', luaFilter('l'), httpFilter(ROUTER))).slice(-2)).toEqual([
      'l',
      ROUTER,
    ]);
    expect(filters(entry('HTTP_FILTER', 'INSERT_AFTER', luaFilter('l'), httpFilter('none')))).not.toContain('l');
    expect(filters(entry('HTTP_FILTER', 'INSERT_BEFORE', luaFilter('l'), { context: 'SIDECAR_OUTBOUND' }))[0]).toBe(
      'l',
    );
    expect(filters(entry('HTTP_FILTER', 'INSERT_AFTER', luaFilter('l'), { context: 'SIDECAR_OUTBOUND' })).at(-1)).toBe(
      'l',
    );
  });

  it('does not find a filter under an older name', () => {
    const match = { listener: { filterChain: { filter: { name: 'envoy.http_connection_manager' } } } };
    expect(filters(entry('HTTP_FILTER', 'ADD', luaFilter('l'), match))).not.toContain('l');
  });

  it('merges nothing into a filter that gets its configuration elsewhere', () => {
    const discovered = { name: 'd', config_discovery: { config_source: { ads: {} }, type_urls: [LUA] } };
    const list = filters(
      entry('HTTP_FILTER', 'INSERT_FIRST', discovered, { context: 'SIDECAR_OUTBOUND' }),
      entry('HTTP_FILTER', 'MERGE', luaFilter('renamed'), httpFilter('d')),
    );
    expect(list[0]).toBe('d');
  });
});

describe('a patch of listener filters', () => {
  const filters = (...entries: readonly JsonObject[]): readonly (string | undefined)[] =>
    (patchScene(one(...entries)).listener('app', 'virtualInbound').listenerFilters ?? []).map(({ name }) => name);
  const match = (listenerFilter: string): JsonObject => ({ listener: { name: 'virtualInbound', listenerFilter } });

  it('inserts, replaces and removes by name', () => {
    const before = filters();
    const [first] = before;
    expect(filters(entry('LISTENER_FILTER', 'INSERT_AFTER', { name: 'x' }, match(first!)))).toEqual([
      first,
      'x',
      ...before.slice(1),
    ]);
    expect(filters(entry('LISTENER_FILTER', 'REPLACE', { name: 'x' }, match(first!)))).toEqual([
      'x',
      ...before.slice(1),
    ]);
    expect(filters(entry('LISTENER_FILTER', 'REMOVE', undefined, match(first!)))).toEqual(before.slice(1));
    expect(filters(entry('LISTENER_FILTER', 'REMOVE', undefined, { listener: { name: 'virtualInbound' } }))).toEqual(
      before,
    );
  });

  it('merges into the named filter alone', () => {
    const name = 'envoy.filters.listener.tls_inspector';
    const type = `${TYPE}envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector`;
    const value = { typed_config: { '@type': type, enable_ja3_fingerprinting: true } };
    const listener = patchScene(one(entry('LISTENER_FILTER', 'MERGE', value, match(name)))).listener(
      'app',
      'virtualInbound',
    );
    const before = patchScene([]).listener('app', 'virtualInbound').listenerFilters ?? [];
    expect(listener.listenerFilters).toEqual(
      before.map(filter =>
        filter.name === name
          ? { ...filter, typedConfig: { ...filter.typedConfig, enableJa3Fingerprinting: { value: true } } }
          : filter,
      ),
    );
  });
});
