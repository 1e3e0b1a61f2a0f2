// When a gateway sends to the waypoint of a service instead of its endpoints, and what it asks the tunnel for.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { Service } from '../../../../../src/core/model/service.ts';
import type { Query } from '../../../../../src/core/query/reader.ts';
import { ingressWaypoint, targetIn } from '../../../../../src/core/select/endpoint/ingress-waypoint.ts';
import { scopeService } from '../../../../../src/core/select/scope/sidecar-scope.ts';
import { ask, type WorldPart } from '../../../world.ts';
import { gatewayProxy, shop, sidecarProxy } from '../../../xds/ambient/mesh.ts';
import { ambientWorld, waypoint } from '../ambient/fixtures.ts';

const ASKING = { webLabels: { 'istio.io/ingress-use-waypoint': 'true' } };
const WAY = 'way.shop.svc.cluster.local';

/** The waypoint that a proxy takes for `web`, with this of its service replaced. */
function chosen(
  parts: readonly WorldPart[],
  {
    env = {},
    proxy = gatewayProxy(),
    more = {},
  }: { env?: Readonly<Record<string, string>>; proxy?: ReturnType<typeof gatewayProxy>; more?: Partial<Service> } = {},
): string | undefined {
  const query: Query<'', string | undefined> = {
    name: 'test/ingressWaypoint',
    run: reader => ingressWaypoint(reader, { ...reader.get(scopeService, 'web.shop.svc.cluster.local')!, ...more }),
  };
  return ask(ambientWorld(parts, env), query, '', proxy);
}

describe('the waypoint of a service', () => {
  it('is taken by gateways that can open tunnels, if the service asks for it', () => {
    expect(chosen(shop(ASKING))).toBe(WAY);
    expect(chosen(shop())).toBeUndefined();
    expect(chosen(shop(ASKING), { proxy: sidecarProxy() })).toBeUndefined();
    expect(chosen(shop(ASKING), { env: { PILOT_ENABLE_SENDING_HBONE: 'false' } })).toBeUndefined();
    expect(chosen(shop(ASKING), { env: { ENABLE_INGRESS_WAYPOINT_ROUTING: 'false' } })).toBeUndefined();
  });

  it('is none where the namespace names none, or the one that it names has no address', () => {
    const unbound = shop(ASKING).filter(({ kind }) => kind !== 'Namespace');
    expect(chosen(unbound)).toBeUndefined();
    const gateway = waypoint('way', { namespace: 'shop', addresses: [] });
    expect(chosen(shop({ ...ASKING, gateway }))).toBeUndefined();
  });

  it.each<[string, Partial<Service>, boolean]>([
    ['in the cluster of the gateway', { defaultAddress: '0.0.0.0', clusterVips: { Kubernetes: ['10.0.0.2'] } }, true],
    ['in another cluster', { defaultAddress: '0.0.0.0', clusterVips: { far: ['10.0.0.2'] } }, false],
    ['that was allocated', { defaultAddress: '0.0.0.0', clusterVips: {}, autoAllocatedV4: '240.240.0.1' }, true],
    ['of IPv6 that was allocated', { defaultAddress: '0.0.0.0', clusterVips: {}, autoAllocatedV6: '2001:2::1' }, true],
    ['of its own', { defaultAddress: '10.0.0.2', clusterVips: {} }, true],
    ['nowhere', { defaultAddress: '0.0.0.0', clusterVips: {} }, false],
  ])('is for a service with an address %s', (_what, more, expected) => {
    expect(chosen(shop(ASKING), { more })).toBe(expected ? WAY : undefined);
  });

  it('is found by an address of a service in its network', () => {
    const by = (value: string): JsonObject =>
      waypoint('way', { namespace: 'shop', addresses: [{ type: 'IPAddress', value }] });
    expect(chosen(shop({ ...ASKING, gateway: by('10.0.0.1') }))).toBe(WAY);
    expect(chosen(shop({ ...ASKING, gateway: by('10.0.0.99') }))).toBeUndefined();
  });
});

describe('a tunnel to a waypoint asks for', () => {
  const service = { clusterVips: { a: ['10.0.0.2', '10.0.0.3'], b: ['2001:db8::2'] }, defaultAddress: '10.9.9.9' };
  it.each([
    ['a', '10.0.0.2:80'],
    ['b', '[2001:db8::2]:80'],
    ['c', '10.9.9.9:80'],
  ])('the address of the service in the cluster %s: %s', (cluster, expected) => {
    expect(targetIn(service as unknown as Service, cluster, 80)).toBe(expected);
  });
});
