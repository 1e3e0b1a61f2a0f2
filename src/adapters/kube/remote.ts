// A connection to the API server of a remote cluster: its registry (WorkloadEntries and Gateways of networks are part
// of it), the Secrets of gateways that run there, and nothing else. Other configuration of a remote cluster has no
// effect, so it is not read.
// Source: Istio pkg/kube/multicluster/cluster.go, pilot/pkg/serviceregistry/kube/controller/controller.go.

import type { Kubeconfig } from '../../core/clusters/kubeconfig.ts';
import type { KindName } from '../../core/model/kind.ts';
import type { Adapter, AdapterLog } from '../adapter.ts';
import type { Chance } from '../kit/clock.ts';
import type { HttpApi } from './api.ts';
import { type Call, callsWith } from './calls.ts';
import { connectKube, type KubeAdapter } from './kube-adapter.ts';
import type { RateLimit } from './rate-limit.ts';
import type { LiveObjects } from './write/live-objects.ts';

export const REMOTE_KINDS: readonly KindName[] = [
  'ConfigMap',
  'EndpointSlice',
  'Namespace',
  'Node',
  'Pod',
  'RemoteGateway',
  'RemoteWorkloadEntry',
  'Secret',
  'Service',
  'ServiceExport',
  'ServiceImport',
];
/** Read besides of a cluster that is led from outside (EXTERNAL_ISTIOD), and ConfigMaps of all its namespaces. */
const WRITTEN_KINDS: readonly KindName[] = ['ClusterTrustBundle', 'MutatingWebhookConfiguration'];
/** Everything that may be known of a cluster. */
export const ANY_REMOTE_KINDS: readonly KindName[] = [...REMOTE_KINDS, ...WRITTEN_KINDS];
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
  /** Of a cluster that is written to: receives what the watches show. */
  readonly live?: LiveObjects;
  /** Its roots and webhooks are written (EXTERNAL_ISTIOD). */
  readonly isLed?: boolean;
  /** Definitions of custom resources that are not looked at. */
  readonly ignores?: (name: string) => boolean;
}

export interface RemoteConnection {
  readonly adapter: Pick<KubeAdapter, 'source' | 'start' | 'stop' | 'status' | 'showListed'>;
  readonly call: Call;
  readonly shown: string;
  /** Writes what is wished of the cluster; absent: it is read only. */
  readonly writer?: Adapter;
  close(): void;
}

/** A remote connection that another may be made of. */
export interface Connection extends RemoteConnection {
  /** A connection with a rate limit of its own. */
  connection(): HttpApi;
}

/** Rejects if the kubeconfig is unusable; the server need not be there. */
export async function connectRemote(options: RemoteOptions): Promise<Connection> {
  const { kubeconfig, from, systemNamespace, userAgent, isLed, ...rest } = options;
  const remote =
    isLed !== true
      ? { kinds: new Set(REMOTE_KINDS), configMapsOf: systemNamespace }
      : { kinds: new Set(ANY_REMOTE_KINDS) };
  const connected = await connectKube({ ...rest, userAgent, remote, given: { kubeconfig, from } });
  const { adapter, credentials } = connected;
  return {
    adapter,
    call: callsWith(credentials, userAgent),
    shown: credentials.shown,
    connection: () => connected.connection(),
    close: () => credentials.close(),
  };
}
