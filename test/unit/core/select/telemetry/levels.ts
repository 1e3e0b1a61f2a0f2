// Telemetry objects and a proxy for the tests beside this file: entries by level, oldest first.

import type { JsonObject } from '../../../../../src/core/base/json.ts';
import type { State } from '../../../../../src/core/state.ts';
import { nodeOf, proxyOf, world } from '../../../world.ts';

export interface Levels {
  readonly root?: JsonObject;
  readonly namespace?: JsonObject;
  /** With the selector of the proxy; the last is the youngest. */
  readonly workload?: readonly JsonObject[];
}

export const proxy = proxyOf(nodeOf({ namespace: 'prod', labels: { app: 'web' } }));

/** The state with these objects, each of a level; `mesh` is the MeshConfig. */
export function withLevels({ root, namespace, workload = [] }: Levels, mesh: JsonObject = {}): State {
  const selector = { matchLabels: { app: 'web' } };
  return world(
    [
      ...(root === undefined ? [] : [telemetry('root', 'istio-system', 1, root)]),
      ...(namespace === undefined ? [] : [telemetry('space', 'prod', 1, namespace)]),
      ...workload.map((spec, i) => telemetry(`z${9 - i}`, 'prod', i + 1, { selector, ...spec })),
    ],
    { mesh },
  );
}

function telemetry(name: string, namespace: string, day: number, spec: JsonObject): JsonObject {
  return {
    apiVersion: 'telemetry.istio.io/v1',
    kind: 'Telemetry',
    metadata: { name, namespace, creationTimestamp: `2026-01-0${day}T00:00:00Z` },
    spec,
  };
}
