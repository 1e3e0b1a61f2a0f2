// Sidecar: the imports and listeners of a sidecar. Rules: Istio pkg/config/validation (ValidateSidecar).

import type { Obj } from '../../model/object.ts';
import { isTls, protocolOf } from '../../model/protocol.ts';
import type {
  IstioEgressListener,
  IstioIngressListener,
  OutboundTrafficPolicy,
  ServerTLSSettings,
  Sidecar,
  SidecarPort,
} from '../../schema/istio-types.gen.ts';
import { each, host, type Reference, workloads } from '../references.ts';
import { quoted, type Report } from '../report.ts';
import { checkIp, checkUnixAddress, isUnixAddress } from '../validate/addresses.ts';
import { checkPort, checkProtocol, isPort } from '../validate/ports.ts';
import { istioKind, NETWORKING, NETWORKING_VERSIONS } from './istio-kind.ts';
import { serverSecrets } from './server-secrets.ts';
import { checkConnectionPool } from './validate/connection-pool.ts';
import { checkDestination } from './validate/destinations.ts';
import { checkFqdn, checkNamespacedHost, isLabel } from './validate/hosts.ts';
import { checkSelector } from './validate/selectors.ts';
import { checkServerTls } from './validate/server-tls.ts';

declare module '../../model/kind.ts' {
  interface KindTypes {
    readonly Sidecar: { readonly spec: Sidecar; readonly push: 'config' };
  }
}

export const sidecar = istioKind({
  kind: 'Sidecar',
  group: NETWORKING,
  versions: NETWORKING_VERSIONS,
  push: 'config',
  type: 'istio.networking.v1alpha3.Sidecar',
  references: sidecarReferences,
  rules: checkSidecar,
});

function checkSidecar(spec: Sidecar, report: Report): void {
  const { ingress = [], egress = [] } = spec;
  checkSelector(spec.workloadSelector?.labels, 'spec.workloadSelector.labels', report);
  const nothing = ingress.length + egress.length === 0 && !spec.outboundTrafficPolicy && !spec.inboundConnectionPool;
  if (nothing) report('spec', 'is empty: expected ingress, egress, outboundTrafficPolicy or inboundConnectionPool');
  checkConnectionPool(spec.inboundConnectionPool, 'spec.inboundConnectionPool', report);
  const ports = new Set<string>();
  ingress.forEach((listener, i) => {
    checkIngress(listener, ports, `spec.ingress[${i}]`, report);
  });
  checkEgress(egress, report);
  checkOutbound(spec.outboundTrafficPolicy, report);
}

function checkIngress(listener: IstioIngressListener, taken: Set<string>, path: string, report: Report): void {
  checkConnectionPool(listener.connectionPool, `${path}.connectionPool`, report);
  const { port } = listener;
  if (port === undefined) {
    report(`${path}.port`, 'is missing');
    return;
  }
  checkPortAndProtocol(port, path, report);
  checkPort(port.number, `${path}.port.number`, report);
  if (listener.bind) checkIp(listener.bind, `${path}.bind`, report);
  if (listener.tls !== undefined) checkIngressTls(listener.tls, port, `${path}.tls`, report);
  takePort(`${port.number}`, taken, path, report);
  if (listener.defaultEndpoint) checkDefaultEndpoint(listener.defaultEndpoint, `${path}.defaultEndpoint`, report);
}

/** A subset of a Gateway's TLS: certificates from files, and plain text to the application. */
function checkIngressTls(tls: ServerTLSSettings, port: SidecarPort, path: string, report: Report): void {
  const { mode = 'PASSTHROUGH' } = tls;
  const why = 'is not supported in a Sidecar';
  for (const field of ['subjectAltNames', 'credentialNames', 'tlsCertificates'] as const) {
    if ((tls[field] ?? []).length > 0) report(`${path}.${field}`, why);
  }
  if (tls.httpsRedirect) report(`${path}.httpsRedirect`, why);
  if (tls.credentialName) report(`${path}.credentialName`, why);
  if (mode === 'ISTIO_MUTUAL' || mode === 'AUTO_PASSTHROUGH') report(`${path}.mode`, `${mode} ${why}`);
  if (!isTls(protocolOf(port.protocol ?? ''))) report(path, `has no meaning for protocol ${port.protocol ?? ''}`);
  checkServerTls(tls, path, report);
}

