// The inbound ports of a sidecar: one configuration for each target port, from the services of the workload or from the
// Sidecar's ingress list.
// Source: Istio pilot/pkg/networking/core/listener_inbound.go.

import { isIpv6 } from '../../base/ip.ts';
import { isHttp, protocolOf } from '../../model/protocol.ts';
import type { Port, Protocol, Service } from '../../model/service.ts';
import { interning } from '../../query/memo.ts';
import type { Derivation, ProxyReader, Query } from '../../query/reader.ts';
import { serviceTargets } from '../../registry/workload.ts';
import type { IstioIngressListener, ServerTLSSettings, Sidecar } from '../../schema/istio-types.gen.ts';
import { inboundMtlsMode, type MtlsMode, portLevelMtlsModes } from '../policy/peer-authentication.ts';
import { meshMtls } from '../proxy/proxy-capabilities.ts';
import { interceptionMode } from '../proxy/proxy-config.ts';
import { metadataText } from '../proxy/proxy-metadata.ts';
import { scopeSettings } from '../scope/sidecar-scope.ts';
import { extraWildcards, isPrivilegedPort, isReservedPort, wildcards } from './listener-addresses.ts';

export interface InboundPort {
  readonly targetPort: number;
  readonly bind: string;
  /** Beside `bind`, where the proxy chose that. */
  readonly moreBinds: readonly string[];
  /** A listener of its own; else the chains are part of virtualInbound. */
  readonly bindToPort: boolean;
  /** Number, name and protocol of the service's port, or of the ingress entry. */
  readonly port: Port;
  /** Absent for an ingress entry of a Sidecar. */
  readonly service?: Service;
  /** TLS settings of the ingress entry; the protocol is then the one inside of TLS. Used where the port has no mTLS. */
  readonly tls?: ServerTLSSettings;
  /** Host in the operation names of traces. */
  readonly traceHost: string;
  /** The Sidecar that declares the port. */
  readonly config?: { readonly namespace: string; readonly name: string };
}

/** How a port treats TLS of the mesh; `refuse`: mTLS is demanded of a proxy that cannot do it. */
export type InboundTls = MtlsMode | 'refuse';

/** Ascending by target port. */
export const inboundPorts: Query<'', readonly InboundPort[]> = {
  name: 'select/inboundPorts',
  run: reader => {
    const sidecar = reader.get(scopeSettings, '').sidecar;
    const ingress = (sidecar?.spec as Sidecar | undefined)?.ingress ?? [];
    const fromIngress = ingress.length > 0;
    const candidates = fromIngress ? ingressPorts(reader, sidecar?.name ?? '', ingress) : [];
    if (!fromIngress || reader.feature('PILOT_ALLOW_SIDECAR_SERVICE_INBOUND_LISTENER_MERGE')) {
      const taken = new Set(ingress.map(entry => entry.port?.number ?? 0));
      candidates.push(...servicePorts(reader, fromIngress).filter(candidate => !taken.has(candidate.targetPort)));
    }
    const byPort = new Map<number, InboundPort>();
    for (const candidate of candidates) {
      if (!byPort.has(candidate.targetPort)) byPort.set(candidate.targetPort, candidate);
    }
    return [...byPort.values()].sort((a, b) => a.targetPort - b.targetPort);
  },
};

/**
 * In mode NONE the workload listens on these ports itself, so they are the proxy's only beside ingress entries that say
 * otherwise.
 */
function servicePorts(reader: ProxyReader, besideIngress: boolean): readonly InboundPort[] {
  const bindToPort = interceptionMode(reader) === 'NONE';
  if (bindToPort && !besideIngress) return [];
  const bind = wildcards(reader)[0];
  const moreBinds = extraWildcards(reader);
  const ports: InboundPort[] = [];
  for (const { service, port, targetPort } of reader.get(serviceTargets, '')) {
    // A name that no port has: a chain for port 0 would be one for all ports, and there is one already.
    if (targetPort === 0) continue;
    if (isReservedPort(reader, targetPort, true) || (bindToPort && isPrivilegedPort(reader, targetPort))) continue;
    ports.push({ targetPort, bind, moreBinds, bindToPort, port, service, traceHost: service.hostname });
  }
  return ports;
}

