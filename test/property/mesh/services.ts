// The services of a mesh as its API describes them: hosts, addresses, ports with their protocols, who may see them, and
// the workloads behind.

import type { Json, JsonObject } from '../../../src/core/base/json.ts';
import {
  fullHost,
  includes,
  inOrder,
  listIn,
  nameOf,
  namespaceOf,
  objectIn,
  ROOT_NAMESPACE,
  serviceHost,
  specOf,
  textIn,
  textsIn,
} from './read.ts';
import type { World } from './world.ts';

export type Protocol = 'http' | 'tcp' | 'tls' | 'auto';

export interface ServicePort {
  readonly number: number;
  readonly name: string;
  readonly protocol: Protocol;
}

export interface Service {
  readonly host: string;
  readonly namespace: string;
  /** Empty: headless, or a ServiceEntry without addresses. */
  readonly addresses: readonly string[];
  readonly ports: readonly ServicePort[];
  /** Connections go on to where the client wanted to go. */
  readonly passthrough: boolean;
  readonly kubernetes: boolean;
  /** `address:port` of what serves the port to a subset's labels, sorted. */
  readonly endpoints: (port: ServicePort, labels: JsonObject) => readonly string[];
}

export interface Client {
  readonly namespace: string;
  readonly labels: JsonObject;
}

/** The services that workloads of the client's namespace may see. */
export function visibleServices(world: World, client: Client): readonly Service[] {
  return servicesBy(world, client, true);
}

/**
 * Hosts of services in the client's own namespace that are not exported to it. As destinations of VirtualServices Istio
 * finds them all the same, which nothing in the API says.
 */
export function hiddenHosts(world: World, client: Client): readonly string[] {
  return servicesBy(world, client, false).flatMap(({ host, namespace }) =>
    namespace === client.namespace ? [host] : [],
  );
}

function servicesBy({ objects, mesh }: World, client: Client, visible: boolean): readonly Service[] {
  return objects.flatMap(object => {
    if (object.kind !== 'Service' && object.kind !== 'ServiceEntry') return [];
    const { 'networking.istio.io/exportTo': annotation } = objectIn(objectIn(object.metadata).annotations);
    const annotated = annotation === undefined ? [] : [textIn(annotation)];
    const own = object.kind === 'Service' ? annotated : textsIn(specOf(object).exportTo);
    const isVisible = isExported(own, mesh.defaultServiceExportTo, namespaceOf(object), client.namespace);
    if (isVisible !== visible) return [];
    return object.kind === 'Service' ? [kubernetesService(object, objects)] : entries(object);
  });
}

/** `exportTo` as every kind but DestinationRule reads it. */
export function isExported(own: readonly string[], byDefault: Json | undefined, from: string, to: string): boolean {
  const given = own.length > 0 ? own : textsIn(byDefault);
  if (given.length === 0 || given.includes('*')) return true;
  return !given.includes('~') && given.some(one => (one === '.' ? from : one) === to);
}

const PROTOCOL_OF: Readonly<Record<string, Protocol>> = {
  http: 'http',
  grpc: 'http',
  tcp: 'tcp',
  mongo: 'tcp',
  https: 'tls',
  tls: 'tls',
};

/** The name of a port says its protocol, up to the first dash. */
const protocolOf = (name: string): Protocol => PROTOCOL_OF[name.toLowerCase().split('-')[0]!] ?? 'auto';

