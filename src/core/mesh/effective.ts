// Types of the mesh configuration in force: the sources' values merged over the defaults, so fields with a default are
// always present.

import type {
  MeshConfig as DecodedMeshConfig,
  MeshNetworks as DecodedMeshNetworks,
} from '../schema/istio-types.gen.ts';

/** Fields that are always there, because they have a default. */
type Defaulted =
  | 'accessLogEncoding'
  | 'accessLogFile'
  | 'accessLogFormat'
  | 'connectTimeout'
  | 'defaultConfig'
  | 'defaultDestinationRuleExportTo'
  | 'defaultProviders'
  | 'defaultServiceExportTo'
  | 'defaultVirtualServiceExportTo'
  | 'dnsRefreshRate'
  | 'enableAutoMtls'
  | 'enablePrometheusMerge'
  | 'enableTracing'
  | 'extensionProviders'
  | 'inboundTrafficPolicy'
  | 'ingressClass'
  | 'ingressControllerMode'
  | 'ingressService'
  | 'localityLbSetting'
  | 'outboundTrafficPolicy'
  | 'protocolDetectionTimeout'
  | 'proxyHttpPort'
  | 'proxyInboundListenPort'
  | 'proxyListenPort'
  | 'rootNamespace'
  | 'trustDomain'
  | 'trustDomainAliases';

/** The effective MeshConfig. Decoded form: see istio-types.gen.ts. */
export type MeshConfig = DecodedMeshConfig & {
  readonly [F in Defaulted]-?: NonNullable<DecodedMeshConfig[F]>;
};
/** The effective MeshNetworks: name of the network → its endpoints and gateways. */
export type MeshNetworks = { readonly networks: NonNullable<DecodedMeshNetworks['networks']> };
