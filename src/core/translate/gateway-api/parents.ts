// The parents that a route may attach to: every listener of a Gateway or ListenerSet that it names, or the mesh where
// it names a Service or ServiceEntry; and whether each of them takes it.
//
// Kinds of parents that are another controller's are passed over in silence; so are Gateways of other classes.
// Source: Istio pilot/pkg/config/kube/gateway/conversion.go (extractParentReferenceInfo, referenceAllowed).

import { GATEWAY_API } from '../../kinds/gateway-api/gateway-kind.ts';
import { matches, subsetOf } from '../../model/hosts.ts';
import { compareText, configKey, kubernetesKey } from '../../model/object.ts';
import type { Query, Reader } from '../../query/reader.ts';
import type { ParentReference } from '../../schema/gateway-api-types.gen.ts';
import { type ConfigError, configError, quoted } from './config-error.ts';
import { derivedName, isDerived } from './derived-gateways.ts';
import { translatedGateway, translatedListenerSet } from './gateways.ts';
import { ofRevision } from './revision.ts';
import { type RouteKind, routeVersions } from './route-kinds.ts';

export const MESH = 'mesh';
const SERVICE = '/Service';
const SERVICE_ENTRY = 'networking.istio.io/ServiceEntry';
const GATEWAY = `${GATEWAY_API}/Gateway`;
const LISTENER_SET = `${GATEWAY_API}/ListenerSet`;

/** A listener as routes see it. */
export interface ListenerParent {
  /** `namespace/name` of the derived Gateway. */
  readonly internalName: string;
  readonly section: string;
  readonly port: number;
  readonly protocol: string;
  readonly hostname: string;
  readonly hosts: readonly string[];
  readonly kinds: readonly RouteKind[];
}

/** One parent that one reference of a route may mean. */
export interface Candidate {
  readonly ref: ParentReference;
  /** The position of the reference in the route. */
  readonly index: number;
  /** `group/kind` of the parent. */
  readonly type: string;
  /** `namespace/name` of the parent. */
  readonly key: string;
  /** `mesh`, or that of the listener. */
  readonly internalName: string;
  readonly section: string;
  /** Of the listener; '' for any, and for the mesh. */
  readonly hostname: string;
  /** Hosts that other listeners of the parent take on the same port. */
  readonly banned: readonly string[];
  readonly denied: ConfigError | undefined;
}

export interface RouteHead {
  readonly kind: RouteKind;
  readonly namespace: string;
  readonly parentRefs: readonly ParentReference[];
  /** Empty: any. */
  readonly hostnames: readonly string[];
}

/** In the order of the references' texts. */
export function candidatesOf(reader: Reader, route: RouteHead): readonly Candidate[] {
  const found: Candidate[] = [];
  for (const [index, ref] of route.parentRefs.entries()) found.push(...candidatesOfRef(reader, route, ref, index));
  const text = ({ ref }: Candidate): string => refText(ref, route.namespace);
  return found.sort((a, b) => compareText(text(a), text(b)));
}

export function isMesh({ internalName }: Pick<Candidate, 'internalName'>): boolean {
  return internalName === MESH;
}

/** By which entries of a status are told apart. */
export function refText(ref: Partial<ParentReference>, namespace: string): string {
  const { group = GATEWAY_API, kind = 'Gateway', name = '', sectionName = '', port = 0 } = ref;
  return `${group}/${kind}/${name}/${sectionName}/${port}.${ref.namespace ?? namespace}`;
}

function candidatesOfRef(reader: Reader, route: RouteHead, ref: ParentReference, index: number): readonly Candidate[] {
  const type = `${ref.group}/${ref.kind}`;
  const key = configKey(ref.namespace ?? route.namespace, ref.name);
  const head = { ref, index, type, key };
  if (type === SERVICE || type === SERVICE_ENTRY) {
    const denied = meshError(reader, type, key, ref.name);
    return [{ ...head, internalName: MESH, section: '', hostname: '', banned: [], denied }];
  }
  const query = type === GATEWAY ? listenersOfGateway : type === LISTENER_SET ? listenersOfListenerSet : undefined;
  if (query === undefined) return [];
  const listeners = reader.get(query, key);
  return listeners.map(listener => ({
    ...head,
    internalName: listener.internalName,
    section: listener.section,
    hostname: listener.hostname,
    banned: bannedHosts(listener, listeners),
    denied: listenerError(route, ref, listener),
  }));
}

