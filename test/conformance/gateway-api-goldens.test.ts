// Istio's own golden files of its Gateway API controller: the statuses that it writes for each input, the second time
// nothing. They lie beside the project with the conformance vectors; without them this suite says by name that it did
// not run, and fails under PERIPLUS_REQUIRE_ALL=1.

import { describe, expect, it } from 'vitest';
import { canonicalJson, isObject, type Json, type JsonObject } from '../../src/core/base/json.ts';
import { untrackedReader } from '../../src/core/query/untracked.ts';
import { joinedStatus } from '../../src/core/wishes/status.ts';
import { wishTable } from '../../src/core/wishes/table.ts';
import type { Wish } from '../../src/core/wishes/wish.ts';
import { documents, goldenNames, goldenWorld, missing } from './gateway-api-goldens.ts';

/**
 * Inputs that this harness cannot give as Istio's test does: objects that an API server refuses, policies without a uid
 * that are told apart by it, and the Services of InferencePools.
 */
const OTHERWISE: Readonly<Record<string, readonly string[]>> = {
  'backend-tls-policy': ['BackendTLSPolicy/default/tls-upstream-echo-https-merged-rules'],
  http: ['multi-route-infpool-1', 'multi-route-infpool-2', 'multiple-inferencepool-backend-refs'].map(
    name => `HTTPRoute/default/${name}`,
  ),
  'listenerset-empty-listeners': ['ListenerSet/istio-system/single-entry-http', 'Gateway/istio-system/parent-gateway'],
  'mix-backend-policy': ['BackendTLSPolicy/default/tls-upstream-echo-extra'],
};

/** Without times, and without the defaults that an API server fills in. */
function shown(value: Json | undefined): Json {
  if (Array.isArray(value)) {
    // The goldens were made without ambient mode.
    return (value as readonly Json[]).filter(one => !isObject(one) || one.type !== 'ResolvedWaypoints').map(shown);
  }
  if (!isObject(value)) return value ?? null;
  const { group, kind, ...rest } = value;
  const isDefault = (kind === undefined || kind === 'Gateway' || kind === 'Service') && 'name' in value;
  const named = isDefault && rest.controllerName === undefined && !('attachedRoutes' in value);
  const kept = named ? { ...(kind === 'Gateway' ? {} : { kind }), ...rest } : value;
  const members = Object.entries(kept).filter(([key, member]) => key !== 'lastTransitionTime' && member != null);
  return Object.fromEntries(members.map(([key, member]) => [key, shown(member)]));
}

function keyOf({ kind, metadata }: JsonObject): string {
  const { namespace = '', name = '' } = metadata as JsonObject;
  return `${String(kind)}/${String(namespace)}/${String(name).toLowerCase()}`;
}

function statusesOf(name: string): ReadonlyMap<string, JsonObject> {
  const { state, inputs } = goldenWorld(name);
  const live = new Map(inputs.map(object => [keyOf(object), object.status as JsonObject | undefined]));
  const { wishes } = untrackedReader(state).get(wishTable, '');
  const found = new Map<string, JsonObject>();
  for (const wish of wishes.filter(({ subresource }) => subresource === 'status')) {
    const kind = wish.kind === 'KubernetesGateway' ? 'Gateway' : wish.kind;
    const key = `${kind}/${wish.namespace}/${wish.name}`;
    found.set(key, written(wish, live.get(key) ?? {}));
  }
  return found;
}

function written({ statusRule, fields }: Wish, live: JsonObject): JsonObject {
  const wished = (fields as { readonly status: JsonObject }).status;
  const once = joinedStatus(statusRule!, wished, live, '2026-01-01T00:00:00Z');
  const again = joinedStatus(statusRule!, wished, { ...live, ...once }, '2027-01-01T00:00:00Z');
  expect(canonicalJson(again)).toBe(canonicalJson(once));
  return { ...live, ...once };
}

if (missing && process.env.PERIPLUS_REQUIRE_ALL !== '1') {
  process.stderr.write("Istio's golden files of the Gateway API: did NOT run, they are not beside the project\n");
}

describe.skipIf(missing && process.env.PERIPLUS_REQUIRE_ALL !== '1')("Istio's statuses of the Gateway API", () => {
  it('are there', () => {
    expect(missing).toBe(false);
  });

  it.each(missing ? [] : goldenNames())('of %s are wished for', name => {
    const have = statusesOf(name);
    for (const golden of documents(`${name}.status.yaml.golden`)) {
      const key = keyOf(golden);
      if (OTHERWISE[name]?.includes(key) === true || !golden.status || golden.kind === 'InferencePool') continue;
      expect(shown(have.get(key)), key).toEqual(shown(golden.status as Json));
    }
  });
});
