// Secrets of remote clusters, as `istioctl create-remote-secret` writes them.

import { base64OfText } from '../../../../src/core/base/base64.ts';
import type { JsonObject } from '../../../../src/core/base/json.ts';

export const TOKEN = 'a-token-of-a-remote-cluster';

/** A kubeconfig whose server is called so. */
export function kubeconfigText(name: string, token = TOKEN): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server: `https://${name}:6443` } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    'current-context': name,
  });
}

/** `kubeconfigs`: by cluster. */
export function remoteSecret(
  name: string,
  kubeconfigs: Readonly<Record<string, string>>,
  meta: JsonObject = {},
): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: 'istio-system', labels: { 'istio/multiCluster': 'true' }, ...meta },
    type: 'Opaque',
    data: Object.fromEntries(Object.entries(kubeconfigs).map(([id, text]) => [id, base64OfText(text)])),
  };
}
