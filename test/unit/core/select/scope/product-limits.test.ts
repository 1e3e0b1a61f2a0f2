// Limits on lists of several objects that multiply: of a rule's subsets, of selected workloads, of ports with one name.

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { ENDPOINTS_OF_OBJECT_MAX } from '../../../../../src/core/kinds/validate/endpoint-count.ts';
import { ENDPOINTS_OF_HOST_MAX } from '../../../../../src/core/registry/endpoint-limits.ts';
import { endpointShards } from '../../../../../src/core/registry/endpoints.ts';
import { rulePool } from '../../../../../src/core/select/scope/destination-rule-pools.ts';
import { SUBSET_CLUSTERS_MAX, SUBSETS_OF_WILDCARD_MIN } from '../../../../../src/core/select/scope/subset-limit.ts';
import type { State } from '../../../../../src/core/state.ts';
import { findingsOf } from '../../../../../src/offline/findings.ts';
import { ask, world } from '../../../world.ts';
import { service, serviceEntry, workloadEntry } from '../../registry/fixtures.ts';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
const address = (i: number): string => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`;
const ports = (count: number): JsonObject[] =>
  numbers(count).map(i => ({ name: `tcp-${i}`, port: i + 1, protocol: 'TCP' }));
const told = (state: State): readonly string[] =>
  findingsOf(state).map(({ severity, object, message }) => `${severity} ${object} ${message}`);

describe('subsets of a rule', () => {
  const rule = (name: string, host: string, subsets: number, first = 0): JsonObject => ({
    apiVersion: 'networking.istio.io/v1',
    kind: 'DestinationRule',
    metadata: { name, namespace: 'default', creationTimestamp: `2026-01-0${1 + first}T00:00:00Z` },
    spec: { host, subsets: numbers(subsets).map(i => ({ name: `v${first}-${i}`, labels: { version: `${i}` } })) },
  });
  const inForce = (state: State): readonly number[] =>
    [...ask(state, rulePool, { pool: 'exported', namespace: 'default' }).entries.values()].map(
      ([entry]) => entry!.rule.spec.subsets?.length ?? 0,
    );
  const web = (count: number, name = 'web'): JsonObject => service(name, { ports: ports(count) });

  test('apply as far as they fit times the ports of the service, the first ones, and the rule is named', () => {
    const fits = SUBSET_CLUSTERS_MAX / 1_000;
    expect(inForce(world([web(1_000), rule('r', 'web', fits)]))).toEqual([fits]);
    const state = world([web(1_000), rule('r', 'web', fits + 3)]);
    expect(inForce(state)).toEqual([fits]);
    expect(told(state)).toContain(
      `error DestinationRule/default/r spec.subsets: the last 3 subsets of the host are not in force: subsets times ports of the services come to more than ${SUBSET_CLUSTERS_MAX} clusters`,
    );
    expect(told(world([web(1_000), rule('r', 'web', fits)]))).not.toContainEqual(expect.stringContaining('in force'));
  });

  test('of several rules for a host are limited together, and each of the rules is named', () => {
    const state = world([web(1_000), rule('r', 'web', 15, 0), rule('s', 'web', 15, 1)]);
    expect(inForce(state)).toEqual([20]);
    expect(told(state).filter(text => text.includes('the last 10 subsets'))).toHaveLength(2);
  });

  test('of a wildcard host are limited by the ports of all services that it names', () => {
    const services = numbers(20).map(i => web(50, `s${i}`));
    expect(inForce(world([...services, rule('r', '*.svc.cluster.local', 30)]))).toEqual([20]);
    expect(inForce(world([...services, rule('r', '*.example.com', 30)]))).toEqual([30]);
  });

  test('of a wildcard host that are few apply to any number of services, but not to one that is too large', () => {
    const services = numbers(20).map(i => web(100, `s${i}`));
    const few = rule('r', '*.svc.cluster.local', SUBSETS_OF_WILDCARD_MIN);
    expect(inForce(world([...services, few]))).toEqual([SUBSETS_OF_WILDCARD_MIN]);
    expect(inForce(world([web(4_000), few]))).toEqual([5]);
  });
});

describe('workloads that an object selects', () => {
  const labels = { app: 'vm', tier: 'a' };
  const machines = (count: number): JsonObject[] =>
    numbers(count).map(i => workloadEntry(`e${1_000 + i}`, { address: address(i), labels }, { labels }));
  const endpointsOf = (state: State, hostname: string): readonly string[] =>
    ask(state, endpointShards, { hostname, namespace: 'default' }).flatMap(({ endpoints }) =>
      endpoints.map(({ addresses, portName }) => `${portName} ${addresses[0]}`),
    );

  test('are endpoints of a ServiceEntry as far as they fit times its hosts, addresses and ports', () => {
    const hosts = numbers(100).map(i => `h${i}.com`);
    const own = numbers(100).map(i => ({ name: `http-${i}`, number: i + 1, protocol: 'HTTP' }));
    const spec = { hosts, ports: own, resolution: 'STATIC', workloadSelector: { labels } };
    const most = ENDPOINTS_OF_OBJECT_MAX / 100 / 100;
    const fits = world([serviceEntry('ext', spec), ...machines(most)]);
    expect(endpointsOf(fits, 'h7.com')).toHaveLength(100 * most);
    expect(told(fits)).not.toContainEqual(expect.stringContaining('are endpoints'));
    const state = world([serviceEntry('ext', spec), ...machines(most + 5)]);
    expect(endpointsOf(state, 'h7.com')).toEqual(endpointsOf(fits, 'h7.com'));
    expect(told(state)).toContain(
      `error ServiceEntry/default/ext spec.workloadSelector: of what it selects only the first ${most} are endpoints: hosts times addresses times ports times workloads come to more than ${ENDPOINTS_OF_OBJECT_MAX}`,
    );
  });

  test('are endpoints of a Service as far as they fit times its ports, those that it does not select aside', () => {
    const most = ENDPOINTS_OF_OBJECT_MAX / 10_000;
    const web = service('web', { selector: labels, ports: ports(10_000) });
    const other = { app: 'vm', tier: 'b' };
    const others = numbers(5).map(i => workloadEntry(`a${i}`, { address: '11.0.0.1', labels: {} }, { labels: other }));
    const host = 'web.default.svc.cluster.local';
    const fits = world([web, ...others, ...machines(most)]);
    expect(endpointsOf(fits, host)).toHaveLength(10_000 * most);
    expect(told(fits)).not.toContainEqual(expect.stringContaining('are endpoints'));
    const state = world([web, ...others, ...machines(most + 2)]);
    expect(endpointsOf(state, host)).toEqual(endpointsOf(fits, host));
    expect(told(state)).toContainEqual(
      expect.stringMatching(
        /^error Service\/\S+web spec\.selector: of what it selects only the first 10 are endpoints/,
      ),
    );
  });
});

describe('ServiceEntries of one host', () => {
  const entry = (i: number, port: JsonObject, endpoints: number): JsonObject =>
    serviceEntry(`e${100 + i}`, {
      hosts: ['a.com'],
      resolution: 'STATIC',
      ports: [port],
      endpoints: numbers(endpoints).map(j => ({ address: address(i * endpoints + j) })),
    });
  const all = (count: number, portOf: (i: number) => JsonObject): State =>
    world(numbers(count).map(i => entry(i, portOf(i), 102)));
  const counted = (state: State): number =>
    ask(state, endpointShards, { hostname: 'a.com', namespace: 'default' })[0]!.endpoints.length;

  test('have the endpoints that fit times the ports of a name, the oldest ones, and the first one past is named', () => {
    const state = all(100, i => ({ number: i + 1, name: 'http', protocol: 'HTTP' }));
    expect(counted(state)).toBe(ENDPOINTS_OF_HOST_MAX / 100);
    expect(told(state).filter(text => text.includes('not in force'))).toEqual([
      `error ServiceEntry/default/e198 spec.hosts: a.com has endpoints that are not in force: ports with one name times their endpoints come to more than ${ENDPOINTS_OF_HOST_MAX}`,
    ]);
  });

  test('count the ports of an entry once, however many addresses it has', () => {
    const addresses = numbers(100).map(i => `240.0.0.${i}`);
    const port = { number: 80, name: 'http', protocol: 'HTTP' };
    const endpoints = numbers(900).map(i => ({ address: address(i) }));
    const state = world([
      serviceEntry('many', { hosts: ['a.com'], addresses, ports: [port], endpoints, resolution: 'STATIC' }),
      ...numbers(11).map(i => entry(i, port, 1)),
    ]);
    // 12 ports may have 83,333 each.
    expect(counted(state)).toBe(Math.floor(ENDPOINTS_OF_HOST_MAX / 12));
  });

  test('have all of them if each port has a name of its own', () => {
    const state = all(30, i => ({ number: i + 1, name: `http-${i}`, protocol: 'HTTP' }));
    expect(counted(state)).toBe(30 * 102);
    expect(told(state).filter(text => text.includes('not in force'))).toEqual([]);
  });
});
