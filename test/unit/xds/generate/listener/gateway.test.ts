// Listeners of a gateway: HTTP, TLS that ends here, TLS that passes through, and what cannot be served.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { gatewayTls } from '../../../../../src/xds/generate/listener/gateway-tls.ts';
import type { CommonTlsContext, DownstreamTlsContext, FilterChain } from '../../../../../src/xds/proto/types.gen.ts';
import { httpService, istio, routerNode } from '../route/scene.ts';
import { filterNames, hcm, ListenerScene, tcpProxy } from './scene.ts';

function gateway(name: string, servers: readonly JsonObject[], created = '2024-01-01T00:00:00Z'): JsonObject {
  const meta = { creationTimestamp: created };
  return istio('Gateway', 'edge', name, { selector: { istio: 'ingressgateway' }, servers }, meta);
}

function gatewayScene(
  objects: readonly JsonObject[],
  node: JsonObject = routerNode('edge'),
  options: ConstructorParameters<typeof ListenerScene>[1] = {},
): ListenerScene {
  const scene = new ListenerScene(objects, options);
  scene.connect('gw', node);
  return scene;
}

function tlsOf(chain: FilterChain | undefined): DownstreamTlsContext {
  const config = chain?.transportSocket?.typedConfig;
  if (config === undefined) throw new Error('the chain has no TLS context');
  return config as DownstreamTlsContext;
}

const http = { port: { number: 8080, name: 'http', protocol: 'HTTP' }, hosts: ['*'] };
const https = (tls: JsonObject, more: JsonObject = {}): JsonObject => ({
  port: { number: 8443, name: 'https', protocol: 'HTTPS' },
  hosts: ['a.example.com'],
  tls,
  ...more,
});

describe('an HTTP port of a gateway', () => {
  it('is one chain for all servers of a port', () => {
    const scene = gatewayScene([gateway('one', [http]), gateway('two', [{ ...http, hosts: ['b.example.com'] }])]);
    expect(scene.names('gw')).toEqual(['0.0.0.0_8080']);
    const [chain, ...others] = scene.chains('gw', '0.0.0.0_8080');
    expect(others).toEqual([]);
    expect(chain?.filterChainMatch).toBeUndefined();
    expect(hcm(chain)).toMatchObject({
      rds: { routeConfigName: 'http.8080' },
      serverName: 'istio-envoy',
      useRemoteAddress: { value: true },
    });
  });

  it('follows the gateway topology of the proxy configuration', () => {
    const node = routerNode('edge');
    const topology = { numTrustedProxies: 2, forwardClientCertDetails: 'APPEND_FORWARD', proxyProtocol: {} };
    const metadata = { ...(node.metadata as JsonObject), PROXY_CONFIG: { gatewayTopology: topology } };
    const scene = gatewayScene([gateway('one', [http])], { ...node, metadata });
    const listener = scene.listener('gw', '0.0.0.0_8080');
    expect(hcm(listener.filterChains?.[0]).xffNumTrustedHops).toBe(2);
    expect(listener.listenerFilters?.map(filter => filter.name)).toEqual(['envoy.filters.listener.proxy_protocol']);
  });

  it('takes the addresses of the networks of the mesh for internal, in numeric order', () => {
    const of = (...cidrs: readonly string[]): JsonObject => ({
      endpoints: cidrs.map(fromCidr => ({ fromCidr })),
      gateways: [],
    });
    const networks = {
      networks: { a: of('192.168.0.0/16', '10.0.0.0/8'), b: of('fd00::/8', '9.1.2.3', '10.0.0.0/8') },
    };
    const scene = gatewayScene([gateway('one', [http])], routerNode('edge'), { networks });
    expect(hcm(scene.chains('gw', '0.0.0.0_8080')[0]).internalAddressConfig?.cidrRanges).toEqual([
      { addressPrefix: '9.1.2.3', prefixLen: { value: 32 } },
      { addressPrefix: '10.0.0.0', prefixLen: { value: 8 } },
      { addressPrefix: '10.0.0.0', prefixLen: { value: 8 } },
      { addressPrefix: '192.168.0.0', prefixLen: { value: 16 } },
      { addressPrefix: 'fd00::', prefixLen: { value: 8 } },
    ]);
  });

  it('has no listener on a privileged port without privileges', () => {
    const node = routerNode('edge');
    const metadata = { ...(node.metadata as JsonObject), UNPRIVILEGED_POD: 'true' };
    const low = { ...http, port: { number: 80, name: 'http', protocol: 'HTTP' } };
    expect(gatewayScene([gateway('one', [low])], { ...node, metadata }).names('gw')).toEqual([]);
  });

  it('reports the server that was refused on the port', () => {
    const tcp = { port: { number: 8080, name: 'tcp', protocol: 'TCP' }, hosts: ['*'] };
    const scene = gatewayScene([gateway('one', [http]), gateway('two', [tcp], '2024-01-02T00:00:00Z')]);
    expect(scene.listenerResource('gw', '0.0.0.0_8080').problems[0]?.message).toContain('edge/two');
  });
});

