// The decoder of Envoy's messages, for patches that users write: the same lenient rules as for every kind, on a schema
// that is unpacked from envoy-schema.gen.ts when the first patch comes, because most meshes have none.
//
// Of a oneof several fields may be set, as istiod's decoder takes them too.

import { type Either, isLeft } from 'fp-ts/lib/Either.js';
import { assert } from '../base/assert.ts';
import type { Json } from '../base/json.ts';
import type { Problem } from '../base/problem.ts';
import { type Decode, makeDecoder } from './decode.ts';
import { envoyEnums, envoyMessages } from './envoy-schema.gen.ts';
import type { FieldType, ScalarType, SchemaField } from './schema.ts';

const WELL_KNOWN = 'google.protobuf.';
/** Envoy's contrib extensions, which the schema leaves out: packages without their version. */
const CONTRIB: readonly string[] = [
  'envoy.extensions.compression.qatzip.compressor',
  'envoy.extensions.compression.qatzstd.compressor',
  'envoy.extensions.config.v3alpha',
  'envoy.extensions.filters.http.checksum',
  'envoy.extensions.filters.http.dynamo',
  'envoy.extensions.filters.http.golang',
  'envoy.extensions.filters.http.language',
  'envoy.extensions.filters.http.peak_ewma',
  'envoy.extensions.filters.http.peer_metadata',
  'envoy.extensions.filters.http.sxg',
  'envoy.extensions.filters.listener.postgres_inspector',
  'envoy.extensions.filters.network.client_ssl_auth',
  'envoy.extensions.filters.network.generic_proxy.codecs.kafka',
  'envoy.extensions.filters.network.golang',
  'envoy.extensions.filters.network.kafka_broker',
  'envoy.extensions.filters.network.kafka_mesh',
  'envoy.extensions.filters.network.metadata_exchange',
  'envoy.extensions.filters.network.mysql_proxy',
  'envoy.extensions.filters.network.peer_metadata',
  'envoy.extensions.filters.network.postgres_proxy',
  'envoy.extensions.filters.network.rocketmq_proxy',
  'envoy.extensions.filters.network.sip_proxy',
  'envoy.extensions.load_balancing_policies.peak_ewma',
  'envoy.extensions.matching.input_matchers.hyperscan',
  'envoy.extensions.network.connection_balance.dlb',
  'envoy.extensions.private_key_providers',
  'envoy.extensions.regex_engines.hyperscan',
  'envoy.extensions.router.cluster_specifier.golang',
  'envoy.extensions.stat_sinks.kafka',
  'envoy.extensions.tap_sinks.udp_sink',
  'envoy.extensions.upstreams.http.tcp.golang',
  'envoy.extensions.vcl',
];

let decode: Decode<Readonly<Record<string, object>>> | undefined;

/**
 * Everything that keeps `json` from being the message of that name. Fields that the schema does not have are skipped:
 * proxies may be newer.
 */
export function envoyProblems(message: string, json: Json, path: string): readonly Problem[] {
  decode ??= makeDecoder<Readonly<Record<string, object>>>(unpack());
  const decoded: Either<readonly Problem[], object> = decode(message, json, path, {
    ignoreUnknown: true,
    skipNull: true,
    opaque,
  });
  return isLeft(decoded) ? decoded.left : [];
}

function opaque(message: string): boolean {
  return message.startsWith(WELL_KNOWN) || CONTRIB.some(prefix => message.startsWith(`${prefix}.`));
}

function unpack(): Parameters<typeof makeDecoder>[0] {
  return {
    messages: Object.fromEntries(
      envoyMessages.map(([name, fields]) => [name, fields === '' ? [] : fields.split(',').map(unpackField)]),
    ),
    enums: Object.fromEntries(
      envoyEnums.map(([name, values]) => [
        name,
        Object.fromEntries(
          values.split(',').map(value => [value.slice(0, value.indexOf(' ')), Number(value.slice(value.indexOf(' ')))]),
        ),
      ]),
    ),
  };
}

/** `proto_name [*|KEY>]type`. */
function unpackField(text: string): SchemaField {
  const [protoName = '', whole = ''] = text.split(' ');
  const name = protoName.replace(/_(.?)/g, (_, letter: string) => letter.toUpperCase());
  const key = /^(string|uint32)>/.exec(whole)?.[1] as 'string' | 'uint32' | undefined;
  const repeated = whole.startsWith('*');
  const type = unpackType(whole.slice(repeated ? 1 : key === undefined ? 0 : key.length + 1));
  return {
    name,
    type,
    ...(protoName === name ? {} : { protoName }),
    ...(repeated ? { repeated } : {}),
    ...(key === undefined ? {} : { map: key }),
  };
}

function unpackType(word: string): FieldType {
  const number = Number(word.slice(1));
  if (word.startsWith('#')) return { message: nameIn(envoyMessages, number) };
  if (word.startsWith('@')) return { enum: nameIn(envoyEnums, number) };
  return word as ScalarType;
}

function nameIn(list: readonly (readonly [string, string])[], number: number): string {
  const name = list[number]?.[0];
  assert(name !== undefined, `the schema of Envoy has no entry ${number}`);
  return name;
}
