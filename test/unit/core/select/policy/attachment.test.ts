// Which policies concern which proxies, by selector, by reference and by namespace.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { authorizationOfProxy } from '../../../../../src/core/select/policy/authorization.ts';
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
const selected = (app: string): JsonObject => ({ selector: { matchLabels: { app } } });
const GATEWAY = { app: 'gw', 'gateway.networking.k8s.io/gateway-name': 'gw' };

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

  it('with a reference is not in force for other workloads, nor from another namespace', () => {
    expect(applied([policy('p', { targetRefs: [target('gw')] })], { app: 'gw' })).toEqual([]);
    expect(applied([policy('p', { targetRefs: [target('gw')] }, 'istio-system')], GATEWAY)).toEqual([]);
  });
});
