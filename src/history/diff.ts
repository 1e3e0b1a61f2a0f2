// What differs for proxies between two states: two positions of a journal, a position and a what-if, two folders of
// YAML. Proxies for which exactly the same changes are one class; each class has sentences, warnings of what would go
// wrong, and the differences field by field.

import { canonicalJson, type Json } from '../core/base/json.ts';
import type { ProxyRecord } from '../core/model/proxy.ts';
import type { Resource } from '../core/model/resource.ts';
import type { Tracker } from '../core/query/tracker.ts';
import type { State } from '../core/state.ts';
import { encodeResource } from '../xds/engine/encode.ts';
import { refusalsOf } from '../xds/generate/patch/refusals.ts';
import { CDS, EDS, LDS } from '../xds/session/types.ts';
import { gateOf } from './access/ask.ts';
import { accessChanges } from './access/changes.ts';
import { policyText } from './access/listed.ts';
import type { AccessDifference, ChangeClass, ChangedResource, DiffWarning, MeshDiff } from './answers.ts';
import { type ChangeBehind, changeBehind } from './change-behind.ts';
import { shownJson } from './config-dump.ts';
import { HELD_TYPES, type Holdings, holdingsOf } from './holdings.ts';
import { jsonDiff } from './json-diff.ts';
import { lostParents } from './lost-parents.ts';
import { isOnlyReordered, summaryOf } from './summary.ts';
import { dangling, endpointCount, endpointsIn, type Sends, sendsOf, withoutEndpoints } from './traffic.ts';

export interface DiffSide {
  readonly state: State;
  readonly proxies: readonly ProxyRecord[];
}

interface Versions {
  readonly typeUrl: string;
  readonly name: string;
  readonly before: Resource<object> | undefined;
  readonly after: Resource<object> | undefined;
}

interface Class {
  readonly proxies: string[];
  readonly changed: readonly Versions[];
  readonly warnings: readonly DiffWarning[];
  readonly before: Holdings;
  readonly after: Holdings;
}

export function diffMeshes(tracker: Tracker, before: DiffSide, after: DiffSide): MeshDiff {
  const [left, right] = [byId(before), byId(after)];
  const both = [...left.keys()].filter(id => right.has(id)).sort();
  // One state after the other: going to and fro would make everything anew for each proxy.
  const held = (side: DiffSide, proxies: ReadonlyMap<string, ProxyRecord>): ReadonlyMap<string, Holdings> =>
    new Map(both.map(id => [id, holdingsOf(tracker, side.state, proxies.get(id)!)]));
  const [old, made] = [held(before, left), held(after, right)];
  const classes = new Map<string, Class>();
  const behind = changeBehind(before.state, after.state);
  let unchanged = 0;
  for (const id of both) {
    const changed = changedIn(old.get(id)!, made.get(id)!);
    if (changed.length === 0) unchanged++;
    else {
      // What the same change does depends on what else a proxy has: only who still sends to a cluster misses it.
      const warnings = warningsOf(changed, old.get(id)!, made.get(id)!, behind);
      const key = [...changed.map(keyOf), ...warnings.map(({ message }) => message)].join('\n');
      const known = classes.get(key);
      if (known === undefined)
        classes.set(key, { proxies: [id], changed, warnings, before: old.get(id)!, after: made.get(id)! });
      else known.proxies.push(id);
    }
  }
  const sorted = [...classes.values()].sort(
    (a, b) => b.proxies.length - a.proxies.length || (a.proxies[0]! < b.proxies[0]! ? -1 : 1),
  );
  return {
    classes: sorted.map(one =>
      classOf(one, accessOf(one, before.state, after.state, right.get(one.proxies[0]!)!), behind),
    ),
    unchanged,
    warnings: lostParents(tracker, before.state, after.state).map(({ route, message }) =>
      warning('parent-lost', message, [route], behind),
    ),
    onlyBefore: [...left.keys()].filter(id => !right.has(id)).sort(),
    onlyAfter: [...right.keys()].filter(id => !left.has(id)).sort(),
  };
}

function byId({ proxies }: DiffSide): ReadonlyMap<string, ProxyRecord> {
  return new Map(proxies.map(proxy => [proxy.facets.id, proxy]));
}

function changedIn(before: Holdings, after: Holdings): readonly Versions[] {
  const found: Versions[] = [];
  for (const typeUrl of HELD_TYPES) {
    const [left, right] = [before.get(typeUrl), after.get(typeUrl)];
    const names = [...new Set([...(left?.keys() ?? []), ...(right?.keys() ?? [])])].sort();
    for (const name of names) {
      const versions = { typeUrl, name, before: left?.get(name), after: right?.get(name) };
      if (
        versions.before !== versions.after &&
        versionOf(typeUrl, versions.before) !== versionOf(typeUrl, versions.after)
      ) {
        found.push(versions);
      }
    }
  }
  return found;
}

function versionOf(typeUrl: string, resource: Resource<object> | undefined): string {
  return resource === undefined ? '' : encodeResource(typeUrl, resource.name, resource.message).version;
}

/**
 * Equal for equal changes: of a resource that both have what differs, whatever else is in it for proxies of one
 * namespace or another.
 */
function keyOf({ typeUrl, name, before, after }: Versions): string {
  if (before === undefined || after === undefined) {
    return `${typeUrl} ${name} ${versionOf(typeUrl, before)} ${versionOf(typeUrl, after)}`;
  }
  let known = keys.get(after.message);
  if (known === undefined) {
    known = new WeakMap();
    keys.set(after.message, known);
  }
  let key = known.get(before.message);
  if (key === undefined) {
    const changes = jsonDiff(shownJson(typeUrl, before), shownJson(typeUrl, after));
    key = `${typeUrl} ${name} ${canonicalJson(changes as unknown as Json)}`;
    known.set(before.message, key);
  }
  return key;
}

