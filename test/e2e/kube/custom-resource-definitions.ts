// CustomResourceDefinitions for every kind the core knows that a cluster has not by itself: names, versions and scope
// from the registry, any content. The API server then keeps what the core is to judge.

import { customKinds, pathOf } from '../../../src/adapters/kube/resource.ts';
import type { JsonObject } from '../../../src/core/base/json.ts';
import type { KindDefinition } from '../../../src/core/kinds/definition.ts';
import type { KindName } from '../../../src/core/model/kind.ts';
import type { KubeClient } from './client.ts';
import { until } from './until.ts';

export function pluralOf(kind: string): string {
  const lower = kind.toLowerCase();
  if (/(s|x|ch)$/.test(lower)) return `${lower}${lower === 'endpoints' ? '' : 'es'}`;
  return /[^aeiou]y$/.test(lower) ? `${lower.slice(0, -1)}ies` : `${lower}s`;
}

export function definitionFor(definition: KindDefinition, versions = definition.versions): JsonObject {
  const { kind, objectKind = kind, group, clusterScoped } = definition;
  const plural = pluralOf(objectKind);
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${group}`,
      annotations: { 'api-approved.kubernetes.io': 'unapproved, for tests only' },
    },
    spec: {
      group,
      scope: clusterScoped ? 'Cluster' : 'Namespaced',
      names: { kind: objectKind, plural, singular: objectKind.toLowerCase(), listKind: `${objectKind}List` },
      versions: versions.map((name, i) => ({
        name,
        served: true,
        storage: i === 0,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        subresources: { status: {} },
      })),
    },
  };
}

/** Resolves when objects of the kinds can be written; without kinds, of every kind. */
export async function installDefinitions(client: KubeClient, only?: readonly KindName[]): Promise<void> {
  const wanted = customKinds.filter(({ kind }) => only?.includes(kind) ?? true);
  await client.putAll(wanted.map(definition => definitionFor(definition)));
  for (const { kind, objectKind = kind, group, versions } of wanted) {
    const path = `${pathOf(group, versions[0]!)}/${pluralOf(objectKind)}`;
    await until(path, () =>
      client.get(path).then(
        () => true,
        () => false,
      ),
    );
  }
}
