// Ingress and IngressClass. Nothing is generated from them yet.

import type { JsonObject } from '../../base/json.ts';
import { configKind } from '../config-kind.ts';
import { ingressReferences } from '../gateway-api/references-gateway-api.ts';

const GROUP = 'networking.k8s.io';
const NOT_YET = 'no proxy is sent anything of it';

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

export const ingress = configKind({
  kind: 'Ingress',
  group: GROUP,
  versions: ['v1'],
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
  notYet: NOT_YET,
});
export const ingressClass = configKind({
  kind: 'IngressClass',
  group: GROUP,
  versions: ['v1'],
  clusterScoped: true,
  messages: { Spec: [{ name: 'controller', type: 'string' }] },
  notYet: NOT_YET,
});
