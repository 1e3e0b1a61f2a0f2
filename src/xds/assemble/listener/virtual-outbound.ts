// virtualOutbound, and the filters for connections that match no service: by the outbound traffic policy they pass or
// they end.
// Source: Istio pilot/pkg/networking/core/listener_builder.go (buildVirtualOutboundListener,
// buildOutboundCatchAllNetworkFiltersOnly).

import type { Resource } from '../../../core/model/resource.ts';
import type { ProxyReader } from '../../../core/query/reader.ts';
import { fallthroughRoute } from '../../../core/select/listener/tcp-routes.ts';
import { selectVirtualOutbound } from '../../../core/select/listener/virtual-outbound.ts';
import { virtualOutboundListener } from '../../generate/listener/virtual-outbound.ts';
import type { Filter, Listener } from '../../proto/types.gen.ts';
import { accessLogsOf, listenerAccessLogs } from './access-log.ts';
import { networkFilters, terminalFilters } from './filters.ts';

export function fallthroughFilters(reader: ProxyReader): readonly Filter[] {
  const accessLog = reader.get(accessLogsOf, 'outbound').tcp;
  return [
    ...metricsFilters(reader),
    ...terminalFilters(reader, fallthroughRoute(reader), { protocol: 'TCP' }, accessLog),
  ];
}

function metricsFilters(reader: ProxyReader): readonly Filter[] {
  return networkFilters(reader, {
    traffic: 'outbound',
    exchange: false,
    policiesBeside: undefined,
    extensionPort: undefined,
  });
}

export function virtualOutbound(reader: ProxyReader): Resource<Listener> {
  return reader.make(virtualOutboundListener, {
    ...selectVirtualOutbound(reader),
    metricsFilters: metricsFilters(reader),
    fallthrough: fallthroughFilters(reader),
    accessLog: listenerAccessLogs(reader, 'outbound'),
  });
}
