// Objects of the Gateway API for tests, and what they are translated into.

import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { Obj } from '../../../../../src/core/model/object.ts';
import { derivedGateways } from '../../../../../src/core/translate/gateway-api/derived-gateways.ts';
import { derivedVirtualServices } from '../../../../../src/core/translate/gateway-api/merged-routes.ts';
import type { Scene } from '../../../xds/generate/route/scene.ts';

export const API = 'gateway.networking.k8s.io';

export function object(
  kind: string,
  namespace: string,
  name: string,
  spec: JsonObject,
  meta: JsonObject = {},
): JsonObject {
  return {
    apiVersion: `${API}/v1`,
    kind,
    metadata: { name, ...(namespace === '' ? {} : { namespace }), ...meta },
    spec,
  };
}

export const listener = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  port: 80,
  protocol: 'HTTP',
  ...more,
});

export function gateway(name: string, listeners: readonly JsonObject[], more: JsonObject = {}): JsonObject {
  return object('Gateway', 'infra', name, { gatewayClassName: 'istio', listeners, ...more });
}

/** Routes of every namespace attach. */
export const open: JsonObject = { allowedRoutes: { namespaces: { from: 'All' } } };

export function route(name: string, spec: JsonObject, meta: JsonObject = {}): JsonObject {
  const { namespace = 'infra', ...rest } = meta;
  const parents = { parentRefs: [{ name: 'gw', namespace: 'infra' }] };
  return object('HTTPRoute', String(namespace), name, { ...parents, ...spec }, rest);
}

export const rule = (backend: string, more: JsonObject = {}): JsonObject => ({
  backendRefs: [{ name: backend, port: 80 }],
  ...more,
});

export const path = (value: string, type = 'PathPrefix'): JsonObject => ({ matches: [{ path: { type, value } }] });

export function gatewaysIn(scene: Scene): readonly Obj<'Gateway'>[] {
  return scene.tracker.get(scene.state, undefined, derivedGateways, '');
}

export function virtualServicesIn(scene: Scene): readonly Obj<'VirtualService'>[] {
  return scene.tracker.get(scene.state, undefined, derivedVirtualServices, '');
}

/** The translated service of a Gateway `gw` in `infra`, and the backends. */
export const services: readonly JsonObject[] = ['gw-istio', 'web', 'api'].map((name, i) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'infra' },
  spec: { clusterIP: `10.96.0.${i + 1}`, ports: [{ name: 'http', port: 80 }], selector: { app: name } },
}));
