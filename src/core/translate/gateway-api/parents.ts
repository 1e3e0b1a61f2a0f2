// The parents that a route may attach to: every listener of a Gateway or ListenerSet that it names, or the mesh where
// it names a Service or ServiceEntry; and whether each of them takes it.
//
// Kinds of parents that are another controller's are passed over in silence; so are Gateways of other classes.
// Source: Istio pilot/pkg/config/kube/gateway/conversion.go (extractParentReferenceInfo, referenceAllowed).

import { groupsOf } from '../../base/groups.ts';
import { GATEWAY_API } from '../../kinds/gateway-api/gateway-kind.ts';
import { matches, subsetOf } from '../../model/hosts.ts';
import { compareText, configKey, kubernetesKey } from '../../model/object.ts';
import type { Query, Reader, Selection } from '../../query/reader.ts';
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
  /** Of the routes that it allows: by host, `*` or the namespaces (`~`: none). */
  readonly namespaces: ReadonlyMap<string, ReadonlySet<string>>;
  readonly kinds: readonly RouteKind[];
  /** Of every listener of the parent on the same port and protocol, this one included; shared by them. */
  readonly hostnamesOfPort: readonly string[];
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
  /** As in ListenerParent; empty for the mesh. */
  readonly hostnamesOfPort: readonly string[];
  readonly denied: ConfigError | undefined;
}

export interface RouteHead {
  readonly kind: RouteKind;
  readonly namespace: string;
  readonly parentRefs: readonly ParentReference[];
  /** Empty: any. */
  readonly hostnames: readonly string[];
}

/**
 * In the order of the references' texts. Of a reference that a parent takes, without the parents that refuse it; of one
 * that means some parents, without the others, which say less about why.
 */
export function candidatesOf(reader: Reader, route: RouteHead): readonly Candidate[] {
  const refs = route.parentRefs.map((ref, index) => ({ ref, index, text: refText(ref, route.namespace) }));
  refs.sort((a, b) => compareText(a.text, b.text));
  return refs.flatMap(({ ref, index }) => candidatesOfRef(reader, route, ref, index));
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
    return [{ ...head, internalName: MESH, section: '', hostname: '', hostnamesOfPort: [], denied }];
  }
  const query = type === GATEWAY ? listenersOfGateway : type === LISTENER_SET ? listenersOfListenerSet : undefined;
  if (query === undefined) return [];
  const listeners = listenersMeant(ref, reader.get(query, key));
  const taking = listeners.filter(listener => isMeant(ref, listener) && takes(route, listener));
  if (taking.length > 0) return taking.map(listener => candidateOf(head, listener, undefined));
  if (listeners.length <= REFUSING_ALONE_MAX) return refusalsOf(route, head, listeners);
  const { kind, namespace, hostnames } = route;
  return reader.select(refusedBy, { kind, namespace, hostnames, ref, index, type, key, query });
}

/** More listeners that refuse a route are gone through as a run of its own, for each reference. */
const REFUSING_ALONE_MAX = 16;

type Head = Pick<Candidate, 'ref' | 'index' | 'type' | 'key'>;

/** Of any parents. */
type AnyRoute = Omit<RouteHead, 'parentRefs'>;

interface RefusedRef extends Head, AnyRoute {
  readonly query: Query<string, readonly ListenerParent[]>;
}

const refusedBy: Selection<RefusedRef, readonly Candidate[]> = {
  name: 'translate/refusedBy',
  run: (reader, { ref, index, type, key, query, ...route }) =>
    refusalsOf(route, { ref, index, type, key }, listenersMeant(ref, reader.get(query, key))),
};

function refusalsOf(route: AnyRoute, head: Head, listeners: readonly ListenerParent[]): readonly Candidate[] {
  return listeners.map(listener => candidateOf(head, listener, listenerError(route, head.ref, listener)));
}

function candidateOf(
  { ref, index, type, key }: Head,
  { internalName, section, hostname, hostnamesOfPort }: ListenerParent,
  denied: ConfigError | undefined,
): Candidate {
  return { ref, index, type, key, internalName, section, hostname, hostnamesOfPort, denied };
}

/** One that is not meant matters only if none is. */
function listenersMeant(ref: ParentReference, all: readonly ListenerParent[]): readonly ListenerParent[] {
  const meant = all.filter(listener => isMeant(ref, listener));
  return meant.length > 0 ? meant : all;
}

/** By name and port, each where the reference has it. */
function isMeant(ref: ParentReference, { port, section }: ListenerParent): boolean {
  return (ref.port === undefined || ref.port === port) && (!ref.sectionName || ref.sectionName === section);
}

