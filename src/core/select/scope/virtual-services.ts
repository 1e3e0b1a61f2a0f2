// VirtualServices as they apply: names resolved, delegates merged, indexed by gateway and visibility. Each object is
// resolved by a query of its own, so a change of one leaves the others, and everything derived from them, as they are.
// Source: Istio pilot/pkg/model/virtualservice.go, pilot/pkg/model/push_context.go.

import { blocksOf } from '../../base/groups.ts';
import { ROUTE_DESTINATIONS_MAX, routeDestinations } from '../../kinds/istio/validate/http-route.ts';
import { ROUTE_SEMANTICS } from '../../model/derived.ts';
import { type Exports, exportsOf, isVisibleIn } from '../../model/exports.ts';
import { byAge } from '../../model/object.ts';
import type { Generator } from '../../query/memo.ts';
import type { Query, Reader, Selection } from '../../query/reader.ts';
import type { HTTPRoute } from '../../schema/istio-types.gen.ts';
import { translatedVirtualServices } from '../../translate/in-force.ts';
import { affordable, DELEGATED_PAIRS_MAX, delegatedRules, fullBudget, isSpent, type MergeBudget } from './delegates.ts';
import { type Destinations, destinationsIn } from './destinations.ts';
import { GATEWAY_HOSTS_MAX, withinGatewayLimit } from './gateway-limit.ts';
import { guardedHost } from './host-guard.ts';
import { MESH_ROUTE_DESTINATIONS_MAX, rootsPastLimit, withinMeshLimit } from './route-limits.ts';
import type { ObjOf, SpecOf } from './specs.ts';
import { resolvedNames, resolveNames } from './virtual-service-names.ts';

export interface ResolvedVirtualService {
  /** The root object: its metadata names the routes made from it. */
  readonly obj: ObjOf<'VirtualService'>;
  readonly name: string;
  readonly namespace: string;
  readonly hosts: readonly string[];
  /** `mesh` or `namespace/name`; never empty. */
  readonly gateways: readonly string[];
  /** Delegates merged; hosts, destinations and gateways (those of matches too) resolved. */
  readonly spec: SpecOf<'VirtualService'>;
  /** Those of `spec`. */
  readonly destinations: Destinations;
  readonly exports: Exports;
  /** Routes times destinations of the HTTP rules. */
  readonly routeDestinations: number;
  /** The first rule, by its index in the root object, of whose delegate something is left out, and why. */
  readonly leftOut: LeftOut | undefined;
}

interface LeftOut {
  readonly rule: number;
  readonly reason: string;
}

/** True for an object translated from the Gateway API: it is used unchanged. */
export function hasGatewaySemantics(obj: ObjOf<'VirtualService'>): boolean {
  return obj.annotations[ROUTE_SEMANTICS] === 'gateway';
}

/** Argument `namespace/name`. Undefined for a pure delegate: it has no hosts and never applies alone. */
const resolvedVirtualService: Query<string, ResolvedVirtualService | undefined> = {
  name: 'select/resolvedVirtualService',
  run: (reader, key) => {
    const obj = reader.object('VirtualService', key);
    if (obj === undefined || isDelegate(obj)) return undefined;
    const { spec, leftOut } = resolveSpec(reader, obj);
    const wanted = spec.gateways === undefined || spec.gateways.length === 0 ? ['mesh'] : spec.gateways;
    const gateways =
      guardedHost(reader, { ...obj, spec }) === undefined ? wanted : wanted.filter(name => name !== 'mesh');
    if (gateways.length === 0) return undefined;
    return resolvedOf(reader, { obj, spec, gateways, leftOut });
  },
};

function resolvedOf(
  reader: Reader,
  parts: Pick<ResolvedVirtualService, 'obj' | 'spec' | 'gateways' | 'leftOut'>,
): ResolvedVirtualService {
  const { obj, spec } = parts;
  const { name, namespace } = obj;
  const exports = exportsOf(spec.exportTo, reader.mesh('defaultVirtualServiceExportTo'), namespace);
  const { hosts = [], http = [] } = spec;
  const { destinations, routes } = http.length > RULES_ALONE_MAX ? reader.make(sizeOf, { spec }) : sizeOf.run({ spec });
  const size = routes * Math.max(1, hosts.length);
  return { ...parts, name, namespace, hosts, destinations, exports, routeDestinations: size };
}

/** The rules of a VirtualService of more are gone through by a run of its own. */
const RULES_ALONE_MAX = 1_024;

/** Destinations, and routes times destinations of the rules. */
const sizeOf: Generator<
  { readonly spec: SpecOf<'VirtualService'> },
  { readonly destinations: Destinations; readonly routes: number }
> = {
  name: 'scope/sizeOf',
  run: ({ spec }) => ({ destinations: destinationsIn(spec), routes: routeDestinations(spec.http) }),
  work: (_, { spec: { http = [] } }) => http.length / RULES_PER_WORK_UNIT,
};

/** Rules that are gone through in about the time of one run of a query. */
const RULES_PER_WORK_UNIT = 64;