describe('TLS terminated at the gateway', () => {
  it('has a chain for each server by SNI, with its certificate over ADS', () => {
    const servers = [
      https({ mode: 'SIMPLE', credentialName: 'cred-a' }),
      https(
        { mode: 'MUTUAL', credentialName: 'cred-b', subjectAltNames: ['client'] },
        { hosts: ['b.example.com'], port: { number: 8443, name: 'https-b', protocol: 'HTTPS' } },
      ),
    ];
    const chains = gatewayScene([gateway('g', servers)]).chains('gw', '0.0.0.0_8443');
    expect(chains.map(chain => chain.filterChainMatch?.serverNames)).toEqual([['a.example.com'], ['b.example.com']]);
    const [simple, mutual] = chains.map(tlsOf);
    expect(simple?.requireClientCertificate).toEqual({ value: false });
    expect(simple?.commonTlsContext?.tlsCertificateSdsSecretConfigs?.map(secret => secret.name)).toEqual([
      'kubernetes://cred-a',
    ]);
    expect(mutual?.requireClientCertificate).toEqual({ value: true });
    const validation = mutual?.commonTlsContext?.combinedValidationContext;
    expect(validation?.validationContextSdsSecretConfig?.name).toBe('kubernetes://cred-b-cacert');
    expect(validation?.defaultValidationContext?.matchSubjectAltNames).toEqual([{ exact: 'client' }]);
  });

  it('uses the versions and known cipher suites of the server', () => {
    const tls = {
      mode: 'SIMPLE',
      credentialName: 'c',
      minProtocolVersion: 'TLSV1_2',
      maxProtocolVersion: 'TLSV1_3',
      cipherSuites: ['ECDHE-RSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES128-GCM-SHA256'],
    };
    const [chain] = gatewayScene([gateway('g', [https(tls)])]).chains('gw', '0.0.0.0_8443');
    expect(tlsOf(chain).commonTlsContext?.tlsParams).toMatchObject({
      tlsMinimumProtocolVersion: 3,
      tlsMaximumProtocolVersion: 4,
      cipherSuites: ['ECDHE-RSA-AES128-GCM-SHA256'],
    });
  });

  it('leaves groups and operators of cipher suites to the proxy, and unknown suites out', () => {
    const tls = { mode: 'SIMPLE', credentialName: 'c', cipherSuites: ['[A|B]', 'ALL', 'RC4-SHA', '-AES128-SHA'] };
    const [chain] = gatewayScene([gateway('g', [https(tls)])]).chains('gw', '0.0.0.0_8443');
    expect(tlsOf(chain).commonTlsContext?.tlsParams?.cipherSuites).toEqual(['[A|B]', 'ALL', '-AES128-SHA']);
  });

  it('requests file certificates from the agent, and lets a stock Envoy read them itself', () => {
    const tls = { mode: 'SIMPLE', serverCertificate: '/certs/c.pem', privateKey: '/certs/k.pem' };
    const objects = [gateway('g', [https(tls)])];
    const withAgent = tlsOf(gatewayScene(objects).chains('gw', '0.0.0.0_8443')[0]);
    expect(withAgent.commonTlsContext?.tlsCertificateSdsSecretConfigs?.[0]?.name).toBe(
      'file-cert:/certs/c.pem~/certs/k.pem',
    );
    const stock = { ...routerNode('edge'), extensions: [{ name: 'envoy.filters.http.router' }] };
    const alone = tlsOf(gatewayScene(objects, stock).chains('gw', '0.0.0.0_8443')[0]);
    expect(alone.commonTlsContext?.tlsCertificates).toEqual([
      { certificateChain: { filename: '/certs/c.pem' }, privateKey: { filename: '/certs/k.pem' } },
    ]);
  });

  it('asks the agent for the certificate of the workload where none is named, and a stock Envoy waits', () => {
    const none = { minVersion: '', maxVersion: '', ciphers: [], curves: [], certificate: '', root: '', compliance: '' };
    const place = { alpn: [], quic: false, externalSds: '', fileSource: false, overAds: false };
    const contextOf = (agent: boolean): CommonTlsContext | undefined => {
      const { typedConfig } = gatewayTls.run({ ...none, ...place, tls: { mode: 'MUTUAL' }, agent });
      return (typedConfig as DownstreamTlsContext).commonTlsContext;
    };
    const withAgent = contextOf(true);
    expect(withAgent?.tlsCertificateSdsSecretConfigs?.map(secret => secret.name)).toEqual(['default']);
    expect(withAgent?.combinedValidationContext?.validationContextSdsSecretConfig?.name).toBe('ROOTCA');
    const alone = contextOf(false);
    expect(alone?.tlsCertificates).toBeUndefined();
    expect(alone?.tlsCertificateSdsSecretConfigs?.map(secret => secret.name)).toEqual(['invalid://']);
  });

  it('offers metadata exchange on TCP ports of mesh mTLS, unless the one flag that counts for gateways is set', () => {
    const tcp = { port: { number: 9443, name: 'tls', protocol: 'TLS' }, hosts: ['*'], tls: { mode: 'ISTIO_MUTUAL' } };
    const route = [{ destination: { host: 'shop' } }];
    const vs = istio('VirtualService', 'edge', 'vs', { hosts: ['*'], gateways: ['g'], tcp: [{ route }] });
    const objects = [httpService('shop', 'edge', 8080, '10.96.0.1'), gateway('g', [tcp]), vs];
    const offered = (env: Readonly<Record<string, string>>): readonly string[] | undefined => {
      const [chain] = gatewayScene(objects, routerNode('edge'), { env }).chains('gw', '0.0.0.0_9443');
      return tlsOf(chain).commonTlsContext?.alpnProtocols;
    };
    const exchanging = ['istio-peer-exchange', 'h2', 'http/1.1'];
    expect(offered({})).toEqual(exchanging);
    expect(offered({ PILOT_ENABLE_METADATA_EXCHANGE: 'false' })).toEqual(exchanging);
    expect(offered({ PILOT_DISABLE_MX_ALPN: 'true' })).toEqual(['h2', 'http/1.1']);
  });

  it('serves mesh mTLS only with an agent', () => {
    const objects = [gateway('g', [https({ mode: 'ISTIO_MUTUAL' })])];
    expect(gatewayScene(objects).names('gw')).toEqual(['0.0.0.0_8443']);
    const stock = { ...routerNode('edge'), extensions: [{ name: 'envoy.filters.http.router' }] };
    expect(gatewayScene(objects, stock).names('gw')).toEqual([]);
  });
});

