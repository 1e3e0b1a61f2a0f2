// The pages of the HTTP addresses, by istiod's paths (Istio pilot/pkg/xds/debug.go). Secrets are left out, never shown.

import { canonicalJson, type Json, type JsonObject } from '../core/base/json.ts';
import { showOrigin, showProblem } from '../core/base/problem.ts';
import { verifiedIdentity } from '../core/model/identity.ts';
import type { ProxyRecord } from '../core/model/proxy.ts';
import { Tracker } from '../core/query/tracker.ts';
import { policyFindings } from '../core/select/policy/policy-findings.ts';
import type { State } from '../core/state.ts';
import type { History } from '../history/history.ts';
import { HistoryFault } from '../history/history-fault.ts';
import { holdingsOf } from '../history/holdings.ts';
import { resolvePosition } from '../history/position.ts';
import { proxyNamed } from '../history/proxies.ts';
import { proxyStatusAt } from '../history/proxy-status.ts';
import type { Journal } from '../journal/journal.ts';
import { findingsOf } from '../offline/findings.ts';
import { wishReport, wishReportJson } from '../offline/wishes.ts';
import { encodeResource } from '../xds/engine/encode.ts';
import type { Engine } from '../xds/engine/engine.ts';
import type { XdsServer } from '../xds/grpc/server.ts';
import type { ConnectionStatus, TypeStatus } from '../xds/serve/stream-status.ts';
import { rulesOf } from '../xds/session/types.ts';
import { accessRoutes } from './access.ts';
import { type Answer, json, largeJson, type Route, text, type Viewer } from './http.ts';
import type { LazyJson } from './json-text.ts';
import { shownInPieces } from './large-resource.ts';
import { livenessOf } from './live.ts';
import type { Metrics } from './metrics.ts';
import { VERSION } from './version.ts';

/** As istioctl reads it: version, revision of the source, state of its tree; no line end. */
const ISTIOCTL_VERSION = `${VERSION}-periplus-Clean`;

export interface DebugParts {
  readonly world: { readonly state: State; readonly durable: boolean };
  readonly journal: Journal;
  /** The same journal, to travel in. */
  readonly history: History;
  readonly engine: Engine;
  readonly xds: XdsServer;
  readonly metrics: Metrics;
  readonly sources: {
    readonly readiness: () => { readonly ready: boolean; readonly text: string };
    readonly report: () => readonly {
      readonly source: string;
      readonly synced: boolean;
      readonly troubles: readonly string[];
      readonly unreadable: readonly { readonly since: number }[];
    }[];
    /** Remote clusters. */
    readonly clusters: () => readonly {
      readonly id: string;
      readonly secretName: string;
      readonly syncStatus: string;
    }[];
  };
}

export function debugRoutes(parts: DebugParts): ReadonlyMap<string, Route> {
  registerGauges(parts);
  const routes: (readonly [string, Route])[] = [
    ['/ready', () => readiness(parts)],
    ['/debug/sourcesz', () => json(parts.sources.report() as unknown as Json)],
    [
      '/metrics',
      async () => ({
        status: 200,
        contentType: parts.metrics.registry.contentType,
        body: await parts.metrics.registry.metrics(),
      }),
    ],
    ['/version', () => text(ISTIOCTL_VERSION)],
    ['/debug/clusterz', () => json(clusterz(parts))],
    ['/debug/syncz', query => synczPage(parts, query.get('at'))],
    ['/debug/connections', () => largeJson(parts.xds.connections().map(connection))],
    ['/debug/configz', () => largeJson(configz(parts.world.state))],
    ['/debug/analysisz', () => largeJson(analysisz(parts.world.state))],
    ['/debug/wishesz', query => wishesPage(parts, query.get('at'))],
    ['/debug/mesh', () => json(parts.world.state.mesh.effective as unknown as Json)],
    ['/debug/journalz', () => json(journalz(parts))],
    ['/debug/livez', query => livez(parts, query.get('for'))],
    ['/debug/config_dump', (query, viewer) => configDump(parts, query, viewer)],
    ...accessRoutes(parts.history),
  ];
  const list = routes.map(([path]) => path).sort();
  return new Map([...routes, ['/debug/list', () => json(list)], ['/debug', () => text(`${list.join('\n')}\n`)]]);
}

