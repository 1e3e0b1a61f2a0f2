// The meaning of a change of a proxy's configuration, one sentence each: moved traffic, draining listeners, added and
// removed endpoints. The JSON differences are the whole truth; these are what one reads first.

import { isObject, type Json, type JsonObject, jsonEqual } from '../core/base/json.ts';
import { CDS, EDS, LDS, RDS } from '../xds/session/types.ts';
import type { ChangedResource, JsonChange } from './answers.ts';
import { shortType } from './config-dump.ts';
import { actionOf, actionText } from './route-action.ts';
import { matchText, objectsIn } from './rows.ts';

/** Paths that one sentence names. */
const PATHS_SHOWN_MAX = 3;

/** In the order of the resources; clusters with the same change share a sentence. */
export function summaryOf(resources: readonly ChangedResource[]): readonly string[] {
  const clusters = new Map<string, string[]>();
  for (const resource of resources) {
    if (resource.typeUrl !== CDS) continue;
    const text = `${plain(resource.change)}${detail(resource)}`;
    clusters.set(text, [...(clusters.get(text) ?? []), resource.name]);
  }
  const lines = [...clusters].map(([text, [first = '', ...others]]) =>
    others.length === 0 ? `cluster ${first}: ${text}` : `cluster ${first} and ${others.length} more: ${text}`,
  );
  return [...lines, ...resources.filter(({ typeUrl }) => typeUrl !== CDS).flatMap(sentences)];
}

function sentences(resource: ChangedResource): readonly string[] {
  switch (resource.typeUrl) {
    case RDS:
      return routeSummary(resource);
    case LDS:
      return [listenerSummary(resource)];
    case EDS:
      return endpointSummary(resource);
    default:
      return [`${shortType(resource.typeUrl)} ${resource.name}: ${plain(resource.change)}${detail(resource)}`];
  }
}

export function isOnlyReordered({ change, changes }: ChangedResource): boolean {
  return change === 'changed' && changes.length > 0 && changes.every(({ reordered }) => reordered === true);
}

function plain(change: ChangedResource['change']): string {
  return change === 'removed' ? 'gone' : change === 'added' ? 'new' : 'changes';
}

