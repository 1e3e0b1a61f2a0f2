// Clusters of fixed shape, whole: servers of modules and of credentials, tunnels, and what a gRPC client takes.

import { describe, expect, it } from 'vitest';
import type { ProxylessClusterInputs } from '../../../../../src/core/select/cluster/proxyless.ts';
import type { TunnelInputs } from '../../../../../src/core/select/cluster/tunnels.ts';
import { moduleServerCluster } from '../../../../../src/xds/generate/cluster/module-servers.ts';
import { proxylessCluster } from '../../../../../src/xds/generate/cluster/proxyless.ts';
import { blackHoleCluster, credentialCluster } from '../../../../../src/xds/generate/cluster/special.ts';
import { innerTunnelOpener, internalCluster, tunnelOpener } from '../../../../../src/xds/generate/cluster/tunnels.ts';
import { typeUrl } from '../../../../../src/xds/proto/any.ts';
import {
  type Cluster,
  Cluster_DiscoveryType,
  Cluster_DnsLookupFamily,
  Cluster_LbPolicy,
} from '../../../../../src/xds/proto/types.gen.ts';
import { httpOptions } from './cluster-scene.ts';

const seconds = (count: number) => ({ seconds: count, nanos: 0 });
const connectTimeout = seconds(10);
const UPSTREAM_TLS = typeUrl('envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext');
const endpoint = (address: object) => [{ lbEndpoints: [{ endpoint: { address } }] }];

describe('the cluster of a server of modules', () => {
  const server = { cluster: 'modules', port: 443, family: 'V4_ONLY', connectTimeout } as const;

  it('resolves a name in the families of the proxy, and sends it as SNI', () => {
    const host = 'modules.example.com';
    const made = moduleServerCluster.run({ ...server, host, tls: true, literal: false, family: 'ALL' });
    expect(made).toEqual({
      name: 'modules',
      problems: [],
      message: {
        name: 'modules',
        altStatName: 'modules;',
        type: Cluster_DiscoveryType.STRICT_DNS,
        connectTimeout,
        dnsLookupFamily: Cluster_DnsLookupFamily.ALL,
        respectDnsTtl: true,
        loadAssignment: {
          clusterName: 'modules',
          endpoints: endpoint({ socketAddress: { address: host, portValue: 443 } }),
        },
        transportSocket: {
          name: 'envoy.transport_sockets.tls',
          typedConfig: { '@type': UPSTREAM_TLS, sni: host, commonTlsContext: {} },
        },
      },
    });
  });

  it('connects to an address, without SNI, and by HTTP without TLS', () => {
    const address = { ...server, host: '10.0.0.1', literal: true };
    const secure = moduleServerCluster.run({ ...address, tls: true }).message;
    expect([secure.type, secure.dnsLookupFamily, secure.respectDnsTtl]).toEqual([
      Cluster_DiscoveryType.STATIC,
      undefined,
      undefined,
    ]);
    expect(secure.transportSocket?.typedConfig).toEqual({ '@type': UPSTREAM_TLS, commonTlsContext: {} });
    expect(moduleServerCluster.run({ ...address, tls: false }).message.transportSocket).toBeUndefined();
  });
});

it('the cluster of credentials leads to a mounted socket by HTTP/2', () => {
  expect(credentialCluster.run({ connectTimeout })).toEqual({
    name: 'sds-external',
    problems: [],
    message: {
      name: 'sds-external',
      altStatName: 'sds-external;',
      type: Cluster_DiscoveryType.STATIC,
      connectTimeout,
      loadAssignment: {
        clusterName: 'sds-external',
        endpoints: endpoint({ pipe: { path: './var/run/secrets/credential-uds/socket' } }),
      },
      typedExtensionProtocolOptions: {
        [httpOptions]: {
          '@type': `type.googleapis.com/${httpOptions}`,
          explicitHttpConfig: { http2ProtocolOptions: {} },
        },
      },
    },
  });
  expect(blackHoleCluster.run({ connectTimeout }).name).toBe('BlackHoleCluster');
});

