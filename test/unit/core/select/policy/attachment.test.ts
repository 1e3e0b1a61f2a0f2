// Which policies concern which proxies, by selector, by reference and by namespace.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { Query } from '../../../../../src/core/query/reader.ts';
import { Tracker } from '../../../../../src/core/query/tracker.ts';
import type { PolicyTargetReference } from '../../../../../src/core/schema/istio-types.gen.ts';
import { isAttached } from '../../../../../src/core/select/policy/attachment.ts';
import { authorizationOfProxy, authorizationOfTunnels } from '../../../../../src/core/select/policy/authorization.ts';
import { tokenRulesOfProxy } from '../../../../../src/core/select/policy/request-authentication.ts';
import { ask, nodeOf, proxyOf, world } from '../../../world.ts';

const policy = (name: string, spec: JsonObject, namespace = 'shop'): JsonObject => ({
  apiVersion: 'security.istio.io/v1',
  kind: 'AuthorizationPolicy',
  metadata: { name, namespace },
  spec: { rules: [{}], ...spec },
});
const target = (name: string, more: JsonObject = {}): JsonObject => ({
  group: 'gateway.networking.k8s.io',
  kind: 'Gateway',
  name,
  ...more,
});
const selectedBy = (matchLabels: JsonObject): JsonObject => ({ selector: { matchLabels } });
const selected = (app: string): JsonObject => selectedBy({ app });
const GATEWAY = { app: 'gw', 'gateway.networking.k8s.io/gateway-name': 'gw' };

const CLASS = { group: 'gateway.networking.k8s.io', kind: 'GatewayClass', name: 'istio-waypoint' };

/** Names of the policies in force for a proxy in `shop` with these labels. */
function applied(
  policies: readonly JsonObject[],
  labels: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>> = {},
): readonly string[] {
  const state = world(policies, { settings: { env } });
  const proxy = proxyOf(nodeOf({ namespace: 'shop', labels }));
  return ask(state, authorizationOfProxy, { beside: '', subject: '' }, proxy)?.policies.map(({ name }) => name) ?? [];
}

describe('a policy', () => {
  const policies = [
    policy('all', {}),
    policy('app', selected('web')),
    policy('other', selected('other')),
    policy('elsewhere', {}, 'far'),
    policy('mesh', {}, 'istio-system'),
    policy('mesh-app', selected('web'), 'istio-system'),
  ];

  it('of the namespace and of the root namespace is in force for what its selector names, the root first', () => {
    expect(applied(policies, { app: 'web' })).toEqual(['mesh', 'mesh-app', 'all', 'app']);
    expect(applied(policies, {})).toEqual(['mesh', 'all']);
  });

  it('without a reference is in force for a gateway of the Gateway API, unless selectors are for others', () => {
    const all = [policy('all', {}), policy('app', selected('gw'))];
    expect(applied(all, GATEWAY)).toEqual(['all', 'app']);
    expect(applied(all, GATEWAY, { ENABLE_SELECTOR_BASED_K8S_GATEWAY_POLICY: 'false' })).toEqual([]);
  });

  it('with a selector is in force for other workloads, whatever selectors are for', () => {
    const env = { ENABLE_SELECTOR_BASED_K8S_GATEWAY_POLICY: 'false' };
    expect(applied([policy('app', selected('web'))], { app: 'web' }, env)).toEqual(['app']);
  });

  it.each<[string, JsonObject, boolean]>([
    ['its name', { targetRef: target('gw') }, true],
    ['its name in a list', { targetRefs: [target('other'), target('gw')] }, true],
    ['another name', { targetRefs: [target('other')] }, false],
    ['a Service of its name', { targetRefs: [{ group: '', kind: 'Service', name: 'gw' }] }, false],
    ['the class of waypoints', { targetRefs: [target('istio-waypoint', { kind: 'GatewayClass' })] }, false],
  ])('with a reference to %s is in force for a gateway: %s', (_what, spec, expected) => {
    // The class can be named in the root namespace alone.
    const kind = JSON.stringify(spec).includes('GatewayClass') ? 'istio-system' : 'shop';
    expect(applied([policy('p', spec, kind)], GATEWAY)).toEqual(expected ? ['p'] : []);
  });

  it.each<[string, JsonObject, boolean]>([
    ['without a namespace', {}, true],
    ['in its namespace', { namespace: 'shop' }, true],
    ['in another namespace', { namespace: 'far' }, false],
    ['of another group', { group: 'networking.istio.io' }, false],
    ['of another kind', { kind: 'Service' }, false],
  ])('with a reference to its name %s is in force for a gateway: %s', (_what, more, expected) => {
    // Most of these are refused, so they are put into force as they are.
    const state = world([]);
    const proxy = proxyOf(nodeOf({ namespace: 'shop', labels: GATEWAY }));
    const attaches: Query<'', boolean> = {
      name: 'test/attaches',
      run: reader => isAttached(reader, 'shop', { targetRefs: [target('gw', more) as PolicyTargetReference] }),
    };
    expect(ask(state, attaches, '', proxy)).toBe(expected);
  });

  it('with a reference is not in force for other workloads, nor from another namespace', () => {
    expect(applied([policy('p', { targetRefs: [target('gw')] })], { app: 'gw' })).toEqual([]);
    expect(applied([policy('p', { targetRefs: [target('gw')] }, 'istio-system')], GATEWAY)).toEqual([]);
  });
});

