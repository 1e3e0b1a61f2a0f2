// Inbound listeners: chains by protocol and mTLS mode, listener filters, and proxies that cannot do mesh mTLS.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { listeners } from '../../../../../src/xds/assemble/listener/resources.ts';
import type { FilterChain } from '../../../../../src/xds/proto/types.gen.ts';
import { SLICE_WORK } from '../../../../../src/xds/serve/view-turns.ts';
import { APP_IP, filterNames, hcm, tcpProxy, workloadScene } from './scene.ts';

const HTTP: JsonObject = { name: 'http', port: 80, targetPort: 8080 };
const TCP: JsonObject = { name: 'tcp', port: 9000 };
/** Three runs for each port would take hundreds. */
const SLICES_MAX = 5;
const AUTO: JsonObject = { name: 'any', port: 7000 };

function peerAuthentication(namespace: string, spec: JsonObject): JsonObject {
  const metadata = { name: 'default', namespace };
  return { apiVersion: 'security.istio.io/v1', kind: 'PeerAuthentication', metadata, spec };
}

function strict(mode: string): JsonObject {
  return peerAuthentication('prod', { mtls: { mode } });
}

const transports = (chains: readonly FilterChain[]): readonly string[] =>
  chains.map(chain => {
    const alpn = chain.filterChainMatch?.applicationProtocols?.[0] ?? '-';
    return `${chain.filterChainMatch?.transportProtocol} ${alpn} ${chain.transportSocket === undefined ? 'plain' : 'mtls'}`;
  });

function portChains(scene: ReturnType<typeof workloadScene>, port: number): readonly FilterChain[] {
  return scene.chains('app', 'virtualInbound').filter(chain => chain.filterChainMatch?.destinationPort?.value === port);
}

