// One route configuration and its patches: which of them find it, its virtual hosts and routes, and what becomes of these.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type {
  EnvoyFilter_RouteConfigurationMatch as ConfigurationMatch,
  EnvoyFilter_RouteConfigurationMatch_VirtualHostMatch as HostMatch,
  EnvoyFilter_RouteConfigurationMatch_RouteMatch as RouteMatch,
} from '../../../../../src/core/schema/istio-types.gen.ts';
import type { ApplyTo, EnvoyPatch, Operation } from '../../../../../src/core/select/patch/envoy-patch.ts';
import {
  assembledConfiguration,
  patchedConfiguration,
  patchedHost,
} from '../../../../../src/xds/generate/patch/route.ts';
import { isForConfiguration } from '../../../../../src/xds/generate/patch/route-match.ts';
import type { Route, RouteConfiguration, VirtualHost } from '../../../../../src/xds/proto/types.gen.ts';
import { actedOf, patchOf } from './one-patch.ts';

const patch = (applyTo: ApplyTo, operation: Operation, value: JsonObject = {}, route?: ConfigurationMatch) =>
  patchOf(applyTo, operation, value, { route });

describe('a route configuration is found', () => {
  const isFound = (route: ConfigurationMatch | undefined, name: string, ports?: readonly number[]) =>
    isForConfiguration(patch('ROUTE_CONFIGURATION', 'MERGE', {}, route), name, ports);

  it.each<[string, ConfigurationMatch | undefined, boolean]>([
    ['80', undefined, true],
    ['80', {}, true],
    ['80', { name: '80' }, true],
    ['80', { name: '81' }, false],
    ['80', { portNumber: 80 }, true],
    ['80', { portNumber: 81 }, false],
    ['80', { name: '81', portNumber: 80 }, false],
    ['+80', { portNumber: 80 }, true],
    ['80x', { portNumber: 80 }, false],
    ['x80', { portNumber: 80 }, false],
    ['a.com:80', { portNumber: 80 }, false],
    ['1234567890', { portNumber: 1_234_567_890 }, false],
    ['inbound|8000||', { portNumber: 8000 }, true],
    ['inbound|8000||', { portNumber: 80 }, false],
    ['inbound', { portNumber: 80 }, false],
    ['80', { portName: 'http', gateway: 'ns/gw' }, true],
  ])('of a sidecar: %s by %j: %s', (name, match, expected) => {
    expect(isFound(match, name)).toBe(expected);
  });

  it.each<[string, ConfigurationMatch | undefined, boolean]>([
    ['http.80', undefined, true],
    ['http.80', {}, true],
    ['http.80', { name: 'http.80' }, true],
    ['http.80', { name: 'http.81' }, false],
    ['http.80', { portNumber: 8080 }, true],
    ['http.80', { portNumber: 8081 }, true],
    ['http.80', { portNumber: 80 }, false],
    ['http.80', { portName: 'p' }, false],
    ['https.443.p.gw.ns', { portName: 'p' }, true],
    ['https.443.p.gw.ns', { portName: 'q' }, false],
    ['https.443.p.gw.ns', { gateway: 'ns/gw' }, true],
    ['https.443.p.gw.ns', { gateway: 'gw' }, false],
    ['https.443.p.gw.ns', { portNumber: 8080, portName: 'p', gateway: 'ns/gw' }, true],
    ['https.443.p.gw.ns', { portNumber: 1, portName: 'p', gateway: 'ns/gw' }, false],
    ['https.443.p.gw.ns', { portNumber: 8080, portName: 'q', gateway: 'ns/gw' }, false],
  ])('of a gateway with servers on 8080 and 8081: %s by %j: %s', (name, match, expected) => {
    expect(isFound(match, name, [8080, 8081])).toBe(expected);
  });
});

