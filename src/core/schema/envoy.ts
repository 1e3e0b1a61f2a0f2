// The decoder of Envoy's messages, for patches that users write: the same lenient rules as for every kind
// (envoy-types.ts). What a sound patch becomes is in envoy-message.ts.
//
// Of a oneof several fields may be set, as istiod's decoder takes them too.

import { type Either, isLeft } from 'fp-ts/lib/Either.js';
import type { Json } from '../base/json.ts';
import type { Problem } from '../base/problem.ts';
import { type Decode, makeDecoder } from './decode.ts';
import { envoySchema } from './envoy-types.ts';

const WELL_KNOWN = 'google.protobuf.';
/**
 * Contrib extensions of Envoy that the schema lacks: packages without their version. Their patches are accepted, but
 * not applied (envoy-message.ts), because their fields are not known.
 */
const CONTRIB: readonly string[] = [
  'envoy.extensions.filters.http.peak_ewma',
  'envoy.extensions.filters.http.peer_metadata',
  'envoy.extensions.filters.listener.postgres_inspector',
  'envoy.extensions.filters.network.metadata_exchange',
  'envoy.extensions.filters.network.peer_metadata',
  'envoy.extensions.load_balancing_policies.peak_ewma',
  'envoy.extensions.stat_sinks.kafka',
];

let decode: Decode<Readonly<Record<string, object>>> | undefined;

/**
 * Everything that keeps `json` from being the message of that name. Fields that the schema does not have are skipped:
 * proxies may be newer.
 */
export function envoyProblems(message: string, json: Json, path: string): readonly Problem[] {
  return problemsOf(message, json, path, true);
}

/** The fields of sound JSON that the schema does not have. */
export function unknownFields(message: string, json: Json, path: string): readonly Problem[] {
  return problemsOf(message, json, path, false);
}

function problemsOf(message: string, json: Json, path: string, ignoreUnknown: boolean): readonly Problem[] {
  decode ??= makeDecoder<Readonly<Record<string, object>>>(envoySchema());
  const decoded: Either<readonly Problem[], object> = decode(message, json, path, {
    ignoreUnknown,
    skipNull: true,
    opaque,
  });
  return isLeft(decoded) ? decoded.left : [];
}

function opaque(message: string): boolean {
  return message.startsWith(WELL_KNOWN) || CONTRIB.some(prefix => message.startsWith(`${prefix}.`));
}
