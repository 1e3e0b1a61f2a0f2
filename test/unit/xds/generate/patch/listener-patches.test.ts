// One listener and its patches: which of them find it, and what becomes of it and its listener filters.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { EnvoyFilter_ListenerMatch } from '../../../../../src/core/schema/istio-types.gen.ts';
import { addedListener } from '../../../../../src/xds/generate/patch/listener.ts';
import type { ListenerFilter } from '../../../../../src/xds/proto/types.gen.ts';
import { at, chain, INSPECTOR, patch, patched, resource, TCP } from './one-listener.ts';

describe('a listener is found', () => {
  it.each<[string, number, EnvoyFilter_ListenerMatch | undefined, boolean, boolean]>([
    ['a', 80, undefined, true, true],
    ['a', 80, {}, true, true],
    ['a', 80, { name: 'a' }, true, true],
    ['a', 80, { name: 'b' }, false, false],
    ['a', 80, { portNumber: 80 }, true, true],
    ['a', 80, { portNumber: 81 }, false, false],
    ['a', 80, { name: 'a', portNumber: 81 }, false, false],
    ['virtualInbound', 15_006, { portNumber: 15_006 }, true, true],
    ['virtualInbound', 15_006, { portNumber: 80 }, false, true],
    ['virtualOutbound', 15_001, { portNumber: 80 }, false, true],
    ['virtualOutbound', 15_001, { name: 'virtualInbound' }, false, false],
  ])('%s on port %d by %j: %s, and its listener filters: %s', (name, port, match, own, filters) => {
    const patches = [
      patch('LISTENER', 'MERGE', { stat_prefix: 's' }, match),
      patch('LISTENER_FILTER', 'ADD', { name: 'x' }, match),
    ];
    const { message } = patched({ name, address: at(port) }, patches);
    expect(message?.statPrefix).toBe(own ? 's' : undefined);
    expect(message?.listenerFilters).toEqual(filters ? [{ name: 'x' }] : undefined);
  });

  it('by no port, if it has none', () => {
    const match = { portNumber: 80 };
    for (const address of [undefined, { pipe: { path: '/x' } }]) {
      expect(patched({ name: 'a', ...(address && { address }) }, [patch('LISTENER', 'REMOVE', {}, match)]).isSame).toBe(
        true,
      );
    }
  });
});

describe('patches of a listener', () => {
  it('act in order: later ones find the name that was merged, and end with a removal', () => {
    const patches = [
      patch('LISTENER', 'ADD', { name: 'ignored' }),
      patch('LISTENER', 'MERGE', { name: 'b' }, { name: 'a' }),
      patch('LISTENER', 'MERGE', { stat_prefix: 'lost' }, { name: 'a' }),
      patch('LISTENER_FILTER', 'ADD', { name: 'x' }, { name: 'b' }),
    ];
    const { result, places } = patched({ name: 'a' }, patches);
    expect(result).toEqual({ name: 'b', message: { name: 'b', listenerFilters: [{ name: 'x' }] }, problems: [] });
    expect(places).toEqual([1, 3]);
    const removed = patched({ name: 'a' }, [...patches, patch('LISTENER', 'REMOVE', {}, { name: 'b' })]);
    expect([removed.result, removed.places]).toEqual([undefined, [1, 4]]);
  });
  it('that change nothing leave the identical resource', () => {
    const patches = [
      patch('LISTENER', 'REMOVE', {}, { name: 'b' }),
      patch('LISTENER_FILTER', 'REMOVE', {}, { listenerFilter: 'x' }),
      patch('FILTER_CHAIN', 'REMOVE', {}, { filterChain: { name: 'x' } }),
      patch('NETWORK_FILTER', 'REMOVE', {}, { filterChain: { filter: { name: 'x' } } }),
      patch('HTTP_FILTER', 'ADD', { name: 'x' }),
    ];
    expect(patched({ name: 'a', filterChains: [chain('c')], defaultFilterChain: chain('d') }, patches)).toMatchObject({
      isSame: true,
      places: [],
    });
  });
  it('add one as it is', () => {
    expect(addedListener.run({ patch: patch('LISTENER', 'ADD', { name: 'a' }) })).toEqual(resource({ name: 'a' }));
    expect(addedListener.run({ patch: patch('LISTENER', 'ADD', {}) }).name).toBe('');
  });
});

describe('a merge into a listener filter', () => {
  const inspector = (name: string, rest: object = {}) =>
    ({ name, typedConfig: { '@type': INSPECTOR, ...rest } }) as ListenerFilter;
  const ja3 = { enableJa3Fingerprinting: { value: true } };
  const merge = (value: JsonObject, listenerFilter?: string) =>
    patch('LISTENER_FILTER', 'MERGE', value, listenerFilter === undefined ? {} : { listenerFilter });
  const value = { name: 'lost', typed_config: { '@type': INSPECTOR, enable_ja3_fingerprinting: true } };
  const before = { name: 'a', listenerFilters: [inspector('x'), inspector('y'), { name: 'bare' }] };

  it('changes the configuration of the named one, and no name', () => {
    const { message, places } = patched(before, [merge(value, 'y')]);
    expect(message?.listenerFilters).toEqual([inspector('x'), inspector('y', ja3), { name: 'bare' }]);
    expect(places).toEqual([0]);
  });
  it('does nothing without a name, without a configuration on either side, and where nothing changes', () => {
    expect(patched(before, [merge(value)])).toMatchObject({ isSame: true, places: [] });
    expect(patched(before, [merge(value, 'none')])).toMatchObject({ isSame: true, places: [] });
    expect(patched(before, [merge(value, 'bare')])).toMatchObject({ isSame: true, places: [] });
    expect(patched(before, [merge({ name: 'z' }, 'x')])).toMatchObject({ isSame: true, places: [] });
    expect(patched({ name: 'a', listenerFilters: [inspector('x', ja3)] }, [merge(value, 'x')])).toMatchObject({
      isSame: true,
      places: [0],
    });
  });
  it('of another type fails', () => {
    const { isSame, places, failed } = patched(before, [merge({ typed_config: { '@type': TCP } }, 'x')]);
    expect([isSame, places]).toEqual([true, []]);
    expect(failed.map(({ message }) => message)).toEqual([
      'envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy cannot be merged into ' +
        'envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector',
    ]);
  });
});

describe('thousands of additions to one listener', () => {
  /** With a copy of the list for each of them: half a minute. */
  const CPU_MS_MAX = 3_000;

  it.each(['INSERT_FIRST', 'ADD'] as const)(
    'cost what follows their number by %s, and leave its own list',
    operation => {
      const own = [{ name: 'own' }];
      const patches = Array.from({ length: 40_000 }, (_, i) => patch('LISTENER_FILTER', operation, { name: `f${i}` }));
      const before = process.cpuUsage();
      const { message } = patched({ name: 'l', listenerFilters: own, filterChains: [] }, patches);
      const { user, system } = process.cpuUsage(before);
      expect(message?.listenerFilters).toHaveLength(patches.length + 1);
      expect(message?.listenerFilters?.[0]?.name).toBe(operation === 'ADD' ? 'own' : 'f39999');
      expect(own).toEqual([{ name: 'own' }]);
      expect((user + system) / 1_000).toBeLessThan(CPU_MS_MAX);
    },
  );
});