const listenersOfGateway: Query<string, readonly ListenerParent[]> = {
  name: 'translate/listenersOfGateway',
  run: (reader, key) => {
    const translated = reader.get(translatedGateway, key);
    if (translated === undefined) return [];
    return translated.listeners.filter(one => isDerived(translated.info.role, one)).map(one => parentOf(key, one));
  },
};

const listenersOfListenerSet: Query<string, readonly ListenerParent[]> = {
  name: 'translate/listenersOfListenerSet',
  run: (reader, key) => (reader.get(translatedListenerSet, key)?.listeners ?? []).map(one => parentOf(key, one)),
};

function parentOf(
  key: string,
  listener: Omit<ListenerParent, 'internalName' | 'section'> & { readonly name: string },
): ListenerParent {
  const [namespace = '', name = ''] = key.split('/');
  const { port, protocol, hostname, hosts, kinds } = listener;
  const internalName = configKey(namespace, derivedName(name, listener.name));
  return { internalName, section: listener.name, port, protocol, hostname, hosts, kinds };
}

function meshError(reader: Reader, type: string, key: string, name: string): ConfigError | undefined {
  const [what, exists] =
    type === SERVICE ? ['service', reader.get(serviceExists, key)] : ['service entry', reader.get(entryExists, key)];
  return exists ? undefined : configError('NoMatchingParent', `parent ${what}: ${quoted(name)} not found`);
}

/** Argument `namespace/name`: whether the config cluster has the Service. */
export const serviceExists: Query<string, boolean> = {
  name: 'translate/serviceExists',
  run: (reader, key) => {
    const [namespace = '', name = ''] = key.split('/');
    return reader.object('Service', kubernetesKey(reader.setting('clusterId'), namespace, name)) !== undefined;
  },
};

const entryExists: Query<string, boolean> = {
  name: 'translate/serviceEntryExists',
  run: (reader, key) => ofRevision(reader, reader.object('ServiceEntry', key)) !== undefined,
};

/** Listener isolation: on one port and protocol the more specific listener has a host to itself. */
function bannedHosts(listener: ListenerParent, all: readonly ListenerParent[]): readonly string[] {
  const others = all.filter(
    other => other !== listener && other.port === listener.port && other.protocol === listener.protocol,
  );
  return [...new Set(others.map(({ hostname }) => hostname))].filter(hostname => hostname !== listener.hostname);
}

/** Whether isolation leaves a host of the route to the listener. */
export function isLeftTo({ hostname, banned }: Candidate, host: string): boolean {
  if (hostname !== '' && !hostname.startsWith('*')) return true;
  if (hostname !== '' && !matches(host, hostname)) return false;
  return !banned.some(other => other.length >= hostname.length && subsetOf(host, other));
}

/** The first test that fails says why. */
function listenerError(route: RouteHead, ref: ParentReference, listener: ListenerParent): ConfigError | undefined {
  if (ref.port !== undefined && ref.port !== listener.port) {
    return configError('NoMatchingParent', `port ${ref.port} not found`);
  }
  if (ref.sectionName && ref.sectionName !== listener.section) {
    return configError('NoMatchingParent', `sectionName ${quoted(ref.sectionName)} not found`);
  }
  const hosts = route.hostnames.length === 0 ? ['*'] : route.hostnames;
  const meeting = listener.hosts.filter(one => hosts.some(host => matches(one.slice(one.indexOf('/') + 1), host)));
  const shown = quoted(listener.hostname);
  if (meeting.length === 0) {
    return configError('NoMatchingListenerHostname', `no hostnames matched parent hostname ${shown}`);
  }
  if (!meeting.some(one => one.startsWith('*/') || one.startsWith(`${route.namespace}/`))) {
    return configError(
      'NotAllowedByListeners',
      `hostnames matched parent hostname ${shown}, but namespace ${quoted(route.namespace)} is not allowed by the parent`,
    );
  }
  if (listener.kinds.includes(route.kind)) return undefined;
  const kind = `${GATEWAY_API}/${routeVersions[route.kind]}/${route.kind}`;
  return configError('NotAllowedByListeners', `kind ${kind} is not allowed`);
}