/** The own cluster first. As istiod has it, for `istioctl remote-clusters`. */
function clusterz({ world, sources }: DebugParts): Json {
  const id = world.state.settings.clusterId;
  const own = sources.report().filter(({ source }) => source.endsWith(`/${id}`));
  const syncStatus = own.every(({ synced }) => synced) ? 'synced' : 'syncing';
  return [{ id, secretName: '', syncStatus }, ...sources.clusters()] as unknown as Json;
}

function readiness({ sources }: DebugParts): Answer {
  const { ready, text: body } = sources.readiness();
  return text(body, ready ? 200 : 503);
}

function registerGauges({ world, engine, xds, metrics, sources }: DebugParts): void {
  const bySource = (value: (report: ReturnType<DebugParts['sources']['report']>[number]) => number) => () =>
    new Map(sources.report().map(report => [report.source, value(report)]));
  metrics.gaugeBy(
    'periplus_source_synced',
    '1 once everything of a source has been listed since the start.',
    'source',
    bySource(({ synced }) => (synced ? 1 : 0)),
  );
  metrics.gaugeBy(
    'periplus_source_troubles',
    'What is wrong with a source right now, by number; /debug/sourcesz has the words.',
    'source',
    bySource(({ troubles }) => troubles.length),
  );
  metrics.gaugeBy(
    'periplus_source_unreadable',
    'Parts of a source that cannot be read right now, by number: what was known of them stays.',
    'source',
    bySource(({ unreadable }) => unreadable.length),
  );
  metrics.gaugeBy(
    'periplus_source_unreadable_since_seconds',
    'Unix time since which the longest unreadable part of a source cannot be read; 0: all can.',
    'source',
    bySource(({ unreadable }) =>
      unreadable.length === 0 ? 0 : Math.min(...unreadable.map(({ since }) => since)) / 1_000,
    ),
  );
  metrics.gaugeBy('pilot_xds', 'Connected proxies, by the version that they say.', 'version', () => {
    const count = new Map<string, number>();
    for (const { facets } of xds.served()) count.set(versionOf(facets), (count.get(versionOf(facets)) ?? 0) + 1);
    return count;
  });
  metrics.gauge('pilot_services', 'Services of Kubernetes and ServiceEntries in force.', () => {
    const { Service, ServiceEntry } = world.state.objects;
    return Service.size + ServiceEntry.size;
  });
  metrics.gauge('pilot_virt_services', 'VirtualServices in force.', () => world.state.objects.VirtualService.size);
  const policyTracker = new Tracker();
  metrics.gauge('periplus_policies_not_enforceable', 'Policies that refuse because they cannot be enforced.', () => {
    if (world.state.objects.AuthorizationPolicy.size === 0) return 0;
    const found = policyTracker.get(world.state, undefined, policyFindings, '');
    return found.filter(({ effect }) => effect === 'refuses').length;
  });
  metrics.gauge('pilot_xds_recv_max', 'Largest request received, bytes.', () => xds.stats.largestRequest);
  metrics.gauge('periplus_response_bytes_made', 'Bytes of responses put together.', () => xds.stats.madeBytes);
  metrics.gauge('periplus_response_bytes_shared', 'Bytes sent that were there already.', () => xds.stats.sharedBytes);
  metrics.gauge(
    'periplus_response_bytes_kept',
    'Bytes of whole responses kept to be shared.',
    () => xds.stats.bodyBytes,
  );
  metrics.gauge(
    'periplus_request_repeats',
    'Large requests that had been read before.',
    () => xds.stats.repeatedRequests,
  );
  metrics.gauge(
    'periplus_client_facts_chars',
    'Characters of facts that clients made the journal grow by.',
    () => xds.stats.chargedChars,
  );
  metrics.gauge(
    'periplus_client_over_budget',
    'Requests that were refused because their client made the journal grow too fast.',
    () => xds.stats.overBudget,
  );
  metrics.gauge('periplus_view_cuts', 'Times that a look was cut to let others go on.', () => xds.stats.cuts);
  metrics.gaugeBy('periplus_classes', 'Different contents that proxies hold, by type.', 'type', () => {
    const classes = new Map<string, Set<string>>();
    for (const { versions } of xds.served()) {
      for (const [typeUrl, version] of versions) classes.set(typeUrl, (classes.get(typeUrl) ?? new Set()).add(version));
    }
    return new Map([...classes].map(([type, all]) => [rulesOf(type).short.toLowerCase(), all.size] as const));
  });
  metrics.gauge('periplus_memo_swept', 'Memoised query values that a sweep forgot.', () => engine.tracker.stats.swept);
  metrics.gauge('periplus_journal_seq', 'Last event that is folded.', () => world.state.seq);
  metrics.gauge('periplus_journal_durable', '0 while the journal cannot be written.', () => (world.durable ? 1 : 0));
  metrics.gauge('periplus_selector_runs', 'Queries run since the start.', () => engine.tracker.stats.runs);
  metrics.gauge(
    'periplus_selector_hits',
    'Queries answered from memory since the start.',
    () => engine.tracker.stats.hits,
  );
  metrics.gauge('periplus_generated', 'Generators run since the start.', () => engine.tracker.stats.generated);
  // istiod's names for what it remembers: there responses of its cache, here values of queries and generators.
  metrics.gauge('xds_cache_size', 'Values of generators held.', () => engine.tracker.size.generated);
  metrics.gaugeBy(
    'xds_cache_reads',
    'Queries since the start, by whether they were answered from memory.',
    'type',
    () => {
      const { hits, runs } = engine.tracker.stats;
      return new Map([
        ['hit', hits],
        ['miss', runs],
      ]);
    },
  );
  metrics.gauge('xds_cache_evictions', 'Values that a sweep forgot.', () => engine.tracker.stats.swept);
  metrics.gauge('periplus_memo_queries', 'Memoised query values held.', () => engine.tracker.size.queries);
  metrics.gauge('periplus_memo_generated', 'Memoised generator values held.', () => engine.tracker.size.generated);
  metrics.gauge(
    'periplus_selector_verifications',
    'Memoised values whose calls were compared since the start.',
    () => engine.tracker.stats.verifications,
  );
}