function kubernetesService(object: JsonObject, objects: readonly JsonObject[]): Service {
  const [name, namespace] = [nameOf(object), namespaceOf(object)];
  const spec = specOf(object);
  const headless = spec.clusterIP === 'None';
  const slices = objects.filter(
    one =>
      one.kind === 'EndpointSlice' &&
      namespaceOf(one) === namespace &&
      objectIn(objectIn(one.metadata).labels)['kubernetes.io/service-name'] === name,
  );
  const labelsOf = (podName: string): JsonObject => {
    const pod = objects.find(one => one.kind === 'Pod' && namespaceOf(one) === namespace && nameOf(one) === podName);
    return objectIn(objectIn(pod?.metadata).labels);
  };
  return {
    host: serviceHost(name, namespace),
    namespace,
    addresses: headless ? [] : [textIn(spec.clusterIP)],
    passthrough: headless,
    kubernetes: true,
    ports: listIn(spec.ports).map(port => ({
      number: Number(port.port),
      name: textIn(port.name),
      protocol: protocolOf(textIn(port.name)),
    })),
    endpoints: (port, labels) =>
      slices
        .flatMap(slice => {
          const target = listIn(slice.ports).find(one => one.name === port.name)?.port;
          return listIn(slice.endpoints)
            .filter(one => objectIn(one.conditions).ready !== false)
            .filter(one => includes(labelsOf(textIn(objectIn(one.targetRef).name)), labels))
            .map(one => `${textsIn(one.addresses)[0]}:${String(target)}`);
        })
        .sort(),
  };
}

function entries(object: JsonObject): readonly Service[] {
  const spec = specOf(object);
  return textsIn(spec.hosts).map(host => ({
    host,
    namespace: namespaceOf(object),
    addresses: textsIn(spec.addresses),
    passthrough: spec.resolution === 'NONE',
    kubernetes: false,
    ports: listIn(spec.ports).map(port => ({
      number: Number(port.number),
      name: textIn(port.name),
      protocol: protocolOf(textIn(port.protocol)),
    })),
    endpoints: (port, labels) => {
      const target = listIn(spec.ports).find(one => one.name === port.name)?.targetPort ?? port.number;
      const given = listIn(spec.endpoints);
      const all = spec.resolution === 'DNS' && given.length === 0 ? [{ address: host }] : given;
      return all
        .filter(one => includes(objectIn(objectIn(one).labels), labels))
        .map(one => `${textIn(one.address)}:${String(objectIn(objectIn(one).ports)[port.name] ?? target)}`)
        .sort();
    },
  }));
}

/**
 * The labels of a subset, by the DestinationRule that applies: one of the client's namespace, else one that the
 * service's namespace exports, else one that the root namespace exports. Undefined: there is no such subset.
 */
export function subsetLabels(world: World, client: Client, service: Service, subset: string): JsonObject | undefined {
  if (subset === '') return {};
  const found = destinationRules(world, client, service)
    .flatMap(rule => listIn(specOf(rule).subsets))
    .find(one => one.name === subset);
  return found === undefined ? undefined : objectIn(found.labels);
}

/**
 * Those of one namespace for one host count as one: subsets come together, and of equal names the first counts. Their
 * exportTo is the same in all worlds.
 */
function destinationRules({ objects, mesh }: World, client: Client, service: Service): readonly JsonObject[] {
  const rules = inOrder(objects.filter(({ kind }) => kind === 'DestinationRule')).filter(
    rule => fullHost(textIn(specOf(rule).host), namespaceOf(rule)) === service.host,
  );
  const inNamespace = (namespace: string): readonly JsonObject[] =>
    rules.filter(rule => namespaceOf(rule) === namespace);
  const given = (rule: JsonObject): readonly string[] => textsIn(specOf(rule).exportTo);
  const isPrivate = (rule: JsonObject): boolean =>
    given(rule).length === 0
      ? textsIn(mesh.defaultDestinationRuleExportTo).includes('.')
      : given(rule).every(one => one === '.' || one === namespaceOf(rule));
  const own = inNamespace(client.namespace);
  if (own[0] !== undefined && client.namespace !== ROOT_NAMESPACE) {
    const here = given(own[0]);
    if (here.length === 0 || here.some(one => one === '*' || one === '.' || one === client.namespace)) return own;
  }
  // What the root namespace keeps to itself is for its own workloads.
  if (own[0] !== undefined && client.namespace === ROOT_NAMESPACE && isPrivate(own[0])) return own;
  const exported = (namespace: string): readonly JsonObject[] => {
    const [rule, ...others] = inNamespace(namespace);
    if (rule === undefined || isPrivate(rule)) return [];
    const to = given(rule);
    return to.length === 0 || to.includes('*') || to.includes(client.namespace) ? [rule, ...others] : [];
  };
  const ofService = exported(service.namespace);
  return ofService.length > 0 ? ofService : exported(ROOT_NAMESPACE);
}