describe('TCP and passed-through TLS at a gateway', () => {
  const shop = httpService('shop', 'edge', 8080, '10.96.0.1');
  const tcp = { port: { number: 9000, name: 'tcp', protocol: 'TCP' }, hosts: ['*'] };

  it('has no listener while no VirtualService routes it', () => {
    expect(gatewayScene([shop, gateway('g', [tcp])]).names('gw')).toEqual([]);
    const vs = istio('VirtualService', 'edge', 'vs', {
      hosts: ['*'],
      gateways: ['g'],
      tcp: [
        { match: [{ port: 9001 }], route: [{ destination: { host: 'no' } }] },
        { route: [{ destination: { host: 'shop' } }] },
      ],
    });
    const [chain] = gatewayScene([shop, gateway('g', [tcp]), vs]).chains('gw', '0.0.0.0_9000');
    expect(tcpProxy(chain).cluster).toBe('outbound|8080||shop.edge.svc.cluster.local');
  });

  it('has a chain for each SNI match, the first for a name', () => {
    const server = {
      port: { number: 8443, name: 'tls', protocol: 'TLS' },
      hosts: ['*.example.com'],
      tls: { mode: 'PASSTHROUGH' },
    };
    const match = (...sniHosts: readonly string[]): JsonObject => ({
      match: [{ sniHosts }],
      route: [{ destination: { host: 'shop', subset: `v${sniHosts.length}-${sniHosts[0]![0]}` } }],
    });
    const vs = istio('VirtualService', 'edge', 'vs', {
      hosts: ['a.example.com', 'b.example.com'],
      gateways: ['g'],
      tls: [match('a.example.com'), match('b.example.com', 'a.example.com'), match('b.example.com')],
    });
    const chains = gatewayScene([shop, gateway('g', [server]), vs]).chains('gw', '0.0.0.0_8443');
    expect(chains.map(chain => tcpProxy(chain).cluster)).toEqual([
      'outbound|8080|v1-a|shop.edge.svc.cluster.local',
      'outbound|8080|v1-b|shop.edge.svc.cluster.local',
    ]);
  });

  it('routes mesh mTLS by the SNI of the service, its port and its subset', () => {
    const server = {
      port: { number: 15443, name: 'tls', protocol: 'TLS' },
      hosts: ['*.svc.cluster.local'],
      tls: { mode: 'AUTO_PASSTHROUGH' },
    };
    const rule = istio('DestinationRule', 'edge', 'shop', {
      host: 'shop',
      subsets: [{ name: 'v1', labels: { v: '1' } }],
    });
    const chains = gatewayScene([shop, rule, gateway('g', [server])]).chains('gw', '0.0.0.0_15443');
    expect(chains.map(chain => chain.filterChainMatch?.serverNames?.[0])).toEqual([
      'outbound_.8080_._.shop.edge.svc.cluster.local',
      'outbound_.8080_.v1_.shop.edge.svc.cluster.local',
    ]);
    expect(chains.map(filterNames)).toEqual([['envoy.filters.network.tcp_proxy'], ['envoy.filters.network.tcp_proxy']]);
  });

  it('has the network extensions of the service’s port where the SNI alone decides', () => {
    const server = {
      port: { number: 15443, name: 'tls', protocol: 'TLS' },
      hosts: ['*.svc.cluster.local'],
      tls: { mode: 'AUTO_PASSTHROUGH' },
    };
    const plugin = (name: string, number: number): JsonObject => ({
      apiVersion: 'extensions.istio.io/v1alpha1',
      kind: 'WasmPlugin',
      metadata: { name, namespace: 'edge' },
      spec: { url: 'file:///a.wasm', type: 'NETWORK', match: [{ ports: [{ number }] }] },
    });
    const objects = [shop, gateway('g', [server]), plugin('of-service', 8080), plugin('of-gateway', 15443)];
    const [chain] = gatewayScene(objects).chains('gw', '0.0.0.0_15443');
    expect(filterNames(chain)).toEqual([
      'extensions.istio.io/trafficextension/edge.of-service~istio-translated-wasmplugin',
      'envoy.filters.network.tcp_proxy',
    ]);
  });
});

describe('a server name on several servers of a port', () => {
  const tls = { mode: 'SIMPLE', credentialName: 'cert' };
  const older = gateway('older', [https(tls, { hosts: ['a.example.com', 'b.example.com'] })]);
  const younger = gateway(
    'younger',
    [
      https(tls, { hosts: ['edge/b.example.com', 'c.example.com'] }),
      https(tls, { hosts: ['edge/a.example.com'], port: { number: 8443, name: 'other', protocol: 'HTTPS' } }),
    ],
    '2024-01-02T00:00:00Z',
  );

  it('belongs to the oldest: no two chains match alike', () => {
    const scene = gatewayScene([younger, older]);
    const names = scene.chains('gw', '0.0.0.0_8443').map(chain => chain.filterChainMatch?.serverNames);
    expect(names).toEqual([['a.example.com', 'b.example.com'], ['c.example.com']]);
  });
});