/** With `at`, a position as `--at` takes it: what had been sent by then, of the journal. */
function synczPage(parts: DebugParts, at: string | null): Answer | Promise<Answer> {
  if (at === null) return largeJson(mapped(parts.xds.connections(), status => syncz(parts, status)));
  return answered(async () => {
    const { history } = parts;
    const state = await history.at(await resolvePosition(history.journal, at));
    return (await proxyStatusAt(history, state)) as unknown as LazyJson;
  });
}

function wishesPage({ world, history }: DebugParts, at: string | null): Answer | Promise<Answer> {
  if (at === null) return json(wishReportJson(wishReport(world.state)));
  return answered(async () => {
    const state = await history.at(await resolvePosition(history.journal, at));
    return wishReportJson(wishReport(state)) as unknown as LazyJson;
  });
}

function syncz(parts: DebugParts, status: ConnectionStatus): JsonObject {
  const state = parts.world.state;
  return {
    ...connection(status),
    types: Object.fromEntries(status.types.map(type => [type.short, typeStatus(parts, state, status, type)])),
  };
}

function connection({ connection: proxy, facets, protocol, connectedAt }: ConnectionStatus): JsonObject {
  return {
    proxy: facets.id,
    connection: proxy,
    proxy_type: facets.type,
    cluster_id: facets.clusterId,
    istio_version: versionOf(facets),
    protocol,
    connectedAt: new Date(connectedAt).toISOString(),
  };
}

/** Computed one by one, on demand. */
function* mapped<T>(all: Iterable<T>, one: (item: T) => LazyJson): IterableIterator<LazyJson> {
  for (const item of all) yield one(item);
}

/** Empty: none is set. */
function versionOf({ version }: ConnectionStatus['facets']): string {
  return version[0] === 65_535 ? '' : version.join('.');
}

