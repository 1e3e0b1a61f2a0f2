// One cluster and its patches: which of them find it, what a merge of a transport socket keeps, under which name it ends.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { EnvoyFilter_ClusterMatch } from '../../../../../src/core/schema/istio-types.gen.ts';
import type { EnvoyPatch } from '../../../../../src/core/select/patch/envoy-patch.ts';
import { addedCluster, patchedCluster } from '../../../../../src/xds/generate/patch/cluster.ts';
import type { Cluster, TransportSocket, UpstreamTlsContext } from '../../../../../src/xds/proto/types.gen.ts';
import { actedOf, patchOf } from './one-patch.ts';

const TLS = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext';
const RAW = 'type.googleapis.com/envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer';

const resource = (message: Cluster) => ({ name: message.name ?? '', message, problems: [] });
function patched(message: Cluster, patches: readonly EnvoyPatch[], hosts: readonly string[] = []) {
  const cluster = resource(message);
  const outcome = patchedCluster.run({ cluster, of: { patches }, hosts });
  return { ...outcome, isSame: outcome.result === cluster, places: actedOf(outcome, patches) };
}
const merge = (value: JsonObject, cluster?: EnvoyFilter_ClusterMatch): EnvoyPatch =>
  patchOf('CLUSTER', 'MERGE', value, { cluster });

describe('a cluster is found', () => {
  const OUT = 'outbound|80|v1|a.com';
  const IN = 'inbound|8000||';
  it.each<[string, EnvoyFilter_ClusterMatch | undefined, boolean]>([
    [OUT, undefined, true],
    [OUT, {}, true],
    [OUT, { name: OUT }, true],
    [OUT, { name: 'outbound|80||a.com' }, false],
    [OUT, { name: OUT, subset: 'v2', service: 'b.com', portNumber: 1 }, true],
    [OUT, { subset: 'v1' }, true],
    [OUT, { subset: 'v2' }, false],
    [OUT, { service: 'a.com' }, true],
    [OUT, { service: 'b.com' }, false],
    [OUT, { portNumber: 80 }, true],
    [OUT, { portNumber: 81 }, false],
    [OUT, { subset: 'v1', service: 'a.com', portNumber: 80 }, true],
    [OUT, { subset: 'v1', service: 'a.com', portNumber: 81 }, false],
    [OUT, { subset: 'v1', service: 'b.com', portNumber: 80 }, false],
    [OUT, { service: 'one.test' }, false],
    [IN, { service: 'one.test' }, true],
    [IN, { service: 'two.test' }, true],
    [IN, { service: 'a.com' }, false],
    [IN, { portNumber: 8000 }, true],
    ['BlackHoleCluster', {}, true],
    ['BlackHoleCluster', { service: 'one.test' }, false],
    ['BlackHoleCluster', { portNumber: 80 }, false],
    ['BlackHoleCluster', { name: 'BlackHoleCluster' }, true],
  ])('%s by %j: %s', (name, match, expected) => {
    const { result, places } = patched({ name }, [merge({ alt_stat_name: 'x' }, match)], ['one.test', 'two.test']);
    expect(result?.message.altStatName).toBe(expected ? 'x' : undefined);
    expect(places).toEqual(expected ? [0] : []);
  });

  it('by a service of its own name, if it is inbound and no service is known', () => {
    const on = (hosts: readonly string[]) =>
      patched({ name: 'inbound|80||a.com' }, [merge({ alt_stat_name: 'x' }, { service: 'a.com' })], hosts).places;
    expect(on([])).toEqual([0]);
    expect(on(['b.com'])).toEqual([]);
  });

  it('by the name that an earlier patch gave', () => {
    const patches = [
      merge({ name: 'outbound|81||b.com' }, { portNumber: 80 }),
      merge({ alt_stat_name: 'lost' }, { service: 'a.com' }),
      merge({ alt_stat_name: 'found' }, { service: 'b.com', portNumber: 81 }),
    ];
    const { result, places } = patched({ name: 'outbound|80||a.com' }, patches);
    expect(result).toEqual(resource({ name: 'outbound|81||b.com', altStatName: 'found' }));
    expect(places).toEqual([0, 2]);
  });
});

it('a cluster that is removed meets no further patch', () => {
  const remove = patchOf('CLUSTER', 'REMOVE');
  const { result, places } = patched({ name: 'a' }, [
    merge({ alt_stat_name: 'x' }),
    remove,
    merge({ alt_stat_name: 'y' }),
  ]);
  expect(result).toBeUndefined();
  expect(places).toEqual([0, 1]);
});

