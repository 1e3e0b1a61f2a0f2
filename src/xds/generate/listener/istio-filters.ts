// Istio's own filters: how proxies tell each other who they are, which protocol a client speaks inside mesh mTLS, and the standard metrics.
// A proxy without them (stock Envoy) gets none of these (spec-listeners §7.1, §7.3, §8.3; Istio pilot/pkg/xds/filters/filters.go).

import type { Generator } from '../../../core/query/memo.ts';
import type { ProxyReader } from '../../../core/query/reader.ts';
import { istioFilters } from '../../../core/select/proxy/proxy-capabilities.ts';
import { proxyHeaders } from '../../../core/select/proxy/proxy-config.ts';
import { ignoresHostHeader, type StatsSpec, stats } from '../../../core/select/telemetry/metrics.ts';
import type { TrafficClass } from '../../../core/select/telemetry/traffic-class.ts';
import { any } from '../../proto/any.ts';
import {
  AlpnFilterConfig_Protocol,
  type AnyMessage,
  type Filter,
  type HttpFilter,
  type StatsPluginConfig,
} from '../../proto/types.gen.ts';
import { additionalLabels } from '../common/additional-labels.ts';
import { durationOf } from '../common/duration.ts';
import { lastOf } from '../common/last.ts';
import { orNone } from './access-log.ts';

/** A filter that stands in a network chain and in an HTTP chain alike. */
interface NamedConfig {
  readonly name: string;
  readonly typedConfig: AnyMessage;
}

const METADATA_EXCHANGE = 'istio.metadata_exchange';

/** The metadata exchange of TCP connections; absent if it is switched off or unknown to the proxy. */
export function networkMetadataExchange(reader: ProxyReader): readonly Filter[] {
  if (!exchangesMetadata(reader)) return [];
  return [networkExchange(reader.feature('PILOT_MX_ADDITIONAL_LABELS'))];
}

/** The peer metadata filter of HTTP: a server looks at who calls it, a client at whom it calls. `always`: also those outside of the mesh. */
export function peerMetadata(reader: ProxyReader, traffic: TrafficClass, always: boolean): readonly HttpFilter[] {
  if (!exchangesMetadata(reader)) return [];
  const headers = reader.derived(proxyHeaders).metadataExchangeHeaders as { readonly mode?: string } | undefined;
  const skipExternal = !always && traffic !== 'inbound' && headers?.mode === 'IN_MESH';
  const exchange = traffic === 'inbound' ? exchanges.downstream : skipExternal ? exchanges.inMesh : exchanges.upstream;
  return [exchange(reader.feature('PILOT_MX_ADDITIONAL_LABELS'))];
}

/** Overrides the client's ALPN by what the mesh agreed on, for the HTTP version in use. */
export function alpn(reader: ProxyReader): readonly HttpFilter[] {
  return istioFilters(reader) && reader.feature('PILOT_ENABLE_ALPN_FILTER') ? [alpnFilter] : [];
}

/** `istio.stats`, one for each metrics provider in force. */
export function statsFilters(reader: ProxyReader, traffic: TrafficClass): readonly NamedConfig[] {
  if (!istioFilters(reader)) return [];
  const noHostHeader = ignoresHostHeader(traffic);
  return reader.get(stats, traffic).map(spec => reader.make(statsGenerator, { spec, noHostHeader }));
}

function exchangesMetadata(reader: ProxyReader): boolean {
  return istioFilters(reader) && reader.feature('PILOT_ENABLE_METADATA_EXCHANGE');
}

/** A flag is all that the filters depend on: they are the same for every proxy, and encoded once. */
const networkExchange = lastOf(
  (labels: string): Filter => ({
    name: METADATA_EXCHANGE,
    typedConfig: any('udpa.type.v1.TypedStruct', {
      typeUrl: 'type.googleapis.com/envoy.tcp.metadataexchange.config.MetadataExchange',
      value: { protocol: 'istio-peer-exchange', enable_discovery: true, ...additionalLabels(labels) },
    }),
  }),
);

const exchanges = {
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

const alpnFilter: HttpFilter = {
  name: 'istio.alpn',
  typedConfig: any('istio.envoy.config.filter.http.alpn.v2alpha1.FilterConfig', {
    alpnOverride: [
      { upstreamProtocol: AlpnFilterConfig_Protocol.HTTP10, alpnOverride: ['istio-http/1.0', 'istio', 'http/1.0'] },
      { upstreamProtocol: AlpnFilterConfig_Protocol.HTTP11, alpnOverride: ['istio-http/1.1', 'istio', 'http/1.1'] },
      { upstreamProtocol: AlpnFilterConfig_Protocol.HTTP2, alpnOverride: ['istio-h2', 'istio', 'h2'] },
    ],
  }),
};

const statsGenerator: Generator<{ readonly spec: StatsSpec; readonly noHostHeader: boolean }, NamedConfig> = {
  name: 'listener/stats',
  run: ({ spec, noHostHeader }) => {
    const config: StatsPluginConfig = {
      disableHostHeaderFallback: noHostHeader ? true : undefined,
      tcpReportingDuration: durationOf(spec.reportingInterval),
      metrics: orNone(
        spec.overrides.map(override => ({
          name: override.name,
          drop: override.drop ? true : undefined,
          dimensions: Object.keys(override.dimensions).length === 0 ? undefined : override.dimensions,
          tagsToRemove: orNone(override.tagsToRemove),
        })),
      ),
    };
    return { name: 'istio.stats', typedConfig: any('stats.PluginConfig', config) };
  },
};
