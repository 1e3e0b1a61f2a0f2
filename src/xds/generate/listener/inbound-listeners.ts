// Inbound listeners of a sidecar: virtualInbound, to which intercepted connections are sent, and a listener of its own for each port that
// the Sidecar binds (spec-listeners §3, §4; Istio core/listener_builder.go, core/listener_inbound.go).

import type { Resource } from '../../../core/model/resource.ts';
import type { Generator } from '../../../core/query/memo.ts';
import type { ProxyReader, Query } from '../../../core/query/reader.ts';
import type { Duration } from '../../../core/schema/duration.ts';
import { inboundPorts, uncoveredMtlsPorts } from '../../../core/select/listener/inbound-listeners.ts';
import { extraWildcards, meshPort, wildcards } from '../../../core/select/listener/listener-addresses.ts';
import { interceptionMode } from '../../../core/select/proxy/proxy-config.ts';
import {
  type AccessLog,
  type Filter,
  type FilterChain,
  type Listener,
  type ListenerFilter,
  TrafficDirection,
} from '../../proto/types.gen.ts';
import { durationOf, ZERO_DURATION } from '../common/duration.ts';
import { listenerAccessLogs } from './access-log.ts';
import { passthroughChains, portChains } from './inbound-chains.ts';
import { inboundInspectors, originalDestination, originalSource } from './listener-filters.ts';
import {
  additionalAddresses,
  listenerAddress,
  listenerName,
  type SocketSettings,
  socketFields,
} from './listener-parts.ts';
import { networkFilters } from './network-filters.ts';
import { socketSettings } from './socket-settings.ts';
import { blackHole } from './tcp-proxy.ts';

export const inboundListeners: Query<'', readonly Resource<Listener>[]> = {
  name: 'generate/inboundListeners',
  run: reader => {
    const listeners: Resource<Listener>[] = [];
    if (interceptionMode(reader) !== 'NONE') listeners.push(virtualInbound(reader));
    for (const port of reader.get(inboundPorts, '')) {
      if (!port.bindToPort) continue;
      const chains = portChains(reader, port);
      // A proxy without mesh mTLS where a policy demands it: nothing may listen.
      if (chains.length === 0) continue;
      const binds = port.bind === wildcards(reader)[0] ? extraWildcards(reader) : [];
      const name = listenerName(port.bind, port.targetPort);
      listeners.push(inbound(reader, name, port.bind, binds, port.targetPort, chains, false));
    }
    return listeners;
  },
};

function virtualInbound(reader: ProxyReader): Resource<Listener> {
  const port = meshPort(reader, 'proxyInboundListenPort');
  const chains = [
    reader.make(inboundBlackHole, {
      port,
      filters: networkFilters(reader, { traffic: 'inbound', exchange: true, authorized: false }),
    }),
    ...passthroughChains(reader, 0),
    ...uncoveredMtlsPorts(reader).flatMap(uncovered => passthroughChains(reader, uncovered)),
  ];
  for (const own of reader.get(inboundPorts, '')) if (!own.bindToPort) chains.push(...portChains(reader, own));
  return inbound(reader, 'virtualInbound', wildcards(reader)[0], extraWildcards(reader), port, chains, true);
}

/** Connections to the listener's own port would come back to it for ever. */
const inboundBlackHole: Generator<{ readonly port: number; readonly filters: readonly Filter[] }, FilterChain> = {
  name: 'listener/inboundBlackHole',
  run: ({ port, filters }) => ({
    name: 'virtualInbound-blackhole',
    filterChainMatch: { destinationPort: { value: port } },
    filters: [...filters, blackHole],
  }),
};

function inbound(
  reader: ProxyReader,
  name: string,
  bind: string,
  moreBinds: readonly string[],
  port: number,
  chains: readonly FilterChain[],
  virtual: boolean,
): Resource<Listener> {
  return reader.make(inboundListener, {
    name,
    bind,
    moreBinds,
    port,
    chains,
    virtual,
    transparent: virtual && interceptionMode(reader) === 'TPROXY',
    detection: reader.mesh('protocolDetectionTimeout') as unknown as Duration | string | undefined,
    accessLog: listenerAccessLogs(reader, 'inbound'),
    ...socketSettings(reader, 'INBOUND_LISTENER_EXACT_BALANCE'),
  });
}

interface InboundListenerInputs extends SocketSettings {
  readonly name: string;
  readonly bind: string;
  readonly moreBinds: readonly string[];
  readonly port: number;
  readonly chains: readonly FilterChain[];
  readonly virtual: boolean;
  readonly transparent: boolean;
  readonly detection: Duration | string | undefined;
  readonly accessLog: readonly AccessLog[] | undefined;
}

const inboundListener: Generator<InboundListenerInputs, Resource<Listener>> = {
  name: 'listener/inbound',
  run: inputs => {
    const filters: ListenerFilter[] = [];
    if (inputs.virtual) filters.push(originalDestination);
    if (inputs.transparent) filters.push(originalSource);
    filters.push(...inboundInspectors(inputs.chains));
    const message: Listener = {
      name: inputs.name,
      address: listenerAddress(inputs.bind, inputs.port),
      additionalAddresses: additionalAddresses(inputs.moreBinds, inputs.port),
      trafficDirection: TrafficDirection.INBOUND,
      transparent: inputs.transparent ? { value: true } : undefined,
      listenerFilters: filters,
      continueOnListenerFiltersTimeout: true,
      listenerFiltersTimeout: durationOf(inputs.detection) ?? ZERO_DURATION,
      accessLog: inputs.accessLog,
      filterChains: inputs.chains,
      ...socketFields(inputs),
    };
    return { name: inputs.name, message, problems: [] };
  },
};
