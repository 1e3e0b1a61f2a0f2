// Debug types over xDS, as istioctl asks for them (Istio pilot/pkg/xds/statusgen.go, pilot/pkg/xds/debuggen.go):
// `istio.io/debug/syncz` and `…/config_dump` have the state of proxies in Envoy's own messages, `istio.io/debug` has
// the body of a debug page. Invariant: no answer without a proven identity, and a caller from another namespace than
// the control plane's sees proxies of its own namespace only.

import { parseSpiffe } from '../core/model/identity.ts';
import type { State } from '../core/state.ts';
import { encodeMessage } from '../xds/engine/encode.ts';
import type { Engine } from '../xds/engine/engine.ts';
import { type ClientConfig_GenericXdsConfig, ConfigStatus } from '../xds/proto/types.gen.ts';
import type { DebugQuestion, DebugReply, DebugResource } from '../xds/serve/host.ts';
import type { ConnectionStatus, TypeStatus } from '../xds/serve/stream-status.ts';
import { CDS, DEBUG_PREFIX, LDS, RDS } from '../xds/session/types.ts';
import { framed, framedString } from '../xds/wire/frame.ts';
import type { Admission, Answer, Route, Viewer } from './http.ts';
import { connectedProxy, mayShow } from './pages/find-proxy.ts';
import { VERSION } from './version.ts';

export interface DebugXdsParts {
  readonly world: { readonly state: State };
  readonly engine: Engine;
  readonly xds: { connections(): readonly ConnectionStatus[] };
  readonly routes: ReadonlyMap<string, Route>;
  /** What a caller with these proven identities may see. */
  readonly viewerBy: (identities: readonly string[]) => Admission;
  /** POD_NAME. */
  readonly podName: string;
}

/** Pages that callers of other namespaces may have over xDS. */
const OPEN_PAGES: readonly string[] = ['config_dump', 'holdingsz', 'ndsz', 'edsz'];
const PREFIX = 'type.googleapis.com/';
const CLIENT_CONFIG = 'envoy.service.status.v3.ClientConfig';

export async function answerDebugXds(parts: DebugXdsParts, question: DebugQuestion): Promise<DebugReply> {
  const { typeUrl, identities } = question;
  const viewer = parts.viewerBy(identities);
  if (viewer !== 'all' && 'refused' in viewer) {
    const refused = viewer.refused === 401 ? 'UNAUTHENTICATED' : 'PERMISSION_DENIED';
    return { refused, message: viewer.refused === 401 ? 'authentication required' : 'permission denied' };
  }
  if (typeUrl === `${DEBUG_PREFIX}/syncz`) {
    return { resources: [...clientConfigs(parts, viewer)], controlPlane: identifier(parts.podName) };
  }
  if (typeUrl === `${DEBUG_PREFIX}/config_dump`) return { resources: configDump(parts, question, viewer) };
  return typeUrl === DEBUG_PREFIX ? page(parts, question) : { resources: [] };
}

/** Names the control plane to istioctl, which asks each of them. */
function identifier(podName: string): string {
  const info = { version: VERSION, revision: '', golang_version: '', status: 'Clean', tag: VERSION };
  return JSON.stringify({ Component: 'istiod', ID: podName, Info: info });
}

/** Of proxies that say their ProxyConfig: others are no Istio proxies to istioctl. */
function* clientConfigs({ world, xds }: DebugXdsParts, viewer: Viewer): IterableIterator<DebugResource> {
  const { proxies } = world.state;
  for (const status of xds.connections()) {
    const proxy = proxies.get(status.connection);
    if (proxy === undefined || proxy.metadata.PROXY_CONFIG === undefined || !mayShow(viewer, proxy)) continue;
    const { id, clusterId, namespace, version } = status.facets;
    const istioVersion = proxy.metadata.ISTIO_VERSION ?? version.join('.');
    const metadata = { CLUSTER_ID: clusterId, NAMESPACE: namespace, ISTIO_VERSION: istioVersion };
    const genericXdsConfigs = [...status.types].sort((a, b) => (a.typeUrl < b.typeUrl ? -1 : 1)).map(genericConfig);
    yield resource(id, CLIENT_CONFIG, encodeMessage(CLIENT_CONFIG, { node: { id, metadata }, genericXdsConfigs }));
  }
}

function genericConfig({ typeUrl, sync, sentAt, lastError }: TypeStatus): ClientConfig_GenericXdsConfig {
  return {
    typeUrl,
    configStatus: ConfigStatus[sync],
    ...(sentAt === undefined ? {} : { lastUpdated: { seconds: Math.floor(sentAt / 1_000), nanos: 0 } }),
    ...(lastError === '' ? {} : { errorState: { details: lastError } }),
  };
}

/**
 * Clusters, listeners and routes of the one proxy that is named; nothing for one that is not connected here. What was
 * encoded for the proxy is framed as Envoy's admin page has it (envoy/admin/v3/config_dump.proto).
 */
function configDump(
  { world, engine }: DebugXdsParts,
  { names }: DebugQuestion,
  viewer: Viewer,
): readonly DebugResource[] {
  const [name] = names;
  if (names.length !== 1 || name === undefined || name === '') return [];
  const { state } = world;
  const proxy = connectedProxy(state, name, viewer);
  if (proxy === undefined) return [];
  const view = engine.viewOf(state, proxy);
  const each = (typeUrl: string, frame: (body: Buffer) => Buffer): Uint8Array =>
    Buffer.concat([...(view.get(typeUrl)?.resources.values() ?? [])].map(({ body }) => framed(3, frame(body))));
  return [
    resource(
      'clusters',
      'envoy.admin.v3.ClustersConfigDump',
      each(CDS, body => framed(2, body)),
    ),
    resource(
      'listeners',
      'envoy.admin.v3.ListenersConfigDump',
      each(LDS, body => framed(2, framed(2, body))),
    ),
    resource(
      'routes',
      'envoy.admin.v3.RoutesConfigDump',
      each(RDS, body => framed(2, body)),
    ),
  ];
}

/** The page whose path below /debug/ is the one name, to callers of the control plane's namespace. */
async function page({ world, routes }: DebugXdsParts, { names, identities }: DebugQuestion): Promise<DebugReply> {
  const [name] = names;
  if (names.length !== 1 || name === undefined) {
    return { refused: 'INVALID_ARGUMENT', message: 'exactly one debug request is required' };
  }
  const [path = '', query = ''] = name.split('?', 2);
  const namespace = identities.map(parseSpiffe).find(one => one !== undefined)?.namespace ?? '';
  const isOwn = namespace === world.state.settings.systemNamespace;
  if (!isOwn && !OPEN_PAGES.includes(path)) {
    return { refused: 'PERMISSION_DENIED', message: `${namespace} may not see the debug page ${path}` };
  }
  const route = routes.get(`/debug/${path}`);
  const viewer: Viewer = isOwn ? 'all' : { namespace };
  const answer = await route?.(new URLSearchParams(query), viewer);
  const body = answer === undefined ? Buffer.from('404 page not found\n') : bodyOf(answer);
  return { resources: [{ name, body: Buffer.concat([framedString(1, DEBUG_PREFIX), framed(2, body)]) }] };
}

function bodyOf({ body }: Answer): Buffer {
  return typeof body === 'string' ? Buffer.from(body) : Buffer.concat(body);
}

/** `value`: encoded. */
function resource(name: string, type: string, value: Uint8Array): DebugResource {
  return { name, body: Buffer.concat([framedString(1, `${PREFIX}${type}`), framed(2, value)]) };
}
