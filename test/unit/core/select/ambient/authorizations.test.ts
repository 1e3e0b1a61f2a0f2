// AuthorizationPolicies of ztunnel, and what waypoints are allowed.
// Source of the rules: Istio pilot/pkg/serviceregistry/ambient/authorization.go (convertAuthorizationPolicy),
// policies.go (PolicyCollections), workloads.go (buildWorkloadPolicies, implicitWaypointPolicies).

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { untrackedReader } from '../../../../../src/core/query/untracked.ts';
import {
  allowancesOf,
  authorizationNamed,
  authorizations,
  authorizationsOf,
  waypointAllowances,
} from '../../../../../src/core/select/ambient/authorizations.ts';
import { waypointNamed } from '../../../../../src/core/select/ambient/waypoints.ts';
import { ask, step } from '../../../world.ts';
import { pod } from '../../registry/fixtures.ts';
import { ambientWorld, waypoint } from './fixtures.ts';

const policy = (name: string, spec: JsonObject = {}, space = 'default'): JsonObject => ({
  apiVersion: 'security.istio.io/v1',
  kind: 'AuthorizationPolicy',
  metadata: { name, namespace: space },
  spec,
});
const web = { app: 'web' };
const selector = { matchLabels: web };

describe('an AuthorizationPolicy for ztunnel', () => {
  it('allows without an action, and allows nothing without rules', () => {
    expect(ask(ambientWorld([policy('a')]), authorizationNamed, 'default/a')).toEqual({
      namespace: 'default',
      name: 'a',
      scope: 'NAMESPACE',
      action: 'ALLOW',
      dryRun: false,
      rules: [],
    });
  });
  it('is for the mesh in the root namespace, unless it has a selector', () => {
    const state = ambientWorld([policy('a', {}, 'istio-system'), policy('b', { selector }, 'istio-system')]);
    const scopes = ask(state, authorizations, '').map(({ name, scope }) => [name, scope]);
    expect(scopes).toEqual([
      ['a', 'GLOBAL'],
      ['b', 'WORKLOAD_SELECTOR'],
    ]);
  });
  it('does not exist under a name that no policy has', () => {
    expect(ask(ambientWorld([policy('a')]), authorizationNamed, 'default/b')).toBeUndefined();
  });
});

describe('the policies that a workload lists', () => {
  it('are those of its namespace and of the root namespace that select it, in the order of their names', () => {
    const state = ambientWorld([
      policy('b', { selector }, 'z-apps'),
      policy('a', { selector }, 'z-apps'),
      policy('r', { selector }, 'istio-system'),
      policy('other', { selector: { matchLabels: { app: 'db' } } }, 'z-apps'),
      policy('all', {}, 'z-apps'),
    ]);
    const listed = ask(state, authorizationsOf, { namespace: 'z-apps', labels: web });
    expect(listed).toEqual(['istio-system/r', 'z-apps/a', 'z-apps/b']);
  });
  it('do not have one whose namesake in another namespace selects it', () => {
    const state = ambientWorld([policy('a', {}, 'apps'), policy('a', { selector }, 'prod')]);
    expect(ask(state, authorizationsOf, { namespace: 'apps', labels: web })).toEqual([]);
  });
  it('are, without labels, those with an empty list of labels alone', () => {
    const state = ambientWorld([policy('a', { selector }), policy('b', { selector: { matchLabels: {} } })]);
    expect(ask(state, authorizationsOf, { namespace: 'default', labels: {} })).toEqual(['default/b']);
  });
  it('are listed once in the root namespace', () => {
    const state = ambientWorld([policy('a', { selector }, 'istio-system')]);
    expect(ask(state, authorizationsOf, { namespace: 'istio-system', labels: web })).toEqual(['istio-system/a']);
  });
  it('do not have one that stands for a refused policy, which applies to the whole namespace', () => {
    const refused = policy('a', { action: 'DENY', selector: { matchLabels: { '*': 'web' } }, rules: [{}] });
    const { state } = step(ambientWorld([]), { kind: 'Add', source: 'file/Kubernetes', object: refused });
    expect(ask(state, authorizations, '').map(({ scope }) => scope)).toEqual(['NAMESPACE']);
    expect(ask(state, authorizationsOf, { namespace: 'default', labels: web })).toEqual([]);
  });
});

describe('waypoints that may call what uses them', () => {
  const flag = { PILOT_AUTO_ALLOW_WAYPOINT_POLICY: 'true' };
  const instance = (of: string, account: string, space = 'default'): JsonObject =>
    pod(`${of}-${account}`, '10.0.0.9', {
      namespace: space,
      account,
      labels: { 'gateway.networking.k8s.io/gateway-name': of },
    });
  const parts = [
    waypoint('own'),
    instance('own', 'o'),
    waypoint('b', { namespace: 'apps' }),
    instance('b', 'x', 'apps'),
    waypoint('a', { namespace: 'apps' }),
    instance('a', 'z', 'apps'),
    instance('a', 'y', 'apps'),
    waypoint('empty'),
  ];
  const on = ambientWorld(parts, flag);
  const listed = (own: string | undefined, ofServices: readonly string[], state = on): readonly string[] =>
    allowancesOf(
      untrackedReader(state),
      own === undefined ? undefined : ask(state, waypointNamed, own),
      ofServices,
    ).map(name => name.replace('istio_allow_waypoint_', ''));

  it('are those with pods, by the accounts of these', () => {
    expect(ask(on, waypointAllowances, '')).toEqual([
      {
        namespace: 'apps',
        name: 'istio_allow_waypoint_apps_a',
        principals: ['cluster.local/ns/apps/sa/y', 'cluster.local/ns/apps/sa/z'],
      },
      { namespace: 'apps', name: 'istio_allow_waypoint_apps_b', principals: ['cluster.local/ns/apps/sa/x'] },
      { namespace: 'default', name: 'istio_allow_waypoint_default_own', principals: ['cluster.local/ns/default/sa/o'] },
    ]);
  });
  it('are, for a workload, those of its services by name, and its own last', () => {
    expect(listed('default/own', ['apps/b', '', 'apps/a', 'apps/b'])).toEqual([
      'apps/apps_a',
      'apps/apps_b',
      'default/default_own',
    ]);
  });
  it('have its own once, even if its services use the same', () => {
    expect(listed('apps/a', ['apps/a', 'apps/b'])).toEqual(['apps/apps_b', 'apps/apps_a']);
  });
  it('are those of its services alone if it has none itself', () => {
    expect(listed(undefined, ['apps/a', ''])).toEqual(['apps/apps_a']);
  });
  it('do not have one without pods', () => {
    expect(listed('default/empty', ['apps/a'])).toEqual(['apps/apps_a']);
  });
  it('are none without the flag', () => {
    const off = ambientWorld(parts);
    expect(ask(off, waypointAllowances, '')).toEqual([]);
    expect(listed('default/own', ['apps/a'], off)).toEqual([]);
  });
});
