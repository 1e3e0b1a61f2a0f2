// What a simulated Envoy reads out of the bytes it was sent: the name, the endpoints and routes that a resource leads
// to, the clusters that it routes to. Remembered by content, because a run sends the same bytes many times.

import { hash } from 'node:crypto';
import { isObject, type Json } from '../../src/core/base/json.ts';
import { CDS, EDS } from '../../src/xds/session/types.ts';
import { toProtoJson } from '../../src/xds/wire/protojson.ts';
import { type Plain, typeOf } from '../../src/xds/wire/registry.ts';

export interface Content {
  readonly name: string;
  /** Of the encoded message: equal bytes, equal hash. */
  readonly hash: string;
  /** Endpoint sets (of a cluster) and route configurations (of a listener) that it needs. */
  readonly needs: readonly string[];
  /** Clusters that it sends requests to. */
  readonly routesTo: ReadonlySet<string>;
}

export interface Received {
  readonly typeUrl: string;
  readonly nonce: string;
  /** `version_info` or `system_version_info`. */
  readonly version: string;
  readonly resources: readonly { readonly version: string; readonly content: Content }[];
  readonly removed: readonly string[];
}

const known = new Map<string, Content>();
const KNOWN_MAX = 20_000;

export function decodeResponse(protocol: 'sotw' | 'delta', bytes: Buffer): Received {
  const name = protocol === 'sotw' ? 'DiscoveryResponse' : 'DeltaDiscoveryResponse';
  const message = typeOf(`envoy.service.discovery.v3.${name}`).decode(bytes) as unknown as Plain;
  const resources = (message.resources ?? []) as readonly Plain[];
  return {
    typeUrl: String(message.typeUrl),
    nonce: String(message.nonce),
    version: String(message.versionInfo ?? message.systemVersionInfo ?? ''),
    resources: resources.map(one => {
      const any = (protocol === 'sotw' ? one : one.resource) as Plain;
      return {
        version: String(one.version ?? ''),
        content: contentOf(String(any.typeUrl ?? any.type_url), Buffer.from((any.value ?? []) as Uint8Array)),
      };
    }),
    removed: [...((message.removedResources ?? []) as readonly string[])],
  };
}

/** `body`: an encoded google.protobuf.Any, as encode.ts keeps it. */
export function hashOfBody(body: Buffer): string {
  const any = typeOf('google.protobuf.Any').decode(body) as unknown as Plain;
  return contentOf(String(any.typeUrl ?? any.type_url), Buffer.from((any.value ?? []) as Uint8Array)).hash;
}

function contentOf(typeUrl: string, value: Buffer): Content {
  const id = hash('sha256', value, 'hex');
  const before = known.get(`${typeUrl} ${id}`);
  if (before !== undefined) return before;
  const json = toProtoJson(typeUrl.slice(typeUrl.indexOf('/') + 1), value);
  const content = read(typeUrl, id, json);
  if (known.size >= KNOWN_MAX) known.clear();
  known.set(`${typeUrl} ${id}`, content);
  return content;
}

function read(typeUrl: string, id: string, json: Json): Content {
  if (!isObject(json)) throw new Error(`${typeUrl} is no message`);
  // A patch can make a resource without a name.
  const name = String((typeUrl === EDS ? json.clusterName : json.name) ?? '');
  const needs = new Set<string>();
  const routesTo = new Set<string>();
  if (typeUrl === CDS && json.type === 'EDS') {
    const service = isObject(json.edsClusterConfig) ? json.edsClusterConfig.serviceName : undefined;
    needs.add(String(service ?? name));
  }
  if (typeUrl !== CDS && typeUrl !== EDS) walk(json, needs, routesTo);
  return { name, hash: id, needs: [...needs].sort(), routesTo };
}

function walk(value: Json | undefined, needs: Set<string>, routesTo: Set<string>): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    if (key === 'rds' && isObject(member)) needs.add(String(member.routeConfigName));
    else if (key === 'cluster' && typeof member === 'string') routesTo.add(member);
    else if (key === 'weightedClusters' && isObject(member) && Array.isArray(member.clusters)) {
      for (const one of member.clusters) if (isObject(one)) routesTo.add(String(one.name));
    }
    walk(member as Json | undefined, needs, routesTo);
  }
}
