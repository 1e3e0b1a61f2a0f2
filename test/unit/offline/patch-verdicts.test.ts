// What authors of EnvoyFilters are told, from the objects alone and from connected proxies.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/core/base/json.ts';
import { patchReport, REFUSALS_MAX, verdictsOn } from '../../../src/offline/patch-verdicts.ts';
import { entry, envoyFilter, HCM, httpFilter, luaFilter, patchScene } from '../xds/generate/patch/patch-scene.ts';

/** `code path: message` of the entries of one EnvoyFilter of a connected sidecar. */
function toldOf(...entries: readonly JsonObject[]): readonly string[] {
  return patchReport(patchScene([envoyFilter('one', entries)]).state).verdicts.map(
    ({ code, path, message }) => `${code} ${path}: ${message}`,
  );
}

const PATH = 'spec.configPatches[0]';
const outbound = { context: 'SIDECAR_OUTBOUND' };
const named = (name: string): JsonObject => ({ listener: { filterChain: { filter: { name } } } });

describe('an entry of an EnvoyFilter', () => {
  it('that changes something has no verdict', () => {
    expect(
      toldOf(entry('HTTP_FILTER', 'INSERT_BEFORE', luaFilter('l'), httpFilter('envoy.filters.http.router'))),
    ).toEqual([]);
    expect(toldOf(entry('VIRTUAL_HOST', 'MERGE', { require_tls: 'ALL' }, { context: 'SIDECAR_INBOUND' }))).toEqual([]);
    expect(toldOf(entry('CLUSTER', 'MERGE', { connect_timeout: '1s' }))).toEqual([]);
  });

  it.each<[string, JsonObject, string]>([
    [
      'for WAYPOINT',
      entry('CLUSTER', 'MERGE', {}, { context: 'WAYPOINT', waypoint: {} }),
      'match.context: a patch for WAYPOINT',
    ],
    ['of the bootstrap', entry('BOOTSTRAP', 'MERGE', {}), 'applyTo: the bootstrap'],
    [
      'that adds to a route configuration',
      entry('ROUTE_CONFIGURATION', 'ADD', { name: 'a' }),
      'patch.operation: ADD has no',
    ],
    [
      'that removes no named filter',
      entry('HTTP_FILTER', 'REMOVE', undefined, named(HCM)),
      'match: REMOVE of a HTTP_FILTER',
    ],
    [
      'behind the router',
      entry('HTTP_FILTER', 'ADD', luaFilter('l'), outbound),
      'patch.operation: ADD puts the filter',
    ],
    [
      'with an unknown field',
      entry('CLUSTER', 'MERGE', { conect_timeout: '1s' }),
      'patch.value.conect_timeout: is no field',
    ],
    [
      'with an older name',
      entry('NETWORK_FILTER', 'MERGE', { name: 'a' }, named('envoy.http_connection_manager')),
      'match.listener.filterChain.filter.name: envoy.http_connection_manager is an older',
    ],
    [
      'beside a filter of Istio',
      entry('NETWORK_FILTER', 'INSERT_BEFORE', { name: 'a' }, named('istio.stats')),
      'match.listener.filterChain.filter.name: istio.stats is a filter of Istio',
    ],
  ])('%s is reported', (_, given, message) => {
    const [first] = toldOf(given).filter(told => told.startsWith('patch-weak'));
    expect(first).toContain(`${PATH}.${message}`);
  });

  it('that matches nothing is reported, unless its object is attached to no connected proxy', () => {
    const given = entry('CLUSTER', 'MERGE', { connect_timeout: '1s' }, { cluster: { service: 'nowhere' } });
    expect(toldOf(given)).toEqual([`patch-idle ${PATH}: matches nothing that a connected proxy holds`]);
    const more = { workloadSelector: { labels: { app: 'other' } } };
    expect(patchReport(patchScene([envoyFilter('one', [given], { more })]).state).verdicts).toEqual([]);
  });

  it('that cannot be merged into what it matches is reported with the reason', () => {
    const router = luaFilter('envoy.filters.http.router');
    const told = toldOf(entry('HTTP_FILTER', 'MERGE', router, httpFilter('envoy.filters.http.router')));
    expect(told).toHaveLength(1);
    expect(told[0]).toContain(
      `patch-left-out ${PATH}: is left out: listener 0.0.0.0_8000: envoy.extensions.filters.http.lua.v3.Lua cannot be merged`,
    );
  });

  it.each<[string, JsonObject, string]>([
    [
      'a filter behind the router',
      entry('HTTP_FILTER', 'ADD', luaFilter('l'), outbound),
      'listener 0.0.0.0_8080 has HTTP filters behind the router',
    ],
    [
      'a domain of another virtual host',
      entry('VIRTUAL_HOST', 'ADD', { name: 'x', domains: ['*'] }, outbound),
      'route 8080 has the domain * in two virtual hosts',
    ],
    [
      'a cluster without a name',
      entry('CLUSTER', 'ADD', { connect_timeout: '1s' }),
      'cluster breaks a constraint at name: it must not be empty',
    ],
    [
      'a connect timeout of nothing',
      entry('CLUSTER', 'MERGE', { connect_timeout: '0s' }, { cluster: { service: 'shop.prod.svc.cluster.local' } }),
      'cluster outbound|8080||shop.prod.svc.cluster.local breaks a constraint at connectTimeout: 0 must be greater than 0',
    ],
    [
      'a filter with a value out of range, inside of its configuration',
      entry(
        'HTTP_FILTER',
        'INSERT_BEFORE',
        {
          name: 'fault',
          typed_config: {
            '@type': 'type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault',
            abort: { http_status: 99 },
          },
        },
        httpFilter('envoy.filters.http.router'),
      ),
      'typedConfig.abort.httpStatus: 99 must be at least 200',
    ],
    [
      'a chain without filters',
      entry('LISTENER', 'ADD', { name: 'x', address: { pipe: { path: '/x' } } }),
      'listener x has no filter chain',
    ],
  ])('that makes %s is reported with the proxies that refuse it', (_, given, sentence) => {
    const refused = toldOf(given).filter(told => told.startsWith('patch-refused'));
    const line = refused.find(one => one.includes(`${sentence}: Envoy refuses it on app.prod`));
    expect(line, refused.join('\n')).toMatch(/^patch-refused : with the patches, /);
  });
});

describe('resources that Envoy refuses', () => {
  it('are named up to a limit, and the rest is counted: many objects may each add many', () => {
    const refused = Array.from({ length: 1_500 }, (_, i) => `listener l${i} has no address`);
    const patches = Array.from({ length: 600 }, (_, i) => ({ filter: `a/f${i}`, index: 0, acts: true, failures: [] }));
    const verdicts = verdictsOn([], [['p', { patches, refused }]]);
    expect(verdicts).toHaveLength(REFUSALS_MAX + 1);
    expect(verdicts[0]!.message).toBe('with the patches, listener l0 has no address: Envoy refuses it on p');
    expect(verdicts.at(-1)!.message).toBe('with the patches, Envoy refuses 1498 more resources, which are not named');
  });
});
