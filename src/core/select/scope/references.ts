// Dangling references: the object is valid, but without the effect that its author meant. For the debug pages and for
// analysis.
//
// A host exists if any service of the mesh has it, visible or not; wildcard hosts are not checked. A reference to an
// optional kind (nodes, accounts, workloads) is checked only if a source delivers at least one object of the kind.

import { type Labels, selects } from '../../base/labels.ts';
import type { KindDefinition } from '../../kinds/definition.ts';
import type { HostReference, ObjectReference, Reference, WorkloadReference } from '../../kinds/references.ts';
import { definitions, kindNames } from '../../kinds/registry.ts';
import { providerOf } from '../../mesh/providers.ts';
import { isWildcard, resolveShortName } from '../../model/hosts.ts';
import type { KindName } from '../../model/kind.ts';
import { configKey, kubernetesKey, type Obj } from '../../model/object.ts';
import type { ProxyReader, Query } from '../../query/reader.ts';
import { servicesOfHost } from '../../registry/services.ts';

export interface DanglingReference {
  /** The object that refers, by its key in the table of the kind. */
  readonly kind: KindName;
  readonly key: string;
  readonly path: string;
  /** The missing target, e.g. `Gateway/prod/gw`, `host a.b.com`, `subset v1 of a.b.com`, `workload with app=web`. */
  readonly missing: string;
  /** For workloads: the labels that select them. `namespace` undefined: any namespace. */
  readonly workload?: { readonly labels: Labels; readonly namespace: string | undefined };
}

/** Kinds that a source may not deliver. */
const OPTIONAL: readonly KindName[] = ['Node', 'ServiceAccount'];

/** Argument ''. In the order of kinds, objects and paths. */
export const danglingReferences: Query<'', readonly DanglingReference[]> = {
  name: 'select/danglingReferences',
  run: reader => {
    const found: DanglingReference[] = [];
    for (const kind of kindNames) {
      const definition: KindDefinition = definitions[kind];
      if (definition.references === undefined) continue;
      for (const obj of reader.objects(kind)) {
        for (const reference of definition.references(obj)) {
          const missing = missingOf(reader, obj, reference);
          if (missing !== undefined) found.push({ kind, key: keyOf(obj), path: reference.path, ...missing });
        }
      }
    }
    return found;
  },
};

type Missing = Pick<DanglingReference, 'missing' | 'workload'>;

function missingOf(reader: ProxyReader, obj: Obj, reference: Reference): Missing | undefined {
  if ('labels' in reference) return missingWorkload(reader, obj, reference);
  const missing = missingName(reader, obj, reference);
  return missing === undefined ? undefined : { missing };
}

function missingName(
  reader: ProxyReader,
  obj: Obj,
  reference: Exclude<Reference, WorkloadReference>,
): string | undefined {
  if ('host' in reference) return missingHost(reader, obj, reference);
  if ('provider' in reference) {
    const { provider } = reference;
    const known = providerOf(reader.mesh('extensionProviders'), provider) !== undefined;
    return known ? undefined : `extension provider ${provider}`;
  }
  return missingObject(reader, reference);
}

function missingObject(reader: ProxyReader, reference: ObjectReference): string | undefined {
  const { kind, namespace, name, cluster = reader.setting('clusterId') } = reference;
  if (OPTIONAL.includes(kind) && reader.objects(kind, `${cluster}/`).length === 0) return undefined;
  if (kind === 'Service' && reference.cluster === undefined) {
    const known = reader.indexed('servicesByName', configKey(namespace, name)).length > 0;
    return known ? undefined : shown(kind, namespace, name);
  }
  return reader.object(kind, keyOf(reference, cluster)) === undefined ? shown(kind, namespace, name) : undefined;
}

function keyOf({ kind, namespace, name, cluster = '' }: Named, within = cluster): string {
  return definitions[kind].store === 'config' ? configKey(namespace, name) : kubernetesKey(within, namespace, name);
}
interface Named {
  readonly kind: KindName;
  readonly namespace: string;
  readonly name: string;
  readonly cluster?: string;
}

function missingHost(reader: ProxyReader, obj: Obj, { host, subset }: HostReference): string | undefined {
  const domain = reader.setting('domainSuffix');
  const full = resolveShortName(host, obj.namespace, domain);
  if (isWildcard(full)) return undefined;
  if (reader.get(servicesOfHost, full).length === 0) return `host ${full}`;
  if (subset === '') return undefined;
  const known = reader.get(subsetsByHost, '').get(full)?.has(subset) === true;
  return known ? undefined : `subset ${subset} of ${full}`;
}

/** Names of subsets in all DestinationRules, by the full name of their host. */
const subsetsByHost: Query<'', ReadonlyMap<string, ReadonlySet<string>>> = {
  name: 'select/subsetsByHost',
  run: reader => {
    const domain = reader.setting('domainSuffix');
    const found = new Map<string, Set<string>>();
    for (const { namespace, spec } of reader.objects('DestinationRule')) {
      const host = resolveShortName(spec.host ?? '', namespace, domain);
      const names = found.get(host) ?? new Set<string>();
      found.set(host, names);
      for (const { name } of spec.subsets ?? []) if (name !== undefined) names.add(name);
    }
    return found;
  },
};

/** Pods of every cluster, and WorkloadEntries. */
function missingWorkload(reader: ProxyReader, obj: Obj, { labels, scope }: WorkloadReference): Missing | undefined {
  const isRoot = scope === 'policy' && obj.namespace === reader.mesh('rootNamespace');
  const namespace = scope === 'mesh' || isRoot ? undefined : obj.namespace;
  const all = reader.get(workloadLabels, '');
  const found = all.some(one => (namespace ?? one.namespace) === one.namespace && selects(labels, one.labels));
  if (all.length === 0 || found) return undefined;
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return { missing: `workload with ${pairs.sort().join(',')}`, workload: { labels, namespace } };
}

const workloadLabels: Query<'', readonly { readonly namespace: string; readonly labels: Labels }[]> = {
  name: 'select/workloadLabels',
  run: reader => [
    ...reader.objects('Pod').map(({ namespace, labels }) => ({ namespace, labels })),
    ...reader
      .objects('WorkloadEntry')
      .map(({ namespace, labels, spec }) => ({ namespace, labels: { ...spec.labels, ...labels } })),
  ],
};

function shown(kind: KindName, namespace: string, name: string): string {
  const { objectKind = kind }: KindDefinition = definitions[kind];
  return namespace === '' ? `${objectKind}/${name}` : `${objectKind}/${namespace}/${name}`;
}
