// The MeshConfig of an installation that configures nothing. Source: Istio 1.30.3 pkg/config/mesh/mesh.go
// (DefaultMeshConfig, DefaultProxyConfig).

import type { Duration } from '../schema/duration.ts';
import type { ProxyConfig } from '../schema/istio-types.gen.ts';
import type { MeshConfig, MeshNetworks } from './effective.ts';

const seconds = (count: number): Duration => ({ seconds: count, nanos: 0 });

const defaultProxyConfig: ProxyConfig = {
  configPath: './etc/istio/proxy',
  binaryPath: '/usr/local/bin/envoy',
  serviceCluster: 'istio-proxy',
  drainDuration: seconds(45),
  terminationDrainDuration: seconds(5),
  discoveryAddress: 'istiod.istio-system.svc:15012',
  proxyAdminPort: 15_000,
  controlPlaneAuthPolicy: 'MUTUAL_TLS',
  statNameLength: 189,
  statusPort: 15_020,
};

export const defaultMeshConfig: MeshConfig = {
  accessLogEncoding: 'TEXT',
  accessLogFile: '',
  accessLogFormat: '',
  connectTimeout: seconds(10),
  defaultConfig: defaultProxyConfig,
  defaultDestinationRuleExportTo: ['*'],
  defaultProviders: {},
  defaultServiceExportTo: ['*'],
  defaultVirtualServiceExportTo: ['*'],
  dnsRefreshRate: seconds(60),
  enableAutoMtls: true,
  enablePrometheusMerge: true,
  enableTracing: true,
  extensionProviders: [
    { name: 'prometheus', prometheus: {} },
    { name: 'stackdriver', stackdriver: {} },
    { name: 'envoy', envoyFileAccessLog: { path: '/dev/stdout' } },
  ],
  inboundTrafficPolicy: { mode: 'PASSTHROUGH' },
  ingressClass: 'istio',
  ingressControllerMode: 'STRICT',
  ingressService: 'istio-ingressgateway',
  localityLbSetting: { enabled: true },
  outboundTrafficPolicy: { mode: 'ALLOW_ANY' },
  protocolDetectionTimeout: seconds(0),
  proxyHttpPort: 0,
  proxyInboundListenPort: 15_006,
  proxyListenPort: 15_001,
  rootNamespace: 'istio-system',
  trustDomain: 'cluster.local',
  trustDomainAliases: [],
};

export const defaultMeshNetworks: MeshNetworks = { networks: {} };
