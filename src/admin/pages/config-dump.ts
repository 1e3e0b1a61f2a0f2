// What a connected proxy holds: `config_dump`, `edsz`, `ecdsz`, `ndsz` in the shapes of Envoy's admin page, as istiod
// answers them (Istio pilot/pkg/xds/debug.go: connectionConfigDump, getConfigDumpByResourceType), and `holdingsz`, the
// same with names, versions and every type, for the commands of Periplus and at any position of the journal.
//
// Invariant: private keys are left out, and resources are shown piece by piece while the page is written.

import type { ProxyRecord } from '../../core/model/proxy.ts';
import type { State } from '../../core/state.ts';
import { translationsOf } from '../../history/config-dump.ts';
import type { History } from '../../history/history.ts';
import { HistoryFault } from '../../history/history-fault.ts';
import { holdingsOf } from '../../history/holdings.ts';
import { resolvePosition } from '../../history/position.ts';
import { proxyNamed } from '../../history/proxies.ts';
import { type EncodedResource, encodeResource } from '../../xds/engine/encode.ts';
import { CDS, ECDS, EDS, LDS, RDS, rulesOf, SDS } from '../../xds/session/types.ts';
import type { DebugParts } from '../debug-parts.ts';
import { type Answer, answered, largeJson, type Viewer } from '../http.ts';
import { type LazyJson, mapped } from '../json-text.ts';
import { shownInPieces } from '../large-resource.ts';
import { askedProxy, isAnswer, mayShow } from './find-proxy.ts';

type DumpParts = Pick<DebugParts, 'world' | 'engine' | 'history'>;

const ADMIN = 'type.googleapis.com/envoy.admin.v3.';

/** `types`: short names with commas, any case; `include_eds`: endpoints too. */
export function configDumpPage(parts: DumpParts, query: URLSearchParams, viewer: Viewer): Answer | Promise<Answer> {
  const { state } = parts.world;
  const proxy = askedProxy(state, query, viewer);
  if (isAnswer(proxy)) return proxy;
  const view = parts.engine.viewOf(state, proxy);
  const held = (typeUrl: string): Iterable<EncodedResource> => view.get(typeUrl)?.resources.values() ?? [];
  const types = (query.get('types') ?? '').split(',').filter(type => type !== '');
  if (types.length === 0) return largeJson({ configs: adminDumps(held, query.has('include_eds')) });
  const wanted = [...view.keys()].filter(url => types.some(type => rulesOf(url).short === type.toUpperCase()));
  return largeJson({ configs: resourcesOf(wanted, held) });
}

/** `config_dump` of one type. */
export function typedDump(type: 'eds' | 'ecds' | 'nds') {
  return (parts: DumpParts, query: URLSearchParams, viewer: Viewer): Answer | Promise<Answer> => {
    const asked = new URLSearchParams(query);
    asked.set('types', type);
    return configDumpPage(parts, asked, viewer);
  };
}

type ResourcesOfType = (typeUrl: string) => Iterable<EncodedResource>;

function* resourcesOf(typeUrls: readonly string[], held: ResourcesOfType): IterableIterator<LazyJson> {
  for (const typeUrl of typeUrls) yield* mapped(held(typeUrl), ({ body }) => shownInPieces(body));
}

/** In istiod's order; readers of Envoy's page expect each of them, empty ones too. */
function adminDumps(held: ResourcesOfType, withEndpoints: boolean): readonly LazyJson[] {
  const list = (type: string, member: string, url: string, one: (resource: EncodedResource) => LazyJson): LazyJson => ({
    '@type': `${ADMIN}${type}`,
    [member]: mapped(held(url), one),
  });
  const under =
    (member: string) =>
    ({ version, body }: EncodedResource): LazyJson => ({ versionInfo: version, [member]: shownInPieces(body) });
  const listener = ({ name, version, body }: EncodedResource): LazyJson => ({
    name,
    activeState: { versionInfo: version, listener: shownInPieces(body) },
  });
  const endpoints = list('EndpointsConfigDump', 'dynamicEndpointConfigs', EDS, under('endpointConfig'));
  return [
    { '@type': `${ADMIN}BootstrapConfigDump` },
    list('ClustersConfigDump', 'dynamicActiveClusters', CDS, under('cluster')),
    ...(withEndpoints ? [endpoints] : []),
    list('ListenersConfigDump', 'dynamicListeners', LDS, listener),
    { '@type': `${ADMIN}ScopedRoutesConfigDump` },
    list('RoutesConfigDump', 'dynamicRouteConfigs', RDS, under('routeConfig')),
    list('SecretsConfigDump', 'dynamicActiveSecrets', SDS, under('secret')),
    list('EcdsConfigDump', 'ecdsFilters', ECDS, under('ecdsFilter')),
  ];
}

/** With `at`, a position as `--at` takes it: what the proxy held then, of the journal. */
export function holdingsPage(parts: DumpParts, query: URLSearchParams, viewer: Viewer): Answer | Promise<Answer> {
  const at = query.get('at');
  const proxyId = query.get('proxyID') ?? '';
  if (at !== null && proxyId !== '') return answered(() => holdingsAt(parts.history, proxyId, at, viewer));
  const { state } = parts.world;
  const proxy = askedProxy(state, query, viewer);
  if (isAnswer(proxy)) return proxy;
  const configs = [...parts.engine.viewOf(state, proxy)].sort(([a], [b]) => (a < b ? -1 : 1));
  return largeJson({
    proxy: proxy.connection,
    configs: configs.map(([typeUrl, set]) => ({ typeUrl, resources: mapped(set.resources.values(), shown) })),
    translations: translationsOf(
      parts.engine.tracker,
      state,
      holdingsOf(parts.engine.tracker, state, proxy, [CDS, RDS]),
    ),
  });
}

function shown({ name, version, body }: EncodedResource): LazyJson {
  return { name, version, resource: shownInPieces(body) };
}

async function holdingsAt(history: History, proxyId: string, at: string, viewer: Viewer): Promise<LazyJson> {
  const state = await history.at(await resolvePosition(history.journal, at));
  const proxy = viewer === 'all' ? proxyNamed(state, proxyId) : proxyFor(viewer, state, proxyId);
  const holdings = holdingsOf(history.tracker, state, proxy);
  const held = [...holdings].filter(([, resources]) => resources.size > 0);
  const configs = held.map(([typeUrl, resources]) => ({
    typeUrl,
    resources: mapped(resources.values(), ({ name, message }) => shown(encodeResource(typeUrl, name, message))),
  }));
  return { proxy: proxy.connection, configs, translations: translationsOf(history.tracker, state, holdings) };
}

/** Names no proxy that the viewer may not see. */
function proxyFor(viewer: Viewer, state: State, proxyId: string): ProxyRecord {
  for (const proxy of state.proxies.values()) {
    if (!mayShow(viewer, proxy)) continue;
    if (proxy.connection === proxyId || proxy.facets.id.includes(proxyId)) return proxy;
  }
  throw new HistoryFault(`no proxy ${proxyId} is connected at position ${state.seq}`);
}
