// One entry of an EnvoyFilter, ready to be applied: what it is for, what it must meet, and its value as a message.
//
// An entry is decoded once for its content, whichever object holds it, so that objects which change elsewhere, and
// proxies with equal patches, keep the identical patches. An entry that cannot act has none.
// Source: Istio pilot/pkg/model/envoyfilter.go (convertToEnvoyFilterWrapper).

import { canonicalJson, type Json, type JsonObject } from '../../base/json.ts';
import { envoyValueType } from '../../kinds/istio/envoy-filter.ts';
import type { Generator } from '../../query/memo.ts';
import type { Reader } from '../../query/reader.ts';
import { type EnvoyMessage, envoyMessage } from '../../schema/envoy-message.ts';
import type {
  EnvoyFilter_EnvoyConfigObjectPatch as Entry,
  EnvoyFilter_ApplyTo,
  EnvoyFilter_ClusterMatch,
  EnvoyFilter_ListenerMatch,
  EnvoyFilter_Patch_Operation,
  EnvoyFilter_PatchContext,
  EnvoyFilter_RouteConfigurationMatch,
} from '../../schema/istio-types.gen.ts';

export type ApplyTo = Exclude<EnvoyFilter_ApplyTo, 'INVALID'>;
export type Operation = Exclude<EnvoyFilter_Patch_Operation, 'INVALID'>;
/** Where configuration is patched; a patch for WAYPOINT acts nowhere. */
export type PatchContext = Exclude<EnvoyFilter_PatchContext, 'ANY' | 'WAYPOINT'>;

export interface EnvoyPatch {
  readonly applyTo: ApplyTo;
  readonly operation: Operation;
  readonly context: EnvoyFilter_PatchContext;
  /** undefined: everything. A match of another class than `applyTo` does not restrict either. */
  readonly listener: EnvoyFilter_ListenerMatch | undefined;
  readonly route: EnvoyFilter_RouteConfigurationMatch | undefined;
  readonly cluster: EnvoyFilter_ClusterMatch | undefined;
  /** Of the message that `applyTo` names; empty for REMOVE. */
  readonly value: EnvoyMessage;
}

/** Targets that know a first and a last; for others an insertion is an addition. */
const ORDERED: ReadonlySet<string> = new Set(['HTTP_FILTER', 'NETWORK_FILTER', 'HTTP_ROUTE', 'LISTENER_FILTER']);

/** undefined: the entry cannot act. */
export function envoyPatch(reader: Reader, entry: Entry): EnvoyPatch | undefined {
  const { applyTo, patch } = entry;
  if (patch === undefined || applyTo === undefined || applyTo === 'INVALID') return undefined;
  const inputs = { entry };
  return reader.make(readPatch, { text: isLarge(entry) ? reader.make(patchText, inputs) : patchText.run(inputs) });
}

/** The text of an entry with more is made in a run of its own. */
const MEMBERS_ALONE_MAX = 1_024;

/** Of wide objects a look at the first member takes time for each of them. */
const large = new WeakSet<Entry>();

function isLarge(entry: Entry): boolean {
  if (large.has(entry)) return true;
  const found = membersLeft(entry.patch?.value, MEMBERS_ALONE_MAX) <= 0;
  if (found) large.add(entry);
  return found;
}

/** Looks at no more than `most` members. */
function membersLeft(value: unknown, most: number): number {
  let left = most - 1;
  if (typeof value !== 'object' || value === null) return left;
  for (const name in value) {
    if (left <= 0) break;
    left = membersLeft((value as Readonly<Record<string, unknown>>)[name], left);
  }
  return left;
}

/** Without the match of proxies, which is no part of the patch. */
const patchText: Generator<{ readonly entry: Entry }, string> = {
  name: 'select/patchText',
  work: text => text.length / CHARS_PER_UNIT,
  run: ({ entry: { applyTo, match, patch } }) => {
    const { proxy: _, ...rest } = match ?? {};
    return canonicalJson({
      applyTo,
      match: rest,
      operation: patch?.operation,
      value: patch?.value,
    } as unknown as Json);
  },
};

interface Written {
  readonly applyTo: ApplyTo;
  readonly match: NonNullable<Entry['match']>;
  readonly operation?: EnvoyFilter_Patch_Operation;
  readonly value?: JsonObject;
}

/** Characters of a patch that are read in about the time of one query. */
const CHARS_PER_UNIT = 512;

const readPatch: Generator<{ readonly text: string }, EnvoyPatch | undefined> = {
  name: 'select/envoyPatch',
  work: (_, { text }) => text.length / CHARS_PER_UNIT,
  run: ({ text }) => {
    const { applyTo, match, operation = 'INVALID', value } = JSON.parse(text) as Written;
    if (operation === 'INVALID' || (value === undefined && operation !== 'REMOVE')) return undefined;
    const message = value === undefined ? {} : envoyMessage(envoyValueType(applyTo), value);
    if (message === undefined) return undefined;
    const { context = 'ANY', listener, routeConfiguration, cluster } = match;
    return {
      applyTo,
      operation: operation.startsWith('INSERT') && !ORDERED.has(applyTo) ? 'ADD' : operation,
      context,
      listener,
      route: routeConfiguration,
      cluster,
      value: message,
    };
  },
};

export function isFor(patch: EnvoyPatch, context: PatchContext): boolean {
  return patch.context === context || patch.context === 'ANY';
}

/** A listener or cluster without a context is added once to a proxy. */
export function isAddedFor(patch: EnvoyPatch, context: PatchContext): boolean {
  if (patch.operation !== 'ADD') return false;
  return patch.context === context || (patch.context === 'ANY' && context !== 'SIDECAR_INBOUND');
}
