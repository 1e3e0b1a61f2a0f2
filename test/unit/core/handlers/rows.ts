// Rows of the handlers' tests: given a world, when one fact is folded, then this is asked to be pushed.

import { expect, test } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import type { Fact } from '../../../../src/core/event.ts';
import type { State } from '../../../../src/core/state.ts';
import { nodeOf, put, remove, type Stepped, step, type WorldOptions, type WorldPart, world } from '../../world.ts';

/** What was asked for, in short: `full|incremental[ forced] reasons keys`, or `-` for nothing. */
function asked({ push }: Stepped): string {
  if (push.causes.count === 0) return '-';
  const scope = `${push.full ? 'full' : 'incremental'}${push.forced ? ' forced' : ''}`;
  return `${scope} ${Object.keys(push.reasons).join('+')} ${push.configsUpdated.join(' ')}`.trim();
}

export type When = (state: State) => Stepped;
export type Row = readonly [title: string, given: readonly WorldPart[] | State, when: When, then: string];

export function rows(all: readonly Row[]): void {
  test.each(all.map(([title, ...row]) => [title, row] as const))('%s', (_, [given, when, then]) => {
    expect(asked(when('seq' in given ? given : world(given)))).toBe(then);
  });
}

/** Adds or replaces. */
export function says(object: JsonObject, cluster?: string): When {
  return state => put(state, object, cluster);
}

export function deletes(object: JsonObject, cluster?: string): When {
  return state => remove(state, object, cluster);
}

export function tells(fact: Fact, source = 'file/Kubernetes'): When {
  return state => step(state, { ...fact, source });
}

/** The world with a sidecar connected whose pod is `name` in `default`. */
export function withProxy(name: string, ip: string, parts: readonly WorldPart[], options?: WorldOptions): State {
  return step(world(parts, options), {
    kind: 'ProxyConnected',
    source: 'xds',
    connection: `${name}-1`,
    node: nodeOf({ name, ip }),
    protocol: 'sotw',
  }).state;
}

export function withMeta(object: JsonObject, members: JsonObject): JsonObject {
  return { ...object, metadata: { ...(object.metadata as JsonObject), ...members } };
}

export function entryKey(hostname: string, namespace = 'default'): string {
  return `ServiceEntry/${namespace}/${hostname}`;
}

/** The key of a Kubernetes service. */
export function serviceKey(name: string, namespace = 'default'): string {
  return entryKey(`${name}.${namespace}.svc.cluster.local`, namespace);
}
