// What Envoy refuses of a patched resource, or never reaches, as far as the resource alone shows it: first what its
// API demands of every message (envoy-constraints.ts), then what Envoy checks in code. A patch acts even if Envoy will
// refuse the result, as under istiod; analysis, the log, wait and diff say so.
// Source: Envoy's rules for listeners, HTTP connection managers and virtual hosts (envoyproxy.io, v3 API reference).

import { canonicalJson, type Json } from '../../../core/base/json.ts';
import type { Generator } from '../../../core/query/memo.ts';
import { envoyExamination } from '../../../core/schema/envoy-constraints.ts';
import type { EnvoyMessage } from '../../../core/schema/envoy-message.ts';
import { typeNameOf } from '../../proto/any.ts';
import type { Cluster, HttpConnectionManager, Listener, RouteConfiguration } from '../../proto/types.gen.ts';
import { MEMBERS_PER_UNIT, patchWork } from './outcome.ts';

const ROUTER = 'envoy.extensions.filters.http.router.v3.Router';
const HCM = 'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';
/** Network filters that end a chain. */
const TERMINAL: ReadonlySet<string> = new Set([
  HCM,
  'envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy',
  'envoy.extensions.filters.network.redis_proxy.v3.RedisProxy',
]);

export interface Refusals {
  /** A sentence each. */
  readonly sentences: readonly string[];
  /** As `Patched.work`: of what was looked at. */
  readonly work: number;
}

/** Of a resource that a patch made, once for all proxies that hold it. */
export const refusals: Generator<{ readonly type: string; readonly message: object }, Refusals> = {
  name: 'patch/refusals',
  work: patchWork,
  run: ({ type, message }) => examined(type, message),
};

/** Of a resource of any type; a sentence each. */
export function refusalsOf(typeUrl: string, message: object): readonly string[] {
  return examined(typeUrl, message).sentences;
}

function examined(typeUrl: string, message: object): Refusals {
  const type = typeNameOf(typeUrl);
  // A configuration of ECDS changes on its way: the agent fetches the module, and states its digest.
  if (type === 'envoy.config.core.v3.TypedExtensionConfig') return { sentences: [], work: 0 };
  const { violations, looked } = envoyExamination(type, message as EnvoyMessage);
  const broken = violations.map(({ path, message: says }) => `breaks a constraint at ${path}: ${says}`);
  return { sentences: [...broken, ...inCode(type, message)], work: looked / MEMBERS_PER_UNIT };
}

function inCode(type: string, message: object): readonly string[] {
  switch (type) {
    case 'envoy.config.listener.v3.Listener':
      return refusedListener(message);
    case 'envoy.config.route.v3.RouteConfiguration':
      return refusedRoutes(message);
    case 'envoy.config.cluster.v3.Cluster':
      return refusedCluster(message);
    default:
      return [];
  }
}

function refusedListener({ address, apiListener, filterChains = [], defaultFilterChain }: Listener): readonly string[] {
  const found = new Set<string>();
  if (address === undefined && apiListener === undefined) found.add('has no address');
  if (filterChains.length === 0 && defaultFilterChain === undefined && apiListener === undefined) {
    found.add('has no filter chain');
  }
  const matches = new Set<string>();
  for (const { filterChainMatch = {}, filters = [] } of filterChains) {
    const match = canonicalJson(filterChainMatch as Json);
    if (matches.has(match)) found.add('has two filter chains with the same match');
    matches.add(match);
    for (const sentence of refusedFilters(filters)) found.add(sentence);
  }
  for (const sentence of refusedFilters(defaultFilterChain?.filters ?? [])) found.add(sentence);
  return [...found];
}

function* refusedFilters(
  filters: NonNullable<Listener['filterChains']>[number]['filters'] & object,
): IterableIterator<string> {
  for (const [i, { name = '', typedConfig, configDiscovery }] of filters.entries()) {
    const type = typeNameOf(typedConfig?.['@type'] ?? '');
    if (typedConfig === undefined && configDiscovery === undefined)
      yield `has the network filter ${name} without configuration`;
    if (TERMINAL.has(type) && i < filters.length - 1) yield `has network filters behind the terminal filter ${name}`;
    if (type === HCM) yield* refusedManager(typedConfig as HttpConnectionManager);
  }
}

function* refusedManager({ httpFilters = [], routeConfig }: HttpConnectionManager): IterableIterator<string> {
  const router = httpFilters.findIndex(({ typedConfig }) => typeNameOf(typedConfig?.['@type'] ?? '') === ROUTER);
  if (router < 0) yield 'has HTTP filters that do not end with the router';
  else if (router < httpFilters.length - 1) yield 'has HTTP filters behind the router';
  for (const { name = '', typedConfig, configDiscovery } of httpFilters) {
    if (typedConfig === undefined && configDiscovery === undefined)
      yield `has the HTTP filter ${name} without configuration`;
  }
  if (routeConfig !== undefined) yield* refusedRoutes(routeConfig);
}

function refusedRoutes({ virtualHosts = [] }: RouteConfiguration): readonly string[] {
  const found: string[] = [];
  const names = new Set<string>();
  const all = new Set<string>();
  for (const { name = '', domains = [] } of virtualHosts) {
    if (names.has(name)) found.push(`has two virtual hosts named ${name}`);
    names.add(name);
    for (const domain of domains) {
      if (all.has(domain)) found.push(`has the domain ${domain} in two virtual hosts`);
      all.add(domain);
    }
  }
  return found;
}

function refusedCluster({ transportSocket, transportSocketMatches = [] }: Cluster): readonly string[] {
  return transportSocket !== undefined && transportSocketMatches.length > 0
    ? ['has a transport socket beside those that endpoints choose']
    : [];
}
