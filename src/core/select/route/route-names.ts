// The parts of the name of a sidecar's route configuration. Listeners choose the names; this file parses them.
// Source: Istio pilot/pkg/networking/core/httproute.go.

export interface RouteName {
  /** Port of the services whose virtual hosts are wanted; 0 for all (proxy and unix routes). */
  readonly port: number;
  /** Set for a sniffed port of one service: the name in full and the host before the colon. */
  readonly sniffedHost?: string;
}

/** The route configuration of the mesh's HTTP proxy listener. */
export const HTTP_PROXY_ROUTE = 'http_proxy';
const UNIX_PREFIX = 'unix://';
const PORT_MAX = 65_535;

/** undefined: no such route configuration can exist; an empty one is sent then. */
export function parseRouteName(name: string): RouteName | undefined {
  if (name === HTTP_PROXY_ROUTE || name.startsWith(UNIX_PREFIX)) return { port: 0 };
  const colon = name.indexOf(':');
  const port = portOf(colon < 0 ? name : name.slice(colon + 1));
  if (port === undefined) return undefined;
  return colon < 0 ? { port } : { port, sniffedHost: name.slice(0, colon) };
}

function portOf(text: string): number | undefined {
  if (!/^[0-9]{1,5}$/.test(text)) return undefined;
  const port = Number(text);
  return port <= PORT_MAX ? port : undefined;
}