describe('a policy for a waypoint', () => {
  const WAY = { 'gateway.networking.k8s.io/gateway-name': 'way' };
  const waypoint = proxyOf({
    ...nodeOf({ namespace: 'shop', labels: WAY }),
    id: 'waypoint~10.0.0.9~way.shop~shop.svc.cluster.local',
  });
  const service = (name: string, more: JsonObject = {}): JsonObject => ({
    targetRefs: [{ group: '', kind: 'Service', name, ...more }],
  });
  const entry = (name: string, more: JsonObject = {}): JsonObject => ({
    targetRefs: [{ group: 'networking.istio.io', kind: 'ServiceEntry', name, ...more }],
  });

  const inForce = (policies: readonly JsonObject[], subject: string): readonly string[] =>
    ask(world(policies), authorizationOfProxy, { beside: '', subject }, waypoint)?.policies.map(({ name }) => name) ??
    [];

  it('is in force for the service that it refers to, in the namespace of the policy', () => {
    const policies = [
      policy('web', service('web')),
      policy('core', service('web', { group: 'core' })),
      policy('api', service('api')),
      policy('entry', entry('web')),
      policy('far', service('web'), 'far'),
    ];
    expect(inForce(policies, 'Service shop/web')).toEqual(['core', 'web']);
    expect(inForce(policies, 'Service shop/api')).toEqual(['api']);
    expect(inForce(policies, 'ServiceEntry shop/web')).toEqual(['entry']);
    expect(inForce(policies, 'Service far/web')).toEqual(['far']);
    expect(inForce(policies, '')).toEqual([]);
  });

  it('is in force for everything behind the waypoint if it refers to the Gateway, or in the root namespace to the class', () => {
    const policies = [
      policy('gateway', { targetRefs: [target('way')] }),
      policy('other', { targetRefs: [target('other')] }),
      policy('class', { targetRefs: [CLASS] }, 'istio-system'),
    ];
    for (const subject of ['', 'Service shop/web', 'ServiceEntry far/db']) {
      expect(inForce(policies, subject)).toEqual(['class', 'gateway']);
    }
  });

  it.each<[string, JsonObject, string]>([
    ['another namespace', CLASS, 'shop'],
    ['another name', { ...CLASS, name: 'istio' }, 'istio-system'],
    ['another kind', { ...CLASS, kind: 'Gateway' }, 'istio-system'],
    ['another group', { ...CLASS, group: '' }, 'istio-system'],
  ])('is not in force if it refers to the class with %s', (_what, ref, namespace) => {
    const attaches: Query<'', boolean> = {
      name: 'test/attaches',
      run: reader => isAttached(reader, namespace, { targetRefs: [ref as PolicyTargetReference] }),
    };
    expect(ask(world([]), attaches, '', waypoint)).toBe(false);
  });

  it('is never in force by a selector, nor without one', () => {
    const policies = [policy('all', {}), policy('mesh', {}, 'istio-system'), policy('way', selectedBy(WAY))];
    expect(inForce(policies, 'Service shop/web')).toEqual([]);
  });

  it('decides about tunnels by its selector or its Gateway, if policies are layered', () => {
    const policies = [
      policy('all', {}),
      policy('way', selectedBy(WAY)),
      policy('other', selected('other')),
      policy('gateway', { targetRefs: [target('way')] }),
      policy('class', { targetRefs: [CLASS] }, 'istio-system'),
      policy('web', service('web')),
      policy('ask', { action: 'CUSTOM', provider: { name: 'p' } }),
    ];
    const LAYERED = 'ENABLE_LAYERED_WAYPOINT_AUTHORIZATION_POLICIES';
    const tunnels = (objects: readonly JsonObject[], env: Readonly<Record<string, string>>) =>
      ask(world(objects, { settings: { env } }), authorizationOfTunnels, '', waypoint);
    const found = tunnels(policies, { [LAYERED]: 'true' });
    expect(found?.policies.map(({ name }) => name)).toEqual(['all', 'gateway', 'way']);
    expect(found).toMatchObject({ external: [], trustDomains: ['cluster.local'] });
    expect(tunnels(policies, {})).toBeUndefined();
    expect(tunnels([policy('other', selected('other'))], { [LAYERED]: 'true' })).toBeUndefined();
  });

  it('counts for each service behind the waypoint by itself', () => {
    const state = world([policy('web', service('web')), policy('api', service('api'))]);
    const tracker = new Tracker();
    const names = (subject: string) =>
      tracker.get(state, waypoint, authorizationOfProxy, { beside: '', subject })?.policies.map(({ name }) => name);
    expect(names('Service shop/web')).toEqual(['web']);
    expect(names('Service shop/api')).toEqual(['api']);
  });

  it('of tokens is looked for in the namespace of the service, too', () => {
    const tokens = (issuer: string, namespace: string): JsonObject => ({
      apiVersion: 'security.istio.io/v1',
      kind: 'RequestAuthentication',
      metadata: { name: issuer, namespace },
      spec: { ...service('web'), jwtRules: [{ issuer, jwks: '{"keys":[]}' }] },
    });
    const state = world([tokens('near', 'shop'), tokens('far', 'far')]);
    const issuers = (subject: string) =>
      ask(state, tokenRulesOfProxy, subject, waypoint).map(({ rule: { issuer } }) => issuer);
    expect(issuers('Service far/web')).toEqual(['far']);
    expect(issuers('Service shop/web')).toEqual(['near']);
    expect(issuers('')).toEqual([]);
  });
});