it('a cluster that no patch changes stays the identical resource', () => {
  expect(patched({ name: 'a' }, [merge({ alt_stat_name: 'x' }, { name: 'b' })]).isSame).toBe(true);
  expect(patched({ name: 'a', altStatName: 'x' }, [merge({ alt_stat_name: 'x' })]).isSame).toBe(true);
});

it('an added cluster is what the patch says', () => {
  expect(addedCluster.run({ patch: patchOf('CLUSTER', 'ADD', { name: 'a' }) })).toEqual(resource({ name: 'a' }));
  expect(addedCluster.run({ patch: patchOf('CLUSTER', 'ADD', {}) }).name).toBe('');
});

describe('a merge with a transport socket', () => {
  const context = (sni: string): UpstreamTlsContext & { '@type': typeof TLS } => ({ '@type': TLS, sni });
  const own = (name: string | undefined, sni = 'own'): TransportSocket => ({
    ...(name !== undefined && { name }),
    typedConfig: context(sni),
  });
  const socket = (
    name: string | undefined,
    config: JsonObject | undefined = { '@type': TLS, sni: 'new' },
  ): EnvoyPatch =>
    merge({
      alt_stat_name: 'lost',
      transport_socket: { ...(name !== undefined && { name }), ...(config && { typed_config: config }) },
    });

  it('replaces one of another name and one that is missing, and the rest of the patch has no effect', () => {
    for (const before of [{}, { transportSocket: own('b') }, { transportSocket: own(undefined) }]) {
      const { result, places } = patched({ name: 'a', ...before }, [socket('tls')]);
      expect(result?.message).toEqual({ name: 'a', transportSocket: own('tls', 'new') });
      expect(places).toEqual([0]);
    }
  });

  it('is merged into one of its name, and the rest of the patch has no effect', () => {
    for (const name of ['tls', undefined]) {
      const { result, places } = patched({ name: 'a', transportSocket: own(name) }, [socket(name)]);
      expect(result?.message).toEqual({ name: 'a', transportSocket: own(name, 'new') });
      expect(places).toEqual([0]);
    }
  });

  it('does nothing if either has no configuration, or it changes nothing', () => {
    for (const before of [{ name: 'tls' }, own('tls')]) {
      const { isSame, places, failed } = patched({ name: 'a', transportSocket: before }, [
        merge({ transport_socket: { name: 'tls' }, alt_stat_name: 'lost' }),
      ]);
      expect([isSame, places, failed]).toEqual([true, [], []]);
    }
    expect(patched({ name: 'a', transportSocket: { name: 'tls' } }, [socket('tls')]).isSame).toBe(true);
    expect(patched({ name: 'a', transportSocket: own('tls', 'new') }, [socket('tls')]).isSame).toBe(true);
  });

  it('fails if the types differ, with both named', () => {
    const patches = [socket('tls', { '@type': RAW })];
    const { isSame, places, failed } = patched({ name: 'a', transportSocket: own('tls') }, patches);
    expect([isSame, places]).toEqual([true, []]);
    expect(failed).toEqual([
      {
        patch: patches[0],
        message:
          'envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer cannot be merged into ' +
          'envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext',
      },
    ]);
  });

  it('changes the first choice of its name alone, where endpoints choose', () => {
    const choice = (name: string, transportSocket?: TransportSocket) => ({
      name,
      ...(transportSocket && { transportSocket }),
    });
    const choices = [choice('none'), choice('raw', own('raw')), choice('one', own('tls')), choice('two', own('tls'))];
    const before = { name: 'a', transportSocketMatches: choices };
    const { result, places } = patched(before, [socket('tls')]);
    expect(result?.message).toEqual({
      name: 'a',
      transportSocketMatches: [choices[0], choices[1], choice('one', own('tls', 'new')), choices[3]],
    });
    expect(places).toEqual([0]);
    for (const patch of [socket('other'), socket(undefined), merge({ transport_socket: { name: 'tls' } })]) {
      expect(patched(before, [patch])).toMatchObject({ isSame: true, places: [] });
    }
    const unnamed = { name: 'a', transportSocketMatches: [choice('x', own(undefined))] };
    expect(patched(unnamed, [socket(undefined)]).places).toEqual([0]);
  });
});