/** One that is translated names its hosts, destinations and gateways in full. undefined: the guard keeps it out. */
const resolvedTranslation: Selection<ObjOf<'VirtualService'>, ResolvedVirtualService | undefined> = {
  name: 'select/resolvedTranslation',
  run: (reader, obj) => {
    if (guardedHost(reader, obj) !== undefined) return undefined;
    const parts = { obj, spec: obj.spec, gateways: obj.spec.gateways ?? [], leftOut: undefined };
    return resolvedOf(reader, parts);
  },
};

/** More are gone through in blocks, of which interrupted work finds each again as one value. */
const TRANSLATED_ALONE_MAX = 512;
const TRANSLATED_TOGETHER = 128;

function resolvedTranslations(reader: Reader): readonly (ResolvedVirtualService | undefined)[] {
  const objects = reader.get(translatedVirtualServices, '');
  if (objects.length <= TRANSLATED_ALONE_MAX) return reader.selectEach(resolvedTranslation, objects);
  return blocksOf(objects, TRANSLATED_TOGETHER).flatMap(block => reader.select(resolvedBlock, { objects: block }));
}

const resolvedBlock: Selection<
  { readonly objects: readonly ObjOf<'VirtualService'>[] },
  readonly (ResolvedVirtualService | undefined)[]
> = {
  name: 'select/resolvedBlock',
  run: (reader, { objects }) => reader.selectEach(resolvedTranslation, objects),
};

/** All that apply, by creation time, name, namespace. */
export const virtualServices: Query<'', readonly ResolvedVirtualService[]> = {
  name: 'select/virtualServices',
  run: reader => withinGatewayLimit(reader, withinMeshLimit(reader.get(allVirtualServices, '')).fitting).fitting,
};

/** With those that are past the limit of all together. */
const allVirtualServices: Query<'', readonly ResolvedVirtualService[]> = {
  name: 'select/allVirtualServices',
  run: reader => {
    const found: ResolvedVirtualService[] = [];
    for (const { namespace, name } of reader.objects('VirtualService')) {
      const resolved = reader.get(resolvedVirtualService, `${namespace}/${name}`);
      if (resolved !== undefined) found.push(resolved);
    }
    for (const resolved of resolvedTranslations(reader)) {
      if (resolved !== undefined) found.push(resolved);
    }
    return found.sort((a, b) => byAge(a.obj, b.obj));
  },
};

/** In the same order. There may be as many Gateways as there are VirtualServices. */
const virtualServicesByGateway: Query<'', ReadonlyMap<string, readonly ResolvedVirtualService[]>> = {
  name: 'select/virtualServicesByGateway',
  run: reader => {
    const found = new Map<string, ResolvedVirtualService[]>();
    for (const virtualService of reader.get(virtualServices, '')) {
      const { gateways } = virtualService;
      for (const gateway of gateways.length === 1 ? gateways : new Set(gateways)) {
        const known = found.get(gateway);
        if (known === undefined) found.set(gateway, [virtualService]);
        else known.push(virtualService);
      }
    }
    return found;
  },
};

/**
 * The VirtualServices of a gateway (`mesh` or `namespace/name`) that a proxy of the namespace sees: private ones, then
 * those exported to the namespace by name, then the public ones; each by creation time, name, namespace. In the public
 * list of a gateway, and everywhere for `mesh`, those with gateway semantics in the proxy's namespace come first.
 */
export const virtualServicesFor: Query<
  { readonly namespace: string; readonly gateway: string },
  readonly ResolvedVirtualService[]
> = {
  name: 'select/virtualServicesFor',
  key: ({ namespace, gateway }) => `${namespace}|${gateway}`,
  run: (reader, { namespace, gateway }) => {
    const all = reader.get(virtualServicesByGateway, '').get(gateway) ?? [];
    const own: ResolvedVirtualService[] = [];
    const named: ResolvedVirtualService[] = [];
    const open: ResolvedVirtualService[] = [];
    for (const vs of all) {
      const { exports } = vs;
      if (exports.open) open.push(vs);
      else {
        if (exports.own && vs.namespace === namespace) own.push(vs);
        if (exports.others.includes(namespace)) named.push(vs);
      }
    }
    if (gateway !== 'mesh') return [...own, ...named, ...gatewayFirst(open, namespace)];
    const lists = [own, named, open];
    if (!reader.feature('PILOT_UNIFIED_SIDECAR_SCOPE')) return lists.flat();
    return lists.flatMap(list => gatewayFirst(list, namespace));
  },
};

function gatewayFirst(list: readonly ResolvedVirtualService[], namespace: string): readonly ResolvedVirtualService[] {
  const comesFirst = (vs: ResolvedVirtualService): boolean => vs.namespace === namespace && hasGatewaySemantics(vs.obj);
  const first = list.filter(comesFirst);
  return first.length === 0 ? list : [...first, ...list.filter(vs => !comesFirst(vs))];
}

/** Memoised: its delegates are read after it, which may interrupt the run, and their rules are merged with its own. */
const rootSpec: Generator<
  { readonly spec: SpecOf<'VirtualService'>; readonly namespace: string; readonly domain: string },
  SpecOf<'VirtualService'>
