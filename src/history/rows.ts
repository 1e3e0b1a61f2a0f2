// One-line views of a proxy's resources, with istioctl's columns. Made from the JSON of a config dump, so a journal
// and a running control plane give the same tables. Source: Istio istioctl/pkg/writer/envoy/configdump/cluster.go,
// istioctl/pkg/writer/envoy/configdump/listener.go, istioctl/pkg/writer/envoy/configdump/route.go.

import { isObject, type Json, type JsonObject } from '../core/base/json.ts';
import { CDS, EDS, LDS, RDS } from '../xds/session/types.ts';
import type { ClusterRow, EndpointRow, ListenerRow, RouteRow } from './answers.ts';
import type { ConfigDump } from './config-dump.ts';
import { actionText, sharesOf } from './route-action.ts';
import { objectNamedBy } from './translations.ts';

function resourcesOf(dump: ConfigDump, typeUrl: string): readonly JsonObject[] {
  const found = dump.configs.find(config => config.typeUrl === typeUrl);
  return found === undefined ? [] : found.resources.map(({ resource }) => resource);
}

/** By FQDN, port, subset, direction. */
export function clusterRows(dump: ConfigDump): readonly ClusterRow[] {
  const rows = resourcesOf(dump, CDS).map((cluster): ClusterRow => {
    const name = textOf(cluster.name);
    const parts = name.split('|');
    const named = parts.length === 4;
    return {
      name,
      fqdn: named ? parts[3]! : name,
      port: named ? Number(parts[1]) : 0,
      subset: named ? parts[2]! : '',
      direction: named ? parts[0]! : '',
      type: clusterType(cluster),
      destinationRule: configOf(cluster, 'DestinationRule', dump),
    };
  });
  return rows.sort(
    (a, b) =>
      compare(a.fqdn, b.fqdn) || a.port - b.port || compare(a.subset, b.subset) || compare(a.direction, b.direction),
  );
}

function clusterType(cluster: JsonObject): string {
  if (isObject(cluster.clusterType)) return textOf(cluster.clusterType.name);
  return textOf(cluster.type) || 'STATIC';
}

/** By address and port; the chains of a listener in their order. */
export function listenerRows(dump: ConfigDump): readonly ListenerRow[] {
  const listeners = resourcesOf(dump, LDS).map(listener => {
    const socket = at(listener, 'address', 'socketAddress');
    return { listener, address: textOf(at(socket, 'address')), port: Number(at(socket, 'portValue') ?? 0) };
  });
  listeners.sort((a, b) => a.port - b.port || compare(a.address, b.address));
  return listeners.flatMap(({ listener, address, port }) => {
    const fallback = isObject(listener.defaultFilterChain) ? [listener.defaultFilterChain] : [];
    return [...objectsIn(listener.filterChains), ...fallback].map(chain => ({
      name: textOf(listener.name),
      address,
      port,
      match: chainMatch(chain),
      destination: destinationOf(chain),
    }));
  });
}

function chainMatch(chain: JsonObject): string {
  const match = isObject(chain.filterChainMatch) ? chain.filterChainMatch : {};
  const parts: string[] = [];
  const servers = textsIn(match.serverNames);
  if (servers.length > 0) parts.push(`SNI: ${servers.join(',')}`);
  if (textOf(match.transportProtocol) !== '') parts.push(`Trans: ${textOf(match.transportProtocol)}`);
  const protocols = textsIn(match.applicationProtocols);
  if (protocols.length > 0) parts.push(`App: ${protocols.join(',')}`);
  const ranges = objectsIn(match.prefixRanges).map(
    range => `${textOf(range.addressPrefix)}/${String(range.prefixLen ?? 0)}`,
  );
  if (ranges.length > 0) parts.push(`Addr: ${ranges.join(',')}`);
  if (match.destinationPort !== undefined) parts.push(`Port: ${String(match.destinationPort)}`);
  return parts.length === 0 ? 'ALL' : parts.join('; ');
}

/** The route, cluster or clusters that a filter chain leads to. */
function destinationOf(chain: JsonObject): string {
  for (const { typedConfig } of objectsIn(chain.filters)) {
    if (!isObject(typedConfig)) continue;
    const { rds, routeConfig, cluster, weightedClusters } = typedConfig;
    if (isObject(rds)) return `Route: ${textOf(rds.routeConfigName)}`;
    if (isObject(routeConfig)) return `Inline Route: ${inlineHosts(routeConfig)}`;
    if (typeof cluster === 'string') return cluster.includes('|') ? `Cluster: ${cluster}` : cluster;
    if (isObject(weightedClusters)) {
      return `Clusters: ${objectsIn(weightedClusters.clusters)
        .map(({ name, weight }) => `${textOf(name)} (${String(weight ?? 0)})`)
        .join(', ')}`;
    }
  }
  return '-';
}

function inlineHosts(route: JsonObject): string {
  return objectsIn(route.virtualHosts)
    .map(host => textOf(host.name))
    .join(', ');
}

