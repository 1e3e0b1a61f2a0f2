// What a ztunnel gets of a small mesh, in protojson.

import type { Json, JsonObject } from '../../../../src/core/base/json.ts';
import type { State } from '../../../../src/core/state.ts';
import { resourceSource } from '../../../../src/xds/assemble/types.ts';
import { encodeMessage } from '../../../../src/xds/engine/encode.ts';
import { WORKLOAD_ADDRESS, WORKLOAD_AUTHORIZATION } from '../../../../src/xds/session/types.ts';
import { toProtoJson } from '../../../../src/xds/wire/protojson.ts';
import { ask } from '../../world.ts';

function allOf(state: State, url: string): Readonly<Record<string, Json>> {
  const type = url.slice(url.lastIndexOf('/') + 1) as 'istio.workload.Address';
  const made = ask(state, resourceSource(url)!.all!, '');
  return Object.fromEntries(made.map(({ name, message }) => [name, toProtoJson(type, encodeMessage(type, message))]));
}

/** Name → workload. */
export function workloadsOf(state: State): Readonly<Record<string, JsonObject>> {
  return pick(state, 'workload');
}

/** Name → service. */
export function servicesOf(state: State): Readonly<Record<string, JsonObject>> {
  return pick(state, 'service');
}

function pick(state: State, member: 'workload' | 'service'): Readonly<Record<string, JsonObject>> {
  const entries = Object.entries(allOf(state, WORKLOAD_ADDRESS)).flatMap(([name, address]) => {
    const found = (address as JsonObject)[member];
    return found === undefined ? [] : [[name, found as JsonObject] as const];
  });
  return Object.fromEntries(entries);
}

/** Name → policy. */
export function policiesOf(state: State): Readonly<Record<string, JsonObject>> {
  return allOf(state, WORKLOAD_AUTHORIZATION) as Readonly<Record<string, JsonObject>>;
}

/** An address as protojson writes it. */
export function base64(...bytes: readonly number[]): string {
  return Buffer.from(bytes).toString('base64');
}
