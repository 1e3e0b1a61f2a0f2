// What Envoy's admin page /config_dump says that it has, in the shape of our own dumps; and the difference to what the
// proxy was sent. Envoy prints members in snake_case, and its own static resources beside those of xDS.
// Source: Envoy api/envoy/admin/v3/config_dump_shared.proto, api/envoy/admin/v3/config_dump.proto.

import { isObject, type Json, type JsonObject } from '../core/base/json.ts';
import { CDS, ECDS, EDS, LDS, RDS, SDS } from '../xds/session/types.ts';
import type { ConfigDump } from './config-dump.ts';
import { jsonDiff } from './json-diff.ts';
import type { DumpedResource } from './proxy-answers.ts';

/** Types whose content Envoy prints as it received it. Of endpoints it prints its own view. */
export const COMPARED_TYPES: readonly string[] = [CDS, LDS, RDS, ECDS];

export interface EnvoyDump {
  readonly dump: ConfigDump;
  /** Undefined: the page has none. */
  readonly bootstrap?: JsonObject;
}

export interface TypeDifference {
  readonly typeUrl: string;
  readonly same: number;
  /** Sent, and Envoy does not have them. */
  readonly missing: readonly string[];
  /** Envoy has them, and they are not among what was sent. */
  readonly extra: readonly string[];
  readonly different: readonly { readonly name: string; readonly paths: readonly string[] }[];
}

interface Section {
  readonly type: string;
  readonly typeUrl: string;
  /** The list, the object below an item that has version and resource, and the resource's member. */
  readonly list: string;
  readonly state?: string;
  readonly member: string;
}

const sections: readonly Section[] = [
  { type: 'ClustersConfigDump', typeUrl: CDS, list: 'dynamic_active_clusters', member: 'cluster' },
  { type: 'ListenersConfigDump', typeUrl: LDS, list: 'dynamic_listeners', state: 'active_state', member: 'listener' },
  { type: 'RoutesConfigDump', typeUrl: RDS, list: 'dynamic_route_configs', member: 'route_config' },
  { type: 'EndpointsConfigDump', typeUrl: EDS, list: 'dynamic_endpoint_configs', member: 'endpoint_config' },
  { type: 'SecretsConfigDump', typeUrl: SDS, list: 'static_secrets', member: 'secret' },
  { type: 'SecretsConfigDump', typeUrl: SDS, list: 'dynamic_active_secrets', member: 'secret' },
  { type: 'EcdsConfigDump', typeUrl: ECDS, list: 'ecds_filters', member: 'ecds_filter' },
];

/** Undefined: the page is no dump of Envoy's configuration. */
export function envoyDumpOf(page: Json): EnvoyDump | undefined {
  if (!isObject(page) || !Array.isArray(page.configs)) return undefined;
  const configs = page.configs.filter(isObject);
  const typed = (type: string): JsonObject | undefined =>
    configs.find(config => String(config['@type']).endsWith(`.${type}`));
  const held = new Map<string, DumpedResource[]>();
  for (const section of sections) {
    const items = typed(section.type)?.[section.list];
    for (const item of Array.isArray(items) ? items.filter(isObject) : []) {
      const resource = resourceOf(section, item);
      if (resource !== undefined) held.set(section.typeUrl, [...(held.get(section.typeUrl) ?? []), resource]);
    }
  }
  const bootstrap = typed('BootstrapConfigDump')?.bootstrap;
  return {
    dump: { proxy: '', configs: [...held].map(([typeUrl, resources]) => ({ typeUrl, resources })) },
    ...(isObject(bootstrap) ? { bootstrap } : {}),
  };
}

function resourceOf({ state, member }: Section, item: JsonObject): DumpedResource | undefined {
  const at = state === undefined ? item : item[state];
  const content = isObject(at) ? at[member] : undefined;
  if (!isObject(at) || !isObject(content)) return undefined;
  const { '@type': _, ...resource } = inCamelCase(content) as JsonObject;
  const name = String(content.name ?? content.cluster_name ?? item.name ?? '');
  return { name, version: String(at.version_info ?? ''), resource };
}

/** Members of these are named by users: maps, and structs down to their leaves. */
const MAPS: ReadonlySet<string> = new Set(['typed_per_filter_config', 'typed_extension_protocol_options', 'labels']);
const STRUCTS: ReadonlySet<string> = new Set(['filter_metadata', 'metadata_match', 'fields', 'json_format']);

/** Members named as protojson names them, as our own dumps do. */
function inCamelCase(value: Json, isMap = false): Json {
  if (Array.isArray(value)) return value.map((item: Json) => inCamelCase(item));
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([key, member]): readonly [string, Json | undefined] => {
    const name =
      isMap || key.startsWith('@') ? key : key.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
    return [name, member === undefined || STRUCTS.has(key) ? member : inCamelCase(member, MAPS.has(key))];
  });
  return Object.fromEntries(members);
}

/** Of each compared type. Equal versions are equal content: a version is a hash of it. */
export function sentAgainstHeld(sent: ConfigDump, envoy: ConfigDump): readonly TypeDifference[] {
  return COMPARED_TYPES.map(typeUrl => {
    const [ours, theirs] = [sent, envoy].map(dump => resourcesOf(dump, typeUrl)) as [Held, Held];
    const both = [...ours].flatMap(([name, one]) =>
      theirs.has(name) ? [{ name, one, other: theirs.get(name)! }] : [],
    );
    const different = both.flatMap(({ name, one, other }) => {
      if (one.version !== '' && one.version === other.version) return [];
      const paths = jsonDiff(withoutType(one.resource), withoutType(other.resource)).map(({ path }) => path);
      return paths.length === 0 ? [] : [{ name, paths }];
    });
    return {
      typeUrl,
      same: both.length - different.length,
      missing: [...ours.keys()].filter(name => !theirs.has(name)),
      extra: [...theirs.keys()].filter(name => !ours.has(name)),
      different,
    };
  });
}

type Held = ReadonlyMap<string, DumpedResource>;

function resourcesOf({ configs }: ConfigDump, typeUrl: string): Held {
  const found = configs.find(config => config.typeUrl === typeUrl)?.resources ?? [];
  return new Map(found.map(resource => [resource.name, resource]));
}

function withoutType({ '@type': _, ...resource }: JsonObject): JsonObject {
  return resource;
}