describe('the authorization of a proxy', () => {
  const proxy = proxyOf(nodeOf({ namespace: 'shop', labels: { app: 'web' } }));
  const authorization = (objects: readonly JsonObject[], env: Readonly<Record<string, string>> = {}, beside = '') =>
    ask(world(objects, { settings: { env } }), authorizationOfProxy, { beside, subject: '' }, proxy);
  const aged = (name: string, day: number): JsonObject => ({
    ...policy(name, {}),
    metadata: { name, namespace: 'shop', creationTimestamp: `2026-01-0${day}T00:00:00Z` },
  });
  const custom = (name: string, provider: string): JsonObject =>
    policy(name, { action: 'CUSTOM', provider: { name: provider } });

  it('is none if no policy applies', () => {
    expect(authorization([policy('other', selected('other'))])).toBeUndefined();
  });

  it('has the older policies of a namespace first', () => {
    expect(authorization([aged('a', 3), aged('b', 1)])?.policies.map(({ name }) => name)).toEqual(['b', 'a']);
  });

  it('has the policies of a further namespace, too', () => {
    const objects = [policy('near', {}), policy('far', {}, 'far'), policy('farther', {}, 'farther')];
    expect(authorization(objects, {}, 'far')?.policies.map(({ name }) => name)).toEqual(['near', 'far']);
    expect(authorization(objects)?.policies.map(({ name }) => name)).toEqual(['near']);
  });

  it('has CUSTOM policies by their provider, apart from the others', () => {
    const objects = [custom('a', 'second'), custom('b', 'first'), custom('c', 'second'), policy('allow', {})];
    const found = authorization(objects, { PILOT_ENABLE_MULTIPLE_CUSTOM_AUTHZ_PROVIDERS: 'true' })!;
    expect(found.policies.map(({ name }) => name)).toEqual(['allow']);
    expect(found.external.map(({ provider, policies }) => [provider, policies.map(({ name }) => name)])).toEqual([
      ['first', ['b']],
      ['second', ['a', 'c']],
    ]);
    expect(found.external[0]!.authorizer).toEqual({
      kind: 'unusable',
      reason: 'MeshConfig has no external authorizer called "first"',
    });
  });

  it('can use none of several providers without the flag', () => {
    const reasons = (objects: readonly JsonObject[]) =>
      authorization(objects, { PILOT_ENABLE_MULTIPLE_CUSTOM_AUTHZ_PROVIDERS: 'false' })?.external.map(
        ({ authorizer }) => authorizer.kind === 'unusable' && authorizer.reason,
      );
    const several = 'several providers for one workload need PILOT_ENABLE_MULTIPLE_CUSTOM_AUTHZ_PROVIDERS';
    expect(reasons([custom('a', 'first'), custom('b', 'second')])).toEqual([several, several]);
    expect(reasons([custom('a', 'first')])).toEqual(['MeshConfig has no external authorizer called "first"']);
  });
});