describe('patches of a route configuration', () => {
  const configured = (configuration: RouteConfiguration, patches: readonly EnvoyPatch[]) => {
    const of = (applyTo: ApplyTo) => patches.filter(one => one.applyTo === applyTo);
    const lists = {
      configuration: of('ROUTE_CONFIGURATION'),
      virtualHost: of('VIRTUAL_HOST'),
      route: of('HTTP_ROUTE'),
    };
    const outcome = patchedConfiguration.run({ configuration, patches: lists, serverPorts: undefined });
    const indexes = (list: readonly EnvoyPatch[]) => list.map(one => patches.indexOf(one));
    return { ...outcome, places: actedOf(outcome, patches), indexes };
  };
  const own = { name: '80', virtualHosts: [{ name: 'a' }] };

  it('merge in order, and the patches for hosts and routes are those for the merged name', () => {
    const patches = [
      patch('ROUTE_CONFIGURATION', 'MERGE', { name: '81' }, { portNumber: 80 }),
      patch('ROUTE_CONFIGURATION', 'MERGE', { max_direct_response_body_size_bytes: 5 }, { name: '80' }),
      patch('ROUTE_CONFIGURATION', 'MERGE', { max_direct_response_body_size_bytes: 6 }, { name: '81' }),
      patch('VIRTUAL_HOST', 'ADD', { name: 'lost' }, { name: '80' }),
      patch('VIRTUAL_HOST', 'ADD', { name: 'new' }, { name: '81' }),
      patch('VIRTUAL_HOST', 'REMOVE', {}, { name: '81' }),
      patch('VIRTUAL_HOST', 'REMOVE', {}, { name: '80' }),
      patch('HTTP_ROUTE', 'REMOVE', {}, { name: '81' }),
      patch('HTTP_ROUTE', 'REMOVE', {}, { name: '80' }),
    ];
    const { result, merged, added, hostPatches, places, indexes } = configured(own, patches);
    expect(result).toEqual({ ...own, name: '81', maxDirectResponseBodySizeBytes: { value: 6 } });
    expect(indexes(merged)).toEqual([0, 2]);
    expect(indexes(added)).toEqual([4]);
    expect([indexes(hostPatches?.virtualHost ?? []), indexes(hostPatches?.route ?? [])]).toEqual([[5], [7]]);
    expect(places).toEqual([0, 2, 4]);
  });
  it('that are for no host or route leave these alone', () => {
    const { result, hostPatches, places } = configured(own, [patch('VIRTUAL_HOST', 'ADD', { name: 'new' })]);
    expect([result, hostPatches, places]).toEqual([own, undefined, [0]]);
    expect(configured(own, [patch('VIRTUAL_HOST', 'REMOVE')]).hostPatches).toBeDefined();
    expect(configured(own, [patch('HTTP_ROUTE', 'REMOVE')]).hostPatches).toBeDefined();
    expect(configured({}, [patch('ROUTE_CONFIGURATION', 'MERGE', { name: 'x' }, { name: 'y' })]).result).toEqual({});
  });
  it('add virtual hosts behind the own ones, but none under a name that is removed', () => {
    const added = ['new', 'gone'].map(name => patch('VIRTUAL_HOST', 'ADD', { name }));
    const hosts = [{ name: 'a' }, { name: 'gone' }, {}];
    const made = assembledConfiguration.run({ configuration: own, hosts, added, removed: ['gone'] });
    expect(made).toEqual({ name: '80', virtualHosts: [{ name: 'a' }, {}, { name: 'new' }] });
    const unnamed = assembledConfiguration.run({ configuration: own, hosts, added: [], removed: [''] });
    expect(unnamed.virtualHosts).toEqual([{ name: 'a' }, { name: 'gone' }]);
  });
});

function hostAfter(host: VirtualHost, patches: readonly EnvoyPatch[]) {
  const of = (applyTo: ApplyTo) => patches.filter(one => one.applyTo === applyTo);
  const outcome = patchedHost.run({ host, virtualHost: of('VIRTUAL_HOST'), route: of('HTTP_ROUTE') });
  return { ...outcome, isSame: outcome.result === host, places: actedOf(outcome, patches) };
}

describe('patches of a virtual host', () => {
  it.each<[HostMatch | undefined, boolean]>([
    [undefined, true],
    [{}, true],
    [{ name: 'a' }, true],
    [{ name: 'b' }, false],
    [{ domainName: 'x.com' }, true],
    [{ domainName: 'y.com' }, true],
    [{ domainName: 'z.com' }, false],
    [{ name: 'a', domainName: 'z.com' }, false],
    [{ name: 'b', domainName: 'x.com' }, false],
  ])('find it by %j: %s', (vhost, expected) => {
    const match = vhost === undefined ? {} : { vhost };
    for (const applyTo of ['VIRTUAL_HOST', 'HTTP_ROUTE'] as const) {
      const host = { name: 'a', domains: ['x.com', 'y.com'], routes: [{ name: 'r' }] };
      const { result, places, removed } = hostAfter(host, [patch(applyTo, 'REMOVE', {}, match)]);
      expect(places).toEqual(expected ? [0] : []);
      if (applyTo === 'VIRTUAL_HOST')
        expect([result === undefined, removed]).toEqual([expected, expected ? 'a' : undefined]);
      else expect(result?.routes).toHaveLength(expected ? 0 : 1);
    }
    expect(hostAfter({}, [patch('VIRTUAL_HOST', 'REMOVE', {}, { vhost: { domainName: 'x' } })]).isSame).toBe(true);
  });

  it('merge, replace and remove in order, each finding what the ones before made', () => {
    const on = (name: string) => ({ vhost: { name } });
    const patches = [
      patch('VIRTUAL_HOST', 'MERGE', { name: 'b', domains: ['y'] }, on('a')),
      patch('VIRTUAL_HOST', 'MERGE', { domains: ['lost'] }, on('a')),
      patch('VIRTUAL_HOST', 'REPLACE', { name: 'c', domains: ['z'] }, on('b')),
      patch('VIRTUAL_HOST', 'MERGE', { domains: ['w'] }, on('c')),
    ];
    const host = { name: 'a', domains: ['x'], routes: [{ name: 'r' }] };
    expect(hostAfter(host, patches.slice(0, 2)).result).toEqual({
      name: 'b',
      domains: ['x', 'y'],
      routes: [{ name: 'r' }],
    });
    const { result, places, removed } = hostAfter(host, patches);
    expect([result, places, removed]).toEqual([{ name: 'c', domains: ['z', 'w'] }, [0, 2, 3], undefined]);
    const gone = hostAfter(host, [
      ...patches,
      patch('VIRTUAL_HOST', 'REMOVE', {}, on('c')),
      patch('VIRTUAL_HOST', 'MERGE'),
    ]);
    expect([gone.result, gone.removed, gone.places]).toEqual([undefined, 'c', [0, 2, 3, 4]]);
    expect(hostAfter({}, [patch('VIRTUAL_HOST', 'REMOVE')]).removed).toBe('');
    expect(hostAfter(host, [patch('VIRTUAL_HOST', 'MERGE', {}, on('none'))]).isSame).toBe(true);
  });
});

