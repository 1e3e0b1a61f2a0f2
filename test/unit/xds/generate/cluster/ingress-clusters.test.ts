// Inbound clusters of the ports that a Sidecar declares: where they connect to, and what they are described by.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { clusters } from '../../../../../src/xds/assemble/cluster/resources.ts';
import type { Cluster } from '../../../../../src/xds/proto/types.gen.ts';
import { istio, Scene, type SceneOptions } from '../route/scene.ts';
import { cluster, HTTP_PORT, rule, workload } from './cluster-scene.ts';

const V4 = '10.0.0.1';
const V6 = '2001:db8::1';

interface IngressOptions extends SceneOptions {
  readonly ips?: readonly string[];
  readonly more?: readonly JsonObject[];
  readonly sidecar?: JsonObject;
  readonly targetPort?: number;
}

/** The sidecar of a workload whose service leads to port 8080 (or `targetPort`), with this ingress listener. */
function scene(
  listener: JsonObject,
  { ips = [V4], more = [], sidecar = {}, targetPort = 8080, ...options }: IngressOptions = {},
): Scene {
  const ingress = [{ port: { number: 8080, protocol: 'HTTP', name: 'http' }, ...listener }];
  const objects = [
    ...workload('web', 'default', V4, [{ ...HTTP_PORT, targetPort }]),
    istio('Sidecar', 'default', 'own', { ingress, ...sidecar }),
    ...more,
  ];
  const made = new Scene(objects, options);
  const metadata = { NAMESPACE: 'default', CLUSTER_ID: 'Kubernetes', LABELS: { app: 'web' }, INSTANCE_IPS: ips.join() };
  made.connect('web', { id: `sidecar~${ips[0]}~web.default~default.svc.cluster.local`, metadata });
  return made;
}

function addressOf(message: Cluster): readonly [address: string | undefined, port: number | undefined] {
  const { socketAddress } = message.loadAssignment?.endpoints?.[0]?.lbEndpoints?.[0]?.endpoint?.address ?? {};
  return [socketAddress?.address, socketAddress?.portValue];
}

const inbound = (made: Scene): Cluster => cluster(made, 'web', 'inbound|8080||');

describe('the cluster of an ingress listener', () => {
  it.each<[string, readonly string[], string, boolean]>([
    ['127.0.0.1:9000', [V6], '::1', false],
    ['127.0.0.1:9000', [V6, V4], '127.0.0.1', false],
    ['[::1]:9000', [V4], '127.0.0.1', false],
    ['[::1]:9000', [V4, V6], '::1', false],
    ['0.0.0.0:9000', [V6, V4], V4, true],
    ['0.0.0.0:9000', [V6], '127.0.0.1', false],
    ['[::]:9000', [V4, V6], V6, true],
    ['[::]:9000', [V4], '::1', false],
  ])('at %s of a workload with addresses %j connects to %s', (defaultEndpoint, ips, address, bound) => {
    const message = inbound(scene({ defaultEndpoint }, { ips }));
    expect(addressOf(message)).toEqual([address, 9000]);
    expect(message.upstreamBindConfig !== undefined).toBe(bound);
  });

  it('names the service with its target port, and none on another port', () => {
    const services = (targetPort: number): unknown =>
      inbound(scene({ defaultEndpoint: '127.0.0.1:9000' }, { targetPort })).metadata?.filterMetadata?.istio?.services;
    const web = { host: 'web.default.svc.cluster.local', name: 'web', namespace: 'default' };
    expect(services(8080)).toEqual([web]);
    expect(services(8081)).toBeUndefined();
  });

  it('has its own connection pool, else that of the Sidecar, else that of the rule', () => {
    const pool = (maxConnections: number) => ({ tcp: { maxConnections } });
    const more = [rule('web', { trafficPolicy: { connectionPool: pool(3) } })];
    const limit = (listener: JsonObject, sidecar: JsonObject): unknown =>
      inbound(scene(listener, { more, sidecar })).circuitBreakers?.thresholds?.[0]?.maxConnections?.value;
    expect(limit({ connectionPool: pool(1) }, { inboundConnectionPool: pool(2) })).toBe(1);
    expect(limit({}, { inboundConnectionPool: pool(2) })).toBe(2);
    expect(limit({}, {})).toBe(3);
  });

  it.each([
    ['true', 8081, ['inbound|8080||', 'inbound|8081||']],
    ['true', 8080, ['inbound|8080||']],
    ['false', 8081, ['inbound|8080||']],
  ])('stands with the flag for merging %s beside that of a service on %s as %j', (value, targetPort, expected) => {
    const env = { PILOT_ALLOW_SIDECAR_SERVICE_INBOUND_LISTENER_MERGE: value };
    const proxy = scene({}, { targetPort, env });
    const made = proxy.tracker.get(proxy.state, proxy.state.proxies.get('web')!, clusters, '');
    expect(made.map(({ name }) => name).filter(name => name.startsWith('inbound|'))).toEqual(expected);
  });
});
