// What a sidecar needs beside its bootstrap to take part in mesh mTLS, and what its admin address says.

import { get } from 'node:http';
import type { JsonObject } from '../../../src/core/base/json.ts';

/** The stream to the control plane over TLS, with a token. */
export function secured(config: JsonObject, roots: string, token: string): JsonObject {
  const text = JSON.stringify(config);
  const parsed = JSON.parse(text) as {
    dynamic_resources: { ads_config: { grpc_services: Record<string, unknown>[] } };
    static_resources: { clusters: Record<string, unknown>[] };
  };
  parsed.dynamic_resources.ads_config.grpc_services[0]!.initial_metadata = [
    { key: 'authorization', value: `Bearer ${token}` },
  ];
  parsed.static_resources.clusters[0]!.transport_socket = {
    name: 'envoy.transport_sockets.tls',
    typed_config: {
      '@type': 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext',
      sni: 'istiod.istio-system.svc',
      common_tls_context: {
        alpn_protocols: ['h2'],
        validation_context: {
          trusted_ca: { filename: roots },
          match_typed_subject_alt_names: [{ san_type: 'DNS', matcher: { exact: 'istiod.istio-system.svc' } }],
        },
      },
    },
  };
  return parsed as unknown as JsonObject;
}

/** One page of an Envoy's admin address, a socket in the file system. */
export function admin(socketPath: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get({ socketPath, path }, response => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve(text));
    }).on('error', reject);
  });
}
