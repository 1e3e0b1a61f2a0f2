// The filter chains of one listener and their patches: which of them find a chain, and what becomes of it.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type {
  EnvoyFilter_ListenerMatch,
  EnvoyFilter_ListenerMatch_FilterChainMatch,
} from '../../../../../src/core/schema/istio-types.gen.ts';
import type { EnvoyPatch } from '../../../../../src/core/select/patch/envoy-patch.ts';
import type { FilterChain } from '../../../../../src/xds/proto/types.gen.ts';
import { at, chain, patch, patched, TCP, TLS, tcp } from './one-listener.ts';

describe('a chain is found', () => {
  const full = {
    destinationPort: { value: 80 },
    serverNames: ['a.com', 'b.com'],
    transportProtocol: 'tls',
    applicationProtocols: ['h2', 'http/1.1'],
  };
  it.each<[EnvoyFilter_ListenerMatch_FilterChainMatch | undefined, boolean, boolean]>([
    [undefined, true, true],
    [{}, true, true],
    [{ name: 'c' }, true, true],
    [{ name: 'd' }, false, false],
    [{ sni: 'b.com' }, true, false],
    [{ sni: 'c.com' }, false, false],
    [{ transportProtocol: 'tls' }, true, false],
    [{ transportProtocol: 'raw_buffer' }, false, false],
    [{ applicationProtocols: 'h2' }, true, false],
    [{ applicationProtocols: 'http/1.1,h2' }, true, false],
    [{ applicationProtocols: 'h2,h3' }, false, false],
    [{ applicationProtocols: 'h2, http/1.1' }, false, false],
    [{ destinationPort: 80 }, true, false],
    [{ destinationPort: 81 }, false, false],
    [
      { name: 'c', sni: 'a.com', transportProtocol: 'tls', applicationProtocols: 'h2', destinationPort: 80 },
      true,
      false,
    ],
    [
      { name: 'c', sni: 'a.com', transportProtocol: 'tls', applicationProtocols: 'h2', destinationPort: 81 },
      false,
      false,
    ],
    [{ name: 'd', sni: 'a.com' }, false, false],
  ])('by %j: %s, without a match of its own: %s', (filterChain, withMatch, withoutMatch) => {
    const isFound = (more: FilterChain): boolean => {
      const match = filterChain === undefined ? {} : { filterChain };
      const { message } = patched({ name: 'a', filterChains: [chain('c', more)] }, [
        patch('FILTER_CHAIN', 'REMOVE', {}, match),
      ]);
      return message?.filterChains?.length === 0;
    };
    expect(isFound({ filterChainMatch: full })).toBe(withMatch);
    expect(isFound({})).toBe(withoutMatch);
    expect(isFound({ filterChainMatch: {} })).toBe(withoutMatch);
  });

  it('on a virtual listener by the port that it is for', () => {
    const ports = (name: string, match: EnvoyFilter_ListenerMatch) => {
      const of = (value: number) => chain(`${value}`, { filterChainMatch: { destinationPort: { value } } });
      const filterChains = [of(80), of(81), chain('all')];
      const { message } = patched({ name, address: at(80), filterChains }, [
        patch('FILTER_CHAIN', 'REMOVE', {}, match),
      ]);
      return message?.filterChains?.map(one => one.name);
    };
    expect(ports('virtualInbound', { portNumber: 80 })).toEqual(['81', 'all']);
    expect(ports('virtualOutbound', { portNumber: 81 })).toEqual(['80', 'all']);
    expect(ports('virtualInbound', {})).toEqual([]);
    expect(ports('other', { portNumber: 80 })).toEqual([]);
    expect(ports('other', { portNumber: 81 })).toEqual(['80', '81', 'all']);
  });
});