function typeStatus(parts: DebugParts, state: State, status: ConnectionStatus, type: TypeStatus): JsonObject {
  const proxy = state.proxies.get(status.connection);
  const objects = new Set<string>();
  if (type.lastError !== '' && proxy !== undefined) {
    for (const name of type.blamed ?? []) {
      for (const object of parts.engine.provenance(state, proxy, type.typeUrl, name)?.found ?? []) objects.add(object);
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

/** Every object of every source with its verdict. The content of Secrets is left out. */
function configz(state: State): LazyJson {
  return mapped(state.records.values(), record => ({
    source: record.source,
    kind: record.kind,
    key: record.key,
    acceptedAt: record.acceptedAt,
    origin: showOrigin(record.origin),
    ...(record.kind === 'Secret' ? {} : { object: record.raw }),
    ...(record.refused === undefined
      ? {}
      : {
          refused: {
            at: record.refused.at,
            origin: showOrigin(record.refused.origin),
            problems: record.refused.problems.map(showProblem),
          },
        }),
  }));
}

/** Messages for the authors of objects: refusals, fields without effect yet, dangling references. */
function analysisz(state: State): LazyJson {
  return mapped(findingsOf(state), ({ origin, ...finding }) => ({ ...finding, origin: showOrigin(origin) }));
}

function journalz({ world, journal }: DebugParts): Json {
  const head = journal.head();
  return {
    path: journal.path,
    seq: head.seq,
    hash: head.hash,
    time: head.time,
    folded: world.state.seq,
    durable: world.durable,
  };
}

function livez({ world, engine, xds }: DebugParts, object: string | null): Answer | Promise<Answer> {
  if (object === null || object.split('/').length < 3)
    return text('for is missing: /debug/livez?for=<Kind>/<namespace>/<name>\n', 400);
  return largeJson(livenessOf(world.state, engine, xds.connections(), object) as unknown as LazyJson);
}

/**
 * With `at`, a position as `--at` takes it: what the proxy held then, of the journal; else what its subscriptions hold
 * now.
 */
async function configDump(parts: DebugParts, query: URLSearchParams, viewer: Viewer): Promise<Answer> {
  const proxyId = query.get('proxyID');
  if (proxyId === null || proxyId === '')
    return text('proxyID is missing: /debug/config_dump?proxyID=<pod>.<namespace>\n', 400);
  const at = query.get('at');
  if (at !== null) return answered(() => configDumpAt(parts.history, proxyId, at, viewer));
  const { state } = parts.world;
  const proxy = [...state.proxies.values()].find(
    candidate => candidate.connection.includes(proxyId) && mayShow(viewer, candidate),
  );
  if (proxy === undefined) return text(`no connected proxy matches ${canonicalJson(proxyId)}\n`, 404);
  const configs = [...parts.engine.viewOf(state, proxy)].sort(([a], [b]) => (a < b ? -1 : 1));
  return largeJson({
    proxy: proxy.connection,
    configs: configs.map(([typeUrl, set]) => ({
      typeUrl,
      resources: mapped(set.resources.values(), ({ name, version, body }) => ({
        name,
        version,
        resource: shownInPieces(body),
      })),
    })),
  });
}

/** By the proven identity: what a node says of itself gives no right to see it. */
export function mayShow(viewer: Viewer, proxy: ProxyRecord): boolean {
  return viewer === 'all' || verifiedIdentity(proxy)?.namespace === viewer.namespace;
}

/** Names no proxy that the viewer may not see. */
function proxyFor(viewer: Viewer, state: State, proxyId: string): ProxyRecord {
  const shown = [...state.proxies.values()].filter(proxy => mayShow(viewer, proxy));
  const found = shown.find(({ connection, facets }) => connection === proxyId || facets.id.includes(proxyId));
  if (found === undefined) throw new HistoryFault(`no proxy ${proxyId} is connected at position ${state.seq}`);
  return found;
}

async function configDumpAt(history: History, proxyId: string, at: string, viewer: Viewer): Promise<LazyJson> {
  const state = await history.at(await resolvePosition(history.journal, at));
  const proxy = viewer === 'all' ? proxyNamed(state, proxyId) : proxyFor(viewer, state, proxyId);
  const held = [...holdingsOf(history.tracker, state, proxy)].filter(([, resources]) => resources.size > 0);
  const configs = held.map(([typeUrl, resources]) => ({
    typeUrl,
    resources: mapped(resources.values(), ({ name, message }) => {
      const { version, body } = encodeResource(typeUrl, name, message);
      return { name, version, resource: shownInPieces(body) };
    }),
  }));
  return { proxy: proxy.connection, configs };
}

/** What a history cannot answer is the asker's to mend. */
async function answered(answer: () => Promise<LazyJson>): Promise<Answer> {
  try {
    return largeJson(await answer());
  } catch (error) {
    if (error instanceof HistoryFault) return text(`${error.message}\n`, 404);
    throw error;
  }
}
