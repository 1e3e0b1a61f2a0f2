// The injector's configuration of this project, for clusters and folders that have no ConfigMap istio-sidecar-injector.

import type { JsonObject } from '../../core/base/json.ts';
import { grpcAgent, grpcSimple } from './grpc.ts';
import { kubeGateway } from './kube-gateway.ts';
import { gateway, sidecar } from './pods.ts';

export const ownConfig: JsonObject = {
  policy: 'enabled',
  defaultTemplates: ['sidecar'],
  templates: { sidecar, gateway, 'grpc-agent': grpcAgent, 'grpc-simple': grpcSimple, 'kube-gateway': kubeGateway },
};

/** The release of istio-proxy that the generated configuration is for. */
const IMAGE_TAG = '1.30.3';

export interface Installation {
  readonly system: string;
  readonly revision: string;
  readonly cluster: string;
  /** Flags of the control plane that templates read. */
  readonly env: JsonObject;
}

/** The members of Istio's values that the templates read. */
export function ownValues({ system, revision, cluster, env }: Installation): JsonObject {
  return {
    revision: revision === 'default' ? '' : revision,
    pilot: { cni: { enabled: false }, env },
    gateways: {},
    sidecarInjectorWebhook: { rewriteAppHTTPProbe: true },
    global: {
      istioNamespace: system,
      hub: 'docker.io/istio',
      tag: IMAGE_TAG,
      pilotCertProvider: 'istiod',
      logging: { level: 'default:info' },
      multiCluster: { clusterName: cluster },
      network: '',
      sds: { token: { aud: 'istio-ca' } },
      proxy: {
        image: 'proxyv2',
        clusterDomain: 'cluster.local',
        logLevel: 'warning',
        componentLogLevel: 'misc:error',
        statusPort: 15_020,
        includeIPRanges: '*',
        excludeIPRanges: '',
        includeInboundPorts: '*',
        excludeInboundPorts: '',
        excludeOutboundPorts: '',
        readinessInitialDelaySeconds: 0,
        readinessPeriodSeconds: 15,
        readinessFailureThreshold: 4,
        startupProbe: { enabled: true, failureThreshold: 600 },
        resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '2000m', memory: '1024Mi' } },
      },
      proxy_init: { image: 'proxyv2' },
    },
  };
}
