// A small world for tests of the tracker: two policies, and ways to change things.

import type { JsonObject } from '../../../../src/core/base/json.ts';
import type { ProxyReader, Query } from '../../../../src/core/query/reader.ts';
import type { Tracker } from '../../../../src/core/query/tracker.ts';
import type { State } from '../../../../src/core/state.ts';
import { type NodeOptions, nodeOf, proxyOf, step, world } from '../../world.ts';

export function authentication(name: string, mode = 'STRICT', namespace = 'prod'): JsonObject {
  return {
    apiVersion: 'security.istio.io/v1',
    kind: 'PeerAuthentication',
    metadata: { name, namespace, labels: { mode } },
    spec: { mtls: { mode } },
  };
}

export function query<R>(name: string, run: (reader: ProxyReader, arg: string) => R): Query<string, R> {
  return { name, run };
}

export function proxy(connection: string, options: NodeOptions = {}): ReturnType<typeof proxyOf> {
  return proxyOf(nodeOf(options), connection);
}

export const modeOf = query('modeOf', (reader, key) => reader.object('PeerAuthentication', key)?.labels.mode);
export const start = world([authentication('one'), authentication('two')]);

/** How many queries ran while `act` did. */
export function runsOf(tracker: Tracker, act: () => void): number {
  const before = tracker.stats.runs;
  act();
  return tracker.stats.runs - before;
}

export function changedMesh(state: State, mesh: JsonObject): State {
  return step(state, { kind: 'MeshConfig', source: 'file/Kubernetes', value: mesh }).state;
}
