// Policies in front of tunnels (ENABLE_LAYERED_WAYPOINT_AUTHORIZATION_POLICIES).

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import type { ProxyRecord } from '../../../../src/core/model/proxy.ts';
import { ambientWorld } from '../../core/select/ambient/fixtures.ts';
import { listenersOf, shop, sidecarProxy, waypointProxy } from './mesh.ts';

const LAYERED = { ENABLE_LAYERED_WAYPOINT_AUTHORIZATION_POLICIES: 'true' };
const from = (principal: string): JsonObject => ({ from: [{ source: { principals: [principal] } }] });
const policy = (name: string, spec: JsonObject, namespace = 'shop'): JsonObject => ({
  apiVersion: 'security.istio.io/v1',
  kind: 'AuthorizationPolicy',
  metadata: { name, namespace },
  spec: { action: 'DENY', rules: [from(`td/ns/shop/sa/${name}`)], ...spec },
});
const target = (kind: string, name: string): JsonObject => {
  const group = kind === 'Service' ? '' : 'gateway.networking.k8s.io';
  return { targetRefs: [{ group, kind, name }] };
};

/** The HTTP filters of the listener that takes tunnels, as text. */
function filters(policies: readonly JsonObject[], env = {}, of: ProxyRecord = waypointProxy()): readonly string[] {
  const listener = listenersOf(ambientWorld([...shop(), ...policies], env), of).get('connect_terminate');
  const config = listener?.filterChains?.[0]?.filters?.[0]?.typedConfig as {
    readonly httpFilters?: readonly unknown[];
  };
  return config.httpFilters?.map(filter => JSON.stringify(filter)) ?? [];
}

describe('the listener that takes tunnels', () => {
  it('enforces what is selected by labels or names the Gateway, if policies are layered', () => {
    const all = [
      policy('mesh', {}, 'istio-system'),
      policy('own', {}),
      policy('selected', { selector: { matchLabels: { 'gateway.networking.k8s.io/gateway-name': 'way' } } }),
      policy('other', { selector: { matchLabels: { app: 'other' } } }),
      policy('gateway', target('Gateway', 'way')),
      policy('service', target('Service', 'web')),
      policy('class', target('GatewayClass', 'istio-waypoint'), 'istio-system'),
    ];
    const [rbac = '', peers] = filters(all, LAYERED);
    expect(rbac).toContain('envoy.filters.http.rbac');
    expect([...rbac.matchAll(/policy\[(\w+)\]/g)].map(([, name]) => name)).toEqual([
      'mesh',
      'gateway',
      'own',
      'selected',
    ]);
    expect(rbac).toContain('authenticated');
    expect(peers).toContain('waypoint_downstream_peer_metadata');
    expect(filters(all)[0]).toBe(peers);
  });

  it('leaves out of rules what only requests have, as for TCP', () => {
    const paths = [{ to: [{ operation: { paths: ['/a'] } }] }];
    const [allow = ''] = filters([policy('own', { action: 'ALLOW', rules: paths })], LAYERED);
    expect(allow).toContain('envoy.filters.http.rbac');
    expect(allow).not.toContain('/a');
  });

  it('does so for sidecars that take tunnels', () => {
    const taking = sidecarProxy({ ENABLE_HBONE: 'true' });
    const own = policy('own', { selector: { matchLabels: { app: 'client' } } });
    expect(filters([own], LAYERED, taking)[0]).toContain('policy[own]');
    expect(filters([own], {}, taking)[0]).toContain('waypoint_downstream_peer_metadata');
  });
});