describe('inbound chains', () => {
  it.each([
    ['PERMISSIVE', ['tls istio mtls', 'raw_buffer - plain']],
    ['STRICT', ['tls - mtls']],
    ['DISABLE', ['raw_buffer - plain']],
  ])('follow the mTLS mode for HTTP: %s', (mode, expected) => {
    expect(transports(portChains(workloadScene([HTTP], [strict(mode)]), 8080))).toEqual(expected);
  });

  it.each([
    ['PERMISSIVE', ['tls istio mtls', 'tls - plain', 'raw_buffer - plain']],
    ['STRICT', ['tls - mtls']],
    ['DISABLE', ['raw_buffer - plain']],
  ])('follow the mTLS mode for TCP: %s', (mode, expected) => {
    expect(transports(portChains(workloadScene([TCP], [strict(mode)]), 9000))).toEqual(expected);
  });

  it('detect HTTP on a port of unknown protocol', () => {
    const chains = portChains(workloadScene([AUTO]), 7000);
    expect(transports(chains)).toEqual([
      'tls istio-http/1.0 mtls',
      'raw_buffer http/1.1 plain',
      'tls istio-peer-exchange mtls',
      'raw_buffer - plain',
      'tls - plain',
    ]);
    expect(chains.map(chain => filterNames(chain).at(-1))).toEqual([
      'envoy.filters.network.http_connection_manager',
      'envoy.filters.network.http_connection_manager',
      'envoy.filters.network.tcp_proxy',
      'envoy.filters.network.tcp_proxy',
      'envoy.filters.network.tcp_proxy',
    ]);
  });

  it('lead to the port of the workload, and name the service in traces', () => {
    const manager = hcm(portChains(workloadScene([HTTP]), 8080)[0]);
    const host = manager.routeConfig?.virtualHosts?.[0];
    expect(host?.name).toBe('inbound|http|80');
    expect(host?.routes?.[0]?.route?.cluster).toBe('inbound|8080||');
    expect(host?.routes?.[0]?.decorator?.operation).toBe('app.prod.svc.cluster.local:80/*');
    expect(manager.statPrefix).toBe('inbound_0.0.0.0_8080;');
  });

  it.each([
    ['http', true],
    ['http2', true],
    ['grpc', false],
    ['grpc-web', false],
  ])('of protocol %s retry what the application reset before it answered: %s', (name, retries) => {
    const manager = hcm(portChains(workloadScene([{ name, port: 80, targetPort: 8080 }]), 8080)[0]);
    const policy = manager.routeConfig?.virtualHosts?.[0]?.routes?.[0]?.route?.retryPolicy;
    expect(policy?.retryOn).toBe(retries ? 'reset-before-request' : undefined);
  });

  it('follow the first of two services on a shared target port', () => {
    const ports = [
      { name: 'http', port: 80, targetPort: 8080 },
      { name: 'tcp', port: 81, targetPort: 8080 },
    ];
    const chains = portChains(workloadScene(ports), 8080);
    expect(chains.map(chain => filterNames(chain).at(-1))).toEqual([
      'envoy.filters.network.http_connection_manager',
      'envoy.filters.network.http_connection_manager',
    ]);
  });

  it('follow a port-level mode also on a port without service', () => {
    const policy = peerAuthentication('prod', {
      selector: { matchLabels: { app: 'app' } },
      portLevelMtls: { 6000: { mode: 'STRICT' } },
    });
    const chains = portChains(workloadScene([HTTP], [policy]), 6000);
    expect(transports(chains)).toEqual(['tls istio-http/1.0 mtls', 'tls - mtls']);
    expect(tcpProxy(chains[1]).cluster).toBe('InboundPassthroughCluster');
  });

  it('follow port-level modes of thousands of ports without service, in few slices of work', () => {
    const ports = Array.from({ length: 4_000 }, (_, i) => i + 20_000);
    const policy = peerAuthentication('prod', {
      selector: { matchLabels: { app: 'app' } },
      mtls: { mode: 'STRICT' },
      portLevelMtls: Object.fromEntries(ports.map(port => [port, { mode: port % 2 === 0 ? 'DISABLE' : 'PERMISSIVE' }])),
    });
    const scene = workloadScene([HTTP], [policy]);
    const { tracker, state } = scene;
    const proxy = state.proxies.get('app')!;
    let slices = 1;
    const made = () => tracker.within(SLICE_WORK, () => tracker.get(state, proxy, listeners, '')).value;
    while (made() === undefined) slices++;
    expect(slices).toBeLessThan(SLICES_MAX);
    const { filterChains = [] } = made()!.find(({ name }) => name === 'virtualInbound')!.message;
    const portOf = (chain: FilterChain) => chain.filterChainMatch?.destinationPort?.value ?? 0;
    expect([...new Set(filterChains.map(portOf))].slice(2, -1)).toEqual(ports);
    const at = (port: number) => transports(filterChains.filter(chain => portOf(chain) === port));
    expect(at(20_000)).toEqual(['raw_buffer http/1.1 plain', 'raw_buffer - plain']);
    expect(at(23_999)).toHaveLength(5);
  });
});

describe('inbound listener filters', () => {
  it('inspect HTTP only where the protocol is unknown, and nothing on the port of the listener itself', () => {
    const listener = workloadScene([HTTP]).listener('app', 'virtualInbound');
    const [original, tls, http] = listener.listenerFilters ?? [];
    expect(original?.name).toBe('envoy.filters.listener.original_dst');
    expect(tls?.filterDisabled).toEqual({ destinationPortRange: { start: 15006, end: 15007 } });
    expect(http?.filterDisabled?.orMatch?.rules).toEqual([
      { destinationPortRange: { start: 8080, end: 8081 } },
      { destinationPortRange: { start: 15006, end: 15007 } },
    ]);
  });

  it('keep the client’s address in mode TPROXY', () => {
    const scene = workloadScene([HTTP], [], {}, { INTERCEPTION_MODE: 'TPROXY' });
    const listener = scene.listener('app', 'virtualInbound');
    expect(listener.transparent).toEqual({ value: true });
    expect(listener.listenerFilters?.[1]?.name).toBe('envoy.filters.listener.original_src');
  });
});

