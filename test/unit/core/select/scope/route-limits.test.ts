// Limits on what matches and destinations of HTTP rules multiply to, in all objects together.

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { ROUTE_DESTINATIONS_MAX, routeDestinations } from '../../../../../src/core/kinds/istio/validate/http-route.ts';
import { Tracker } from '../../../../../src/core/query/tracker.ts';
import { withinMeshLimit } from '../../../../../src/core/select/scope/route-limits.ts';
import { virtualServices } from '../../../../../src/core/select/scope/virtual-services.ts';
import type { State } from '../../../../../src/core/state.ts';
import { findingsOf } from '../../../../../src/offline/findings.ts';
import { ask, world } from '../../../world.ts';

const matches = (count: number): JsonObject[] =>
  Array.from({ length: count }, (_, i) => ({ uri: { prefix: `/${i}` } }));
const to = (count: number): JsonObject[] =>
  Array.from({ length: count }, (_, i) => ({ destination: { host: `h${i}.example.com` }, weight: 1 }));

function virtualService(name: string, day: number, spec: JsonObject, namespace = 'default'): JsonObject {
  const creationTimestamp = `2026-01-0${day}T00:00:00Z`;
  const metadata = { name, namespace, creationTimestamp };
  return { apiVersion: 'networking.istio.io/v1', kind: 'VirtualService', metadata, spec };
}

const root = (name: string, day: number, match: JsonObject[] = [], namespace = 'default'): JsonObject => {
  const http = [{ match, delegate: { name: 'leaf', namespace: 'default' } }, { route: to(1) }];
  return virtualService(name, day, { hosts: [`${name}.com`], http }, namespace);
};

/** The rules of each VirtualService that applies. */
const rulesOf = (state: State): readonly (readonly [string, number])[] =>
  ask(state, virtualServices, '').map(({ name, spec }) => [name, spec.http?.length ?? 0]);
const told = (state: State): readonly string[] =>
  findingsOf(state).map(({ object, message }) => `${object} ${message}`);

