// A proxy's resources as JSON for people and programs: canonical protojson, every Any expanded, private values
// replaced. The same shape as the page /debug/holdingsz of a running control plane, so that one reader fits both.

import type { JsonObject } from '../core/base/json.ts';
import type { ProxyRecord } from '../core/model/proxy.ts';
import type { Resource } from '../core/model/resource.ts';
import type { Tracker } from '../core/query/tracker.ts';
import type { State } from '../core/state.ts';
import { encodeResource } from '../xds/engine/encode.ts';
import { type TypeName, typeNameOf } from '../xds/proto/any.ts';
import { CDS, RDS } from '../xds/session/types.ts';
import { generatedJson } from '../xds/wire/generated-json.ts';
import { typeOf } from '../xds/wire/registry.ts';
import { HELD_TYPES, type Holdings, holdingsOf } from './holdings.ts';
import { withoutPrivateKeys } from './private-fields.ts';
import type { DumpedResource } from './proxy-answers.ts';
import { type Translations, translationsIn } from './translations.ts';

export interface ConfigDump {
  /** Connection, as the journal has it. */
  readonly proxy: string;
  readonly configs: readonly { readonly typeUrl: string; readonly resources: readonly DumpedResource[] }[];
  /** The user's objects behind translated ones that these resources name: `Kind/namespace/name`, likewise. */
  readonly translations?: Readonly<Record<string, readonly string[]>>;
}

/** `types`: only of these; default: of all. */
export function configDump(
  tracker: Tracker,
  state: State,
  proxy: ProxyRecord,
  types: readonly string[] = HELD_TYPES,
): ConfigDump {
  const holdings = holdingsOf(tracker, state, proxy, types);
  return { ...dumpOf(proxy.connection, holdings), translations: translationsOf(tracker, state, holdings) };
}

export function translationsOf(tracker: Tracker, state: State, holdings: Holdings): Translations {
  const named = [CDS, RDS].flatMap(url => [...(holdings.get(url)?.values() ?? [])]);
  return translationsIn(
    tracker,
    state,
    named.map(({ message }) => message),
  );
}

function dumpOf(proxy: string, holdings: Holdings): ConfigDump {
  const configs = [...holdings].map(([typeUrl, held]) => ({
    typeUrl,
    resources: [...held.values()].map(resource => ({
      name: resource.name,
      /** Made when it is read: tables do without it, and encoding costs as much as all the rest. */
      get version() {
        return encodeResource(typeUrl, resource.name, resource.message).version;
      },
      resource: shownJson(typeUrl, resource),
    })),
  }));
  return { proxy, configs: configs.filter(({ resources }) => resources.length > 0) };
}

const shown = new WeakMap<object, JsonObject>();

/**
 * As a client decodes it, without private values. Made once for each resource, however many proxies and positions share
 * it.
 */
export function shownJson(typeUrl: string, resource: Resource<object>): JsonObject {
  const before = shown.get(resource.message);
  if (before !== undefined) return before;
  const any = generatedJson(typeOf('google.protobuf.Any'), { '@type': typeUrl, ...resource.message });
  const json = withoutPrivateKeys(any) as JsonObject;
  shown.set(resource.message, json);
  return json;
}

/** As shownJson, of one message within a resource: a thousand virtual hosts are not converted to look at one. */
export function shownPart(type: TypeName, part: object): JsonObject {
  const before = shown.get(part);
  if (before !== undefined) return before;
  const json = withoutPrivateKeys(generatedJson(typeOf(type), part)) as JsonObject;
  shown.set(part, json);
  return json;
}

/** `Cluster` of `type.googleapis.com/envoy.config.cluster.v3.Cluster`. */
export function shortType(typeUrl: string): string {
  const name = typeNameOf(typeUrl);
  return name.slice(name.lastIndexOf('.') + 1);
}
