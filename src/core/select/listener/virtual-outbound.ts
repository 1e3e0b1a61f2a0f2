// Where the virtualOutbound listener binds, and whether it keeps original addresses.
// Source: Istio pilot/pkg/networking/core/listener_builder.go (buildVirtualOutboundListener).

import type { ProxyReader } from '../../query/reader.ts';
import { interceptionMode } from '../proxy/proxy-config.ts';
import { extraWildcards, meshPort, wildcards } from './listener-addresses.ts';
import { type SocketSettings, socketSettings } from './listener-settings.ts';

export interface VirtualOutboundChoice extends SocketSettings {
  readonly bind: string;
  readonly moreBinds: readonly string[];
  readonly port: number;
  /** TPROXY: the socket accepts connections to any address. */
  readonly transparent: boolean;
}

export function selectVirtualOutbound(reader: ProxyReader): VirtualOutboundChoice {
  return {
    bind: wildcards(reader)[0],
    moreBinds: moreBinds(reader),
    port: meshPort(reader, 'proxyListenPort'),
    transparent: interceptionMode(reader) === 'TPROXY',
    ...socketSettings(reader, 'OUTBOUND_LISTENER_EXACT_BALANCE'),
    exactBalance: false,
  };
}

/** A setting lets an IPv6-only proxy accept IPv4 connections too. */
function moreBinds(reader: ProxyReader): readonly string[] {
  const extra = extraWildcards(reader);
  const both =
    reader.facet('ipMode') === 'ipv6' && reader.feature('ISTIO_ENABLE_IPV4_OUTBOUND_LISTENER_FOR_IPV6_CLUSTERS');
  return extra.length === 0 && both ? ['0.0.0.0'] : extra;
}