describe('Sidecar ingress', () => {
  it('replaces the ports of the services, each on its own address', () => {
    const sidecar: JsonObject = {
      apiVersion: 'networking.istio.io/v1',
      kind: 'Sidecar',
      metadata: { name: 'in', namespace: 'prod' },
      spec: {
        ingress: [
          { port: { number: 9999, protocol: 'TCP', name: 'tcp' }, defaultEndpoint: '127.0.0.1:1' },
          {
            port: { number: 7777, protocol: 'HTTP', name: 'http' },
            bind: '127.0.0.1',
            captureMode: 'NONE',
            defaultEndpoint: '127.0.0.1:2',
          },
        ],
      },
    };
    const scene = workloadScene([HTTP], [sidecar]);
    expect(portChains(scene, 8080)).toEqual([]);
    expect(portChains(scene, 9999)[0]?.name).toBe('10.1.0.7_9999');
    expect(portChains(scene, 9999)[0]?.metadata?.filterMetadata?.istio).toEqual({
      config: '/apis/networking.istio.io/v1/namespaces/prod/sidecar/in',
    });
    expect(scene.listener('app', '127.0.0.1_7777').bindToPort).toBeUndefined();
  });

  it('is bound to the written address alone, also where that is the wildcard of a dual-stack proxy', () => {
    const entry = { port: { number: 7777, protocol: 'HTTP', name: 'http' }, captureMode: 'NONE', bind: '0.0.0.0' };
    const sidecar: JsonObject = {
      apiVersion: 'networking.istio.io/v1',
      kind: 'Sidecar',
      metadata: { name: 'in', namespace: 'prod' },
      spec: { ingress: [{ ...entry, defaultEndpoint: '127.0.0.1:2' }] },
    };
    const dual = { INSTANCE_IPS: `${APP_IP},fd00::7` };
    const scene = workloadScene([], [sidecar], { env: { ISTIO_DUAL_STACK: 'true' } }, dual);
    expect(scene.listener('app', '0.0.0.0_7777').additionalAddresses).toBeUndefined();
    expect(scene.listener('app', 'virtualInbound').additionalAddresses).toHaveLength(1);
  });
});

describe('a port that the proxy keeps for itself', () => {
  const ingress = (protocol: string): JsonObject => ({
    apiVersion: 'networking.istio.io/v1',
    kind: 'Sidecar',
    metadata: { name: 'in', namespace: 'prod' },
    spec: { ingress: [{ port: { number: 15021, protocol, name: 'p' }, defaultEndpoint: '127.0.0.1:1' }] },
  });
  const chainsOf = (protocol: string): number =>
    portChains(workloadScene([], [ingress(protocol)], {}, { ENVOY_STATUS_PORT: 15021 }), 15021).length;

  it('is no ingress port of HTTP; on an address of its own another protocol has it', () => {
    expect(chainsOf('HTTP')).toBe(0);
    expect(chainsOf('TCP')).toBe(3);
  });
});

describe('the inbound listener of a stock Envoy', () => {
  const extensions = [{ name: 'envoy.filters.http.router', category: 'envoy.filters.http' }];

  function stock(more: readonly JsonObject[]): ReturnType<typeof workloadScene> {
    const scene = workloadScene([HTTP], more, { mesh: { defaultProviders: { metrics: ['prometheus'] } } });
    const node = {
      id: 'sidecar~10.1.0.7~app.prod~prod.svc.cluster.local',
      metadata: { NAMESPACE: 'prod', CLUSTER_ID: 'Kubernetes', LABELS: { app: 'app' } },
      extensions,
    };
    scene.connect('app', node);
    return scene;
  }

  it('has none of Istio’s filters, and nothing that waits for certificates of an agent', () => {
    const json = stock([]).json('app');
    expect(json).not.toMatch(/istio\.(metadata_exchange|stats|alpn)|sds-grpc|peer_metadata/);
    expect(json).toContain('inbound|8080||');
  });

  it('has Istio’s filters and mesh mTLS where it is istio-proxy', () => {
    const json = workloadScene([HTTP], [], { mesh: { defaultProviders: { metrics: ['prometheus'] } } }).json('app');
    for (const part of ['istio.metadata_exchange', 'istio.stats', 'istio.alpn', 'sds-grpc'])
      expect(json).toContain(part);
  });

  it('refuses connections, rather than accept plaintext, where mTLS is STRICT', () => {
    const scene = stock([strict('STRICT')]);
    expect(scene.chains('app', 'virtualInbound').map(chain => chain.name)).toEqual(['virtualInbound-blackhole']);
  });
});