describe('the clusters of tunnels', () => {
  const tunnel: TunnelInputs = {
    name: 'opener',
    trackRemaining: true,
    idleTimeout: seconds(60),
    streamWindow: 0,
    connectionWindow: 0,
    tls: { trustDomains: ['td'], compliance: '', overAds: false, certificate: '', root: '', fileSource: false },
    unshared: false,
  };
  const options = ({ typedExtensionProtocolOptions }: Cluster): object | undefined => {
    const made = typedExtensionProtocolOptions?.[httpOptions];
    const { '@type': _, ...rest } = made as unknown as { readonly '@type': string };
    return rest;
  };
  const socketOf = (name: string) => ({
    name,
    typedConfig: {
      '@type': typeUrl('envoy.extensions.transport_sockets.internal_upstream.v3.InternalUpstreamTransport'),
      transportSocket: {
        name: 'raw_buffer',
        typedConfig: { '@type': typeUrl('envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer') },
      },
    },
  });
  const opener = { ...tunnel, connectTimeout, throughWaypoint: true, morePeers: [] };

  it('lead to the original destination on port 15008, or to the waypoint that metadata names', () => {
    const { name, message, problems } = tunnelOpener.run(opener);
    const { circuitBreakers, transportSocket, typedExtensionProtocolOptions, ...rest } = message;
    expect([name, problems]).toEqual(['opener', []]);
    expect(rest).toEqual({
      name: 'opener',
      altStatName: 'opener;',
      type: Cluster_DiscoveryType.ORIGINAL_DST,
      lbPolicy: Cluster_LbPolicy.CLUSTER_PROVIDED,
      connectTimeout,
      cleanupInterval: seconds(60),
      originalDstLbConfig: {
        upstreamPortOverride: { value: 15008 },
        metadataKey: { key: 'envoy.filters.listener.original_dst', path: [{ key: 'waypoint' }] },
      },
    });
    expect(circuitBreakers?.thresholds?.[0]?.trackRemaining).toBe(true);
    expect(transportSocket).toMatchObject({ name: 'tls', typedConfig: { '@type': UPSTREAM_TLS } });
    const direct = tunnelOpener.run({ ...opener, throughWaypoint: false }).message;
    expect(direct.originalDstLbConfig).toEqual({ upstreamPortOverride: { value: 15008 } });
  });

  it('verify that a peer is of a trust domain, or has one of the further identities', () => {
    const { transportSocket } = tunnelOpener.run({ ...opener, morePeers: ['spiffe://other/ns/a/'] }).message;
    expect(transportSocket?.typedConfig).toMatchObject({
      commonTlsContext: {
        alpnProtocols: ['h2'],
        tlsParams: { tlsMinimumProtocolVersion: 4, tlsMaximumProtocolVersion: 4 },
        tlsCertificateSdsSecretConfigs: [{ name: 'default' }],
        combinedValidationContext: {
          defaultValidationContext: {
            matchTypedSubjectAltNames: [
              { sanType: 3, matcher: { prefix: 'spiffe://td/' } },
              { sanType: 3, matcher: { prefix: 'spiffe://other/ns/a/' } },
            ],
          },
          validationContextSdsSecretConfig: { name: 'ROOTCA' },
        },
      },
    });
  });

  it('speak HTTP/2 with CONNECT, in windows of the size that the operator chose', () => {
    expect(options(tunnelOpener.run(opener).message)).toEqual({
      commonHttpProtocolOptions: { idleTimeout: seconds(60) },
      explicitHttpConfig: { http2ProtocolOptions: { allowConnect: true } },
    });
    const wide = { ...opener, streamWindow: 70_000, connectionWindow: 80_000, unshared: true };
    expect(options(tunnelOpener.run(wide).message)).toEqual({
      commonHttpProtocolOptions: { idleTimeout: seconds(60), maxRequestsPerConnection: { value: 1 } },
      explicitHttpConfig: {
        http2ProtocolOptions: {
          allowConnect: true,
          initialStreamWindowSize: { value: 70_000 },
          initialConnectionWindowSize: { value: 80_000 },
        },
      },
    });
  });

  it('lead to an internal listener, with the client’s protocol', () => {
    const { name, message, problems } = internalCluster.run({ name: 'to', listener: 'in', trackRemaining: false });
    const { circuitBreakers, ...rest } = message;
    expect([name, problems]).toEqual(['to', []]);
    expect(circuitBreakers?.thresholds?.[0]?.trackRemaining).toBeUndefined();
    expect(rest).toEqual({
      name: 'to',
      altStatName: 'to;',
      type: Cluster_DiscoveryType.STATIC,
      loadAssignment: {
        clusterName: 'to',
        endpoints: endpoint({ envoyInternalAddress: { serverListenerName: 'in' } }),
      },
      typedExtensionProtocolOptions: {
        [httpOptions]: {
          '@type': `type.googleapis.com/${httpOptions}`,
          commonHttpProtocolOptions: { idleTimeout: seconds(300) },
          useDownstreamProtocolConfig: { httpProtocolOptions: {}, http2ProtocolOptions: {} },
        },
      },
      transportSocket: socketOf('internal_upstream'),
    });
  });

  it('put one tunnel into another by an internal listener, inside TLS', () => {
    const { message } = innerTunnelOpener.run({ ...tunnel, listener: 'outer', unshared: true });
    expect(message.transportSocket).toMatchObject({
      name: 'internal_upstream_with_tls',
      typedConfig: { transportSocket: { name: 'tls', typedConfig: { '@type': UPSTREAM_TLS } } },
    });
    expect(options(message)).toMatchObject({ commonHttpProtocolOptions: { maxRequestsPerConnection: { value: 1 } } });
    expect(message.loadAssignment?.endpoints).toEqual(
      endpoint({ envoyInternalAddress: { serverListenerName: 'outer' } }),
    );
  });
});

