// Curator's ServiceDiscovery, which Spring Cloud and Dubbo 3 write too: below `<base>/<service>` one node an instance,
// with its description as JSON. Pure.

import { isObject, type Json, type JsonObject } from '../../core/base/json.ts';
import { isUnsupported, protocolOf } from '../../core/model/protocol.ts';
import type { RegistryInstance, RegistryPort, RegistryService } from '../kit/registry-service.ts';

interface Instance {
  readonly id: string;
  readonly address: string;
  readonly port: number;
  readonly sslPort: number;
  readonly metadata: Readonly<Record<string, string>>;
  readonly isEnabled: boolean;
}

/**
 * The service by the texts of its instance nodes, and the nodes that are none. `domain` follows the name in its host.
 */
export function curatorService(
  name: string,
  nodes: ReadonlyMap<string, string>,
  domain: string,
): { readonly service: RegistryService | undefined; readonly strange: readonly string[] } {
  const strange: string[] = [];
  const instances: Instance[] = [];
  for (const [node, text] of [...nodes].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const instance = instanceOf(node, text);
    if (instance === undefined) strange.push(node);
    else instances.push(instance);
  }
  if (instances.length === 0) return { service: undefined, strange };
  const ports = portsOf(instances);
  const serving = instances.filter(({ isEnabled }) => isEnabled);
  const host = `${name}.${domain}`.toLowerCase();
  return { service: { name, host, ports, instances: serving.map(one => endpointOf(one, ports)) }, strange };
}

function instanceOf(node: string, text: string): Instance | undefined {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
  if (!isObject(value) || typeof value.address !== 'string') return undefined;
  const port = portIn(value.port);
  const sslPort = portIn(value.sslPort);
  if (port === 0 && sslPort === 0) return undefined;
  const metadata = metadataOf(value);
  const status = (metadata.instance_status ?? 'UP').toUpperCase();
  return {
    id: node,
    address: value.address,
    port,
    sslPort,
    metadata,
    isEnabled: value.enabled !== false && status === 'UP',
  };
}

/** `payload.metadata` of Spring Cloud and Dubbo; a payload of texts is taken as it is. */
function metadataOf({ payload }: JsonObject): Readonly<Record<string, string>> {
  const given = isObject(payload) && isObject(payload.metadata) ? payload.metadata : payload;
  if (!isObject(given)) return {};
  return Object.fromEntries(
    Object.entries(given).flatMap(([key, text]) => (typeof text === 'string' ? [[key, text] as const] : [])),
  );
}

function portsOf(instances: readonly Instance[]): readonly RegistryPort[] {
  const named = instances.map(({ metadata }) => metadata['istio-protocol'] ?? metadata.protocol);
  const found = named.find(text => text !== undefined && !isUnsupported(protocolOf(text))) ?? 'TCP';
  const protocol = found.toUpperCase();
  const plain = instances.map(({ port }) => port).filter(port => port > 0);
  const tls = instances.map(({ sslPort }) => sslPort).filter(port => port > 0 && !plain.includes(port));
  return [
    ...(plain.length === 0 ? [] : [{ name: protocol.toLowerCase(), number: Math.min(...plain), protocol }]),
    ...(tls.length === 0 ? [] : [{ name: 'https', number: Math.min(...tls), protocol: 'HTTPS' }]),
  ];
}

function endpointOf(
  { id, address, port, sslPort, metadata }: Instance,
  ports: readonly RegistryPort[],
): RegistryInstance {
  const numbers = ports.map(({ name }) => [name, name === 'https' ? sslPort || port : port || sslPort] as const);
  const locality = metadata.locality ?? metadata['topology.istio.io/locality'];
  const network = metadata['topology.istio.io/network'];
  const weight = Number(metadata.weight ?? '');
  return {
    id,
    address,
    ports: Object.fromEntries(numbers),
    labels: metadata,
    ...(locality === undefined ? {} : { locality }),
    ...(network === undefined ? {} : { network }),
    ...(Number.isInteger(weight) && weight > 0 ? { weight } : {}),
  };
}

function portIn(value: Json | undefined): number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= 65_535 ? value : 0;
}
