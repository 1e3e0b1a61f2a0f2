// The filters of one listener and their patches: where these act, and what a merge does.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { EnvoyFilter_ListenerMatch } from '../../../../../src/core/schema/istio-types.gen.ts';
import type { EnvoyPatch, Operation } from '../../../../../src/core/select/patch/envoy-patch.ts';
import type { Filter } from '../../../../../src/xds/proto/types.gen.ts';
import { chain, HCM, HCM_TYPE, INSPECTOR, LUA, patch, patched, TCP, tcp } from './one-listener.ts';

describe('patches of filters', () => {
  const hcm = (...names: readonly string[]): Filter =>
    ({
      name: HCM,
      typedConfig: { '@type': HCM_TYPE, statPrefix: 's', httpFilters: names.map(name => lua(name)) },
    }) as Filter;
  const lua = (name: string, inlineCode?: string) => ({
    name,
    typedConfig: { '@type': LUA, ...(inlineCode && { inlineCode }) },
  });
  const find = (name: string | undefined, subFilter?: string): EnvoyFilter_ListenerMatch => ({
    filterChain: {
      filter: {
        ...(name !== undefined && { name }),
        ...(subFilter !== undefined && { subFilter: { name: subFilter } }),
      },
    },
  });
  const filtersAfter = (filters: readonly Filter[], patches: readonly EnvoyPatch[]) => {
    const outcome = patched({ name: 'a', filterChains: [{ filters }] }, patches);
    return { ...outcome, filters: outcome.message?.filterChains?.[0]?.filters ?? [] };
  };
  const httpAfter = (filters: readonly Filter[], patches: readonly EnvoyPatch[]) => {
    const outcome = filtersAfter(filters, patches);
    const config = outcome.filters[0]?.typedConfig as { httpFilters?: readonly { name: string }[] } | undefined;
    return { ...outcome, http: config?.httpFilters };
  };

  it.each<[Operation, string | undefined, string]>([
    ['ADD', undefined, 'a b b c new'],
    ['ADD', 'b', 'a b b c new'],
    ['INSERT_FIRST', undefined, 'new a b b c'],
    ['INSERT_FIRST', 'b', 'new a b b c'],
    ['INSERT_FIRST', 'none', 'new a b b c'],
    ['INSERT_BEFORE', undefined, 'new a b b c'],
    ['INSERT_BEFORE', 'a', 'new a b b c'],
    ['INSERT_BEFORE', 'b', 'a new b b c'],
    ['INSERT_BEFORE', 'none', 'a b b c'],
    ['INSERT_AFTER', undefined, 'a b b c new'],
    ['INSERT_AFTER', 'b', 'a b new b c'],
    ['INSERT_AFTER', 'none', 'a b b c'],
    ['REPLACE', undefined, 'a b b c'],
    ['REPLACE', 'b', 'a new b c'],
    ['REPLACE', 'none', 'a b b c'],
    ['REMOVE', undefined, 'a b b c'],
    ['REMOVE', 'b', 'a c'],
    ['REMOVE', 'none', 'a b b c'],
  ])('%s at %s gives %s, in both lists', (operation, name, expected) => {
    const list = ['a', 'b', 'b', 'c'];
    const network = filtersAfter(
      list.map(one => ({ name: one })),
      [patch('NETWORK_FILTER', operation, { name: 'new' }, name === undefined ? {} : find(name))],
    );
    expect(network.filters.map(one => one.name).join(' ')).toBe(expected);
    const acts = expected !== 'a b b c';
    expect([network.places, network.isSame]).toEqual([acts ? [0] : [], !acts]);
    const http = httpAfter(
      [hcm(...list)],
      [patch('HTTP_FILTER', operation, { name: 'new' }, name === undefined ? {} : find(HCM, name))],
    );
    expect(http.http?.map(one => one.name).join(' ')).toBe(expected);
    expect([http.places, http.isSame]).toEqual([acts ? [0] : [], !acts]);
  });

  it('find a filter without a name by a match without one', () => {
    expect(filtersAfter([{}, { name: 'x' }], [patch('NETWORK_FILTER', 'REMOVE', {}, find(undefined))]).filters).toEqual(
      [{ name: 'x' }],
    );
    const manager = { name: HCM, typedConfig: { '@type': HCM_TYPE, httpFilters: [{}, lua('x')] } } as Filter;
    const match = { filterChain: { filter: { name: HCM, subFilter: {} } } };
    expect(httpAfter([manager], [patch('HTTP_FILTER', 'REMOVE', {}, match)]).http).toEqual([lua('x')]);
  });

  it('act in the chains that the match names', () => {
    const match = { filterChain: { name: 'c' } };
    const filterChains = [chain('c', { filters: [hcm()] }), chain('d', { filters: [hcm()] })];
    const { message } = patched({ name: 'a', filterChains }, [
      patch('NETWORK_FILTER', 'ADD', { name: 'n' }, match),
      patch('HTTP_FILTER', 'ADD', { name: 'h' }, match),
    ]);
    const [first, second] = message?.filterChains ?? [];
    expect(first?.filters).toMatchObject([{ typedConfig: { httpFilters: [{ name: 'h' }] } }, { name: 'n' }]);
    expect(second).toBe(filterChains[1]);
  });

  it('of HTTP act in connection managers alone: by name, by type, and by the network filter of the match', () => {
    const add = (match: EnvoyFilter_ListenerMatch = {}) => [patch('HTTP_FILTER', 'ADD', { name: 'new' }, match)];
    expect(httpAfter([hcm('a')], add()).http?.map(({ name }) => name)).toEqual(['a', 'new']);
    expect(httpAfter([hcm()], add(find(HCM))).http?.map(({ name }) => name)).toEqual(['new']);
    expect(httpAfter([hcm('a')], add(find('other'))).isSame).toBe(true);
    expect(httpAfter([{ ...hcm('a'), name: 'other' }], add()).isSame).toBe(true);
    expect(httpAfter([{ name: HCM }], add()).isSame).toBe(true);
    expect(httpAfter([{ name: HCM, typedConfig: { '@type': TCP } }], add()).isSame).toBe(true);
    const bare = { name: HCM, typedConfig: { '@type': HCM_TYPE } } as Filter;
    expect(httpAfter([bare], add()).http).toEqual([{ name: 'new' }]);
  });

  it('merge a name and a configuration, and later merges find the new name', () => {
    const merge = (value: JsonObject, name: string) => patch('HTTP_FILTER', 'MERGE', value, find(HCM, name));
    const code = (text: string): JsonObject => ({ typed_config: { '@type': LUA, inline_code: text } });
    const renamed = httpAfter(
      [hcm('a', 'b')],
      [merge({ name: 'n' }, 'a'), merge(code('lost'), 'a'), merge(code('x'), 'n')],
    );
    expect(renamed.http).toEqual([lua('n', 'x'), lua('b')]);
    expect(renamed.places).toEqual([0, 2]);
    expect(httpAfter([hcm('a', 'b')], [patch('HTTP_FILTER', 'MERGE', code('x'))]).http).toEqual([
      lua('a', 'x'),
      lua('b', 'x'),
    ]);
    expect(httpAfter([hcm('a')], [merge({ name: 'a' }, 'a')])).toMatchObject({ isSame: true, places: [0] });
  });

  it('merge nothing into a filter without a configuration, and fail once for each reason', () => {
    const merge = patch('NETWORK_FILTER', 'MERGE', { name: 'n', typed_config: { '@type': LUA } });
    expect(filtersAfter([{ name: 'a' }], [merge])).toMatchObject({ isSame: true, places: [], failed: [] });
    const inspector = { name: 'i', typedConfig: { '@type': INSPECTOR } } as Filter;
    const { isSame, failed, places } = filtersAfter([tcp, tcp, inspector], [merge]);
    expect([isSame, places]).toEqual([true, []]);
    expect(failed.map(({ message }) => message)).toEqual([
      'envoy.extensions.filters.http.lua.v3.Lua cannot be merged into envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy',
      'envoy.extensions.filters.http.lua.v3.Lua cannot be merged into envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector',
    ]);
    expect(failed.every(one => one.patch === merge)).toBe(true);
  });

  it('merge after all additions and removals, into what a later patch adds', () => {
    const merge = patch('NETWORK_FILTER', 'MERGE', { name: 'renamed' }, find('new'));
    const add = patch('NETWORK_FILTER', 'ADD', { name: 'new', typed_config: { '@type': TCP } });
    const { filters, places } = filtersAfter([tcp], [merge, add]);
    expect(filters.map(({ name }) => name)).toEqual(['tcp', 'renamed']);
    expect(places).toEqual([0, 1]);
  });
});
