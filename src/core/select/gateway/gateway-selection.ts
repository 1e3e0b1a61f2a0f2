// Which Gateways apply to a router, and which of its ports each server port becomes.
//
// A derivation, so that what depends on it sees only the answer: routers that differ in labels but serve the same
// Gateways on the same ports share everything made of them. Source: Istio pilot/pkg/model/push_context.go,
// pilot/pkg/model/gateway.go.

import { GATEWAY_SERVICE, PARENT_NAMESPACE } from '../../model/derived.ts';
import { byAge, configKey, type Obj } from '../../model/object.ts';
import type { ServiceTarget } from '../../model/service.ts';
import type { Derivation, ProxyReader } from '../../query/reader.ts';
import { proxySelectedBy, serviceTargets } from '../../registry/workload.ts';
import { gatewaysInForce } from '../../translate/in-force.ts';
import { serverPort } from './gateway-servers.ts';

const NO_TRANSLATION_LABEL = 'experimental.istio.io/disable-gateway-port-translation';

/**
 * `ports`: declared number → resolved ports of the router, in the order of its service targets; none for a number that
 * resolves to nothing. `udp`: declared numbers that are UDP ports of a service too, where QUIC is switched on.
 */
export type GatewayChoice = {
  readonly key: string;
  readonly ports: Readonly<Record<string, readonly number[]>>;
  readonly udp: readonly number[];
};

/** The Gateways of the current proxy, oldest first. */
export const gatewayChoices: Derivation<readonly GatewayChoice[]> = {
  name: 'select/gatewayChoices',
  run: reader => {
    const scoped = reader.feature('PILOT_SCOPE_GATEWAY_TO_NAMESPACE');
    const found = gatewaysInForce(reader, scoped ? `${reader.facet('namespace')}/` : '');
    const choices: GatewayChoice[] = [];
    for (const gateway of [...found].sort(byAge)) {
      const found = portsOf(reader, gateway);
      if (found !== undefined) choices.push({ key: configKey(gateway.namespace, gateway.name), ...found });
    }
    return choices;
  },
};

/** undefined: the Gateway is not for this proxy. */
function portsOf(reader: ProxyReader, gateway: Obj<'Gateway'>): Omit<GatewayChoice, 'key'> | undefined {
  const services = gateway.annotations[GATEWAY_SERVICE];
  if (services !== undefined) return ofService(reader, gateway, services);
  if (!proxySelectedBy(reader, gateway.spec.selector ?? {})) return undefined;
  const ports: Record<string, readonly number[]> = {};
  const targets = reader.get(serviceTargets, '');
  for (const number of declaredPorts(gateway)) {
    const target = targets.find(t => t.port.port === number && t.service.labels[NO_TRANSLATION_LABEL] === undefined);
    ports[number] = [target?.targetPort ?? number];
  }
  return { ports, udp: udpPorts(reader, gateway, targets) };
}

function ofService(
  reader: ProxyReader,
  gateway: Obj<'Gateway'>,
  services: string,
): Omit<GatewayChoice, 'key'> | undefined {
  const hosts = services.split(',');
  const parent = gateway.annotations[PARENT_NAMESPACE] ?? gateway.namespace;
  const serves = (t: ServiceTarget): boolean => t.service.namespace === parent && hosts.includes(t.service.hostname);
  const targets = reader.get(serviceTargets, '').filter(serves);
  if (targets.length === 0) return undefined;
  const ports: Record<string, readonly number[]> = {};
  for (const number of declaredPorts(gateway)) {
    ports[number] = [...new Set(targets.filter(t => t.port.port === number).map(t => t.targetPort))];
  }
  return { ports, udp: udpPorts(reader, gateway, targets) };
}

function udpPorts(reader: ProxyReader, gateway: Obj<'Gateway'>, targets: readonly ServiceTarget[]): readonly number[] {
  if (!reader.feature('PILOT_ENABLE_QUIC_LISTENERS')) return [];
  return declaredPorts(gateway).filter(number =>
    targets.some(({ port }) => port.port === number && port.protocol === 'UDP'),
  );
}

function declaredPorts(gateway: Obj<'Gateway'>): readonly number[] {
  return [...new Set((gateway.spec.servers ?? []).map(server => serverPort(server).number))];
}
