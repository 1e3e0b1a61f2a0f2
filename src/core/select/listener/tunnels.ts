// Inputs of the listeners at both ends of HBONE tunnels.
// Source: Istio pilot/pkg/networking/core/listener_waypoint.go (buildConnectTerminateListener, buildConnectForwarder),
// pilot/pkg/networking/core/listener.go (buildInnerConnectOriginateListener).

import type { ProxyReader } from '../../query/reader.ts';
import { proxyHeaders } from '../proxy/proxy-config.ts';
import { metadataText } from '../proxy/proxy-metadata.ts';
import { isPatchedSince } from '../proxy/proxy-version.ts';
import { wildcards } from './listener-addresses.ts';

export interface TunnelEndInputs {
  readonly binds: readonly string[];
  /** ProxyConfig.proxyHeaders. */
  readonly headers: ReturnType<typeof headersOf>;
  readonly factory: FilterStateFactory;
}

/** What makes an object of a text in the filter state. */
export type FilterStateFactory = 'istio.hashable_string' | 'envoy.string';

/** The end of tunnels: a listener on every address, of both families whatever the flags. */
export function selectTunnelEnd(reader: ProxyReader): TunnelEndInputs {
  return { binds: wildcards(reader), headers: headersOf(reader), factory: filterStateFactory(reader) };
}

/** Proxies before 1.29.2 know the plain text alone. */
export function filterStateFactory(reader: ProxyReader): FilterStateFactory {
  return isPatchedSince(reader, 1, 29, 2) ? 'istio.hashable_string' : 'envoy.string';
}

/** The network that a waypoint's requests to other networks come from. */
export function ownNetwork(reader: ProxyReader): string {
  return metadataText(reader, 'NETWORK');
}

function headersOf(reader: ProxyReader) {
  return reader.derived(proxyHeaders);
}
