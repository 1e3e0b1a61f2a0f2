// EnvoyFilter: patches that go together with what they are applied to, and that Envoy could decode.

import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { problemsOf, withSpec } from '../verdict.ts';

const patch = (configPatch: JsonObject): readonly string[] =>
  problemsOf(withSpec('EnvoyFilter', { configPatches: [configPatch] })).map(problem =>
    problem.replace('spec.configPatches[0].', ''),
  );
const value = (applyTo: string, given: JsonObject): readonly string[] =>
  patch({ applyTo, patch: { operation: 'MERGE', value: given } });
const router = 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router';

describe('the parts of an EnvoyFilter patch', () => {
  const merge = { operation: 'MERGE', value: {} };
  const filter = (given: JsonObject): JsonObject => ({ listener: { filterChain: { filter: given } } });
  test.each<[JsonObject, ...string[]]>([
    [{ applyTo: 'CLUSTER', patch: { operation: 'REMOVE' } }],
    [{ applyTo: 'CLUSTER', match: { cluster: { name: 'a' } }, patch: merge }],
    [{ match: { context: 'WAYPOINT', waypoint: {} } }],
    [{ patch: merge }, 'applyTo: is missing'],
    [{ applyTo: 'CLUSTER' }, 'patch: is missing'],
    [{ applyTo: 'CLUSTER', patch: {} }, 'patch.operation: is missing'],
    [{ applyTo: 'CLUSTER', patch: { operation: 'ADD' } }, 'patch.value: is missing, and operation ADD needs it'],
    [
      { applyTo: 'CLUSTER', match: { listener: {} }, patch: merge },
      'match.listener: does not go with applyTo CLUSTER: expected cluster',
    ],
    [
      { applyTo: 'CLUSTER', match: { proxy: { proxyVersion: '++' } }, patch: merge },
      'match.proxy.proxyVersion: "++" is not an expression of RE2: error parsing regexp: missing argument to repetition operator: `+`',
    ],
    [{ applyTo: 'HTTP_FILTER', match: filter({}), patch: merge }, 'match.listener.filterChain.filter.name: is missing'],
    [
      { applyTo: 'NETWORK_FILTER', match: filter({ name: 'a', subFilter: { name: 'b' } }), patch: merge },
      'match.listener.filterChain.filter.subFilter: has no meaning with applyTo NETWORK_FILTER',
    ],
    [
      { applyTo: 'HTTP_FILTER', match: filter({ name: 'a', subFilter: { name: 'b' } }), patch: merge },
      'match.listener.filterChain.filter.subFilter: "a" has no filters inside: expected envoy.filters.network.http_connection_manager',
    ],
    [
      { applyTo: 'CLUSTER', match: { waypoint: {} }, patch: merge },
      'match.waypoint: does not go with applyTo CLUSTER: expected cluster',
    ],
    [
      { applyTo: 'CLUSTER', match: { cluster: {}, waypoint: {} }, patch: merge },
      'match.waypoint: cannot be set together with `cluster`',
    ],
  ])('are validated together: %j: %s', (given, ...problems) => {
    expect(patch(given)).toEqual(problems);
  });
});

describe('the value of an EnvoyFilter patch', () => {
  test.each<[string, JsonObject, ...string[]]>([
    ['CLUSTER', { connect_timeout: '1.5s', maxRequestsPerConnection: 3, unknown_field: {} }],
    ['HTTP_FILTER', { name: 'a', typed_config: { '@type': router, suppress_envoy_headers: true } }],
    ['HTTP_FILTER', { typed_config: { '@type': 'x/google.protobuf.Struct', value: {} } }],
    ['NETWORK_FILTER', { typed_config: { '@type': 'x/envoy.extensions.filters.network.mysql_proxy.v3.MySQLProxy' } }],
    ['VIRTUAL_HOST', { typed_per_filter_config: { a: null }, domains: ['*'] }],
    [
      'CLUSTER',
      { connect_timeout: '' },
      'patch.value.connect_timeout: expected a duration such as 5s, 100ms or 1h30m, found the string ""',
    ],
    [
      'CLUSTER',
      { lb_policy: 'BEST' },
      'patch.value.lb_policy: expected one of ROUND_ROBIN, LEAST_REQUEST, RING_HASH, RANDOM, MAGLEV, CLUSTER_PROVIDED, LOAD_BALANCING_POLICY_CONFIG, found the string "BEST"',
    ],
    ['LISTENER', { filter_chains: {} }, 'patch.value.filter_chains: expected a list, found an object'],
    [
      'HTTP_FILTER',
      { typed_config: { '@type': router, suppress_envoy_headers: 'true' } },
      'patch.value.typed_config.suppress_envoy_headers: expected true or false, found the string "true"',
    ],
    ['HTTP_FILTER', { typed_config: {} }, 'patch.value.typed_config.@type: is missing: expected the name of a message'],
    [
      'HTTP_FILTER',
      { typed_config: { '@type': 'x/no.Such' } },
      'patch.value.typed_config.@type: the string "x/no.Such" names no message that is known',
    ],
  ])('is validated as Envoy message: %s %j: %s', (applyTo, given, ...problems) => {
    expect(value(applyTo, given)).toEqual(problems);
  });
});
