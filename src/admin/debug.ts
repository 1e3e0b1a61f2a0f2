// The pages of the HTTP addresses, by istiod's paths (Istio pilot/pkg/xds/debug.go). Secrets are left out, never shown.

import type { Json } from '../core/base/json.ts';
import { showOrigin } from '../core/base/problem.ts';
import { istioProtoJson } from '../core/schema/protojson.ts';
import type { State } from '../core/state.ts';
import { resolvePosition } from '../history/position.ts';
import { proxyStatusAt } from '../history/proxy-status.ts';
import { findingsOf } from '../offline/findings.ts';
import { wishReport, wishReportJson } from '../offline/wishes.ts';
import { AcceptedPositions } from './accepted.ts';
import { accessRoutes } from './access.ts';
import type { DebugParts } from './debug-parts.ts';
import { registerGauges } from './gauges.ts';
import { type Answer, answered, json, largeJson, type Route, text } from './http.ts';
import { type LazyJson, mapped } from './json-text.ts';
import { livenessOf } from './live.ts';
import { absentPages } from './pages/absent.ts';
import { configDumpPage, holdingsPage, typedDump } from './pages/config-dump.ts';
import { authorizationOf, configzOf, pushContextOf, resourceKinds, telemetryPage } from './pages/configuration.ts';
import { adszPage, connectionsPage, synczOf } from './pages/connections.ts';
import { countsPage, distributionPage } from './pages/distribution.ts';
import { askedProxy, isAnswer } from './pages/find-proxy.ts';
import { cachePage, pushStatusOf } from './pages/push-status.ts';
import { endpointShardsOf, instancesOf, multiClusterServicesOf, networksOf, registryOf } from './pages/registry.ts';
import { sidecarPage } from './pages/sidecar-scope.ts';
import { VERSION } from './version.ts';

/** As istioctl reads it: version, revision of the source, state of its tree; no line end. */
const ISTIOCTL_VERSION = `${VERSION}-periplus-Clean`;

export function debugRoutes(parts: DebugParts): ReadonlyMap<string, Route> {
  registerGauges(parts);
  const routes = new Map([...processRoutes(parts), ...meshRoutes(parts), ...proxyRoutes(parts)]);
  const list = [...routes.keys()].sort();
  const names = list.filter(path => path.startsWith('/debug/')).map(path => path.slice('/debug/'.length));
  const index: readonly (readonly [string, Route])[] = [
    ['/debug/list', () => json(names)],
    ['/debug', () => text(`${list.join('\n')}\n`)],
  ];
  return new Map([...routes, ...absentPages, ...index]);
}

/** ENABLE_DEBUG_ON_HTTP=false: what probes and Prometheus ask for stays. */
export function withoutDebug(routes: ReadonlyMap<string, Route>): ReadonlyMap<string, Route> {
  return new Map([...routes].filter(([path]) => path !== '/debug' && !path.startsWith('/debug/')));
}

function processRoutes(parts: DebugParts): readonly (readonly [string, Route])[] {
  const { registry } = parts.metrics;
  return [
    ['/ready', () => readiness(parts)],
    ['/live', () => liveness(parts)],
    ['/metrics', async () => ({ status: 200, contentType: registry.contentType, body: await registry.metrics() })],
    ['/version', () => text(ISTIOCTL_VERSION)],
    ['/debug/sourcesz', () => json(parts.sources.report() as unknown as Json)],
    ['/debug/clusterz', () => json(clusterz(parts))],
    ['/debug/journalz', () => json(journalz(parts))],
    ['/debug/wishesz', query => wishesPage(parts, query.get('at'))],
  ];
}