/** By route configuration; virtual hosts and routes in their order. */
export function routeRows(dump: ConfigDump): readonly RouteRow[] {
  return resourcesOf(dump, RDS).flatMap(configuration =>
    objectsIn(configuration.virtualHosts).flatMap(host => {
      const routes = objectsIn(host.routes);
      const row = (match: string, virtualService: string, route?: JsonObject): RouteRow => ({
        route: textOf(configuration.name),
        virtualHost: textOf(host.name),
        domains: textsIn(host.domains),
        match,
        virtualService,
        action: actionText(route),
        shares: route === undefined ? [] : sharesOf(route),
      });
      if (routes.length === 0) return [row('-', '')];
      return routes.map(route => row(matchText(route.match), configOf(route, 'VirtualService', dump), route));
    }),
  );
}

/** As istioctl writes a match: `/*` for everything, `/path*` for a prefix; further conditions are counted. */
export function matchText(match: Json | undefined): string {
  if (!isObject(match)) return '';
  const path =
    typeof match.prefix === 'string'
      ? `${match.prefix}*`
      : typeof match.path === 'string'
        ? match.path
        : typeof match.pathSeparatedPrefix === 'string'
          ? `PathPrefix:${match.pathSeparatedPrefix}`
          : isObject(match.safeRegex)
            ? `regex ${textOf(match.safeRegex.regex)}`
            : '';
  const headers = objectsIn(match.headers).length + objectsIn(match.queryParameters).length;
  return headers === 0 ? path : `${path} (and ${headers} more ${headers === 1 ? 'condition' : 'conditions'})`;
}

/** By cluster, then as they stand in the assignment. Clusters that hold their endpoints themselves are among them. */
export function endpointRows(dump: ConfigDump): readonly EndpointRow[] {
  const assignments = resourcesOf(dump, EDS).map(assignment => [textOf(assignment.clusterName), assignment] as const);
  for (const cluster of resourcesOf(dump, CDS)) {
    if (isObject(cluster.loadAssignment)) assignments.push([textOf(cluster.name), cluster.loadAssignment]);
  }
  return assignments
    .sort(([a], [b]) => compare(a, b))
    .flatMap(([cluster, assignment]) =>
      objectsIn(assignment.endpoints).flatMap(locality =>
        objectsIn(locality.lbEndpoints).map(endpoint => ({
          endpoint: addressOf(at(endpoint, 'endpoint', 'address')),
          status: textOf(endpoint.healthStatus) || 'UNKNOWN',
          weight: Number(endpoint.loadBalancingWeight ?? 1),
          cluster,
        })),
      ),
    );
}

function addressOf(address: Json | undefined): string {
  const socket = at(address, 'socketAddress');
  if (isObject(socket)) {
    const host = textOf(socket.address);
    return `${host.includes(':') ? `[${host}]` : host}:${String(socket.portValue ?? 0)}`;
  }
  const pipe = at(address, 'pipe', 'path');
  if (typeof pipe === 'string') return `unix://${pipe}`;
  const inner = at(address, 'envoyInternalAddress', 'serverListenerName');
  return typeof inner === 'string' ? `envoy://${inner}` : '-';
}

/** User's objects behind a translated one that a table names. */
const OBJECTS_SHOWN_MAX = 3;

/**
 * `name.namespace` of the object of that kind that istiod's metadata convention names; of a translated one the user's
 * objects, `HTTPRoute/name.namespace`.
 */
function configOf(resource: JsonObject, kind: 'DestinationRule' | 'VirtualService', dump: ConfigDump): string {
  const object = objectNamedBy(resource);
  if (object === undefined || !object.startsWith(`${kind}/`)) return '';
  const behind = dump.translations?.[object];
  if (behind === undefined) return nameOf(object);
  const rule = textOf(resource.name);
  const own = behind.filter(one => isRuleOf(rule, one));
  const all = (own.length === 0 ? behind : own).map(one => `${one.split('/')[0]}/${nameOf(one)}`);
  const more = all.length - OBJECTS_SHOWN_MAX;
  return `${all.slice(0, OBJECTS_SHOWN_MAX).join(', ')}${more > 0 ? ` + ${more} more` : ''}`;
}

/** `name.namespace` of `Kind/namespace/name`. */
function nameOf(object: string): string {
  const [, namespace = '', name = ''] = object.split('/');
  return `${name}.${namespace}`;
}

/** Rules without a name of their own are called `namespace.route.number`. */
function isRuleOf(rule: string, object: string): boolean {
  const [, namespace, name] = object.split('/');
  const prefix = `${namespace}.${name}.`;
  return rule.startsWith(prefix) && /^[0-9]+$/.test(rule.slice(prefix.length));
}

function at(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  let found = value;
  for (const key of path) found = isObject(found) ? found[key] : undefined;
  return found;
}

export function objectsIn(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function textsIn(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
