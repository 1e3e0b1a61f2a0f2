// The manifests: what the account may do is exactly what is done, kind by kind.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { builtInKinds, customKinds } from '../../src/adapters/kube/resource.ts';
import { allWishFeatures } from '../../src/admission/wishes/table.ts';
import { definitions } from '../../src/core/kinds/registry.ts';
import { pluralOf } from '../e2e/kube/custom-resource-definitions.ts';

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Record<string, string> };
  readonly rules?: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly verbs: readonly string[];
  }[];
  readonly spec?: {
    readonly template?: { readonly metadata: { readonly labels: Record<string, string> } };
    readonly ports?: readonly { readonly name: string; readonly port: number; readonly targetPort?: number }[];
    readonly selector?: Record<string, string>;
  };
}

function manifests(file: string): readonly Manifest[] {
  const text = readFileSync(join(import.meta.dirname, '../../deploy', file), 'utf8');
  return parseAllDocuments(text).map(document => document.toJS() as Manifest);
}

describe('the manifests in deploy/', () => {
  it('grant exactly the rights that are used', () => {
    const role = manifests('rbac.yaml').find(({ kind }) => kind === 'ClusterRole');
    const allowed = (role?.rules ?? []).flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap(group => resources.map(resource => `${group}/${resource}: ${verbs.join(', ')}`)),
    );
    const used = [...builtInKinds, ...customKinds].map(
      ({ kind, objectKind = kind, group }) => `${group}/${pluralOf(objectKind)}: list, watch`,
    );
    used.push('apiextensions.k8s.io/customresourcedefinitions: get, list, watch');
    expect([...allowed].sort()).toEqual(used.sort());
  });

  it('let the account write exactly the kinds of the wishes', () => {
    const role = manifests('rbac-write.yaml').find(({ kind }) => kind === 'ClusterRole');
    const allowed = (role?.rules ?? []).flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap(group => resources.map(resource => `${group}/${resource}: ${verbs.join(', ')}`)),
    );
    const used = allWishFeatures.flatMap(({ observes }) =>
      observes
        .filter(({ isOptional }) => isOptional !== true)
        .map(({ kind, parts }) => {
          const { group, objectKind = kind } = definitions[kind];
          const isStatus = parts.length === 1 && parts[0] === 'status';
          const verbs = kind === 'WorkloadEntry' ? 'create, patch, delete' : 'create, patch';
          return `${group}/${pluralOf(objectKind)}${isStatus ? '/status: patch' : `: ${verbs}`}`;
        }),
    );
    // Of this kind the object is made too, where there is none.
    used.push('gateway.networking.k8s.io/gatewayclasses: create, patch');
    // Of machines that report their health.
    used.push('networking.istio.io/workloadentries/status: patch');
    used.push('certificates.k8s.io/signers: attest');
    // Several features write the status of one kind.
    expect([...new Set(allowed)].sort()).toEqual([...new Set(used)].sort());
  });

  it('keep rights for what is off by default apart', () => {
    const roles = manifests('rbac-optional.yaml').filter(({ kind }) => kind === 'ClusterRole');
    const allowed = roles.flatMap(({ rules = [] }) => rules.flatMap(({ resources }) => resources));
    const optional = allWishFeatures.flatMap(({ observes }) =>
      observes.filter(({ isOptional }) => isOptional === true),
    );
    expect([...allowed].sort()).toEqual(optional.map(({ kind }) => pluralOf(kind)).sort());
  });

  it('have the names under which clients look for istiod', () => {
    const [deployment, service] = manifests('serve.yaml');
    expect(deployment?.spec?.template?.metadata.labels).toMatchObject({ app: 'istiod' });
    expect(service?.metadata).toMatchObject({ name: 'istiod', namespace: 'istio-system' });
    expect(service?.spec?.ports?.map(({ name, port }) => `${name} ${port}`)).toEqual([
      'grpc-xds 15010',
      'https-dns 15012',
      'https-webhook 443',
      'http-monitoring 15014',
    ]);
  });

  it('give a recorder names of its own', () => {
    const [deployment] = manifests('record.yaml');
    expect(deployment?.spec?.template?.metadata.labels).not.toMatchObject({ app: 'istiod' });
  });
});