/** The application beside the proxy: this pod, on some port, or a socket. */
function checkDefaultEndpoint(endpoint: string, path: string, report: Report): void {
  if (isUnixAddress(endpoint)) {
    checkUnixAddress(endpoint, path, report);
    return;
  }
  const found = /^(127\.0\.0\.1|0\.0\.0\.0|\[::1\]|\[::\]|):(\d{1,9})$/.exec(endpoint);
  if (found === null || !isPort(Number(found[2]))) {
    const expected = 'expected 127.0.0.1:PORT, 0.0.0.0:PORT, [::1]:PORT, [::]:PORT or unix:///path';
    report(path, `${quoted(endpoint)} is not the endpoint of an application: ${expected}`);
  }
}

function checkEgress(egress: readonly IstioEgressListener[], report: Report): void {
  const taken = new Set<string>();
  egress.forEach((listener, i) => {
    const path = `spec.egress[${i}]`;
    const hosts = listener.hosts ?? [];
    if (hosts.length === 0) report(`${path}.hosts`, 'is empty; expected at least one host');
    hosts.forEach((host, j) => {
      checkNamespacedHost(host, 'Sidecar', `${path}.hosts[${j}]`, report);
    });
    if (listener.port === undefined) {
      if (i < egress.length - 1) report(`${path}.port`, 'is missing; only the last listener may be for all ports');
    } else checkEgressPort(listener, listener.port, taken, path, report);
  });
}

function checkEgressPort(
  listener: IstioEgressListener,
  port: SidecarPort,
  taken: Set<string>,
  path: string,
  report: Report,
): void {
  const { bind = '', captureMode = 'DEFAULT' } = listener;
  checkPortAndProtocol(port, path, report);
  if (port.number) {
    checkPort(port.number, `${path}.port.number`, report);
    if (bind !== '') checkIp(bind, `${path}.bind`, report);
    takePort(`${port.number}`, taken, path, report);
    return;
  }
  if (!isUnixAddress(bind)) report(`${path}.port.number`, 'is missing; only a listener bound to unix://… has none');
  else checkUnixAddress(bind, `${path}.bind`, report);
  if (captureMode !== 'DEFAULT' && captureMode !== 'NONE') {
    report(`${path}.captureMode`, `is ${captureMode}; a listener on a socket has DEFAULT or NONE`);
  }
  takePort(bind, taken, path, report);
}

function checkPortAndProtocol(port: SidecarPort, path: string, report: Report): void {
  if (port.name && !isLabel(port.name)) report(`${path}.port.name`, `${quoted(port.name)} is not the name of a port`);
  if (port.protocol) checkProtocol(port.protocol, `${path}.port.protocol`, report);
  if (port.targetPort) report(`${path}.port.targetPort`, 'has no meaning in a Sidecar');
}

function takePort(port: string, taken: Set<string>, path: string, report: Report): void {
  if (taken.has(port)) report(`${path}.port`, `${port} is the port of an earlier listener too`);
  taken.add(port);
}

function checkOutbound(policy: OutboundTrafficPolicy | undefined, report: Report): void {
  const proxy = policy?.egressProxy;
  if (proxy === undefined) return;
  const path = 'spec.outboundTrafficPolicy.egressProxy';
  if ((policy?.mode ?? 'REGISTRY_ONLY') !== 'ALLOW_ANY') {
    report(path, 'is possible with mode ALLOW_ANY only');
    return;
  }
  checkFqdn(proxy.host, `${path}.host`, report);
  if (proxy.port === undefined) report(`${path}.port`, 'is missing');
  checkDestination(proxy, path, report);
}

/** Hosts that it imports by their whole name, and its egress proxies. */
function sidecarReferences({ namespace, spec }: Obj<'Sidecar'>): readonly Reference[] {
  return [
    ...workloads('spec.workloadSelector', spec.workloadSelector?.labels, 'policy'),
    ...each('spec.egress', spec.egress, (path, { hosts }) =>
      each(`${path}.hosts`, hosts, (at, text) => {
        const name = text.slice(text.indexOf('/') + 1);
        return name.startsWith('*') || text.startsWith('~') ? [] : host(at, { host: name });
      }),
    ),
    ...each('spec.ingress', spec.ingress, (path, { tls }) => serverSecrets(`${path}.tls`, namespace, tls)),
    ...host('spec.outboundTrafficPolicy.egressProxy', spec.outboundTrafficPolicy?.egressProxy),
  ];
}
