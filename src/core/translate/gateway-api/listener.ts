// One listener, of a Gateway or of a ListenerSet: what routes see of it, what its status says, and the server that it
// becomes.
//
// An invalid listener is not served and yet remains a parent: routes attach to it, are counted, and wait for it to be
// mended.
// Source: Istio pilot/pkg/config/kube/gateway/conversion.go (buildListener, buildHostnameMatch).

import type { Reader } from '../../query/reader.ts';
import type { GatewayListener, KubernetesGatewayTls } from '../../schema/gateway-api-types.gen.ts';
import type { Server } from '../../schema/istio-types.gen.ts';
import type { ClassRole } from './classes.ts';
import { type ConfigError, configError, quoted } from './config-error.ts';
import { namespacesSelected } from './label-selector.ts';
import { type ListenerOwner, listenerTls } from './listener-tls.ts';
import { type RouteKind, supportedKinds } from './route-kinds.ts';

export interface TranslatedListener {
  readonly name: string;
  readonly port: number;
  readonly protocol: string;
  /** '' for any host. */
  readonly hostname: string;
  /** `namespace/host`; `*` is every namespace, `~` none. */
  readonly hosts: readonly string[];
  readonly kinds: readonly RouteKind[];
  /** Undefined: the listener is invalid. */
  readonly server: Server | undefined;
  /** What its conditions say, where it is not that all is well. */
  readonly accepted: ConfigError | undefined;
  readonly programmed: ConfigError | undefined;
  readonly resolvedRefs: ConfigError | undefined;
}

export interface ListenerPlace {
  readonly owner: ListenerOwner;
  readonly role: ClassRole;
  readonly gatewayTls: KubernetesGatewayTls | undefined;
}

const UNSUPPORTED_PROTOCOL = 'UnsupportedProtocol';
const HBONE = 'HBONE';
const HBONE_PORT = 15_008;
const KNOWN: readonly string[] = ['HTTP', 'HTTPS', 'TLS', 'TCP', HBONE];
/** Required of a port; each server has a Gateway of its own, so all may have one name. */
const PORT_NAME = 'default';

export function translateListener(reader: Reader, place: ListenerPlace, written: GatewayListener): TranslatedListener {
  const { owner, role, gatewayTls } = place;
  const listener = { ...written, port: portOf(written) };
  const tls = listenerTls(reader, owner, listener, gatewayTls);
  const refused = protocolError(reader, role, listener.protocol) ?? portError(listener);
  const { kinds, complete } = supportedKinds(listener);
  const hosts = hostsOf(reader, owner.namespace, listener);
  const valid = tls.error === undefined && refused === undefined;
  const badKinds = complete ? undefined : configError('InvalidRouteKinds', 'Invalid route kinds');
  return {
    name: listener.name,
    port: listener.port,
    protocol: listener.protocol,
    hostname: listener.hostname ?? '',
    hosts,
    kinds,
    server: valid
      ? { port: { number: listener.port, name: PORT_NAME, protocol: listener.protocol }, hosts, ...tlsOf(tls.settings) }
      : undefined,
    accepted: formError(role, listener) ?? refused,
    programmed: tls.error === undefined ? undefined : configError('Invalid', 'Bad TLS configuration'),
    resolvedRefs: badKinds ?? tls.error,
  };
}

function tlsOf(tls: Server['tls']): Pick<Server, 'tls'> {
  return tls === undefined ? {} : { tls };
}

/** A ListenerSet may leave the port to the protocol. */
function portOf({ port, protocol }: GatewayListener): number {
  if (port) return port;
  return protocol === 'HTTP' ? 80 : protocol === 'HTTPS' ? 443 : 0;
}

function portError({ port, protocol }: GatewayListener): ConfigError | undefined {
  if (port !== 0) return undefined;
  return configError(UNSUPPORTED_PROTOCOL, `protocol ${protocol} requires a port to be set`);
}

function protocolError(reader: Reader, role: ClassRole, protocol: string): ConfigError | undefined {
  const message = protocolProblem(reader, role, protocol);
  return message === undefined ? undefined : configError(UNSUPPORTED_PROTOCOL, message);
}

function protocolProblem(reader: Reader, role: ClassRole, protocol: string): string | undefined {
  switch (protocol) {
    case 'HTTP':
    case 'HTTPS':
    case 'TLS':
      return undefined;
    case 'TCP':
      if (reader.feature('PILOT_ENABLE_ALPHA_GATEWAY_API')) return undefined;
      return 'protocol "TCP" is supported, but only when PILOT_ENABLE_ALPHA_GATEWAY_API=true is configured';
    case HBONE:
      if (role === 'waypoint' || role === 'eastWest') return undefined;
      return 'protocol "HBONE" is only supported for waypoint proxies';
    default: {
      const upper = protocol.toUpperCase();
      if (!KNOWN.includes(upper)) return `protocol ${quoted(protocol)} is unsupported`;
      return `protocol ${quoted(protocol)} is unsupported. hint: ${quoted(upper)} (uppercase) may be supported`;
    }
  }
}

/** Said of the listener without making it invalid. */
function formError(role: ClassRole, { port, protocol, tls }: GatewayListener): ConfigError | undefined {
  const isHbone = port === HBONE_PORT && protocol === HBONE;
  if (role === 'waypoint' && !isHbone) {
    return configError(UNSUPPORTED_PROTOCOL, 'Expected a single listener on port 15008 with protocol "HBONE"');
  }
  const passes = port !== HBONE_PORT && protocol === 'TLS' && tls?.mode === 'Passthrough';
  if (role !== 'eastWest' || passes || (isHbone && tls?.mode === 'Terminate')) return undefined;
  return configError(
    UNSUPPORTED_PROTOCOL,
    'East-west gateway listeners must be either port 15008 with protocol "HBONE" and TLS.Mode == Terminate, or TLS with TLS.Mode == Passthrough',
  );
}

/** `~` matches no namespace: the server is there, for its SNI, and no route can attach. */
function hostsOf(
  reader: Reader,
  namespace: string,
  { hostname = '*', allowedRoutes }: GatewayListener,
): readonly string[] {
  const hosts = namespacesOf(reader, namespace, allowedRoutes).map(name => `${name}/${hostname}`);
  return hosts.length === 0 ? [`~/${hostname}`] : hosts;
}

function namespacesOf(
  reader: Reader,
  own: string,
  allowed: GatewayListener['allowedRoutes'] | undefined,
): readonly string[] {
  const from = allowed?.namespaces?.from ?? 'Same';
  if (from === 'Same') return [own];
  const selector = allowed?.namespaces?.selector;
  if (from === 'All' || selector === undefined) return ['*'];
  return namespacesSelected(reader, selector);
}
