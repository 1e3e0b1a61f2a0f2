// Ingress and IngressClass. Nothing is generated from them yet.

import type { JsonObject } from '../../base/json.ts';
import type { Obj } from '../../model/object.ts';
import { configKind } from '../config-kind.ts';
import { each, type Reference, secret } from '../references.ts';

const GROUP = 'networking.k8s.io';

export interface IngressBackend {
  readonly service?: { readonly name?: string; readonly port?: { readonly name?: string; readonly number?: number } };
  readonly resource?: JsonObject;
}
export interface IngressSpec {
  readonly ingressClassName?: string;
  readonly defaultBackend?: IngressBackend;
  readonly tls?: readonly { readonly hosts?: readonly string[]; readonly secretName?: string }[];
  readonly rules?: readonly {
    readonly host?: string;
    readonly http?: {
      readonly paths?: readonly {
        readonly path?: string;
        readonly pathType?: string;
        readonly backend?: IngressBackend;
      }[];
    };
  }[];
}
export interface IngressClassSpec {
  readonly controller?: string;
}

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly Ingress: { readonly spec: IngressSpec; readonly push: 'config' };
    readonly IngressClass: { readonly spec: IngressClassSpec; readonly push: 'config' };
  }
}

export const ingress = configKind({
  kind: 'Ingress',
  group: GROUP,
  versions: ['v1'],
  push: 'config',
  messages: {
    Spec: [
      { name: 'ingressClassName', type: 'string' },
      { name: 'defaultBackend', type: { message: 'Backend' } },
      { name: 'tls', type: { message: 'Tls' }, repeated: true },
      { name: 'rules', type: { message: 'Rule' }, repeated: true },
    ],
    Tls: [
      { name: 'hosts', type: 'string', repeated: true },
      { name: 'secretName', type: 'string' },
    ],
    Rule: [
      { name: 'host', type: 'string' },
      { name: 'http', type: { message: 'Http' } },
    ],
    Http: [{ name: 'paths', type: { message: 'Path' }, repeated: true }],
    Path: [
      { name: 'path', type: 'string' },
      { name: 'pathType', type: 'string' },
      { name: 'backend', type: { message: 'Backend' } },
    ],
    Backend: [
      { name: 'service', type: { message: 'Service' } },
      { name: 'resource', type: 'struct' },
    ],
    Service: [
      { name: 'name', type: 'string' },
      { name: 'port', type: { message: 'Port' } },
    ],
    Port: [
      { name: 'name', type: 'string' },
      { name: 'number', type: 'int32' },
    ],
  },
  references: ingressReferences,
});
export const ingressClass = configKind({
  kind: 'IngressClass',
  group: GROUP,
  versions: ['v1'],
  push: 'config',
  clusterScoped: true,
  messages: { Spec: [{ name: 'controller', type: 'string' }] },
});

function ingressReferences({ namespace, spec }: Obj<'Ingress'>): readonly Reference[] {
  const { ingressClassName: name, defaultBackend, tls, rules } = spec;
  const backend = (path: string, of: IngressBackend | undefined): readonly Reference[] =>
    of?.service?.name ? [{ path, kind: 'Service', namespace, name: of.service.name }] : [];
  return [
    ...(name ? [{ path: 'spec.ingressClassName', kind: 'IngressClass' as const, namespace: '', name }] : []),
    ...backend('spec.defaultBackend', defaultBackend),
    ...each('spec.rules', rules, (path, { http }) =>
      each(`${path}.http.paths`, http?.paths, (at, one) => backend(`${at}.backend`, one.backend)),
    ),
    ...each('spec.tls', tls, (path, { secretName }) => secret(`${path}.secretName`, namespace, secretName)),
  ];
}
