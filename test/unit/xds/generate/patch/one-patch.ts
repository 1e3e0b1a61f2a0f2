// Patches for tests, decoded as users write them, and their effect on one message.

import type { JsonObject } from '../../../../../src/core/base/json.ts';
import { envoyValueType } from '../../../../../src/core/kinds/istio/envoy-filter.ts';
import { envoyMessage } from '../../../../../src/core/schema/envoy-message.ts';
import type { ApplyTo, EnvoyPatch, Operation } from '../../../../../src/core/select/patch/envoy-patch.ts';
import type { Patched } from '../../../../../src/xds/generate/patch/outcome.ts';

export type PatchMatch = Partial<Pick<EnvoyPatch, 'listener' | 'route' | 'cluster'>>;

export function patchOf(
  applyTo: ApplyTo,
  operation: Operation,
  value: JsonObject = {},
  match: PatchMatch = {},
): EnvoyPatch {
  const message = envoyMessage(envoyValueType(applyTo), value);
  if (message === undefined) throw new Error('the value is no message');
  const none = { listener: undefined, route: undefined, cluster: undefined };
  return { applyTo, operation, context: 'ANY', ...none, ...match, value: message };
}

/** The places in `patches` of those that acted. */
export function actedOf({ acted }: Patched<unknown>, patches: readonly EnvoyPatch[]): readonly number[] {
  return acted.map(patch => patches.indexOf(patch));
}