/** As `listenerError` of a listener that is meant, without the error. */
function takes(route: AnyRoute, listener: ListenerParent): boolean {
  if (!listener.kinds.includes(route.kind)) return false;
  const hosts = route.hostnames.length === 0 ? ANY_HOST : route.hostnames;
  for (const [one, namespaces] of listener.namespaces) {
    const isAllowed = namespaces.has('*') || namespaces.has(route.namespace);
    if (isAllowed && hosts.some(host => matches(one, host))) return true;
  }
  return false;
}

const ANY_HOST: readonly string[] = ['*'];

const listenersOfGateway: Query<string, readonly ListenerParent[]> = {
  name: 'translate/listenersOfGateway',
  run: (reader, key) => {
    const translated = reader.get(translatedGateway, key);
    if (translated === undefined) return [];
    return parentsOf(
      key,
      translated.listeners.filter(one => isDerived(translated.info.role, one)),
    );
  },
};

const listenersOfListenerSet: Query<string, readonly ListenerParent[]> = {
  name: 'translate/listenersOfListenerSet',
  run: (reader, key) => parentsOf(key, reader.get(translatedListenerSet, key)?.listeners ?? []),
};

type Listener = Omit<ListenerParent, 'internalName' | 'section' | 'hostnamesOfPort' | 'namespaces'> & {
  readonly name: string;
  /** `namespace/host`. */
  readonly hosts: readonly string[];
};

function parentsOf(key: string, listeners: readonly Listener[]): readonly ListenerParent[] {
  const [namespace = '', name = ''] = key.split('/');
  const placeOf = ({ port, protocol }: Listener): string => `${port}/${protocol}`;
  const byPlace = new Map([...groupsOf(listeners, placeOf)].map(([place, group]) => [place, hostnamesOf(group)]));
  return listeners.map(listener => {
    const { port, protocol, hostname, kinds } = listener;
    const internalName = configKey(namespace, derivedName(name, listener.name));
    const hostnamesOfPort = byPlace.get(placeOf(listener))!;
    return {
      internalName,
      section: listener.name,
      port,
      protocol,
      hostname,
      namespaces: namespacesOf(listener),
      kinds,
      hostnamesOfPort,
    };
  });
}

function namespacesOf({ hosts }: Listener): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const one of hosts) {
    const slash = one.indexOf('/');
    const host = one.slice(slash + 1);
    const known = found.get(host) ?? new Set();
    found.set(host, known.add(one.slice(0, slash)));
  }
  return found;
}

function hostnamesOf(listeners: readonly Listener[]): readonly string[] {
  return [...new Set(listeners.map(({ hostname }) => hostname))];
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

/**
 * Whether isolation leaves a host of the route to the listener: on one port and protocol the more specific listener has
 * a host to itself.
 */
export function isLeftTo({ hostname, hostnamesOfPort }: Candidate, host: string): boolean {
  if (hostname !== '' && !hostname.startsWith('*')) return true;
  if (hostname !== '' && !matches(host, hostname)) return false;
  return !hostnamesOfPort.some(other => other !== hostname && other.length >= hostname.length && subsetOf(host, other));
}

/** The first test that fails says why. */
function listenerError(route: AnyRoute, ref: ParentReference, listener: ListenerParent): ConfigError | undefined {
  if (ref.port !== undefined && ref.port !== listener.port) {
    return configError('NoMatchingParent', `port ${ref.port} not found`);
  }
  if (ref.sectionName && ref.sectionName !== listener.section) {
    return configError('NoMatchingParent', `sectionName ${quoted(ref.sectionName)} not found`);
  }
  const hosts = route.hostnames.length === 0 ? ANY_HOST : route.hostnames;
  const meeting = [...listener.namespaces].filter(([one]) => hosts.some(host => matches(one, host)));
  if (meeting.length === 0) return notMet(listener);
  if (!meeting.some(([, namespaces]) => namespaces.has('*') || namespaces.has(route.namespace))) {
    return configError(
      'NotAllowedByListeners',
      `hostnames matched parent hostname ${quoted(listener.hostname)}, but namespace ${quoted(route.namespace)} is not allowed by the parent`,
    );
  }
  if (listener.kinds.includes(route.kind)) return undefined;
  const kind = `${GATEWAY_API}/${routeVersions[route.kind]}/${route.kind}`;
  return configError('NotAllowedByListeners', `kind ${kind} is not allowed`);
}

/** Of each listener one, for all routes that it does not meet. */
const unmet = new WeakMap<ListenerParent, ConfigError>();

function notMet(listener: ListenerParent): ConfigError {
  const known = unmet.get(listener);
  if (known !== undefined) return known;
  const message = `no hostnames matched parent hostname ${quoted(listener.hostname)}`;
  const error = configError('NoMatchingListenerHostname', message);
  unmet.set(listener, error);
  return error;
}