function ingressPorts(reader: ProxyReader, sidecar: string, ingress: readonly IstioIngressListener[]): InboundPort[] {
  const { namespace } = reader.get(scopeSettings, '');
  const own = metadataText(reader, 'NAMESPACE') || namespace;
  const ports: InboundPort[] = [];
  for (const entry of ingress) {
    const { number = 0, name = '', protocol = '' } = entry.port ?? {};
    const tls = reader.feature('ENABLE_TLS_ON_SIDECAR_INGRESS') ? entry.tls : undefined;
    const bindToPort =
      entry.captureMode === 'NONE' || (entry.captureMode !== 'IPTABLES' && interceptionMode(reader) === 'NONE');
    const chosen = entry.bind || reader.derived(globalAddress);
    const bind = chosen || wildcards(reader)[0];
    if (bindToPort && isPrivilegedPort(reader, number)) continue;
    // As in istiod: HTTP without a bind counts as on any address, whichever it is bound to.
    const anyAddress = entry.bind ? entry.bind === wildcards(reader)[0] : isHttp(protocolOf(protocol));
    if (anyAddress && isReservedPort(reader, number, false)) continue;
    ports.push({
      targetPort: number,
      bind,
      moreBinds: chosen === '' ? extraWildcards(reader) : [],
      bindToPort,
      port: {
        port: number,
        name,
        protocol: tls === undefined ? protocolOf(protocol) : insideTls(protocolOf(protocol)),
      },
      tls,
      traceHost: `${sidecar}.${namespace}`,
      config: { namespace: own, name: sidecar },
    });
  }
  return ports;
}

function insideTls(protocol: Protocol): Protocol {
  if (protocol === 'HTTPS') return 'HTTP';
  return protocol === 'TLS' ? 'TCP' : protocol;
}

/** The first address of the proxy that is neither loopback nor link-local, multicast or unspecified. */
const globalAddress: Derivation<string> = {
  name: 'first global address',
  run: reader => reader.facet('ips').find(isGlobalUnicast) ?? '',
};

function isGlobalUnicast(address: string): boolean {
  if (isIpv6(address)) return !/^(::1?$|fe[89ab]|ff)/i.test(address);
  const [first = 0, second = 0] = address.split('.').map(Number);
  if (first === 0 || first === 127 || (first === 169 && second === 254)) return false;
  return first < 224 || (first > 239 && address !== '255.255.255.255');
}

/** TLS of a target port; port 0 stands for all that are not configured. */
export function inboundTls(reader: ProxyReader, targetPort: number): InboundTls {
  return tlsOfMode(reader, reader.get(portLevelMtlsModes, '')[targetPort] ?? reader.get(inboundMtlsMode, '0'));
}

function tlsOfMode(reader: ProxyReader, mode: MtlsMode): InboundTls {
  if (meshMtls(reader)) return mode;
  return mode === 'STRICT' ? 'refuse' : 'DISABLE';
}

/** Ports of which all but the lowest bits are the same. */
export interface UncoveredPorts {
  readonly ports: readonly number[];
  /** How each of them treats TLS. */
  readonly tls: readonly InboundTls[];
}

const BLOCK_BITS = 8;

/** Equal blocks are one object, for whichever proxy. */
const uncoveredPorts = interning<UncoveredPorts>('select/uncoveredPorts');

/** Ports with an mTLS mode of their own that no service or ingress entry covers, ascending, in blocks. */
export const uncoveredMtlsPorts: Query<'', readonly UncoveredPorts[]> = {
  name: 'select/uncoveredMtlsPorts',
  run: reader => {
    const modes = reader.get(portLevelMtlsModes, '');
    const names = Object.keys(modes);
    if (names.length === 0) return [];
    const covered = new Set(reader.get(inboundPorts, '').map(port => port.targetPort));
    const treatment = new Map<MtlsMode, InboundTls>();
    const blocks = new Map<number, { ports: number[]; tls: InboundTls[] }>();
    for (const port of names.map(Number)) {
      if (covered.has(port)) continue;
      const mode = modes[port]!;
      const tls = treatment.get(mode) ?? tlsOfMode(reader, mode);
      treatment.set(mode, tls);
      const block = blocks.get(port >> BLOCK_BITS) ?? { ports: [], tls: [] };
      blocks.set(port >> BLOCK_BITS, block);
      block.ports.push(port);
      block.tls.push(tls);
    }
    return [...blocks.values()].map(block => reader.make(uncoveredPorts, block));
  },
};
