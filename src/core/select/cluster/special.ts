// Inputs of the clusters that belong to no service: they drop traffic, pass it
// through as addressed, or lead to the source of credentials.
// Source: Istio pilot/pkg/networking/core/cluster.go (BuildClusters), pilot/pkg/networking/core/cluster_builder.go.

import type { ProxyReader } from '../../query/reader.ts';
import type { Duration } from '../../schema/duration.ts';
import { metadataExchange } from '../proxy/proxy-capabilities.ts';
import { preservesHeaderCase, saysTrue } from '../proxy/proxy-metadata.ts';
import { type CommonClusterInputs, commonClusterInputs } from './common.ts';
import { type BindInputs, bindInputs } from './inbound.ts';

export interface TimeoutInputs {
  readonly connectTimeout: Duration | undefined;
}

export interface PassthroughInputs extends CommonClusterInputs {
  readonly headerCase: boolean;
  readonly exchangeMetadata: boolean;
  readonly exchangeLabels: string;
}

export interface InboundPassthroughInputs extends CommonClusterInputs, BindInputs {
  readonly headerCase: boolean;
}

export interface SpecialClusters {
  readonly blackHole: TimeoutInputs;
  /** Of sidecars only, as the next one. */
  readonly passthrough: PassthroughInputs | undefined;
  readonly inboundPassthrough: InboundPassthroughInputs | undefined;
  /** The proxy's metadata announces a credential server on a mounted socket. */
  readonly credential: TimeoutInputs | undefined;
}

export function selectSpecialClusters(reader: ProxyReader): SpecialClusters {
  const common = commonClusterInputs(reader);
  const timeout = { connectTimeout: common.connectTimeout };
  const credential = saysTrue(reader, 'credential') ? timeout : undefined;
  if (reader.facet('type') !== 'sidecar') {
    return { blackHole: timeout, passthrough: undefined, inboundPassthrough: undefined, credential };
  }
  const headerCase = preservesHeaderCase(reader);
  const exchange = metadataExchange(reader);
  // As in Istio, both families are bound regardless of ISTIO_DUAL_STACK.
  const bind = bindInputs(reader.facet('ipMode'), true);
  return {
    blackHole: timeout,
    passthrough: { ...common, headerCase, exchangeMetadata: exchange.on, exchangeLabels: exchange.labels },
    inboundPassthrough: { ...common, ...bind, headerCase },
    credential,
  };
}
