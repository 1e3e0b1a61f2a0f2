// Which kinds a cluster has by CustomResourceDefinitions, and in which version each is watched. Pure.
//
// Of all definitions only names and versions are followed (there may be hundreds, of a megabyte together); those of our
// groups are read in full. A definition that is not there is no error; one that has gone took its objects with it.

import { isObject, type Json, type JsonObject } from '../../core/base/json.ts';
import type { KindName } from '../../core/model/kind.ts';
import { customKinds, type Resource, remoteOnlyKinds, resourceOf, servedAs } from './resource.ts';

export const DEFINITIONS_PATH = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
/** What a definition serves. */
export interface CustomResource {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  /** Served versions. */
  readonly versions: readonly string[];
  readonly established: boolean;
}

/**
 * Which definitions are left alone, by `plural.group`: those that `ignore` names and `include` does not. Each is a list
 * with commas, `*.suffix` for all names that end so. Source: Istio pkg/kube/kclient/crdwatcher.go
 * (filterPilotResources), PILOT_IGNORE_RESOURCES and PILOT_INCLUDE_RESOURCES.
 */
export function ignoredDefinitions(ignore: string, include: string): (name: string) => boolean {
  const [ignored, included] = [namesIn(ignore), namesIn(include)];
  return name => ignored(name) && !included(name);
}

function namesIn(list: string): (name: string) => boolean {
  const words = list.split(',').map(word => word.trim());
  return name => words.some(word => (word.startsWith('*.') ? name.endsWith(word.slice(2)) : word === name));
}

const groups: ReadonlySet<string> = new Set(customKinds.map(({ group }) => group));

/** `plural.group`: is it one of our groups? */
export function isOurs(name: string): boolean {
  return groups.has(name.slice(name.indexOf('.') + 1));
}

/** Undefined: not a CustomResourceDefinition. */
export function customResource(definition: Json): CustomResource | undefined {
  if (!isObject(definition) || !isObject(definition.spec)) return undefined;
  const { group, names, versions } = definition.spec;
  if (typeof group !== 'string' || !isObject(names) || !Array.isArray(versions)) return undefined;
  if (typeof names.kind !== 'string' || typeof names.plural !== 'string') return undefined;
  const served = (versions as readonly Json[]).flatMap(version =>
    isObject(version) && version.served === true && typeof version.name === 'string' ? [version.name] : [],
  );
  return {
    group,
    kind: names.kind,
    plural: names.plural,
    versions: served,
    established: isEstablished(definition.status),
  };
}

function isEstablished(status: Json | undefined): boolean {
  if (!isObject(status) || !Array.isArray(status.conditions)) return false;
  return (status.conditions as readonly Json[]).some(
    (condition): condition is JsonObject =>
      isObject(condition) && condition.type === 'Established' && condition.status === 'True',
  );
}

export interface Customs {
  readonly resources: readonly Resource[];
  /** Kinds that no definition names: they have no objects. */
  readonly absent: readonly KindName[];
  /** Kinds that have a definition and cannot be read by it: they may have objects. */
  readonly unserved: readonly { readonly kind: KindName; readonly why: string }[];
}

/**
 * A kind whose definition is there but serves no version that we know, or is not established yet, is neither watched
 * nor absent.
 */
export function customs(definitions: Iterable<CustomResource>): Customs {
  const byName = new Map<string, CustomResource>();
  for (const one of definitions) {
    const name = `${one.group} ${one.kind}`;
    // The API server serves the established definition of a kind.
    if (byName.get(name)?.established !== true || one.established) byName.set(name, one);
  }
  const resources: Resource[] = [];
  const absent: KindName[] = [];
  const unserved: { readonly kind: KindName; readonly why: string }[] = [];
  for (const definition of [...customKinds, ...remoteOnlyKinds]) {
    const { kind } = definition;
    const served = servedAs(definition);
    const { objectKind = served.kind, group, versions } = served;
    const custom = byName.get(`${group} ${objectKind}`);
    if (custom === undefined) {
      absent.push(kind);
      continue;
    }
    const version = versions.find(one => custom.versions.includes(one));
    if (version === undefined) {
      const there = custom.versions.length === 0 ? 'no version' : custom.versions.join(', ');
      unserved.push({ kind, why: `its definition serves ${there}; known here: ${versions.join(', ')}` });
    } else if (!custom.established) unserved.push({ kind, why: 'its definition is not established' });
    else resources.push(resourceOf(definition, version, custom.plural));
  }
  return { resources, absent, unserved };
}
