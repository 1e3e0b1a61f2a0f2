// virtualOutbound: where intercepted outbound connections arrive; it hands each to the listener of its destination, and what has none to
// the catch-all (spec-listeners §3; Istio core/listener_builder.go).

import type { Resource } from '../../../core/model/resource.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { ProxyReader } from '../../../core/query/reader.ts';
import { extraWildcards, meshPort, wildcards } from '../../../core/select/listener/listener-addresses.ts';
import { fallthroughRoute } from '../../../core/select/listener/tcp-routes.ts';
import { interceptionMode } from '../../../core/select/proxy/proxy-config.ts';
import { type AccessLog, type Filter, type Listener, TrafficDirection } from '../../proto/types.gen.ts';
import { accessLogsOf, listenerAccessLogs } from './access-log.ts';
import { additionalAddresses, listenerAddress, type SocketSettings, socketFields } from './listener-parts.ts';
import { networkFilters } from './network-filters.ts';
import { socketSettings } from './socket-settings.ts';
import { blackHole, terminalFilters } from './tcp-proxy.ts';

const NAME = 'virtualOutbound';

/** What connections meet that match no service: by the outbound traffic policy they pass or they end. */
export function fallthroughFilters(reader: ProxyReader): readonly Filter[] {
  const accessLog = reader.get(accessLogsOf, 'outbound').tcp;
  return [
    ...networkFilters(reader, { traffic: 'outbound', exchange: false, authorized: false }),
    ...terminalFilters(reader, fallthroughRoute(reader), { accessLog, protocol: 'TCP' }),
  ];
}

export function virtualOutbound(reader: ProxyReader): Resource<Listener> {
  return reader.make(virtualOutboundListener, {
    bind: wildcards(reader)[0],
    moreBinds: moreBinds(reader),
    port: meshPort(reader, 'proxyListenPort'),
    transparent: interceptionMode(reader) === 'TPROXY',
    metricsFilters: networkFilters(reader, { traffic: 'outbound', exchange: false, authorized: false }),
    fallthrough: fallthroughFilters(reader),
    accessLog: listenerAccessLogs(reader, 'outbound'),
    ...socketSettings(reader, 'OUTBOUND_LISTENER_EXACT_BALANCE'),
    exactBalance: false,
  });
}

/** An IPv6-only proxy can be told to take IPv4 connections too. */
function moreBinds(reader: ProxyReader): readonly string[] {
  const extra = extraWildcards(reader);
  const both =
    reader.facet('ipMode') === 'ipv6' && reader.feature('ISTIO_ENABLE_IPV4_OUTBOUND_LISTENER_FOR_IPV6_CLUSTERS');
  return extra.length === 0 && both ? ['0.0.0.0'] : extra;
}

interface VirtualOutboundInputs extends SocketSettings {
  readonly bind: string;
  readonly moreBinds: readonly string[];
  readonly port: number;
  readonly transparent: boolean;
  readonly metricsFilters: readonly Filter[];
  readonly fallthrough: readonly Filter[];
  readonly accessLog: readonly AccessLog[] | undefined;
}

const virtualOutboundListener: Generator<VirtualOutboundInputs, Resource<Listener>> = {
  name: 'listener/virtualOutbound',
  run: inputs => {
    const message: Listener = {
      name: NAME,
      address: listenerAddress(inputs.bind, inputs.port),
      additionalAddresses: additionalAddresses(inputs.moreBinds, inputs.port),
      trafficDirection: TrafficDirection.OUTBOUND,
      useOriginalDst: { value: true },
      transparent: inputs.transparent ? { value: true } : undefined,
      accessLog: inputs.accessLog,
      filterChains: [
        {
          // Connections to the listener's own port would come back to it for ever.
          name: `${NAME}-blackhole`,
          filterChainMatch: { destinationPort: { value: inputs.port } },
          filters: [...inputs.metricsFilters, blackHole],
        },
        { name: `${NAME}-catchall-tcp`, filters: inputs.fallthrough },
      ],
      ...socketFields(inputs),
    };
    return { name: NAME, message, problems: [] };
  },
};