describe('patches of filter chains', () => {
  const names = (chains: readonly FilterChain[] | undefined) => chains?.map(({ name }) => name);
  const filters = [{ name: 'f' }];

  it('remove and add, for the listener that is found, and the default chain goes by its name', () => {
    const before = { name: 'a', filterChains: [chain('c'), chain('d')], defaultFilterChain: chain('e') };
    const remove = (name: string) => patch('FILTER_CHAIN', 'REMOVE', {}, { filterChain: { name } });
    const { message, places } = patched(before, [
      patch('FILTER_CHAIN', 'ADD', { name: 'new', filters }, { filterChain: { name: 'none' } }),
      patch('FILTER_CHAIN', 'ADD', { name: 'lost', filters }, { name: 'other' }),
      remove('c'),
      remove('e'),
    ]);
    expect(names(message?.filterChains)).toEqual(['d', 'new']);
    expect(message).not.toHaveProperty('defaultFilterChain');
    expect(places).toEqual([0, 2, 3]);
    expect(
      names(patched({ name: 'a' }, [patch('FILTER_CHAIN', 'ADD', { name: 'new', filters })]).message?.filterChains),
    ).toEqual(['new']);
    const kept = patched(before, [remove('c')]).message;
    expect(kept?.defaultFilterChain).toBe(before.defaultFilterChain);
  });
  it('drop chains without filters, of the listener and of what is added, and never patch them', () => {
    const empty = { name: 'empty' };
    const add = (value: JsonObject) => patch('FILTER_CHAIN', 'ADD', value);
    const merge = patch('FILTER_CHAIN', 'MERGE', { filters });
    expect(
      names(patched({ name: 'a', filterChains: [empty, chain('c')] }, [add({ name: 'new' })]).message?.filterChains),
    ).toEqual(['c']);
    expect(
      names(
        patched({ name: 'a', filterChains: [chain('c')] }, [add({ name: 'new', filters: [] })]).message?.filterChains,
      ),
    ).toEqual(['c']);
    const { message } = patched({ name: 'a', filterChains: [empty], defaultFilterChain: empty }, [merge]);
    expect([message?.filterChains, message?.defaultFilterChain]).toEqual([[], empty]);
  });
  it('meet no further patch once they are removed, and later ones find the name that was merged', () => {
    const merge = (name: string, wanted: string) =>
      patch('FILTER_CHAIN', 'MERGE', { name }, { filterChain: { name: wanted } });
    const patches = [
      merge('d', 'c'),
      merge('lost', 'c'),
      merge('e', 'd'),
      patch('NETWORK_FILTER', 'ADD', { name: 'n' }, { filterChain: { name: 'e' } }),
    ];
    const { message, places } = patched({ name: 'a', filterChains: [chain('c')] }, patches);
    expect(message?.filterChains).toEqual([chain('e', { filters: [tcp, { name: 'n' }] })]);
    expect(places).toEqual([0, 2, 3]);
    const removing = [patch('FILTER_CHAIN', 'REMOVE', {}), merge('d', 'c')];
    expect(patched({ name: 'a', filterChains: [chain('c')] }, removing).places).toEqual([0]);
  });

  describe('that merge a transport socket', () => {
    const own = (name: string, staple = 0) => ({
      name,
      typedConfig: { '@type': TLS, ...(staple && { ocspStaplePolicy: staple }) },
    });
    const socket = (
      name: string | undefined,
      config: JsonObject | undefined = { '@type': TLS, ocsp_staple_policy: 'MUST_STAPLE' },
    ) =>
      patch('FILTER_CHAIN', 'MERGE', {
        transport_socket_connect_timeout: '5s',
        transport_socket: { ...(name !== undefined && { name }), ...(config && { typed_config: config }) },
      });
    const changed = (transportSocket: FilterChain['transportSocket'] | undefined, by: EnvoyPatch) => {
      const outcome = patched({ name: 'a', filterChains: [chain('c', transportSocket && { transportSocket })] }, [by]);
      return { ...outcome, chain: outcome.message?.filterChains?.[0] };
    };
    it('of its name change that alone', () => {
      const { chain: made, places } = changed(own('tls') as never, socket('tls'));
      expect(made).toEqual(chain('c', { transportSocket: own('tls', 2) as never }));
      expect(places).toEqual([0]);
      const unnamed = { typedConfig: own('').typedConfig } as never;
      expect(changed(unnamed, socket(undefined)).chain?.transportSocketConnectTimeout).toBeUndefined();
    });
    it('of another name, or where there is none, are merged as the rest', () => {
      const timeout = { seconds: 5, nanos: 0 };
      for (const before of [undefined, own('other')]) {
        const { chain: made, places } = changed(before as never, socket('tls'));
        expect(made?.transportSocketConnectTimeout).toEqual(timeout);
        expect(made?.transportSocket).toEqual(own('tls', 2));
        expect(places).toEqual([0]);
      }
    });
    it('without a configuration on either side do nothing, and of another type fail', () => {
      const bare = patch('FILTER_CHAIN', 'MERGE', { transport_socket: { name: 'tls' } });
      expect(changed(own('tls') as never, bare)).toMatchObject({ isSame: true, places: [] });
      expect(changed({ name: 'tls' }, socket('tls'))).toMatchObject({ isSame: true, places: [] });
      expect(changed(own('tls', 2) as never, socket('tls'))).toMatchObject({ isSame: true, places: [0] });
      const { isSame, failed } = changed(own('tls') as never, socket('tls', { '@type': TCP }));
      expect(isSame).toBe(true);
      expect(failed.map(({ message }) => message)).toEqual([
        'envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy cannot be merged into ' +
          'envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext',
      ]);
    });
  });
});