describe('the cluster of a gRPC client', () => {
  const NAME = 'outbound|80||a.example.com';
  const inputs: ProxylessClusterInputs = {
    name: NAME,
    statName: NAME,
    identities: undefined,
    loadBalancer: undefined,
    maxRequests: 0,
    keepsSessions: false,
  };
  const plain = {
    name: NAME,
    altStatName: `${NAME};`,
    type: Cluster_DiscoveryType.EDS,
    edsClusterConfig: { serviceName: NAME, edsConfig: { ads: {} } },
  };
  const certificate = { instanceName: 'default', certificateName: 'default' };
  const roots = { instanceName: 'default', certificateName: 'ROOTCA' };

  it('has only what gRPC reads', () => {
    expect(proxylessCluster.run(inputs)).toEqual({ name: NAME, message: plain, problems: [] });
  });

  it('keeps sessions with endpoints in every state but failing', () => {
    const { message } = proxylessCluster.run({ ...inputs, keepsSessions: true });
    expect(message).toEqual({ ...plain, commonLbConfig: { overrideHostStatus: { statuses: [1, 3, 0, 5] } } });
  });

  it('takes certificates from the provider of the program’s own bootstrap, and verifies the identities', () => {
    const tls = (identities: readonly string[]) => proxylessCluster.run({ ...inputs, identities }).message;
    const context = (validation: object) => ({
      '@type': UPSTREAM_TLS,
      commonTlsContext: {
        tlsCertificateProviderInstance: certificate,
        tlsCertificateCertificateProviderInstance: certificate,
        combinedValidationContext: {
          defaultValidationContext: { caCertificateProviderInstance: roots, ...validation },
          validationContextCertificateProviderInstance: roots,
        },
      },
    });
    expect(tls(['a', 'b']).transportSocket).toEqual({
      name: 'envoy.transport_sockets.tls',
      typedConfig: context({ matchSubjectAltNames: [{ exact: 'a' }, { exact: 'b' }] }),
    });
    expect(tls([]).transportSocket?.typedConfig).toEqual(context({}));
  });

  it('hashes on a ring of the size that the rule gives, and reports Maglev, which gRPC does not know', () => {
    const hash = (consistentHash: object) => proxylessCluster.run({ ...inputs, loadBalancer: { consistentHash } });
    expect(hash({ minimumRingSize: 5 })).toEqual({
      name: NAME,
      message: { ...plain, lbPolicy: Cluster_LbPolicy.RING_HASH, ringHashLbConfig: { minimumRingSize: { value: 5 } } },
      problems: [],
    });
    expect(hash({ maglev: { tableSize: 5 } })).toEqual({
      name: NAME,
      message: { ...plain, lbPolicy: Cluster_LbPolicy.RING_HASH },
      problems: [
        {
          path: 'trafficPolicy.loadBalancer',
          message: 'gRPC does not know maglev: its clients use a ring hash',
        },
      ],
    });
  });
});
