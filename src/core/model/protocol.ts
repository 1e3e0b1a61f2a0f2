// The protocol of a port: from the name or appProtocol of a Kubernetes port, or from the protocol field of the other
// kinds. An unknown text is not an error: `Unsupported` means that the proxy looks at the traffic itself. Source: Istio
// pkg/config/kube/conversion.go, pkg/config/protocol/instance.go (Parse).

import type { Protocol } from './service.ts';

const byText: Readonly<Record<string, Protocol>> = {
  tcp: 'TCP',
  udp: 'UDP',
  grpc: 'GRPC',
  'grpc-web': 'GRPC-Web',
  http: 'HTTP',
  http_proxy: 'HTTP_PROXY',
  http2: 'HTTP2',
  https: 'HTTPS',
  tls: 'TLS',
  mongo: 'Mongo',
  redis: 'Redis',
  mysql: 'MySQL',
};

/** Ports whose protocols speak server first: sniffing would wait for ever. */
const serverFirstPorts: ReadonlySet<number> = new Set([25, 53, 3306, 27017]);

const wellKnownAppProtocols: Readonly<Record<string, Protocol>> = {
  'kubernetes.io/h2c': 'HTTP2',
  'kubernetes.io/ws': 'HTTP',
  'kubernetes.io/wss': 'HTTPS',
};

/**
 * The protocol of a port of a Kubernetes Service. An appProtocol that is set hides the name, also when it is unknown.
 */
export function kubernetesProtocol(
  appProtocol: string | undefined,
  name: string,
  transport: string | undefined,
  port: number,
): Protocol {
  if (transport === 'UDP') return 'UDP';
  if (appProtocol !== undefined) {
    const known = wellKnownAppProtocols[appProtocol];
    if (known !== undefined) return known;
  }
  const text = appProtocol ?? name;
  if (text.toLowerCase().startsWith('grpc-web')) return 'GRPC-Web';
  const dash = text.indexOf('-');
  const protocol = protocolOf(dash < 0 ? text : text.slice(0, dash));
  return protocol === 'Unsupported' && serverFirstPorts.has(port) ? 'TCP' : protocol;
}

/** The protocol of a port of a ServiceEntry, Gateway or Sidecar: the whole text, in any case. */
export function protocolOf(text: string): Protocol {
  const lower = text.toLowerCase();
  return Object.hasOwn(byText, lower) ? byText[lower]! : 'Unsupported';
}

export function isHttp(protocol: Protocol): boolean {
  return (
    protocol === 'HTTP' ||
    protocol === 'HTTP2' ||
    protocol === 'HTTP_PROXY' ||
    protocol === 'GRPC' ||
    protocol === 'GRPC-Web'
  );
}

export function isTcp(protocol: Protocol): boolean {
  return (
    protocol === 'TCP' ||
    protocol === 'HTTPS' ||
    protocol === 'TLS' ||
    protocol === 'Mongo' ||
    protocol === 'Redis' ||
    protocol === 'MySQL'
  );
}

export function isTls(protocol: Protocol): boolean {
  return protocol === 'HTTPS' || protocol === 'TLS';
}

export function isHttp2(protocol: Protocol): boolean {
  return protocol === 'HTTP2' || protocol === 'GRPC' || protocol === 'GRPC-Web';
}

/** Neither HTTP nor TCP nor UDP: detected from the traffic. */
export function isUnsupported(protocol: Protocol): boolean {
  return protocol === 'Unsupported';
}