> = { name: 'scope/rootSpec', run: ({ spec, namespace, domain }) => resolveNames(spec, namespace, domain) };

interface ResolvedSpec {
  readonly spec: SpecOf<'VirtualService'>;
  readonly leftOut: LeftOut | undefined;
}

function resolveSpec(reader: Reader, obj: ObjOf<'VirtualService'>): ResolvedSpec {
  const semantics = obj.annotations[ROUTE_SEMANTICS];
  if (semantics === 'gateway') return { spec: obj.spec, leftOut: undefined };
  const { namespace } = obj;
  const domain = reader.setting('domainSuffix');
  const isRoot = semantics !== 'ingress' && obj.spec.http?.some(route => route.delegate !== undefined) === true;
  if (!isRoot) return { spec: resolvedNames(reader, obj.spec, namespace, domain), leftOut: undefined };
  const spec = reader.make(rootSpec, { spec: obj.spec, namespace, domain });
  if (spec.http === undefined) return { spec, leftOut: undefined };
  const budget = fullBudget();
  budget.routeDestinations -= routeDestinations(spec.http.filter(route => route.delegate === undefined));
  let leftOut: LeftOut | undefined;
  const http = spec.http.flatMap((route, rule) => {
    if (route.delegate === undefined) return [route];
    const merged = withDelegate(reader, route, obj, budget);
    if (merged.reason !== '') leftOut ??= { rule, reason: merged.reason };
    return merged.rules;
  });
  return { spec: { ...spec, http }, leftOut };
}

/** A rule with a delegate that is missing or not exported to the root is dropped. `reason`: why one past a limit is. */
function withDelegate(
  reader: Reader,
  route: HTTPRoute,
  { namespace, name }: ObjOf<'VirtualService'>,
  budget: MergeBudget,
): { readonly rules: readonly HTTPRoute[]; readonly reason: string } {
  const owner = route.delegate?.namespace || namespace;
  const key = `${owner}/${route.delegate?.name ?? ''}`;
  const leaf = reader.object('VirtualService', key);
  if (leaf === undefined || !isDelegate(leaf)) return { rules: [], reason: '' };
  const exports = exportsOf(leaf.spec.exportTo, reader.mesh('defaultVirtualServiceExportTo'), owner);
  if (!isVisibleIn(exports, owner, namespace)) return { rules: [], reason: '' };
  if (reader.get(rootsPastLimit, key).includes(`${namespace}/${name}`)) {
    const what = `with older VirtualServices that name ${key}, its matches times destinations`;
    return { rules: [], reason: `is left out: ${what} come to more than ${ROUTE_DESTINATIONS_MAX}` };
  }
  const leaves = affordable(route, reader.get(delegateRules, key), budget);
  const rules = reader.make(delegatedRules, { root: route, leaves });
  if (!isSpent(budget)) return { rules, reason: '' };
  const what = budget.pairs < 0 ? `${DELEGATED_PAIRS_MAX} pairs` : `${ROUTE_DESTINATIONS_MAX} times destinations`;
  return { rules, reason: `is left out in part: matches with those of delegates come to more than ${what}` };
}

/** Argument `namespace/name` of a delegate: its rules with full host names, once for all rules that name it. */
const delegateRules: Query<string, readonly HTTPRoute[]> = {
  name: 'scope/delegateRules',
  run: (reader, key) => {
    const leaf = reader.object('VirtualService', key);
    if (leaf === undefined) return [];
    return resolveNames(leaf.spec, leaf.namespace, reader.setting('domainSuffix')).http ?? [];
  },
};

function isDelegate(obj: ObjOf<'VirtualService'>): boolean {
  return obj.spec.hosts === undefined || obj.spec.hosts.length === 0;
}

export interface LimitFinding {
  /** The user's own, or a translated one. */
  readonly obj: ObjOf<'VirtualService'>;
  readonly path: string;
  readonly message: string;
}

const PAST_PORTS = `is not in force: with it the hosts of VirtualServices times the ports of their gateways come to more than ${GATEWAY_HOSTS_MAX}`;

/** Argument ''. What limits of hosts times matches times destinations, and times ports of gateways, keep out. */
export const limitFindings: Query<'', readonly LimitFinding[]> = {
  name: 'select/limitFindings',
  run: reader => {
    const all = reader.get(allVirtualServices, '');
    const { fitting, past: large } = withinMeshLimit(all);
    const past = new Set(large);
    const pastPorts = new Set(withinGatewayLimit(reader, fitting).past);
    const message = `is not in force: with it the hosts times matches times destinations of all routes come to more than ${MESH_ROUTE_DESTINATIONS_MAX}`;
    return all.flatMap(one => {
      const { obj, leftOut } = one;
      const found: LimitFinding[] = [];
      if (leftOut !== undefined) found.push({ obj, path: `spec.http[${leftOut.rule}]`, message: leftOut.reason });
      if (past.has(one)) found.push({ obj, path: 'spec.http', message });
      if (pastPorts.has(one)) found.push({ obj, path: 'spec.hosts', message: PAST_PORTS });
      return found;
    });
  },
};
