// A connection to the API server of a remote cluster: its registry, the Secrets of gateways that run there, and nothing
// else. Istio configuration of a remote cluster has no effect, so it is not read.
// Source: Istio pkg/kube/multicluster/cluster.go, pilot/pkg/serviceregistry/kube/controller/controller.go.

import type { Kubeconfig } from '../../core/clusters/kubeconfig.ts';
import type { KindName } from '../../core/model/kind.ts';
import type { AdapterLog } from '../adapter.ts';
import type { Chance } from '../kit/clock.ts';
import { type Call, callsWith } from './calls.ts';
import { connectKube, type KubeAdapter } from './kube-adapter.ts';
import type { RateLimit } from './rate-limit.ts';

export const REMOTE_KINDS: readonly KindName[] = [
  'ConfigMap',
  'EndpointSlice',
  'Namespace',
  'Node',
  'Pod',
  'Secret',
  'Service',
  'ServiceExport',
  'ServiceImport',
];
/** Without these nothing of a cluster can be shown. */
export const REGISTRY_KINDS: readonly KindName[] = ['EndpointSlice', 'Namespace', 'Node', 'Pod', 'Service'];

export interface RemoteOptions {
  readonly cluster: string;
  readonly kubeconfig: Kubeconfig;
  /** Where the kubeconfig comes from, for messages. */
  readonly from: string;
  readonly systemNamespace: string;
  readonly limit: RateLimit;
  readonly chance: Chance;
  readonly log: AdapterLog;
  readonly userAgent: string;
}

export interface RemoteConnection {
  readonly adapter: Pick<KubeAdapter, 'source' | 'start' | 'stop' | 'status' | 'showListed'>;
  readonly call: Call;
  readonly shown: string;
  close(): void;
}

/** Rejects if the kubeconfig is unusable; the server need not be there. */
export async function connectRemote(options: RemoteOptions): Promise<RemoteConnection> {
  const { kubeconfig, from, systemNamespace, userAgent, ...rest } = options;
  const remote = { kinds: new Set(REMOTE_KINDS), systemNamespace };
  const { adapter, credentials } = await connectKube({ ...rest, userAgent, remote, given: { kubeconfig, from } });
  return {
    adapter,
    call: callsWith(credentials, userAgent),
    shown: credentials.shown,
    close: () => credentials.close(),
  };
}
