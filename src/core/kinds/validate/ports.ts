// Port numbers and Istio's names of protocols. Source: Istio pkg/config/validation/agent (ValidatePort),
// pkg/config/protocol.

import { quoted, type Report } from '../report.ts';

export const PORT_MAX = 65_535;
/** Of one EndpointSlice as an API server takes it, so no Service has more that lead anywhere. */
export const PORTS_MAX = 20_000;

/** A port number is required. */
export function checkPort(port: number | undefined, path: string, report: Report): void {
  if (port === undefined) report(path, 'is missing; expected a port from 1 to 65535');
  else if (!isPort(port)) report(path, `${port} is not a port: expected a number from 1 to ${PORT_MAX}`);
}

export function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= 1 && port <= PORT_MAX;
}

const PROTOCOLS: ReadonlySet<string> = new Set([
  'TCP',
  'UDP',
  'GRPC',
  'GRPC-WEB',
  'HTTP',
  'HTTP_PROXY',
  'HTTP2',
  'HTTPS',
  'TLS',
  'MONGO',
  'REDIS',
  'MYSQL',
]);

/** In any case. HBONE and the like are not for users. */
export function checkProtocol(protocol: string, path: string, report: Report): void {
  if (PROTOCOLS.has(protocol.toUpperCase())) return;
  report(path, `${quoted(protocol)} is not a protocol: expected one of ${[...PROTOCOLS].sort().join(', ')}`);
}
