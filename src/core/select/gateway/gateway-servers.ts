// One server of a Gateway on one port of a router: which protocol class it is of, what its route configuration is
// called, which names it serves over TLS. Facts of the server alone, without regard to other servers on the port
// (gateways.ts merges those).
// Source: Istio pkg/config/gateway/gateway.go, pilot/pkg/model/gateway.go.

import { isHttp, protocolOf } from '../../model/protocol.ts';
import type { Server } from '../../schema/istio-types.gen.ts';

export interface ServerPort {
  readonly name: string;
  readonly number: number;
  /** As written. */
  readonly protocol: string;
}

/** The port as declared; every accepted server has one, and one that is bound to a socket the number 0. */
export function serverPort({ port }: Server): ServerPort {
  const { name = '', number = 0, protocol = '' } = port ?? {};
  return { name, number, protocol };
}

/** HTTP, or HTTPS that is terminated here: such a server has a route configuration. */
export function isHttpServer(server: Server): boolean {
  const protocol = protocolOf(serverPort(server).protocol);
  return isHttp(protocol) || (protocol === 'HTTPS' && server.tls !== undefined && !isPassthrough(server));
}

/** `tls` on an HTTP port (for httpsRedirect) does not make a TLS server. */
export function isTlsServer(server: Server): boolean {
  return server.tls !== undefined && !isPlainHttp(server);
}

export function isPlainHttp(server: Server): boolean {
  return isHttp(protocolOf(serverPort(server).protocol));
}

function isPassthrough(server: Server): boolean {
  const mode = server.tls?.mode ?? 'PASSTHROUGH';
  return server.tls !== undefined && (mode === 'PASSTHROUGH' || mode === 'AUTO_PASSTHROUGH');
}

/**
 * Whether the server can be offered over QUIC as well: HTTPS that ends here. One that demands a certificate of its
 * clients cannot; Envoy would not ask for it there.
 */
export function isHttp3Server(server: Server): boolean {
  if (protocolOf(serverPort(server).protocol) !== 'HTTPS' || server.tls === undefined) return false;
  return server.tls.mode === 'SIMPLE' || server.tls.mode === 'OPTIONAL_MUTUAL';
}

/**
 * The name of the route configuration of a server, or '' if it has none. Plain HTTP servers of all Gateways share the
 * name of their port; a terminating HTTPS server has a name of its own. `port` is the resolved port.
 */
export function gatewayRouteName(server: Server, port: number, namespace: string, name: string): string {
  const bind = server.bind === undefined || server.bind === '' ? '' : `.${server.bind}`;
  if (isPlainHttp(server)) return `http.${port}${bind}`;
  if (protocolOf(serverPort(server).protocol) !== 'HTTPS' || isPassthrough(server)) return '';
  const declared = serverPort(server);
  return `https.${declared.number}.${declared.name}.${name}.${namespace}${bind}`;
}

/**
 * Hosts in normal form: `./h` means the Gateway's own namespace, `h` alone means any namespace, and `*` with any
 * namespace means every host.
 */
export function normalHosts(hosts: readonly string[], namespace: string): readonly string[] {
  if (hosts.includes('*/*')) return ['*'];
  return hosts.map(host => {
    if (host.startsWith('./')) return `${namespace}/${host.slice(2)}`;
    return host.startsWith('*/') ? host.slice(2) : host;
  });
}

/** The names a TLS server is found by, sorted, each once. */
export function sniHosts(hosts: readonly string[]): readonly string[] {
  return [...new Set(hosts.map(host => host.slice(host.indexOf('/') + 1)))].sort();
}
