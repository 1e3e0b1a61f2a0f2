// What an object refers to, and what refers to it, at a state: other objects by name, hosts with their services and
// ServiceEntries, workloads by label. As the kinds declare their references for `analyze`, so both agree.

import type { KindDefinition } from '../core/kinds/definition.ts';
import type { Reference } from '../core/kinds/references.ts';
import { definitions, kindNames } from '../core/kinds/registry.ts';
import { isWildcard, resolveShortName } from '../core/model/hosts.ts';
import { type Obj, objectName } from '../core/model/object.ts';
import type { Tracker } from '../core/query/tracker.ts';
import { danglingReferences } from '../core/select/scope/references.ts';
import type { State } from '../core/state.ts';

export interface ShownReference {
  /** `Kind/namespace/name`, `host NAME`, `subset NAME of HOST`, `workload with a=b`, `extension provider NAME`. */
  readonly object: string;
  readonly path: string;
  readonly exists: boolean;
}

/** In the order of the object's fields. Of a host that is there and lacks the subset, both are named. */
export function referencesOf(tracker: Tracker, state: State, obj: Obj): readonly ShownReference[] {
  const missing = missingByPath(tracker, state, obj);
  const definition: KindDefinition = definitions[obj.kind];
  return (definition.references?.(obj) ?? []).flatMap(reference => {
    const { path } = reference;
    const absent = missing.get(path);
    const names = namesOf(state, obj, reference);
    const lacksSubset = 'host' in reference && absent !== undefined && !names.includes(absent);
    const exists = absent === undefined || lacksSubset;
    const shown = names.map(object => ({ object, path, exists }));
    return lacksSubset ? [...shown, { object: absent, path, exists: false }] : shown;
  });
}

/** By object: those whose references name it. */
export function referencesTo(_tracker: Tracker, state: State, obj: Obj): readonly ShownReference[] {
  const wanted = new Set([objectName(obj)]);
  const found: ShownReference[] = [];
  for (const kind of kindNames) {
    const definition: KindDefinition = definitions[kind];
    if (definition.references === undefined) continue;
    for (const other of state.objects[kind].values()) {
      for (const reference of definition.references(other)) {
        if (!namesOf(state, other, reference).some(name => wanted.has(name))) continue;
        found.push({ object: objectName(other), path: reference.path, exists: true });
      }
    }
  }
  return found;
}

/** What is not there, as DanglingReference names it. */
function missingByPath(tracker: Tracker, state: State, obj: Obj): ReadonlyMap<string, string> {
  const dangling = tracker
    .get(state, undefined, danglingReferences, '')
    .filter(({ kind, key }) => kind === obj.kind && state.objects[kind].get(key) === obj);
  return new Map(dangling.map(({ path, missing }) => [path, missing]));
}

/** A host stands for the services that have it; one without is named as it is written. */
function namesOf(state: State, obj: Obj, reference: Reference): readonly string[] {
  if ('provider' in reference) return [`extension provider ${reference.provider}`];
  if ('labels' in reference) {
    const pairs = Object.entries(reference.labels).map(([key, value]) => `${key}=${value}`);
    return [`workload with ${pairs.sort().join(',')}`];
  }
  if ('host' in reference) {
    const host = resolveShortName(reference.host, obj.namespace, state.settings.domainSuffix);
    const owners = isWildcard(host) ? [] : ownersOf(state, host);
    return owners.length === 0 ? [`host ${host}`] : owners;
  }
  return [objectName(reference)];
}

function ownersOf({ objects, settings }: State, host: string): readonly string[] {
  const suffix = `.svc.${settings.domainSuffix}`;
  const found = new Set<string>();
  if (host.endsWith(suffix)) {
    const [name = '', namespace = ''] = host.slice(0, -suffix.length).split('.');
    for (const service of objects.Service.values())
      if (service.name === name && service.namespace === namespace) found.add(objectName(service));
  }
  for (const entry of objects.ServiceEntry.values() as Iterable<Obj<'ServiceEntry'>>)
    if (entry.spec.hosts?.includes(host) === true) found.add(objectName(entry));
  return [...found].sort();
}
