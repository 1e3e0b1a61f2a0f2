// Pages about connected proxies in istiod's shapes: `syncz`, `connections`, `adsz` (Istio pilot/pkg/xds/debug.go:
// SyncStatus, AdsClients). `syncz` has members besides: `types` holds what istiod does not know, the digest of what a
// proxy holds, the event it was made from, and the objects behind a refusal.

import type { JsonObject } from '../../core/base/json.ts';
import { pushRequest } from '../../core/push-request.ts';
import type { State } from '../../core/state.ts';
import type { ConnectionStatus, TypeStatus } from '../../xds/serve/stream-status.ts';
import { CDS, ECDS, EDS, LDS, RDS } from '../../xds/session/types.ts';
import type { DebugParts } from '../debug-parts.ts';
import { type Answer, largeJson, text, type Viewer } from '../http.ts';
import { type LazyJson, mapped } from '../json-text.ts';
import { askedProxy, isAnswer } from './find-proxy.ts';

type ConnectionParts = Pick<DebugParts, 'world' | 'engine' | 'xds'>;

/** istiod's names of the types in the members `<name>_sent` and `<name>_acked`. */
const namedTypes: readonly (readonly [name: string, typeUrl: string])[] = [
  ['cluster', CDS],
  ['listener', LDS],
  ['route', RDS],
  ['endpoint', EDS],
  ['extensionconfig', ECDS],
];

/** `namespace`: of the proxies; null: all. */
export function synczOf(parts: ConnectionParts, namespace: string | null): LazyJson {
  const all = parts.xds.connections();
  const shown = namespace === null ? all : all.filter(({ facets }) => facets.namespace === namespace);
  return mapped(shown, status => syncz(parts, status));
}

function syncz(parts: ConnectionParts, status: ConnectionStatus): JsonObject {
  const { connection, facets, protocol, connectedAt, types } = status;
  const state = parts.world.state;
  return {
    proxy: facets.id,
    connection,
    proxy_type: facets.type,
    cluster_id: facets.clusterId,
    istio_version: versionOf(facets),
    ...noncesOf(types),
    resources: Object.fromEntries(types.map(type => [type.typeUrl, resourceStatus(type)])),
    protocol,
    connectedAt: new Date(connectedAt).toISOString(),
    types: Object.fromEntries(types.map(type => [type.short, typeStatus(parts, state, status, type)])),
  };
}

function noncesOf(types: readonly TypeStatus[]): JsonObject {
  const nonces: Record<string, string> = {};
  for (const [name, typeUrl] of namedTypes) {
    const type = types.find(one => one.typeUrl === typeUrl);
    if (type === undefined) continue;
    if (type.nonceSent !== '') nonces[`${name}_sent`] = type.nonceSent;
    if (type.nonceAcked !== '') nonces[`${name}_acked`] = type.nonceAcked;
  }
  return nonces;
}

function resourceStatus({ nonceSent, nonceAcked, sentAt, lastError }: TypeStatus): JsonObject {
  return {
    ...(nonceSent === '' ? {} : { sent: nonceSent }),
    ...(nonceAcked === '' ? {} : { acked: nonceAcked }),
    ...(sentAt === undefined ? {} : { sentTime: new Date(sentAt).toISOString() }),
    ...(lastError === '' ? {} : { lastError }),
  };
}

/** Empty: none is set. */
export function versionOf({ version }: ConnectionStatus['facets']): string {
  return version[0] === 65_535 ? '' : version.join('.');
}

function typeStatus({ engine }: ConnectionParts, state: State, status: ConnectionStatus, type: TypeStatus): JsonObject {
  const proxy = state.proxies.get(status.connection);
  const objects = new Set<string>();
  if (type.lastError !== '' && proxy !== undefined) {
    for (const name of type.blamed ?? []) {
      for (const object of engine.provenance(state, proxy, type.typeUrl, name)?.found ?? []) objects.add(object);
    }
  }
  return {
    status: type.sync,
    resources: type.count,
    version: type.version,
    stateSeq: type.stateSeq,
    sent: type.nonceSent,
    acked: type.nonceAcked,
    ...(type.lastError === ''
      ? {}
      : { lastError: type.lastError, blamed: type.blamed ?? [], objects: [...objects].sort() }),
  };
}

export function connectionsPage({ xds }: ConnectionParts): Promise<Answer> {
  const all = xds.connections();
  return largeJson({ totalClients: all.length, clients: mapped(all, clientOf) });
}

/**
 * With `push`, every connected proxy is looked at again, as istiod pushes to all; one that is up to date gets nothing.
 */
export function adszPage(parts: ConnectionParts, query: URLSearchParams, viewer: Viewer): Answer | Promise<Answer> {
  const { world, xds } = parts;
  const { state } = world;
  const all = xds.connections();
  if ((query.get('push') ?? '') !== '') {
    xds.push(pushRequest(state.seq, 'debug', [], { full: true, forced: true }));
    return text(`Pushed to ${all.length} servers\n`);
  }
  if ((query.get('proxyID') ?? '') === '') return largeJson(adsClients(state, all));
  const proxy = askedProxy(state, query, viewer);
  if (isAnswer(proxy)) return proxy;
  return largeJson(
    adsClients(
      state,
      all.filter(({ connection }) => connection === proxy.connection),
    ),
  );
}

function adsClients(state: State, all: readonly ConnectionStatus[]): LazyJson {
  return { totalClients: all.length, clients: mapped(all, status => adsClient(state, status)) };
}

function clientOf({ connection, connectedAt, peer }: ConnectionStatus): JsonObject {
  return { connectionId: connection, connectedAt: new Date(connectedAt).toISOString(), address: peer };
}

function adsClient(state: State, status: ConnectionStatus): JsonObject {
  const proxy = state.proxies.get(status.connection);
  if (proxy === undefined) return clientOf(status);
  const { metadata, subscriptions, facets } = proxy;
  const { region, zone, subzone: subZone } = facets.nodeLocality;
  const watches = Object.entries(subscriptions).map(([typeUrl, { names }]) => [typeUrl, names] as const);
  return {
    ...clientOf(status),
    ...(metadata.LABELS === undefined ? {} : { labels: metadata.LABELS }),
    metadata,
    locality: { region, zone, subZone },
    watches: Object.fromEntries(watches),
  };
}
