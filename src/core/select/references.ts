// References that lead nowhere: valid objects whose effect is not what their author meant. For the debug pages and for analysis.
//
// A host is there if any service of the mesh has it, visible or not; a wildcard host is not looked for.

import type { KindDefinition } from '../kinds/kinds.ts';
import type { HostReference, ObjectReference, Reference } from '../kinds/references.ts';
import { definitions, kindNames } from '../kinds/registry.ts';
import { configKey, kubernetesKey, type Obj } from '../object.ts';
import type { ProxyReader, Query } from '../reader.ts';
import { servicesOfHost } from '../registry/services.ts';
import { isWildcard, resolveShortName } from './hosts.ts';

export interface DanglingReference {
  /** `Kind/namespace/name` of the object that refers. */
  readonly object: string;
  readonly path: string;
  /** What is not there, e.g. `Gateway/prod/gw`, `host a.b.com`, `subset v1 of a.b.com`. */
  readonly missing: string;
}

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
          if (missing === undefined) continue;
          found.push({ object: `${kind}/${obj.namespace}/${obj.name}`, path: reference.path, missing });
        }
      }
    }
    return found;
  },
};

function missingOf(reader: ProxyReader, obj: Obj, reference: Reference): string | undefined {
  return 'host' in reference ? missingHost(reader, obj, reference) : missingObject(reader, reference);
}

function missingObject(reader: ProxyReader, { kind, namespace, name }: ObjectReference): string | undefined {
  const { store, clusterScoped } = definitions[kind];
  const key =
    store === 'config' ? configKey(namespace, name) : kubernetesKey(reader.setting('clusterId'), namespace, name);
  if (reader.object(kind, key) !== undefined) return undefined;
  return clusterScoped ? `${kind}/${name}` : `${kind}/${namespace}/${name}`;
}

function missingHost(reader: ProxyReader, obj: Obj, { host, subset }: HostReference): string | undefined {
  const domain = reader.setting('domainSuffix');
  const full = resolveShortName(host, obj.namespace, domain);
  if (isWildcard(full)) return undefined;
  if (reader.get(servicesOfHost, full).length === 0) return `host ${full}`;
  if (subset === '') return undefined;
  const known = reader
    .objects('DestinationRule')
    .some(
      ({ namespace, spec }) =>
        resolveShortName(spec.host ?? '', namespace, domain) === full &&
        (spec.subsets ?? []).some(({ name }) => name === subset),
    );
  return known ? undefined : `subset ${subset} of ${full}`;
}