function detail({ change, changes }: ChangedResource): string {
  if (change !== 'changed') return '';
  const paths = changes.slice(0, PATHS_SHOWN_MAX).map(showChange);
  const more = changes.length - paths.length;
  return `: ${paths.join('; ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** `path a → b` when the values are short, else the path. */
function showChange({ path, before, after, reordered }: JsonChange): string {
  if (reordered === true) return `${path} in another order`;
  if (isScalar(before) && isScalar(after)) return `${path} ${shown(before)} → ${shown(after)}`;
  return before === undefined ? `${path} is new` : after === undefined ? `${path} is gone` : path;
}

function isScalar(value: Json | undefined): boolean {
  return value === undefined || typeof value !== 'object';
}

function shown(value: Json | undefined): string {
  return value === undefined ? 'unset' : String(value);
}

/**
 * Envoy drains a listener that goes, and one that is replaced; when only filter chains differ, the connections of
 * those.
 */
function listenerSummary(resource: ChangedResource): string {
  const { name, change, changes } = resource;
  if (change === 'added') return `listener ${name}: new`;
  if (change === 'removed') return `listener ${name}: gone, its connections drain`;
  if (isOnlyReordered(resource)) return `listener ${name}: only the order changes, and it drains all the same`;
  const inChains = changes.every(
    ({ path }) => path.startsWith('filterChains') || path.startsWith('defaultFilterChain'),
  );
  const drains = inChains ? 'the connections of these filter chains drain' : 'it is replaced and drains';
  return `listener ${name}: ${drains}${detail(resource)}`;
}

function endpointSummary({ name, before, after }: ChangedResource): readonly string[] {
  const [left, right] = [addressesIn(before), addressesIn(after)];
  const added = [...right.keys()].filter(address => !left.has(address));
  const removed = [...left.keys()].filter(address => !right.has(address));
  const parts: string[] = [];
  if (added.length > 0) parts.push(`+ ${added.join(', ')}`);
  if (removed.length > 0) parts.push(`- ${removed.join(', ')}`);
  const count = `${left.size} → ${right.size} endpoints`;
  if (parts.length === 0) {
    const health = [...right]
      .filter(([address, one]) => !jsonEqual(one, left.get(address)))
      .map(([address]) => address);
    return [
      `endpoints of ${name}: ${health.length === 0 ? 'settings of the whole change' : `${health.join(', ')} changes`}`,
    ];
  }
  return [`endpoints of ${name}: ${count} (${parts.join('; ')})`];
}

function addressesIn(assignment: JsonObject | undefined): ReadonlyMap<string, JsonObject> {
  const found = new Map<string, JsonObject>();
  for (const locality of objectsIn(assignment?.endpoints)) {
    for (const one of objectsIn(locality.lbEndpoints)) {
      const address =
        isObject(one.endpoint) && isObject(one.endpoint.address) ? one.endpoint.address.socketAddress : undefined;
      const text = isObject(address)
        ? `${String(address.address)}:${String(address.portValue ?? 0)}`
        : JSON.stringify(one.endpoint);
      found.set(text, one);
    }
  }
  return found;
}

function routeSummary({ name, change, before, after }: ChangedResource): readonly string[] {
  if (change !== 'changed') return [`route ${name}: ${plain(change)}`];
  const [left, right] = [hostsIn(before), hostsIn(after)];
  const lines: string[] = [];
  for (const host of new Set([...left.keys(), ...right.keys()])) {
    const [old, made] = [left.get(host), right.get(host)];
    if (old === undefined) lines.push([`host ${host}: new`, splitsOf(made)].filter(part => part !== '').join(', '));
    else if (made === undefined) lines.push(`host ${host}: gone from route ${name}`);
    else if (!jsonEqual(old, made)) lines.push(...hostSummary(host, old, made));
  }
  return lines.length > 0 ? lines : [`route ${name}: settings of the whole change`];
}

function hostsIn(route: JsonObject | undefined): ReadonlyMap<string, JsonObject> {
  return new Map(objectsIn(route?.virtualHosts).map(host => [String(host.name), host]));
}

function hostSummary(host: string, before: JsonObject, after: JsonObject): readonly string[] {
  const [left, right] = [routesIn(before), routesIn(after)];
  const lines: string[] = [];
  for (const match of new Set([...left.keys(), ...right.keys()])) {
    const [old, made] = [left.get(match), right.get(match)];
    const where = left.size > 1 || right.size > 1 ? ` ${match}` : '';
    if (old === undefined) lines.push(`host ${host}${where}: a new route, ${actionText(made)}`);
    else if (made === undefined) lines.push(`host ${host}${where}: a route is gone, which was ${actionText(old)}`);
    else if (actionText(old) !== actionText(made))
      lines.push(`host ${host}${where}: ${actionText(made)} (was ${actionText(old)})`);
    else if (!jsonEqual(old, made)) lines.push(`host ${host}${where}: the route changes, ${settingsText(old, made)}`);
  }
  if (lines.length > 0) return lines;
  const order = [...left.keys()].join('\n') === [...right.keys()].join('\n');
  return [`host ${host}: ${order ? 'its settings change' : 'its routes are in another order'}`];
}

/** By what they match; of several that match the same only the first ever counts. */
function routesIn(host: JsonObject): ReadonlyMap<string, JsonObject> {
  const found = new Map<string, JsonObject>();
  for (const route of objectsIn(host.routes)) {
    const match = matchText(route.match);
    if (!found.has(match)) found.set(match, route);
  }
  return found;
}

function settingsText(before: JsonObject, after: JsonObject): string {
  const [left, right] = [actionOf(before), actionOf(after)];
  const names = [...new Set([...Object.keys(left), ...Object.keys(right)])].filter(
    name => !jsonEqual(left[name], right[name]),
  );
  if (names.length === 0) return 'in its metadata or headers';
  return names
    .map(name =>
      isScalar(left[name]) && isScalar(right[name]) ? `${name} ${shown(left[name])} → ${shown(right[name])}` : name,
    )
    .join(', ');
}

function splitsOf(host: JsonObject | undefined): string {
  const splits = objectsIn(host?.routes).map(actionText);
  return [...new Set(splits)].join('; ');
}
