// What Envoy asks of every route configuration, whatever the objects: it refuses one in which a domain or a virtual
// host appears twice, or a virtual host without domains. And incremental generation gives what generation from scratch
// gives.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, type Json } from '../../src/core/base/json.ts';
import { Tracker } from '../../src/core/query/tracker.ts';
import { mergedGateway } from '../../src/core/select/gateway/gateways.ts';
import { emptyState, type State } from '../../src/core/state.ts';
import { anyFact, CONNECTIONS, NODES, numbered } from '../../src/testing/facts.ts';
import { nameTables } from '../../src/xds/assemble/nametable/resources.ts';
import { routeNamed } from '../../src/xds/assemble/route/resources.ts';
import type { RouteConfiguration } from '../../src/xds/proto/types.gen.ts';
import { verifyMessage } from '../../src/xds/wire/verify.ts';
import { foldAll } from './folding.ts';
import { parameters } from './seed.ts';

const SIDECAR_ROUTES = [
  '80',
  '7070',
  '9000',
  'http_proxy',
  'alpha.prod.svc.cluster.local:9000',
  'api.example.com:80',
  'nonsense',
];

/** Facts after which all proxies are there. */
const histories = fc.array(anyFact, { minLength: 5, maxLength: 60, size: 'max' }).map(facts =>
  numbered([
    ...CONNECTIONS.map(connection => ({
      source: 'xds',
      kind: 'ProxyConnected' as const,
      connection,
      node: NODES[connection],
      protocol: 'delta' as const,
    })),
    ...facts.filter(fact => !('connection' in fact)),
  ]),
);

/** A patch may add what no generator makes, such as a virtual host without a name. */
const unpatched = histories.map(events =>
  events.filter(event => !('object' in event) || event.object.kind !== 'EnvoyFilter'),
);

function routesOf(tracker: Tracker, state: State): ReadonlyMap<string, RouteConfiguration> {
  const found = new Map<string, RouteConfiguration>();
  for (const proxy of state.proxies.values()) {
    const names = new Set(SIDECAR_ROUTES);
    if (proxy.facets.type === 'router') {
      const { routes } = tracker.get(state, proxy, mergedGateway, '');
      for (const name of Object.keys(routes)) names.add(name);
    }
    for (const name of names) {
      const resource = tracker.get(state, proxy, routeNamed, name);
      if (resource !== undefined) found.set(`${proxy.connection} ${name}`, resource.message);
    }
  }
  return found;
}

function faults(config: RouteConfiguration): readonly string[] {
  const found: string[] = [];
  const seen = new Set<string>();
  const once = (key: string): void => {
    if (seen.has(key)) found.push(`twice: ${key}`);
    seen.add(key);
  };
  for (const host of config.virtualHosts ?? []) {
    once(`host ${host.name}`);
    if ((host.domains ?? []).length === 0) found.push(`no domain: ${host.name}`);
    for (const domain of host.domains ?? []) {
      if (domain === '') found.push(`empty domain: ${host.name}`);
      once(`domain ${domain.toLowerCase()}`);
    }
    for (const route of host.routes ?? []) {
      const actions = [route.route, route.redirect, route.directResponse].filter(action => action !== undefined);
      if (route.match === undefined || actions.length !== 1) found.push(`no match or no action: ${host.name}`);
    }
  }
  const names = (config.virtualHosts ?? [])
    .map(host => host.name ?? '')
    .filter(name => !name.endsWith('_any') && !name.endsWith('_all'));
  if (names.some((name, i) => i > 0 && names[i - 1]! > name)) found.push('not sorted by name');
  return found;
}

const text = (message: object): string => canonicalJson(message as Json);
const shown = (routes: ReadonlyMap<string, RouteConfiguration>): readonly string[] =>
  [...routes].map(([where, config]) => `${where} ${text(config)}`);

describe('route configurations', () => {
  it('have every domain and virtual host once, and a domain for each host', () => {
    fc.assert(
      fc.property(unpatched, events => {
        for (const [where, config] of routesOf(new Tracker(), foldAll(events).state)) {
          expect(faults(config), where).toEqual([]);
          expect(verifyMessage('envoy.config.route.v3.RouteConfiguration', config), where).toEqual([]);
        }
      }),
      parameters(150),
    );
  });

  it('are equal whether generated step by step or from scratch, as are name tables', () => {
    fc.assert(
      fc.property(histories, events => {
        const kept = new Tracker();
        let state = emptyState;
        for (const event of events) {
          state = foldAll([event], state).state;
          if (event.seq % 3 === 0) routesOf(kept, state);
        }
        const scratch = new Tracker();
        expect(shown(routesOf(kept, state))).toEqual(shown(routesOf(scratch, state)));
        for (const proxy of state.proxies.values()) {
          const tables = (tracker: Tracker): readonly string[] =>
            tracker.get(state, proxy, nameTables, '').map(({ message }) => text(message));
          expect(tables(kept)).toEqual(tables(scratch));
        }
      }),
      parameters(80),
    );
  });

  it('canary: are reported if they are broken', () => {
    const route = { match: { prefix: '/' }, directResponse: { status: 404 } };
    const host = (name: string, domains: readonly string[], routes = [route]): object => ({ name, domains, routes });
    expect(faults({ virtualHosts: [host('a:80', ['a', 'A'])] })).toEqual(['twice: domain a']);
    expect(faults({ virtualHosts: [host('a:80', ['a']), host('a:80', ['b'])] })).toEqual(['twice: host a:80']);
    expect(faults({ virtualHosts: [host('a:80', [])] })).toEqual(['no domain: a:80']);
    expect(faults({ virtualHosts: [host('a:80', ['a'], [{ match: { prefix: '/' } } as never])] })).toEqual([
      'no match or no action: a:80',
    ]);
    expect(faults({ virtualHosts: [host('b:80', ['b']), host('a:80', ['a'])] })).toEqual(['not sorted by name']);
  });
});
