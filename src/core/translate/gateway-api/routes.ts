// Each route on its own: which parents take it, the fault of its references, and the VirtualServices that it
// becomes, one for each parent and host.
//
// Those of HTTPRoutes and GRPCRoutes have a key beside them: all that share one are merged (merged-routes.ts), whatever
// their namespaces are.
// Source: Istio pilot/pkg/config/kube/gateway/route_collections.go.

import { OF_GATEWAY_API, PARENTS, ROUTE_SEMANTICS } from '../../model/derived.ts';
import { kubernetesHost } from '../../model/hosts.ts';
import { compareText, configKey, type Obj } from '../../model/object.ts';
import type { Query, Reader, Selection } from '../../query/reader.ts';
import type { HTTPRoute, TCPRoute, TLSRoute, VirtualService } from '../../schema/istio-types.gen.ts';
import { derivedObject } from '../derived.ts';
import type { RouteContext } from './backends.ts';
import type { ConfigError } from './config-error.ts';
import { type Converted, convertGrpcRoute, convertHttpRoute } from './http-rules.ts';
import { convertTcpRules, convertTlsRules } from './l4-rules.ts';
import { constrained, forHost, intersection, withPort, withSniHosts } from './mesh-rules.ts';
import { type Candidate, candidatesOf, isLeftTo, isMesh, type RouteHead } from './parents.ts';
import { ofRevision } from './revision.ts';
import type { RouteKind } from './route-kinds.ts';

export interface TranslatedRoute {
  readonly candidates: readonly Candidate[];
  /** The fault of its references, where it is attached to Gateways and where to the mesh. */
  readonly gatewayError: ConfigError | undefined;
  readonly meshError: ConfigError | undefined;
  readonly derived: readonly DerivedRoute[];
}

export interface DerivedRoute {
  /** `<parent>/<host>`: those with an equal one are merged. '': not merged. */
  readonly key: string;
  readonly object: Obj<'VirtualService'>;
}

type Rules = HTTPRoute | TCPRoute | TLSRoute;
type ConvertedRules = Converted<HTTPRoute> | Converted<TCPRoute> | Converted<TLSRoute>;
type RouteObj = Obj<'HTTPRoute'> | Obj<'GRPCRoute'> | Obj<'TLSRoute'> | Obj<'TCPRoute'>;

/** Argument: kind, and `namespace/name`. Undefined: absent, or not read. */
export const translatedRoute: Query<{ readonly kind: RouteKind; readonly key: string }, TranslatedRoute | undefined> = {
  name: 'translate/route',
  key: ({ kind, key }) => `${kind}/${key}`,
  run: (reader, { kind, key }) => {
    if (!isRead(reader, kind)) return undefined;
    const route = ofRevision(reader, reader.object(kind, key)) as RouteObj | undefined;
    if (route === undefined) return undefined;
    const head = headOf(route);
    const candidates = candidatesOf(reader, head);
    const convert = (mesh: boolean): ConvertedRules | undefined =>
      candidates.some(candidate => isMesh(candidate) === mesh)
        ? convertRules(reader, { kind, namespace: route.namespace, mesh }, route)
        : undefined;
    const inMesh = convert(true);
    const atGateway = convert(false);
    const derived = derivedRoutes(reader, route, head, candidates, { inMesh, atGateway });
    return { candidates, gatewayError: atGateway?.error, meshError: inMesh?.error, derived };
  },
};

/** `translatedRoute` by the object instead of the key, so that `selectEach` runs it for the changed items of a list. */
export const translatedRouteObject: Selection<Obj<RouteKind>, TranslatedRoute | undefined> = {
  name: 'translate/translatedRouteObject',
  run: (reader, route) =>
    reader.get(translatedRoute, { kind: route.kind as RouteKind, key: configKey(route.namespace, route.name) }),
};

export function isRead(reader: Reader, kind: RouteKind): boolean {
  if (!reader.feature('PILOT_ENABLE_GATEWAY_API')) return false;
  return kind !== 'TCPRoute' || reader.feature('PILOT_ENABLE_ALPHA_GATEWAY_API');
}

export function headOf(route: RouteObj): RouteHead {
  const { namespace, spec } = route;
  const hostnames = route.kind === 'TCPRoute' ? [] : ((spec as { hostnames?: readonly string[] }).hostnames ?? []);
  return { kind: route.kind as RouteKind, namespace, parentRefs: spec.parentRefs ?? [], hostnames };
}

function convertRules(reader: Reader, context: RouteContext, route: RouteObj): ConvertedRules {
  switch (route.kind) {
    case 'HTTPRoute':
      return convertHttpRoute(reader, context, route as Obj<'HTTPRoute'>);
    case 'GRPCRoute':
      return convertGrpcRoute(reader, context, route as Obj<'GRPCRoute'>);
    case 'TLSRoute': {
      const { rules, hostnames } = (route as Obj<'TLSRoute'>).spec;
      return convertTlsRules(reader, context, rules, hostnames ?? []);
    }
    default:
      return convertTcpRules(reader, context, (route as Obj<'TCPRoute'>).spec.rules);
  }
}

