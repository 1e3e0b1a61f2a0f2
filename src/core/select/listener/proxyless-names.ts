// What the listener names that a proxyless gRPC client asks for mean: hosts with or without a port, short names of the
// client's namespace, and the addresses that a gRPC server listens on.
//
// Names are pooled by host: a host that is asked for once without a port is wanted with all its ports, and every
// spelling of a host is answered for every port that any of them names.
// Source: Istio pilot/pkg/networking/grpcgen/lds.go (newListenerNameFilter, tryFindFQDN).

/** Stands before `address:port` in the name of a server's listener. */
export const SERVER_LISTENER_PREFIX = 'xds.istio.io/grpc/lds/inbound/';

/** The listeners wanted of one host. */
export interface WantedHost {
  /** The host as it was asked for, in each spelling. Sorted. */
  readonly spellings: readonly string[];
  /** Undefined: all ports. */
  readonly ports: ReadonlySet<string> | undefined;
}

export interface WantedListeners {
  /** By host. Undefined: the client named nothing, and wants every host under its own name. */
  readonly hosts: ReadonlyMap<string, WantedHost> | undefined;
  /** Names with SERVER_LISTENER_PREFIX, as asked for. */
  readonly servers: readonly string[];
}

export interface ClientPlace {
  /** Metadata NAMESPACE, else what the DNS domain says. */
  readonly namespace: string;
  /** E.g. `default.svc.cluster.local`. */
  readonly dnsDomain: string;
}

export function wantedListeners(names: readonly string[], place: ClientPlace): WantedListeners {
  if (names.length === 0) return { hosts: undefined, servers: [] };
  const found = new Map<string, { spellings: Set<string>; ports: Set<string> | undefined }>();
  for (const name of names) {
    if (name.startsWith(SERVER_LISTENER_PREFIX)) continue;
    const split = splitHostPort(name);
    const spelling = split?.host ?? name;
    for (const host of new Set([spelling, fullName(spelling, place) ?? spelling])) {
      const known = found.get(host) ?? { spellings: new Set(), ports: new Set() };
      known.spellings.add(spelling);
      if (split === undefined) known.ports = undefined;
      else known.ports?.add(split.port);
      found.set(host, known);
    }
  }
  const hosts = new Map<string, WantedHost>();
  for (const [host, { spellings, ports }] of found) hosts.set(host, { spellings: [...spellings].sort(), ports });
  return {
    hosts,
    servers: names.filter(name => name.startsWith(SERVER_LISTENER_PREFIX)),
  };
}

export interface HostPort {
  readonly host: string;
  readonly port: string;
}

/** `host:port` or `[host]:port`; undefined for a text of another form. As Go's net.SplitHostPort. */
export function splitHostPort(text: string): HostPort | undefined {
  const match = /^(?:\[([^[\]]*)\]|([^:[\]]*)):([^:[\]]*)$/.exec(text);
  return match === null ? undefined : { host: match[1] ?? match[2] ?? '', port: match[3] ?? '' };
}

export function joinHostPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** A name without a dot, or one that ends in the client's own namespace, in full. */
function fullName(name: string, { namespace, dnsDomain }: ClientPlace): string | undefined {
  if (!name.includes('.')) return `${name}.${dnsDomain}`;
  for (const suffix of [namespace, `${namespace}.svc`]) {
    if (name.endsWith(`.${suffix}`) && dnsDomain.startsWith(suffix)) {
      return `${name.slice(0, -suffix.length - 1)}.${dnsDomain}`;
    }
  }
  return undefined;
}