const keys = new WeakMap<object, WeakMap<object, string>>();

const NO_ACCESS: AccessDifference = { changes: [], asked: 0, leftOut: 0 };

function accessOf(
  { changed, before, after }: Class,
  old: State,
  made: State,
  { facets }: ProxyRecord,
): AccessDifference {
  if (!changed.some(({ typeUrl }) => typeUrl === LDS)) return NO_ACCESS;
  const router = facets.type !== 'sidecar';
  const [address = ''] = facets.ips;
  const side = (state: State, holdings: Holdings) => ({ state, gate: gateOf(holdings, address, router) });
  // Policies are in listeners: where they are the same, nothing opens or closes.
  const [left, right] = [side(old, before), side(made, after)];
  if (policyText(left.gate.config) === policyText(right.gate.config)) return NO_ACCESS;
  return accessChanges(left, right, facets.namespace, facets.id);
}

function classOf(
  { proxies, changed, warnings, before, after }: Class,
  access: AccessDifference,
  behind: ChangeBehind,
): ChangeClass {
  const resources = changed.map(resourceOf);
  // Endpoints of a cluster that comes or goes are no news of their own.
  const shown = resources.filter(({ typeUrl, name, change }) => {
    if (typeUrl !== EDS || change === 'changed') return true;
    return before.get(CDS)?.has(name) === true && after.get(CDS)?.has(name) === true;
  });
  const summary = [...summaryOf(shown), ...access.changes.map(({ message }) => message)];
  return { proxies, summary, warnings: [...warnings, ...reorderings(resources, behind)], access, resources };
}

function resourceOf({ typeUrl, name, before, after }: Versions): ChangedResource {
  const old = before === undefined ? undefined : shownJson(typeUrl, before);
  const made = after === undefined ? undefined : shownJson(typeUrl, after);
  return {
    typeUrl,
    name,
    change: old === undefined ? 'added' : made === undefined ? 'removed' : 'changed',
    ...(old === undefined ? {} : { before: old }),
    ...(made === undefined ? {} : { after: made }),
    changes: jsonDiff(old, made),
  };
}

/** Faults that the change introduces; faults present before are left out. */
function warningsOf(
  changed: readonly Versions[],
  before: Holdings,
  after: Holdings,
  behind: ChangeBehind,
): readonly DiffWarning[] {
  const warnings: DiffWarning[] = [];
  for (const { typeUrl, name, before: old, after: made } of changed) {
    const known = new Set(old === undefined ? [] : refusalsOf(typeUrl, old.message));
    for (const sentence of made === undefined ? [] : refusalsOf(typeUrl, made.message)) {
      if (known.has(sentence)) continue;
      const message = `${name} ${sentence}: Envoy refuses it and keeps what it has`;
      warnings.push(warning('refused-by-envoy', message, [hostOf(name)], behind));
    }
  }
  for (const { from, cluster } of news(dangling(before), dangling(after))) {
    const message = `${from} sends to ${cluster}, and there is no such cluster: 503 for that share of requests`;
    warnings.push(warning('missing-cluster', message, [hostOf(from), hostOf(cluster)], behind));
  }
  const emptied = new Set<string>();
  for (const { typeUrl, name, before: old } of changed) {
    if (typeUrl !== EDS || old === undefined) continue;
    const count = endpointsIn(before.get(EDS)?.get(name)?.message);
    if (count === 0 || endpointCount(after, name) !== 0) continue;
    emptied.add(name);
    if (!sendsOf(after).some(({ cluster }) => cluster === name)) continue;
    const message = `${name} loses all its ${count} endpoints, and requests are sent to it`;
    warnings.push(warning('endpoints-gone', message, [hostOf(name)], behind));
  }
  for (const { from, cluster } of news(withoutEndpoints(before), withoutEndpoints(after))) {
    if (emptied.has(cluster)) continue;
    const message = `${from} sends to ${cluster}, which has no endpoints: 503 for that share of requests`;
    warnings.push(warning('no-endpoints', message, [hostOf(from), hostOf(cluster)], behind));
  }
  return warnings;
}

function reorderings(resources: readonly ChangedResource[], behind: ChangeBehind): readonly DiffWarning[] {
  return resources.filter(isOnlyReordered).map(({ name }) => {
    const message = `${name} changes only in the order of its parts: connections drain for nothing`;
    return warning('order-only', message, [hostOf(name)], behind);
  });
}

function warning(
  kind: DiffWarning['kind'],
  message: string,
  hosts: readonly string[],
  behind: ChangeBehind,
): DiffWarning {
  return { kind, message, ...behind(kind, [...new Set(hosts)]) };
}

/** Of `outbound|9080|v1|HOST`, `host HOST:9080`, `listener NAME`; of other names the name. */
function hostOf(name: string): string {
  const host = name.slice(Math.max(name.lastIndexOf('|'), name.lastIndexOf(' ')) + 1);
  return host.replace(/:[0-9]+$/, '');
}

function news(before: readonly Sends[], after: readonly Sends[]): readonly Sends[] {
  const known = new Set(before.map(({ from, cluster }) => `${from}\n${cluster}`));
  return after.filter(({ from, cluster }) => !known.has(`${from}\n${cluster}`));
}
