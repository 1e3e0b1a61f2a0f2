// Objects and settings of ambient mode, as short calls.

import type { Json, JsonObject } from '../../../../../src/core/base/json.ts';
import { defaultSettings } from '../../../../../src/core/mesh/settings.ts';
import type { State } from '../../../../../src/core/state.ts';
import { type WorldPart, world } from '../../../world.ts';
import { type Meta, metadata } from '../../registry/fixtures.ts';

/** Settings with ambient mode on, and further flags. */
export function ambientSettings(env: Readonly<Record<string, string>> = {}) {
  return { env: { ...defaultSettings.env, PILOT_ENABLE_AMBIENT: 'true', ...env } };
}

export function ambientWorld(
  parts: readonly WorldPart[],
  env: Readonly<Record<string, string>> = {},
  mesh?: Json,
): State {
  return world(parts, { settings: ambientSettings(env), ...(mesh === undefined ? {} : { mesh }) });
}

export function namespace(name: string, labels: JsonObject = {}, annotations: JsonObject = {}): JsonObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels, annotations } };
}

export interface GatewayOptions extends Meta {
  readonly addresses?: readonly JsonObject[];
  readonly listeners?: readonly JsonObject[];
  readonly gatewayClass?: string;
}

/** A Gateway with a host name in its status. */
export function waypoint(name: string, options: GatewayOptions = {}): JsonObject {
  const { namespace: own = 'default', gatewayClass = 'istio-waypoint' } = options;
  const hostname = { type: 'Hostname', value: `${name}.${own}.svc.cluster.local` };
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'Gateway',
    metadata: metadata(name, options),
    spec: { gatewayClassName: gatewayClass, listeners: options.listeners ?? [hbone()] },
    status: { addresses: options.addresses ?? [hostname] },
  };
}

/** The usual listener, which admits these namespaces. */
export function hbone(namespaces: JsonObject = { from: 'Same' }): JsonObject {
  return { name: 'mesh', port: 15008, protocol: 'HBONE', allowedRoutes: { namespaces } };
}

export function gatewayClass(name: string, labels: JsonObject = {}, annotations: JsonObject = {}): JsonObject {
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'GatewayClass',
    metadata: { name, labels, annotations },
    spec: { controllerName: 'istio.io/mesh-controller' },
  };
}
