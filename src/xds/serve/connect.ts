// The first request of a stream: which proxy it is, whether it may be served, and which facts record it. Istio:
// pilot/pkg/xds/ads.go (initConnection, initProxyMetadata), pilot/pkg/xds/auth.go (authorize).
//
// The extension list of a stock Envoy is 100 KB of JSON and equal for all proxies of one build: it is recorded once
// (`Interned`), and `ProxyConnected` refers to its hash.

import { hash } from 'node:crypto';
import { canonicalJson, isObject, type Json, type JsonObject } from '../../core/base/json.ts';
import type { Unrecorded, ValueInterned } from '../../core/event.ts';
import { featureOf } from '../../core/mesh/features.ts';
import type { Caller } from '../../core/model/caller.ts';
import { parseSpiffe, verifiedIdentity } from '../../core/model/identity.ts';
import { API_GENERATOR } from '../../core/model/mcp-kinds.ts';
import { metadataText, type NodeFacets, parseNode } from '../../core/model/proxy.ts';
import { whyNotRegistered } from '../../core/registration/registration.ts';
import type { State } from '../../core/state.ts';
import {
  ADDRESSES_CHARS_MAX,
  type Charge,
  EXTENSIONS_CHARS_MAX,
  NODE_CHARS_MAX,
  NODE_ID_CHARS_MAX,
} from './fact-budget.ts';
import { XDS_SOURCE } from './host.ts';

/** What a stream is admitted with. */
export interface Admission extends ArrivedAs {
  /** Gives back the turn at the admission gate. */
  readonly release: () => void;
  readonly charge: Charge;
  /** Address and port, for debug pages. */
  readonly peer?: string;
}

/** Of a stream that no gate admitted, as in tests. */
export const UNLIMITED: Admission = { caller: undefined, release: () => undefined, charge: () => undefined };

export interface Rejection {
  readonly status: 'FAILED_PRECONDITION' | 'INVALID_ARGUMENT' | 'PERMISSION_DENIED' | 'RESOURCE_EXHAUSTED' | 'UNKNOWN';
  readonly error: string;
}

export interface Arrival {
  readonly connection: string;
  readonly facets: NodeFacets;
  readonly facts: readonly Unrecorded[];
  /** The list of extensions that the node refers to; in `facts` if the state did not have it. */
  readonly extensions?: Unrecorded & ValueInterned;
}

/**
 * As whom a stream was let in; `inTheClear`: proven, but over a connection that others can read, so nothing secret
 * goes there.
 */
export interface ArrivedAs {
  readonly caller: Caller | undefined;
  readonly inTheClear?: boolean;
}

/**
 * The facts of a proxy that connects, or why it is refused. Without an identity (plaintext) the node is believed; with
 * one, the identity must match the namespace and service account that the node claims.
 */
export function arrivalOf(
  state: State,
  node: JsonObject | undefined,
  protocol: 'sotw' | 'delta',
  { caller, inTheClear, charge }: Pick<Admission, 'caller' | 'inTheClear' | 'charge'>,
  nameOf: (proxyId: string) => string,
): Arrival | Rejection {
  if (node === undefined) return { status: 'INVALID_ARGUMENT', error: 'missing node information' };
  const { extensions: list, ...rest } = node;
  const extensions = charsOf(list) > EXTENSIONS_CHARS_MAX ? undefined : internedOf(list);
  const isKnown = extensions === undefined || state.interned.has(extensions.digest);
  const over = overBudget(node, isKnown, charge);
  if (over !== undefined) return { status: 'RESOURCE_EXHAUSTED', error: over };
  const facets = parseNode(rest);
  if ('error' in facets) return { status: 'INVALID_ARGUMENT', error: facets.error };
  if (facets.type === 'ztunnel' && !featureOf(state.settings, 'PILOT_ENABLE_AMBIENT')) {
    return { status: 'UNKNOWN', error: 'ztunnel requires PILOT_ENABLE_AMBIENT=true' };
  }
  const metadata = isObject(rest.metadata) ? rest.metadata : {};
  const identities = caller?.identities ?? [];
  if (identities.length > 0 && verifiedIdentity({ facets, metadata, identities }) === undefined) {
    const claimed = `${facets.namespace}/${metadataText(metadata, 'SERVICE_ACCOUNT')}`;
    const error = `authorization failed: no identities (${identities.join(', ')}) matched ${claimed}`;
    return { status: 'PERMISSION_DENIED', error };
  }
  const forbidden = whyNoConfiguration(state, metadata, caller, inTheClear === true);
  if (forbidden !== undefined) return { status: 'PERMISSION_DENIED', error: forbidden };
  const unregistered = whyNotRegistered(state, { facets, metadata, identities, node: rest });
  if (unregistered !== undefined) return unregistered;
  const connection = nameOf(facets.id);
  const facts: Unrecorded[] = isKnown ? [] : [extensions];
  facts.push({
    source: XDS_SOURCE,
    kind: 'ProxyConnected',
    connection,
    node: rest,
    protocol,
    ...(extensions === undefined ? {} : { extensions: extensions.digest }),
    ...(caller === undefined || identities.length === 0 || inTheClear === true
      ? {}
      : { identities, proof: caller.proof }),
  });
  return { facets, facts, connection, ...(extensions === undefined ? {} : { extensions }) };
}