interface BothModes {
  readonly inMesh: ConvertedRules | undefined;
  readonly atGateway: ConvertedRules | undefined;
}

/** Candidates by internal name, then hosts; the number in a name counts those that are there. */
function derivedRoutes(
  reader: Reader,
  route: RouteObj,
  head: RouteHead,
  candidates: readonly Candidate[],
  { inMesh, atGateway }: BothModes,
): readonly DerivedRoute[] {
  const accepted = candidates.filter(({ denied }) => denied === undefined);
  const ordered = [...accepted].sort((a, b) => compareText(a.internalName, b.internalName));
  const derived: DerivedRoute[] = [];
  for (const candidate of ordered) {
    const rules = (isMesh(candidate) ? inMesh : atGateway)?.rules ?? [];
    for (const part of partsOf(reader, head, candidate, rules)) {
      derived.push({ key: part.key, object: objectOf(reader, route, candidate, part, derived.length) });
    }
  }
  return derived;
}

interface Part {
  readonly key: string;
  readonly host: string;
  readonly rules: readonly Rules[];
}

function partsOf(reader: Reader, head: RouteHead, candidate: Candidate, rules: readonly Rules[]): readonly Part[] {
  const http = head.kind === 'HTTPRoute' || head.kind === 'GRPCRoute';
  if (http && rules.length === 0) return [];
  return isMesh(candidate)
    ? meshParts(head, candidate, rules, meshHosts(reader, candidate))
    : gatewayParts(head, candidate, rules, http);
}

function gatewayParts(head: RouteHead, candidate: Candidate, rules: readonly Rules[], http: boolean): readonly Part[] {
  const all = head.hostnames.length === 0 ? ['*'] : head.hostnames;
  if (http) {
    const left = all.filter(host => isLeftTo(candidate, host));
    return left.map(host => ({ key: `${candidate.internalName}/${host}`, host, rules }));
  }
  if (head.kind === 'TCPRoute') return [{ key: '', host: '*', rules }];
  if (candidate.hostname === '') return all.map(host => ({ key: '', host, rules }));
  const within = constrained(rules as readonly TLSRoute[], candidate.hostname);
  return intersection(all, candidate.hostname).map(host => ({ key: '', host, rules: within }));
}

function meshParts(
  head: RouteHead,
  { ref: { port } }: Candidate,
  rules: readonly Rules[],
  hosts: readonly string[],
): readonly Part[] {
  if (head.kind === 'TLSRoute') {
    const named = withSniHosts(rules as readonly TLSRoute[], hosts, port);
    return hosts.map(host => ({ key: '', host, rules: forHost(named, host) }));
  }
  const ported = port === undefined ? rules : withPort(rules as readonly HTTPRoute[], port);
  if (head.kind === 'TCPRoute') return hosts.map(host => ({ key: '', host, rules: ported }));
  const place = port === undefined ? head.namespace : `${head.namespace}/${port}`;
  return hosts.map(host => ({ key: `${place}/${host}`, host, rules: ported }));
}

/** Of the Service or ServiceEntry that is the parent. */
function meshHosts(reader: Reader, { type, key }: Candidate): readonly string[] {
  const [namespace = '', name = ''] = key.split('/');
  if (type === '/Service') return [kubernetesHost(name, namespace, reader.setting('domainSuffix'))];
  return reader.get(hostsOfEntry, key);
}

const hostsOfEntry: Query<string, readonly string[]> = {
  name: 'translate/hostsOfEntry',
  run: (reader, key) => ofRevision(reader, reader.object('ServiceEntry', key))?.spec.hosts ?? [],
};

/** What the kind is called in names; those of HTTP are given when they are merged. */
const NAME_PART: Readonly<Record<RouteKind, string>> = {
  HTTPRoute: '',
  GRPCRoute: '',
  TLSRoute: 'tls~',
  TCPRoute: 'tcp~',
};

function objectOf(
  reader: Reader,
  route: RouteObj,
  { internalName }: Candidate,
  { host, rules }: Part,
  count: number,
): Obj<'VirtualService'> {
  const { namespace, name, creationTime } = route;
  const kind = route.kind as RouteKind;
  const meta = {
    namespace,
    name: `${name}~${NAME_PART[kind]}${count}~${OF_GATEWAY_API}`,
    creationTime,
    annotations: { [PARENTS]: `${kind}/${name}.${namespace}`, [ROUTE_SEMANTICS]: 'gateway' },
  };
  const member = kind === 'TLSRoute' ? 'tls' : kind === 'TCPRoute' ? 'tcp' : 'http';
  const spec: VirtualService = { hosts: [host], gateways: [internalName], [member]: rules };
  return derivedObject(reader, 'VirtualService', meta, spec);
}

export function routeKey({ namespace, name }: Obj): string {
  return configKey(namespace, name);
}
