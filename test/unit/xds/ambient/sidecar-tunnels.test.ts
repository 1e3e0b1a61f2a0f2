import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import { ambientWorld } from '../../core/select/ambient/fixtures.ts';
import { world } from '../../world.ts';
import { chainsOf, clustersOf, endpointsIn, listenersOf, pod, shop, sidecarProxy, slice } from './mesh.ts';

const WEB = 'outbound|80||web.shop.svc.cluster.local';
const meshed = (labels = {}) => pod('web', '10.1.0.2', { labels: { 'security.istio.io/tlsMode': 'istio', ...labels } });
const withStatus = (object: JsonObject, status: JsonObject): JsonObject => ({
  ...object,
  status: { ...(object.status as JsonObject), ...status },
});
const tunnels = (more: readonly JsonObject[]): readonly unknown[] =>
  endpointsIn(ambientWorld([...shop(), ...more]), sidecarProxy(), WEB).map(
    ({ metadata }) => metadata?.filterMetadata?.['envoy.transport_socket_match'],
  );

describe('a sidecar in ambient mode', () => {
  it('opens tunnels to captured workloads, and mesh mTLS to those that take it', () => {
    const tunnelled = endpointsIn(ambientWorld(shop()), sidecarProxy(), WEB);
    expect(tunnelled[0]?.metadata?.filterMetadata?.['envoy.transport_socket_match']).toEqual({ tunnel: 'http' });
    const both = [...shop(), meshed()];
    const [mtls] = endpointsIn(ambientWorld(both), sidecarProxy(), WEB);
    expect(mtls?.metadata?.filterMetadata?.['envoy.transport_socket_match']).toEqual({ tlsMode: 'istio' });
    const preferring = ambientWorld(both, { PILOT_PREFER_SENDING_HBONE: 'true' });
    const [preferred] = endpointsIn(preferring, sidecarProxy(), WEB);
    expect(preferred?.metadata?.filterMetadata?.['envoy.transport_socket_match']).toEqual({ tunnel: 'http' });
  });

  it('opens none where its metadata, a flag or the mode forbids it', () => {
    const direct = (of: ReturnType<typeof sidecarProxy>, state = ambientWorld(shop())): unknown =>
      endpointsIn(state, of, WEB)[0]?.endpoint?.address?.socketAddress?.address;
    expect(direct(sidecarProxy({ DISABLE_HBONE_SEND: 'true' }))).toBe('10.1.0.2');
    expect(direct(sidecarProxy(), ambientWorld(shop(), { PILOT_ENABLE_SENDING_HBONE: 'false' }))).toBe('10.1.0.2');
    expect(direct(sidecarProxy(), world(shop()))).toBe('10.1.0.2');
  });

  it('opens one to each address of a captured workload', () => {
    const captured = withStatus(pod('web', '10.1.0.2'), { podIPs: [{ ip: '10.1.0.2' }, { ip: 'fd00::2' }] });
    const of = slice('web', 'fd00::2', [{ name: 'http', port: 8080, protocol: 'TCP' }]);
    expect(tunnels([captured, { ...of, addressType: 'IPv6' }])).toEqual([{ tunnel: 'http' }]);
  });

  it('opens none because a captured workload that has ended had the address before', () => {
    const ended = withStatus(pod('job', '10.1.0.2'), { phase: 'Succeeded' });
    expect(tunnels([pod('web', '10.1.0.2', { captured: false }), ended])).toEqual([undefined]);
  });

  it('offers a tunnel beside mesh mTLS and plaintext, and asks no peer who it is where all are captured', () => {
    const cluster = clustersOf(ambientWorld(shop()), sidecarProxy()).get(WEB);
    expect(cluster?.transportSocketMatches?.map(({ name }) => name)).toEqual([
      'hbone',
      'tlsMode-istio',
      'tlsMode-disabled',
    ]);
    expect(cluster?.metadata?.filterMetadata?.istio).toMatchObject({ disable_mx: true });
    const mixed = [...shop(), pod('web', '10.1.0.2', { captured: false })];
    const other = clustersOf(ambientWorld(mixed), sidecarProxy()).get(WEB);
    expect(other?.metadata?.filterMetadata?.istio).not.toHaveProperty('disable_mx');
  });

  it('carries the TLS of a rule inside of a tunnel', () => {
    const rule = {
      apiVersion: 'networking.istio.io/v1',
      kind: 'DestinationRule',
      metadata: { name: 'web', namespace: 'shop' },
      spec: { host: 'web.shop.svc.cluster.local', trafficPolicy: { tls: { mode: 'SIMPLE' } } },
    };
    const cluster = clustersOf(ambientWorld([...shop(), rule]), sidecarProxy()).get(WEB);
    const [hbone, user] = cluster?.transportSocketMatches ?? [];
    expect(user?.name).toBe('user');
    expect(JSON.stringify(hbone?.transportSocket)).toContain('UpstreamTlsContext');
  });

  it('takes tunnels if its metadata asks for it', () => {
    const state = ambientWorld(shop());
    const taking = sidecarProxy({ ENABLE_HBONE: 'true' });
    expect(listenersOf(state, taking).get('connect_terminate')?.address?.socketAddress?.portValue).toBe(15008);
    expect([...chainsOf(state, taking).keys()]).toEqual(['virtualInbound-catchall-http', 'virtualInbound']);
    expect(clustersOf(state, taking).has('main_internal')).toBe(true);
    expect(listenersOf(state, sidecarProxy()).has('connect_terminate')).toBe(false);
    expect(listenersOf(state, sidecarProxy()).has('connect_originate')).toBe(true);
  });
});
