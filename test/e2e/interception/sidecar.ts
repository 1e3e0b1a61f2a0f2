// A sidecar in a pod: a stock Envoy to which all traffic of the pod is redirected.

import { join } from 'node:path';
import type { JsonObject } from '../../../src/core/base/json.ts';
import { bootstrap } from '../../../src/demo/envoy.ts';
import { type Pod, SIDECAR_GID } from './pods.ts';

export interface SidecarOptions {
  readonly binary: string;
  readonly protocol: 'delta' | 'sotw';
  /** Path of the admin socket. */
  readonly admin: string;
  /** Port of the control plane, at the first address of the pod's network. */
  readonly xdsPort: number;
  /** File descriptor of Envoy's log. */
  readonly output: number;
  /** Changes the bootstrap, e.g. to reach the control plane over TLS. */
  readonly adapt?: (config: JsonObject) => JsonObject;
}

export async function startSidecar(pod: Pod, options: SidecarOptions): Promise<void> {
  const { binary, protocol, admin, xdsPort, output, adapt = same } = options;
  const metadata = {
    NAMESPACE: 'default',
    CLUSTER_ID: 'Kubernetes',
    INTERCEPTION_MODE: 'REDIRECT',
    INSTANCE_IPS: pod.address,
    LABELS: { app: pod.name },
    SERVICE_ACCOUNT: pod.name,
  };
  const config = bootstrap({
    node: {
      id: `sidecar~${pod.address}~${pod.name}.default~default.svc.cluster.local`,
      cluster: `${pod.name}.default`,
      metadata,
    },
    protocol,
    admin: { pipe: admin },
    xds: { host: `${pod.address.slice(0, -1)}1`, port: xdsPort },
  });
  const flags = ['--disable-hot-restart', '--concurrency', '1', '-l', 'warning'];
  pod.start([binary, '--config-yaml', JSON.stringify(adapt(config)), ...flags], { gid: SIDECAR_GID, output });
  await pod.run('sh', join(import.meta.dirname, 'redirect.sh'), String(SIDECAR_GID));
}

function same(config: JsonObject): JsonObject {
  return config;
}
