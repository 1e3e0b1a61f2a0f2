// A service of Consul from the instances that /v1/health/service has: which of them serve, where, by which protocol.
// The mapping of names follows Istio's former Consul registry (pilot/pkg/serviceregistry/consul/conversion.go of
// release 1.7), which had no health. Pure.

import { isObject, type Json, type JsonObject } from '../../core/base/json.ts';
import { isUnsupported, protocolOf } from '../../core/model/protocol.ts';
import type { RegistryInstance, RegistryService } from '../kit/registry-service.ts';

export interface Mapping {
  /** The domain of host names: `service.consul`. */
  readonly domain: string;
  readonly network?: string;
}

/** Parts of Consul's own mesh: no services to route to. */
const PROXY_KINDS: readonly string[] = [
  'connect-proxy',
  'mesh-gateway',
  'terminating-gateway',
  'ingress-gateway',
  'api-gateway',
];

interface Instance {
  readonly id: string;
  readonly node: JsonObject;
  readonly service: JsonObject;
  readonly meta: Readonly<Record<string, string>>;
  readonly tags: readonly string[];
  readonly port: number;
  readonly health: 'passing' | 'warning' | 'critical';
}

/** The names in the answer of /v1/catalog/services; undefined: it has another shape. */
export function namesIn(body: Json | undefined): readonly string[] | undefined {
  return isObject(body) ? Object.keys(body).sort() : undefined;
}

/** Undefined: nothing is registered under the name. A string: the answer has another shape. */
export function serviceOf(
  name: string,
  body: Json | undefined,
  mapping: Mapping,
): RegistryService | undefined | string {
  if (!Array.isArray(body)) return 'the answer is not a list of instances';
  const instances: Instance[] = [];
  for (const one of body as readonly Json[]) {
    const instance = instanceOf(one);
    if (instance === undefined) return 'an instance has neither Node nor Service';
    if (!PROXY_KINDS.includes(textOf(instance.service.Kind))) instances.push(instance);
  }
  if (instances.length === 0) return undefined;
  instances.sort((a, b) => (a.id < b.id ? -1 : 1));
  const protocol = instances.map(protocolNamed).find(text => text !== undefined) ?? 'TCP';
  const port = portOf(instances);
  const portName = protocol.toLowerCase();
  const serving = instances.filter(({ health, port: own }) => health !== 'critical' && own > 0);
  return {
    name,
    host: `${name}.${mapping.domain}`,
    ports: port === undefined ? [] : [{ name: portName, number: port, protocol }],
    isExternal: instances.some(({ meta }) => (meta.external ?? '') !== ''),
    instances: serving.map(instance => endpointOf(instance, portName, mapping)),
  };
}

function instanceOf(one: Json): Instance | undefined {
  if (!isObject(one) || !isObject(one.Node) || !isObject(one.Service)) return undefined;
  const { Node: node, Service: service } = one;
  const checks = Array.isArray(one.Checks) ? (one.Checks as readonly Json[]) : [];
  return {
    id: `${textOf(node.Node)}/${textOf(service.ID)}`,
    node,
    service,
    meta: textsOf(service.Meta),
    tags: Array.isArray(service.Tags) ? (service.Tags as readonly Json[]).filter(tag => typeof tag === 'string') : [],
    port: typeof service.Port === 'number' ? service.Port : 0,
    health: healthOf(checks),
  };
}

/** The worst of its checks; maintenance is a critical check of its own. */
function healthOf(checks: readonly Json[]): Instance['health'] {
  const states = checks.map(check => (isObject(check) ? textOf(check.Status) : ''));
  if (states.some(state => state === 'critical' || state === 'maintenance')) return 'critical';
  return states.includes('warning') ? 'warning' : 'passing';
}

function endpointOf(instance: Instance, portName: string, { network: ofSource }: Mapping): RegistryInstance {
  const { node, service, meta, port } = instance;
  const { Passing, Warning } = isObject(service.Weights) ? service.Weights : {};
  const weight = instance.health === 'warning' ? Warning : Passing;
  const network = meta['topology.istio.io/network'] ?? ofSource;
  const serviceAccount = meta['istio-service-account'];
  return {
    id: instance.id,
    address: textOf(service.Address) || taggedOf(service) || textOf(node.Address),
    ports: { [portName]: port },
    labels: { ...labelsOf(instance.tags), ...meta },
    locality: localityOf(service) ?? localityOf(node) ?? textOf(node.Datacenter),
    ...(network === undefined ? {} : { network }),
    ...(typeof weight === 'number' ? { weight } : {}),
    ...(serviceAccount === undefined ? {} : { serviceAccount }),
  };
}

function taggedOf({ TaggedAddresses: tagged }: JsonObject): string {
  const lan = isObject(tagged) ? tagged.lan : undefined;
  return isObject(lan) ? textOf(lan.Address) : '';
}

function localityOf({ Locality: locality }: JsonObject): string | undefined {
  if (!isObject(locality) || textOf(locality.Region) === '') return undefined;
  return [textOf(locality.Region), textOf(locality.Zone)].filter(part => part !== '').join('/');
}

/** The port of the service: one that its metadata name, else the lowest of an instance. */
function portOf(instances: readonly Instance[]): number | undefined {
  const named = instances.map(({ meta }) => Number(meta['istio-port'] ?? '')).find(port => port > 0);
  const own = instances.map(({ port }) => port).filter(port => port > 0);
  return named ?? (own.length === 0 ? undefined : Math.min(...own));
}

/** Undefined: none is named, or none that Istio knows. */
function protocolNamed({ meta, tags }: Instance): string | undefined {
  const tag = tags.find(text => text.startsWith('protocol|') || text.startsWith('protocol='));
  const text = meta['istio-protocol'] ?? meta.protocol ?? tag?.slice('protocol|'.length);
  if (text === undefined || isUnsupported(protocolOf(text))) return undefined;
  return text.toUpperCase();
}

/** Tags of the form `key|value` or `key=value`. */
function labelsOf(tags: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    tags.flatMap(tag => {
      const parts = tag.split(tag.includes('|') ? '|' : '=');
      return parts.length === 2 ? [[parts[0] ?? '', parts[1] ?? ''] as const] : [];
    }),
  );
}

function textsOf(value: Json | undefined): Readonly<Record<string, string>> {
  if (!isObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, text]) => (typeof text === 'string' ? [[key, text] as const] : [])),
  );
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
