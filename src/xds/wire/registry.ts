// The protobuf types, by reflection from the committed bundle (../proto/bundle.gen.json), each loaded when it is used;
// encoding is as fast as with generated code, because protobufjs compiles an encoder for each type on first use.

import { readFileSync } from 'node:fs';
import protobuf from 'protobufjs/light.js';
import { assert } from '../../core/base/assert.ts';
import { LazyRoot } from './lazy-root.ts';

export type Type = protobuf.Type;
export type Field = protobuf.Field;
/** A message as protobufjs or a generator holds it. */
export type Plain = Readonly<Record<string, unknown>>;

let envoy: LazyRoot | undefined;
let api: protobuf.Root | undefined;
const byName = new Map<string, Type | undefined>();

/** Types of Envoy and xDS. */
function loadEnvoy(): LazyRoot {
  if (envoy === undefined) {
    const bundle = readFileSync(new URL('../proto/bundle.gen.json', import.meta.url), 'utf8');
    envoy = new LazyRoot(JSON.parse(bundle) as protobuf.INamespace);
  }
  return envoy;
}

/** What every server uses; with what these refer to, a third of the bundle. */
const SERVED = [
  'envoy.service.discovery.v3.DiscoveryRequest',
  'envoy.service.discovery.v3.DiscoveryResponse',
  'envoy.service.discovery.v3.DeltaDiscoveryRequest',
  'envoy.service.discovery.v3.DeltaDiscoveryResponse',
  'envoy.config.cluster.v3.Cluster',
  'envoy.config.endpoint.v3.ClusterLoadAssignment',
  'envoy.config.listener.v3.Listener',
  'envoy.config.route.v3.RouteConfiguration',
  'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
];

/** For a process that serves, which would otherwise load them for its first client. The rest would take 5 MiB. */
export function loadProto(): void {
  for (const name of SERVED) typeOf(name);
}

/** Istio's API kinds and their envelope (src/core/schema/istio-api.gen.json); read when the first of them is needed. */
function loadApi(): protobuf.Root {
  if (api === undefined) {
    const bundle = readFileSync(new URL('../../core/schema/istio-api.gen.json', import.meta.url), 'utf8');
    api = protobuf.Root.fromJSON(JSON.parse(bundle) as protobuf.INamespace).resolveAll() as protobuf.Root;
  }
  return api;
}

/** Whether messages of the type are given as protojson: the API of Istio, but for the envelope around an object. */
export function isGivenAsJson(type: Type): boolean {
  if (api === undefined || type.root !== api) return false;
  return nameOf(type).startsWith('istio.') && !nameOf(type).startsWith(ENVELOPES);
}

const ENVELOPES = 'istio.mcp.';

/** A message type by its full name; undefined if it is in neither bundle. */
export function findType(name: string): Type | undefined {
  if (!byName.has(name)) {
    const found = loadEnvoy().find(name) ?? (name.startsWith('istio.') ? inApi(name) : undefined);
    // Names come from the network, so misses are not cached.
    if (found === undefined) return undefined;
    byName.set(name, found);
  }
  return byName.get(name);
}

function inApi(name: string): Type | undefined {
  const found = loadApi().lookup(name.split('.'), [protobuf.Type]);
  // lookup() also searches outer scopes, but only the exact name counts.
  return found instanceof protobuf.Type && nameOf(found) === name ? found : undefined;
}

/** A message type that the bundle must have. */
export function typeOf(name: string): Type {
  const type = findType(name);
  assert(type !== undefined, `no protobuf type ${name}`);
  return type;
}

/** The full name, as in a type URL. */
export function nameOf(type: { readonly fullName: string }): string {
  return type.fullName.slice(1);
}

export function messageTypeOf(field: Field): Type | undefined {
  return field.resolvedType instanceof protobuf.Type ? field.resolvedType : undefined;
}

export function enumTypeOf(field: Field): protobuf.Enum | undefined {
  return field.resolvedType instanceof protobuf.Enum ? field.resolvedType : undefined;
}

export function isMap(field: Field): boolean {
  return field.map;
}