describe('routes times destinations', () => {
  test('count a rule without matches as one route, and one without destinations as one destination', () => {
    expect(routeDestinations([{}, { match: [{}, {}] }, { match: [{}, {}], route: [{}, {}, {}] }])).toBe(9);
    expect(routeDestinations(undefined)).toBe(0);
    expect(routeDestinations([{ match: [{}, {}], route: [{}], mirrors: [{}, {}] }])).toBe(6);
  });

  test('of one delegate in many roots end with the youngest roots, which drop the rule and are named', () => {
    const leaf = (exportTo: readonly string[]): JsonObject =>
      virtualService('leaf', 1, { exportTo, http: [{ match: matches(500), route: to(500) }] });
    const roots = [root('d', 5), root('a', 2, [{ port: 80 }, { port: 81 }]), root('b', 3, [], 'far'), root('c', 4)];
    const everywhere = world([leaf(['*']), ...roots]);
    expect(rulesOf(everywhere)).toEqual([
      ['a', 2],
      ['b', 2],
      ['c', 2],
      ['d', 1],
    ]);
    expect(told(everywhere)).toContain(
      `VirtualService/default/d spec.http[0]: is left out: with older VirtualServices that name default/leaf, its matches times destinations come to more than ${ROUTE_DESTINATIONS_MAX}`,
    );
    // A root that does not see the delegate takes nothing of the limit.
    const own = world([leaf(['.']), ...roots]);
    expect(rulesOf(own).map(([, rules]) => rules)).toEqual([2, 1, 2, 2]);
  });

  test('of a root with many matches and a delegate with many destinations leave the delegate out and are named', () => {
    const leaf = virtualService('leaf', 1, { http: [{ route: to(1_100) }] });
    const state = world([leaf, root('a', 2, matches(1_000)), root('b', 3, matches(900))]);
    expect(rulesOf(state)).toEqual([
      ['a', 1],
      ['b', 2],
    ]);
    expect(
      told(state).filter(text => text.startsWith('VirtualService/default/a spec.http[0]: is left out')),
    ).toHaveLength(1);
  });

  test('of several delegates in one root are limited together', () => {
    const leaf = (name: string): JsonObject =>
      virtualService(name, 1, { http: [{ match: matches(700), route: to(1_000) }] });
    const http = ['x', 'y'].map(name => ({ delegate: { name } }));
    const state = world([leaf('x'), leaf('y'), virtualService('a', 2, { hosts: ['a.com'], http })]);
    expect(rulesOf(state)).toEqual([['a', 1]]);
    expect(told(state)).toContain(
      `VirtualService/default/a spec.http[1]: is left out in part: matches with those of delegates come to more than ${ROUTE_DESTINATIONS_MAX} times destinations`,
    );
  });

  test('of all VirtualServices end with the youngest ones, but for those that still fit', () => {
    const sized = [3, 4, 5, 2].map(size => ({ routeDestinations: size })) as unknown as Parameters<
      typeof withinMeshLimit
    >[0];
    const { fitting, past } = withinMeshLimit(sized, 9);
    expect([fitting, past]).toEqual([[sized[0], sized[1], sized[3]], [sized[2]]]);
    expect(withinMeshLimit(sized, 14).fitting).toBe(sized);
  });

  test('of all VirtualServices name the one that is not in force, and leave the older ones in force', () => {
    const large = (name: string, day: number): JsonObject =>
      virtualService(name, day, { hosts: [`${name}.com`], http: [{ match: matches(1_000), route: to(1_000) }] });
    const state = world(['a', 'b', 'c', 'd', 'e'].map((name, i) => large(name, i + 1)));
    expect(rulesOf(state).map(([name]) => name)).toEqual(['a', 'b', 'c', 'd']);
    expect(told(state).filter(text => text.includes('is not in force'))).toEqual([
      'VirtualService/default/e spec.http: is not in force: with it the hosts times matches times destinations of all routes come to more than 4000000',
    ]);
  });

  test('of roots of one delegate cost a ratio of two for twice as many, not of four', () => {
    const costOf = (count: number): number => {
      const leaf = virtualService('leaf', 1, { http: [{ route: to(1) }] });
      const state = world([leaf, ...Array.from({ length: count }, (_, i) => root(`r${i}`, 2))]);
      const tracker = new Tracker();
      tracker.get(state, undefined, virtualServices, '');
      return tracker.stats.hits + tracker.stats.runs;
    };
    expect(costOf(100) / costOf(50)).toBeLessThan(2.2);
  });
});

describe('hosts times ports of gateways', () => {
  const gateway = (name: string, ports: number): JsonObject => ({
    apiVersion: 'networking.istio.io/v1',
    kind: 'Gateway',
    metadata: { name, namespace: 'default' },
    spec: {
      selector: { istio: 'x' },
      servers: Array.from({ length: ports }, (_, i) => ({
        port: { number: 1_000 + i, name: `http-${i}`, protocol: 'HTTP' },
        hosts: ['*'],
      })),
    },
  });
  const hosts = (name: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${name}${i}.com`);
  const on = (name: string, day: number, count: number, gateways: string[]): JsonObject =>
    virtualService(name, day, { hosts: hosts(name, count), gateways, http: [{ route: to(1) }] });
  const inForce = (state: State): readonly string[] => rulesOf(state).map(([name]) => name);

  test('end with the youngest VirtualServices, but for those that still fit, and name them', () => {
    const state = world([
      gateway('wide', 500),
      on('a', 1, 1_900, ['wide']),
      on('b', 2, 101, ['wide']),
      on('c', 3, 100, ['wide']),
      on('d', 4, 5_000, ['mesh']),
    ]);
    expect(inForce(state)).toEqual(['a', 'c', 'd']);
    expect(told(state).filter(text => text.includes('not in force'))).toEqual([
      'VirtualService/default/b spec.hosts: is not in force: with it the hosts of VirtualServices times the ports of their gateways come to more than 1000000',
    ]);
  });

  test('count a port once, however many gateways have it', () => {
    const state = world([gateway('one', 500), gateway('two', 500), on('a', 1, 2_000, ['one', 'two', 'missing'])]);
    expect(inForce(state)).toEqual(['a']);
    expect(inForce(world([gateway('one', 500), on('a', 1, 2_001, ['one'])]))).toEqual([]);
  });
});
