// Patches of clusters: which they find, and what a merge keeps.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { patchedCluster } from '../../../../../src/xds/generate/patch/cluster.ts';
import type { UpstreamTlsContext } from '../../../../../src/xds/proto/types.gen.ts';
import { clustersOf } from '../cluster/cluster-scene.ts';
import { entry, envoyFilter, patchScene } from './patch-scene.ts';

const SHOP = 'outbound|8080||shop.prod.svc.cluster.local';
const OUTBOUND = { context: 'SIDECAR_OUTBOUND' };
const TLS = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext';

const found = (...entries: readonly JsonObject[]): ReturnType<typeof clustersOf> =>
  clustersOf(patchScene([envoyFilter('one', entries)]), 'app');
const timeout = { connect_timeout: '0.5s' };
/** Names of the clusters that a merge with this match changes. */
const changedBy = (match: JsonObject): readonly string[] =>
  [...found(entry('CLUSTER', 'MERGE', { alt_stat_name: 'patched' }, match))].flatMap(([name, { message }]) =>
    message.altStatName === 'patched' ? [name] : [],
  );

describe('a patch of clusters', () => {
  it('is work by itself, and more if it acts', () => {
    const workOf = (count: number, name: string): number => {
      const patch = { applyTo: 'CLUSTER', operation: 'MERGE', context: 'ANY', cluster: { name } } as const;
      const given = { ...patch, listener: undefined, route: undefined, value: { altStatName: 'x' } };
      const patches = Array.from({ length: count }, () => ({ ...given }));
      const cluster = { name: 'c', message: { name: 'c' }, problems: [] };
      return patchedCluster.work!(patchedCluster.run({ cluster, of: { patches }, hosts: [] }), {} as never);
    };
    expect(workOf(5_000, 'other')).toBeGreaterThan(8);
    expect(workOf(5_000, 'c')).toBeGreaterThan(300);
    expect(workOf(5, 'c')).toBeLessThan(1);
  });

  it('matches the name alone if one is given', () => {
    expect(changedBy({ cluster: { name: SHOP, portNumber: 1, service: 'x' } })).toEqual([SHOP]);
  });

  it('finds outbound clusters by service and port, inbound ones by the services behind them', () => {
    expect(changedBy({ ...OUTBOUND, cluster: { service: 'shop.prod.svc.cluster.local' } })).toEqual([SHOP]);
    expect(changedBy({ context: 'SIDECAR_INBOUND', cluster: { service: 'app.prod.svc.cluster.local' } })).toEqual([
      'inbound|8000||',
      'inbound|9000||',
    ]);
    expect(changedBy({ cluster: { portNumber: 9000 } })).toEqual([
      'inbound|9000||',
      'outbound|9000||app.prod.svc.cluster.local',
    ]);
  });

  it('finds special clusters without a service only', () => {
    expect(changedBy(OUTBOUND)).toContain('BlackHoleCluster');
    expect(changedBy({ ...OUTBOUND, cluster: { portNumber: 80 } })).toEqual([]);
  });

  it('adds one cluster for any context, and merges nothing into it', () => {
    const clusters = found(
      entry('CLUSTER', 'ADD', { name: 'added', ...timeout }, { cluster: { name: 'none' } }),
      entry('CLUSTER', 'MERGE', { connect_timeout: '9s' }),
    );
    expect(clusters.get('added')?.message.connectTimeout).toEqual({ seconds: 0, nanos: 500_000_000 });
    expect(clusters.get(SHOP)?.message.connectTimeout).toEqual({ seconds: 9, nanos: 0 });
  });

  it('removes, also those of the sidecar itself', () => {
    expect([...found(entry('CLUSTER', 'REMOVE', undefined, { context: 'SIDECAR_INBOUND' })).keys()]).not.toContain(
      'inbound|8000||',
    );
  });
});

describe('a merge into a cluster', () => {
  it('replaces a duration, switches a oneof, appends lists, replaces entries of maps', () => {
    const options = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
    const value = {
      connect_timeout: '0s',
      type: 'STATIC',
      circuit_breakers: { thresholds: [{ max_connections: 7 }] },
      typed_extension_protocol_options: { [options]: { '@type': `type.googleapis.com/${options}` } },
    };
    const before = found().get(SHOP)!.message;
    const after = found(entry('CLUSTER', 'MERGE', value, { cluster: { name: SHOP } })).get(SHOP)!.message;
    expect(after.connectTimeout).toEqual({ seconds: 0, nanos: 0 });
    expect(after.type).toBe(0);
    expect(after.circuitBreakers?.thresholds).toEqual([
      ...(before.circuitBreakers?.thresholds ?? []),
      { maxConnections: { value: 7 } },
    ]);
    expect(Object.values(after.typedExtensionProtocolOptions ?? {})).toEqual([
      { '@type': `type.googleapis.com/${options}` },
    ]);
  });

  it('of a transport socket is merged into the match of that name, and the rest of the patch has no effect', () => {
    const socket = (name: string): JsonObject => ({
      transport_socket: { name, typed_config: { '@type': TLS, sni: 'patched' } },
      alt_stat_name: 'lost',
    });
    const of = (name: string): ReturnType<typeof clustersOf> =>
      found(entry('CLUSTER', 'MERGE', socket(name), { cluster: { name: SHOP } }));
    const before = found().get(SHOP)!.message.transportSocketMatches ?? [];
    const after = of('envoy.transport_sockets.tls').get(SHOP)!.message;
    const contexts = [before, after.transportSocketMatches ?? []].map(
      list => list[0]?.transportSocket?.typedConfig as UpstreamTlsContext | undefined,
    );
    expect(contexts[1]).toEqual({ ...contexts[0], sni: 'patched' });
    expect(after.altStatName).not.toBe('lost');
    expect(of('other').get(SHOP)?.message.transportSocketMatches).toEqual(before);
  });

  it('of a socket of another type leaves the cluster as it is', () => {
    const wrong = { '@type': 'type.googleapis.com/envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer' };
    const value = { transport_socket: { name: 'envoy.transport_sockets.tls', typed_config: wrong } };
    const clusters = found(entry('CLUSTER', 'MERGE', value), entry('CLUSTER', 'MERGE', { alt_stat_name: 'next' }));
    expect(clusters.get(SHOP)?.message).toEqual({ ...found().get(SHOP)!.message, altStatName: 'next' });
  });
});