function meshRoutes(parts: DebugParts): readonly (readonly [string, Route])[] {
  const { world } = parts;
  return [
    ['/debug/mesh', () => json(istioProtoJson('istio.mesh.v1alpha1.MeshConfig', world.state.mesh.effective))],
    ['/debug/configz', () => largeJson(configzOf(world.state))],
    ['/debug/resourcesz', () => json(resourceKinds())],
    ['/debug/analysisz', () => largeJson(analysisz(world.state))],
    ['/debug/authorizationz', () => largeJson(authorizationOf(world.state))],
    ['/debug/telemetryz', (query, viewer) => telemetryPage(parts, query, viewer)],
    ['/debug/registryz', () => largeJson(registryOf(parts))],
    ['/debug/endpointShardz', () => largeJson(endpointShardsOf(parts))],
    ['/debug/endpointz', () => largeJson(endpointShardsOf(parts))],
    ['/debug/networkz', () => json(networksOf(parts))],
    ['/debug/mcsz', () => largeJson(multiClusterServicesOf(parts))],
    ['/debug/pushcontext', () => largeJson(pushContextOf(parts))],
    ['/debug/push_status', () => largeJson(pushStatusOf(parts))],
    ['/debug/inject', () => injectPage(parts)],
    ['/debug/ambientz', () => json(WITHOUT_AMBIENT)],
    ...accessRoutes(parts.history),
  ];
}

function proxyRoutes(parts: DebugParts): readonly (readonly [string, Route])[] {
  const accepted = new AcceptedPositions(parts);
  return [
    ['/debug/syncz', query => synczPage(parts, query)],
    ['/debug/connections', () => connectionsPage(parts)],
    ['/debug/adsz', (query, viewer) => adszPage(parts, query, viewer)],
    ['/debug/instancesz', () => largeJson(instancesOf(parts))],
    ['/debug/cachez', query => cachePage(parts, query)],
    ['/debug/config_distribution', query => distributionPage(parts, query)],
    ['/debug/distributionz', query => countsPage(parts, accepted, query)],
    ['/debug/livez', query => livez(parts, query.get('for'))],
    ['/debug/config_dump', (query, viewer) => configDumpPage(parts, query, viewer)],
    ['/debug/sidecarz', (query, viewer) => sidecarPage(parts, query, viewer)],
    ...(parts.adminEndpoints === true ? [disconnecting(parts)] : []),
    ['/debug/holdingsz', (query, viewer) => holdingsPage(parts, query, viewer)],
    ...(['eds', 'ecds', 'nds'] as const).map((type): readonly [string, Route] => {
      const page = typedDump(type);
      return [`/debug/${type}z`, (query, viewer) => page(parts, query, viewer)];
    }),
  ];
}

/** As istiod answers without ambient mode. */
const WITHOUT_AMBIENT = { workloads: null, services: null, policies: null };

/** UNSAFE_ENABLE_ADMIN_ENDPOINTS: the stream of the proxy `proxyID` ends, and the proxy connects again. */
function disconnecting({ world, xds }: DebugParts): readonly [string, Route] {
  return [
    '/debug/force_disconnect',
    (query, viewer) => {
      const proxy = askedProxy(world.state, query, viewer);
      if (isAnswer(proxy)) return proxy;
      return xds.disconnect(proxy.connection) ? text('OK') : text('the proxy has left\n', 404);
    },
  ];
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

/** Also while nothing is ready: only what a restart could mend fails it. */
function liveness({ world: { stuckMs } }: DebugParts): Answer {
  if (stuckMs === 0) return text('live\n');
  return text(`facts have been waiting for ${Math.round(stuckMs / 1_000)} s, and nothing is done\n`, 503);
}

/** With `at`, a position as `--at` takes it: what had been sent by then, of the journal. */
function synczPage(parts: DebugParts, query: URLSearchParams): Answer | Promise<Answer> {
  const at = query.get('at');
  if (at === null) return largeJson(synczOf(parts, query.get('namespace')));
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

/** The texts of the templates, by name. */
function injectPage({ templates }: DebugParts): Answer {
  const found = templates();
  return found === undefined ? text('nothing is injected here\n', 404) : json(found);
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
