import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { endpointsOf } from '../../../../../src/xds/assemble/endpoint/resources.ts';
import type { ClusterLoadAssignment } from '../../../../../src/xds/proto/types.gen.ts';
import { HTTP_PORT, pod, rule, slice, workload } from '../cluster/cluster-scene.ts';
import { istio, Scene, type SceneOptions, service, sidecarNode } from '../route/scene.ts';

function scene(extra: readonly JsonObject[] = [], options: SceneOptions = {}): Scene {
  const made = new Scene([...workload('web', 'default', '10.0.0.1', [HTTP_PORT]), ...extra], options);
  made.connect('p', sidecarNode('default'));
  return made;
}

function assignment(made: Scene, name: string, connection = 'p'): ClusterLoadAssignment | undefined {
  return made.tracker.get(made.state, made.state.proxies.get(connection), endpointsOf, name)?.message;
}

function addresses(made: Scene, name: string): readonly (string | undefined)[] {
  const groups = assignment(made, name)?.endpoints ?? [];
  return groups.flatMap(group => (group.lbEndpoints ?? []).map(lb => lb.endpoint?.address?.socketAddress?.address));
}

const tlsMode = (made: Scene, name: string) =>
  assignment(made, name)?.endpoints?.[0]?.lbEndpoints?.[0]?.metadata?.filterMetadata?.['envoy.transport_socket_match'];

const NAME = 'outbound|80||web.default.svc.cluster.local';

describe('the endpoint assignment', () => {
  it.each([
    ['an unknown service', 'outbound|80||none.default.svc.cluster.local'],
    ['an inbound cluster', 'inbound|80||'],
    ['a special cluster', 'BlackHoleCluster'],
    ['no name at all', ''],
  ])('of %s is absent for a delta client, and without endpoints over state of the world', (_what, name) => {
    const { tracker, state } = scene();
    const sotw = state.proxies.get('p')!;
    expect(tracker.get(state, { ...sotw, protocol: 'delta' }, endpointsOf, name)).toBeUndefined();
    expect(tracker.get(state, sotw, endpointsOf, name)?.message).toEqual({ clusterName: name });
  });

  it('of an unknown port or a DNS service is empty', () => {
    const dns = istio('ServiceEntry', 'default', 'ext', {
      hosts: ['ext.example.com'],
      ports: [{ number: 443, name: 'tls', protocol: 'TLS' }],
      resolution: 'DNS',
    });
    const made = scene([dns]);
    const port = 'outbound|81||web.default.svc.cluster.local';
    expect(assignment(made, port)).toEqual({ clusterName: port });
    const external = 'outbound|443||ext.example.com';
    expect(assignment(made, external)).toEqual({ clusterName: external });
  });
});

describe('the endpoints of a cluster', () => {
  it('are those of the port', () => {
    expect(addresses(scene(), NAME)).toEqual(['10.0.0.1']);
  });

  it('are those of the subset, or all if it has no labels', () => {
    const made = scene([
      service('two', 'default', { clusterIP: '10.9.8.8', ports: [HTTP_PORT], selector: { app: 'two' } }),
      pod('two-a', 'default', '10.0.1.1', { app: 'two', version: 'a' }),
      pod('two-b', 'default', '10.0.1.2', { app: 'two', version: 'b' }),
      {
        ...slice('two', 'default', '10.0.1.1', [HTTP_PORT]),
        endpoints: ['a', 'b'].map((version, i) => ({
          addresses: [`10.0.1.${i + 1}`],
          conditions: { ready: true },
          targetRef: { kind: 'Pod', name: `two-${version}`, namespace: 'default' },
        })),
      },
      rule('two', { subsets: [{ name: 'b', labels: { version: 'b' } }, { name: 'all' }] }),
    ]);
    const host = 'two.default.svc.cluster.local';
    expect(addresses(made, `outbound|80|b|${host}`)).toEqual(['10.0.1.2']);
    expect(addresses(made, `outbound|80|all|${host}`)).toEqual(['10.0.1.1', '10.0.1.2']);
  });

  it('exclude endpoints that are not ready', () => {
    const broken = { ...slice('web', 'default', '10.0.0.1', [HTTP_PORT]), endpoints: [notReady] };
    expect(addresses(scene([broken]), NAME)).toEqual([]);
    const env = { PILOT_SEND_UNHEALTHY_ENDPOINTS: 'true' };
    expect(addresses(scene([broken], { env }), NAME)).toEqual(['10.0.0.1']);
  });
});

const notReady = {
  addresses: ['10.0.0.1'],
  conditions: { ready: false, serving: false, terminating: false },
  targetRef: { kind: 'Pod', name: 'web', namespace: 'default' },
};

describe('mTLS support of endpoints', () => {
  it('is that of the workload, unless a policy or rule overrides it', () => {
    expect(tlsMode(scene(), NAME)).toEqual({ tlsMode: 'istio' });
    const peer = {
      apiVersion: 'security.istio.io/v1',
      kind: 'PeerAuthentication',
      metadata: { name: 'web', namespace: 'default' },
      spec: { selector: { matchLabels: { app: 'web' } }, mtls: { mode: 'DISABLE' } },
    };
    expect(tlsMode(scene([peer]), NAME)).toBeUndefined();
    expect(tlsMode(scene([rule('web', { trafficPolicy: { tls: { mode: 'DISABLE' } } })]), NAME)).toBeUndefined();
    const asked = rule('web', { trafficPolicy: { tls: { mode: 'ISTIO_MUTUAL' } } });
    expect(tlsMode(scene([peer, asked]), NAME)).toEqual({ tlsMode: 'istio' });
  });

  it('is that of the own policy of the subset, and of the port', () => {
    const modes = { off: 'DISABLE', on: 'ISTIO_MUTUAL' };
    const subsets = Object.entries(modes).map(([name, mode]) => ({
      name,
      labels: { app: 'web' },
      trafficPolicy: { tls: { mode } },
    }));
    const made = scene([rule('web', { subsets })]);
    expect(tlsMode(made, 'outbound|80|off|web.default.svc.cluster.local')).toBeUndefined();
    expect(tlsMode(made, 'outbound|80|on|web.default.svc.cluster.local')).toEqual({ tlsMode: 'istio' });
    const ofPort = (port: number) =>
      rule('web', {
        trafficPolicy: {
          tls: { mode: 'ISTIO_MUTUAL' },
          portLevelSettings: [{ port: { number: port }, tls: { mode: 'DISABLE' } }],
        },
      });
    expect(tlsMode(scene([ofPort(80)]), NAME)).toBeUndefined();
    expect(tlsMode(scene([ofPort(81)]), NAME)).toEqual({ tlsMode: 'istio' });
  });

  it('is not inherited by a subset with a policy of its own', () => {
    const subset = { name: 'v', labels: { app: 'web' }, trafficPolicy: { loadBalancer: { simple: 'RANDOM' } } };
    const made = scene([rule('web', { trafficPolicy: { tls: { mode: 'DISABLE' } }, subsets: [subset] })]);
    expect(tlsMode(made, 'outbound|80|v|web.default.svc.cluster.local')).toEqual({ tlsMode: 'istio' });
  });
});
