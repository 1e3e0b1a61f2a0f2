// Probes and lifecycle handlers of the application, which the agent of the proxy answers in its place: mutual TLS
// would refuse the kubelet. The proxy is told the originals in ISTIO_KUBE_APP_PROBERS.
//
// A handler whose port is the status port of the mesh is already rewritten. A named port that the container does not
// have is left out of the list but rewritten all the same. Source: Istio pkg/kube/inject/app_probe.go.

import { isObject, type Json, type JsonObject } from '../../core/base/json.ts';
import { goJson } from '../template/go-json.ts';
import { type Container, containersOf, listAt, objectAt, type Pod, PROXY, textAt, withContainers } from './pod.ts';

interface Handler {
  /** Where it is in the container. */
  readonly path: readonly string[];
  readonly url: string;
}

const handlersOf = (container: Container): readonly Handler[] => {
  const [health, cycle] = [`/app-health/${textAt(container, 'name')}`, `/app-lifecycle/${textAt(container, 'name')}`];
  return [
    { path: ['readinessProbe'], url: `${health}/readyz` },
    { path: ['livenessProbe'], url: `${health}/livez` },
    { path: ['startupProbe'], url: `${health}/startupz` },
    { path: ['lifecycle', 'preStop'], url: `${cycle}/prestopz` },
    { path: ['lifecycle', 'postStart'], url: `${cycle}/poststartz` },
  ];
};

/** The originals, as the proxy is told; '': there is none. */
export function appProbers(pod: Pod, meshStatusPort: number): string {
  const found: [string, JsonObject][] = [];
  for (const container of [...containersOf(pod, 'initContainers'), ...containersOf(pod, 'containers')]) {
    if (container.name === PROXY) continue;
    for (const { path, url } of handlersOf(container)) {
      const prober = proberOf(objectAt(container, ...path), container, meshStatusPort);
      if (prober !== undefined) found.push([url, prober]);
    }
  }
  return found.length === 0 ? '' : goJson(Object.fromEntries(found) as JsonObject);
}

function proberOf(handler: JsonObject, container: Container, meshStatusPort: number): JsonObject | undefined {
  const timeout =
    handler.timeoutSeconds === undefined || handler.timeoutSeconds === 0
      ? {}
      : { timeoutSeconds: handler.timeoutSeconds };
  for (const kind of ['httpGet', 'tcpSocket', 'grpc'] as const) {
    const action = handler[kind];
    if (!isObject(action)) continue;
    if (kind === 'grpc') return { grpc: { ...action, service: action.service ?? null }, ...timeout };
    const port = typeof action.port === 'string' ? namedPort(container, action.port) : (action.port ?? 0);
    if (port === undefined || port === meshStatusPort) return undefined;
    return { [kind]: { ...action, port }, ...timeout };
  }
  return undefined;
}

function namedPort(container: Container, name: string): Json | undefined {
  return listAt(container, 'ports').findLast(port => port.name === name && name !== '')?.containerPort;
}

/** Every handler that asks the network asks the agent at `statusPort` instead. */
export function withRewrittenProbes(pod: Pod, statusPort: number): Pod {
  return (['containers', 'initContainers'] as const).reduce((before, list) => {
    const changed = containersOf(before, list).map(container =>
      container.name === PROXY
        ? container
        : handlersOf(container).reduce((one, handler) => rewritten(one, handler, statusPort), container),
    );
    return withContainers(before, list, changed);
  }, pod);
}

function rewritten(container: Container, { path, url }: Handler, statusPort: number): Container {
  const handler = objectAt(container, ...path);
  const { httpGet, tcpSocket, grpc, ...rest } = handler;
  if (!isObject(httpGet) && !isObject(tcpSocket) && (!isObject(grpc) || path.length > 1)) return container;
  const action = isObject(httpGet) ? httpGet : {};
  const scheme = action.scheme === 'HTTPS' ? { scheme: 'HTTP' } : {};
  const now = { ...rest, httpGet: { ...action, ...scheme, path: url, port: statusPort } };
  const [outer, inner] = path;
  if (inner === undefined) return { ...container, [outer!]: now };
  return { ...container, [outer!]: { ...objectAt(container, outer!), [inner]: now } };
}

/** On injection again, the originals that the proxy knows already stay. */
export function mergedProbers(known: string, now: string): string {
  try {
    const [old, fresh] = [JSON.parse(known) as Json, JSON.parse(now) as Json];
    return isObject(old) && isObject(fresh) ? goJson({ ...fresh, ...old }) : known;
  } catch {
    return known;
  }
}