describe('patches of routes', () => {
  const action = (name: string): Route => ({ name, route: { cluster: 'c' } });
  const redirect = (name: string): Route => ({ name, redirect: { pathRedirect: '/' } });
  const direct = (name: string): Route => ({ name, directResponse: { status: 200 } });
  const routes = [action('a'), redirect('b'), direct('b'), { name: 'd' }];
  const on = (route: RouteMatch | undefined): ConfigurationMatch => ({ vhost: route === undefined ? {} : { route } });
  const withOne = (operation: Operation, match?: RouteMatch, list: readonly Route[] = routes) => {
    const outcome = hostAfter({ name: 'h', routes: list }, [
      patch('HTTP_ROUTE', operation, { name: 'new' }, on(match)),
    ]);
    return { ...outcome, names: outcome.result?.routes?.map(({ name }) => name).join(' ') };
  };

  it.each<[RouteMatch | undefined, string]>([
    [undefined, ''],
    [{}, ''],
    [{ name: 'a' }, 'b b d'],
    [{ name: 'b' }, 'a d'],
    [{ action: 'ANY' }, ''],
    [{ action: 'ROUTE' }, 'b b'],
    [{ action: 'REDIRECT' }, 'a b'],
    [{ action: 'DIRECT_RESPONSE' }, 'a b'],
    [{ name: 'b', action: 'REDIRECT' }, 'a b d'],
    [{ name: 'a', action: 'REDIRECT' }, 'a b b d'],
    [{ name: 'd', action: 'ROUTE' }, 'a b b'],
  ])('remove by %j, so that these stay: %s', (match, expected) => {
    const { names, places, isSame } = withOne('REMOVE', match);
    expect(names).toBe(expected);
    expect([places, isSame]).toEqual(expected === 'a b b d' ? [[], true] : [[0], false]);
  });

  it.each<[Operation, RouteMatch | undefined, string]>([
    ['ADD', undefined, 'a b b d new'],
    ['ADD', { name: 'none' }, 'a b b d new'],
    ['INSERT_FIRST', undefined, 'new a b b d'],
    ['INSERT_FIRST', { name: 'b' }, 'new a b b d'],
    ['INSERT_FIRST', { name: 'none' }, 'a b b d'],
    ['INSERT_BEFORE', undefined, 'new a b b d'],
    ['INSERT_BEFORE', { name: 'b' }, 'a new b b d'],
    ['INSERT_BEFORE', { name: 'none' }, 'a b b d'],
    ['INSERT_AFTER', undefined, 'a b b d new'],
    ['INSERT_AFTER', { name: 'b' }, 'a b new b d'],
    ['INSERT_AFTER', { name: 'none' }, 'a b b d'],
    ['REPLACE', { name: 'b' }, 'a b b d'],
  ])('%s at %j gives %s', (operation, match, expected) => {
    const { names, places, isSame } = withOne(operation, match);
    expect(names).toBe(expected);
    expect([places, isSame]).toEqual(expected === 'a b b d' ? [[], true] : [[0], false]);
  });

  it('act in a virtual host without routes', () => {
    const changed = (operation: Operation) =>
      hostAfter({ name: 'h' }, [patch('HTTP_ROUTE', operation, { name: 'new' })]);
    expect(changed('ADD').result).toEqual({ name: 'h', routes: [{ name: 'new' }] });
    expect(changed('MERGE').isSame).toBe(true);
  });

  it('merge and remove each route first, by what the ones before made, and insert afterwards', () => {
    const by = (operation: Operation, value: JsonObject, route: RouteMatch) =>
      patch('HTTP_ROUTE', operation, value, on(route));
    const patches = [
      by('INSERT_AFTER', { name: 'new' }, { name: 'n' }),
      by('MERGE', { name: 'n' }, { name: 'a' }),
      by('MERGE', { name: 'lost' }, { name: 'a' }),
      by('REMOVE', {}, { name: 'b' }),
      by('MERGE', { name: 'x' }, { name: 'new' }),
    ];
    const { result, places } = hostAfter({ name: 'h', routes }, patches);
    expect(result?.routes?.map(({ name }) => name)).toEqual(['n', 'new', 'd']);
    expect(places).toEqual([0, 1, 3]);
    const kept = hostAfter({ name: 'h', routes }, [by('MERGE', { name: 'a' }, { name: 'a' })]);
    expect([kept.isSame, kept.places]).toEqual([true, [0]]);
  });
});
