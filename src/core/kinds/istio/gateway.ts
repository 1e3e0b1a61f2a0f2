// Gateway: the servers of a gateway proxy. Rules: Istio pkg/config/validation (ValidateGateway).

import { isObject } from '../../base/json.ts';
import type { RawObject } from '../../event.ts';
import { isHttp, isTls, protocolOf } from '../../model/protocol.ts';
import type { Gateway, Server } from '../../schema/istio-types.gen.ts';
import { each, type Reference, type Referring, workloads } from '../references.ts';
import { quoted, type Report } from '../report.ts';
import { checkIp, checkUnixAddress, isUnixAddress } from '../validate/addresses.ts';
import { checkPort, checkProtocol } from '../validate/ports.ts';
import { istioKind, NETWORKING, NETWORKING_VERSIONS } from './istio-kind.ts';
import { serverSecrets } from './server-secrets.ts';
import { checkNamespacedHost, isLabel } from './validate/hosts.ts';
import { checkServerTls } from './validate/server-tls.ts';

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly Gateway: { readonly spec: Gateway; readonly push: 'config' };
  }
}

export const gateway = istioKind({
  kind: 'Gateway',
  group: NETWORKING,
  versions: NETWORKING_VERSIONS,
  push: 'config',
  type: 'istio.networking.v1alpha3.Gateway',
  rules: checkGateway,
  references: gatewayReferences,
});

function checkGateway(spec: Gateway, report: Report, raw: RawObject): void {
  const name = isObject(raw.metadata) ? raw.metadata.name : undefined;
  if (typeof name === 'string' && name !== '' && !isLabel(name)) {
    report('metadata.name', `${quoted(name)} is not the name of a Gateway: expected no dots, at most 63 characters`);
  }
  const servers = spec.servers ?? [];
  if (servers.length === 0) report('spec.servers', 'is empty; expected at least one server');
  const portNames = new Set<string>();
  servers.forEach((server, i) => {
    checkServer(server, `spec.servers[${i}]`, report);
    const portName = server.port?.name ?? '';
    if (portName !== '' && portNames.has(portName)) {
      report(`spec.servers[${i}].port.name`, `${quoted(portName)} is the name of an earlier port too`);
    }
    portNames.add(portName);
  });
}

function checkServer(server: Server, path: string, report: Report): void {
  const hosts = server.hosts ?? [];
  if (hosts.length === 0) report(`${path}.hosts`, 'is empty; expected at least one host');
  hosts.forEach((host, i) => {
    checkNamespacedHost(host, 'Gateway', `${path}.hosts[${i}]`, report);
  });
  if (server.bind) {
    if (isUnixAddress(server.bind)) checkUnixAddress(server.bind, `${path}.bind`, report);
    else checkIp(server.bind, `${path}.bind`, report);
  }
  checkServerTls(server.tls, `${path}.tls`, report);
  const { port } = server;
  if (port === undefined) {
    report(`${path}.port`, 'is missing; expected number, name and protocol');
    return;
  }
  checkProtocol(port.protocol ?? '', `${path}.port.protocol`, report);
  if (server.bind === undefined || !isUnixAddress(server.bind)) checkPort(port.number, `${path}.port.number`, report);
  else if (port.number) report(`${path}.port.number`, 'must be 0 for a server that is bound to a socket');
  if (port.targetPort) report(`${path}.port.targetPort`, 'has no meaning on a Gateway');
  if (!port.name) report(`${path}.port.name`, 'is missing');
  checkTlsOfProtocol(server, path, report);
}

function checkTlsOfProtocol(server: Server, path: string, report: Report): void {
  const text = server.port?.protocol ?? '';
  const protocol = protocolOf(text);
  const { tls } = server;
  if (isTls(protocol)) {
    if (tls === undefined) report(`${path}.tls`, `is missing; a server of protocol ${text} needs it`);
  } else if (tls !== undefined) {
    const redirectOnly =
      ['PASSTHROUGH', 'AUTO_PASSTHROUGH'].includes(tls.mode ?? 'PASSTHROUGH') &&
      !tls.caCertificates &&
      !tls.privateKey &&
      !tls.serverCertificate;
    if (!isHttp(protocol)) report(`${path}.tls`, `has no meaning for protocol ${text}`);
    else if (!redirectOnly) report(`${path}.tls`, `protocol ${text} is plain text: expected httpsRedirect at most`);
  }
}

/** The Secrets of its servers, and the workloads that it is for, wherever they are. */
function gatewayReferences({ namespace, spec }: Referring<Gateway>): readonly Reference[] {
  return [
    ...workloads('spec.selector', spec.selector, 'mesh'),
    ...each('spec.servers', spec.servers, (path, { tls }) => serverSecrets(`${path}.tls`, namespace, tls)),
  ];
}
