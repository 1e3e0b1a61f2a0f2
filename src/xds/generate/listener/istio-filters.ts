// Istio's own filters: exchange of workload metadata, ALPN of the client's protocol inside mesh mTLS, and the standard
// metrics. A proxy without them (stock Envoy) gets none of these.
// Source: Istio pilot/pkg/xds/filters/filters.go, pilot/pkg/model/telemetry.go.

import type { JsonObject } from '../../../core/base/json.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { PeerDirection, StatsInputs } from '../../../core/select/listener/istio-filters.ts';
import { any } from '../../proto/any.ts';
import {
  AlpnFilterConfig_Protocol,
  type AnyMessage,
  type Filter,
  type HttpFilter,
  Reporter,
  type StatsPluginConfig,
} from '../../proto/types.gen.ts';
import { additionalLabels } from '../common/additional-labels.ts';
import { durationOf } from '../common/duration.ts';
import { lastOf } from '../common/last.ts';
import { orNone } from '../common/or-none.ts';

/** A filter that stands in a network chain and in an HTTP chain alike. */
export interface NamedConfig {
  readonly name: string;
  readonly typedConfig: AnyMessage;
}

const METADATA_EXCHANGE = 'istio.metadata_exchange';

/** Of TCP connections. `labels`: as `exchangedLabels` gives them, here and below. */
export function networkMetadataExchange(labels: string | undefined): readonly Filter[] {
  return labels === undefined ? [] : [networkExchange(labels)];
}

/** For HTTP requests: a server discovers its caller, a client its destination. */
export function peerMetadata(labels: string | undefined, direction: PeerDirection): readonly HttpFilter[] {
  return labels === undefined ? [] : [exchanges[direction](labels)];
}

/** For the requests of a waypoint, which asks the control plane about its peers. */
export const waypointPeers: Readonly<Record<'downstream' | 'upstream', HttpFilter>> = {
  downstream: waypointPeer('downstream', { shared_with_upstream: true }),
  upstream: waypointPeer('upstream', {}),
};

function waypointPeer(side: 'downstream' | 'upstream', more: JsonObject): HttpFilter {
  return {
    name: `waypoint_${side}_peer_metadata`,
    typedConfig: any('udpa.type.v1.TypedStruct', {
      typeUrl: 'type.googleapis.com/io.istio.http.peer_metadata.Config',
      value: { [`${side}_discovery`]: [{ workload_discovery: {} }], ...more },
    }),
  };
}

/** Depends on a flag only, so every proxy shares one object, which is encoded once. */
const networkExchange = lastOf(
  (labels: string): Filter => ({
    name: METADATA_EXCHANGE,
    typedConfig: any('udpa.type.v1.TypedStruct', {
      typeUrl: 'type.googleapis.com/envoy.tcp.metadataexchange.config.MetadataExchange',
      value: { protocol: 'istio-peer-exchange', enable_discovery: true, ...additionalLabels(labels) },
    }),
  }),
);

const exchanges: Readonly<Record<PeerDirection, (labels: string) => HttpFilter>> = {
  downstream: peerExchange('downstream', false),
  upstream: peerExchange('upstream', false),
  inMesh: peerExchange('upstream', true),
};

function peerExchange(side: 'downstream' | 'upstream', skipExternal: boolean): (labels: string) => HttpFilter {
  return lastOf(labels => ({
    name: METADATA_EXCHANGE,
    typedConfig: any('udpa.type.v1.TypedStruct', {
      typeUrl: 'type.googleapis.com/io.istio.http.peer_metadata.Config',
      value: {
        [`${side}_discovery`]: [{ istio_headers: {} }, { workload_discovery: {} }],
        [`${side}_propagation`]: [{ istio_headers: skipExternal ? { skip_external_clusters: true } : {} }],
        ...additionalLabels(labels),
      },
    }),
  }));
}

/** Overrides the client's ALPN by the one agreed on in the mesh, for the HTTP version in use. */
export const alpnFilter: HttpFilter = {
  name: 'istio.alpn',
  typedConfig: any('istio.envoy.config.filter.http.alpn.v2alpha1.FilterConfig', {
    alpnOverride: [
      { upstreamProtocol: AlpnFilterConfig_Protocol.HTTP10, alpnOverride: ['istio-http/1.0', 'istio', 'http/1.0'] },
      { upstreamProtocol: AlpnFilterConfig_Protocol.HTTP11, alpnOverride: ['istio-http/1.1', 'istio', 'http/1.1'] },
      { upstreamProtocol: AlpnFilterConfig_Protocol.HTTP2, alpnOverride: ['istio-h2', 'istio', 'h2'] },
    ],
  }),
};

/** `istio.stats` of one metrics provider. */
export const statsGenerator: Generator<StatsInputs, NamedConfig> = {
  name: 'listener/stats',
  run: ({ spec, noHostHeader, waypoint }) => {
    const config: StatsPluginConfig = {
      reporter: waypoint ? Reporter.SERVER_GATEWAY : undefined,
      disableHostHeaderFallback: noHostHeader ? true : undefined,
      tcpReportingDuration: durationOf(spec.reportingInterval),
      metrics: orNone(
        spec.overrides.map(override => ({
          name: override.name,
          drop: override.drop ? true : undefined,
          dimensions: override.dimensions,
          tagsToRemove: orNone(override.tagsToRemove),
        })),
      ),
    };
    return { name: 'istio.stats', typedConfig: any('stats.PluginConfig', config) };
  },
};