/**
 * Clients of the generator `api` read the configuration of the whole mesh: for identities of the control plane's own
 * namespace, over a connection that only the two read. One that is not let in is refused and not answered with nothing,
 * since it would delete what it has. Source: ENABLE_XDS_API_GENERATOR_AUTH of Istio 1.31; anybody before.
 */
function whyNoConfiguration(
  { settings }: State,
  metadata: JsonObject,
  caller: Caller | undefined,
  inTheClear: boolean,
): string | undefined {
  if (metadataText(metadata, 'GENERATOR') !== API_GENERATOR) return undefined;
  if (!featureOf(settings, 'ENABLE_XDS_API_GENERATOR_AUTH')) return undefined;
  const namespaces = (caller?.identities ?? []).map(identity => parseSpiffe(identity)?.namespace);
  if (!inTheClear && namespaces.includes(settings.systemNamespace)) return undefined;
  return `configuration is for identities of the namespace ${settings.systemNamespace} over TLS; ENABLE_XDS_API_GENERATOR_AUTH=false lets anybody read it`;
}

/** Sorted: each Envoy process lists its extensions in a different order. */
function internedOf(list: Json | undefined): (Unrecorded & ValueInterned) | undefined {
  if (!Array.isArray(list) || list.length === 0) return undefined;
  const texts = list.map((item: Json) => [canonicalJson(item), item] as const);
  const value = texts.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, item]) => item);
  return { source: XDS_SOURCE, kind: 'Interned', digest: hash('sha256', canonicalJson(value), 'hex'), value };
}

/**
 * A node too large to be recorded, or one more than the client's budget has. Extensions are recorded, and charged, once
 * for all proxies of a build.
 */
function overBudget({ extensions, ...rest }: JsonObject, isKnown: boolean, charge: Charge): string | undefined {
  const chars = JSON.stringify(rest).length;
  // It is part of the connection's name, which many facts repeat.
  if (typeof rest.id === 'string' && rest.id.length > NODE_ID_CHARS_MAX) return 'the node id is too long';
  if (chars > NODE_CHARS_MAX) return `the node is larger than ${NODE_CHARS_MAX / 1024} KiB`;
  if (isObject(rest.metadata) && metadataText(rest.metadata, 'INSTANCE_IPS').length > ADDRESSES_CHARS_MAX)
    return `the node lists more than ${ADDRESSES_CHARS_MAX / 1024} KiB of addresses`;
  if (charsOf(extensions) > EXTENSIONS_CHARS_MAX)
    return `the extensions of the node are larger than ${EXTENSIONS_CHARS_MAX / 1024} KiB`;
  return charge(chars + (isKnown ? 0 : charsOf(extensions)));
}

function charsOf(value: Json | undefined): number {
  return value === undefined ? 0 : JSON.stringify(value).length;
}
