// The remote clusters of a process: how they are connected, and their metrics by istiod's names.
// Source of the metrics: Istio pkg/kube/multicluster/cluster.go, pkg/kube/multicluster/secretcontroller.go.

import { randomInt } from 'node:crypto';
import { Counter, Gauge, type Registry } from 'prom-client';
import { type Connection, connectRemote, type RemoteConnection } from '../adapters/kube/remote.ts';
import { ClusterWriter } from '../adapters/kube/write/cluster-writer.ts';
import { LiveObjects } from '../adapters/kube/write/live-objects.ts';
import { VERSION } from '../admin/version.ts';
import { caBundles } from '../admission/wishes/ca-bundles.ts';
import { allWishes } from '../admission/wishes/table.ts';
import { featureOf } from '../core/mesh/features.ts';
import type { Settings } from '../core/mesh/settings.ts';
import { rootCertificateWishes, serviceExportWishes } from '../core/wishes/table.ts';
import { AccessAdapter } from '../identity/sources/access-adapter.ts';
import { type AdapterOptions, ignoredOf, type WriteOptions } from './adapters.ts';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';
import { RemoteClusterSet, type RemoteClustersOptions, type RemoteObservation } from './remote-clusters.ts';

const RANDOM_MAX = 2 ** 47;
/** Requests per second to each cluster, and burst, without a config cluster. */
const DEFAULT_LIMIT = { qps: 80, burst: 160 };

export function openRemoteClusters(
  { kube, settings, writes }: Pick<AdapterOptions, 'kube' | 'writes'> & { readonly settings: Settings },
  { world, own, clock, log, registry, isPaused }: RemoteEnvironment,
): RemoteClusterSet {
  const chance = { now: () => clock.now(), after: clock.after, random: () => randomInt(RANDOM_MAX) / RANDOM_MAX };
  const limit = kube === undefined ? DEFAULT_LIMIT : { qps: kube.qps, burst: kube.burst };
  const isLed = writes !== undefined && featureOf(settings, 'EXTERNAL_ISTIOD');
  const ignores = ignoredOf(settings);
  const asksRights = featureOf(settings, 'PERIPLUS_SECRET_ACCESS') === 'review';
  const exports = writes !== undefined && featureOf(settings, 'ENABLE_MCS_AUTO_EXPORT');
  const features = [...(isLed ? [rootCertificateWishes, caBundles] : []), ...(exports ? [serviceExportWishes] : [])];
  const observed = features.flatMap(({ observes }) => observes);
  const written =
    (cluster: string, live: LiveObjects, how: WriteOptions) =>
    (connected: Connection): RemoteConnection => ({
      ...connected,
      writer: new ClusterWriter({
        cluster,
        live,
        writes: connected.connection(),
        locks: connected.connection(),
        chance,
        log: (level, message) => log(level, `cluster ${cluster}: ${message}`),
        namespace: settings.systemNamespace,
        revision: settings.revision,
        table: allWishes,
        isRemote: true,
        ...how,
      }),
    });
  const set: RemoteClusterSet = new RemoteClusterSet({
    ...{ world, own, clock, log, isPaused },
    ...(asksRights ? { rights: (cluster, call) => new AccessAdapter({ cluster, call, after: clock.after, log }) } : {}),
    connect: ({ id, secret, kubeconfig }) => {
      if (kubeconfig === undefined) return Promise.reject(new Error('there is no usable kubeconfig'));
      const live = observed.length > 0 ? new LiveObjects(observed, settings) : undefined;
      const connecting = connectRemote({
        cluster: id,
        live,
        isLed,
        ignores,
        kubeconfig,
        from: `Secret ${secret}`,
        systemNamespace: settings.systemNamespace,
        limit,
        chance,
        log: (level, message) => log(level, `cluster ${id}: ${message}`),
        userAgent: `periplus/${VERSION}`,
      });
      return live === undefined || writes === undefined ? connecting : connecting.then(written(id, live, writes));
    },
    ...(registry === undefined ? {} : { observe: measured(registry, () => set) }),
  });
  return set;
}

interface RemoteEnvironment {
  readonly world: RemoteClustersOptions['world'];
  readonly own?: RemoteClustersOptions['own'];
  readonly clock: Clock;
  readonly log: Log;
  readonly registry?: Registry;
  /** Until this replica leads. */
  readonly isPaused?: boolean;
}

const STATUSES = ['synced', 'syncing', 'timeout', 'closed'] as const;

function measured(registry: Registry, set: () => RemoteClusterSet | undefined): (event: RemoteObservation) => void {
  const registers = [registry];
  const timeouts = new Counter({
    name: 'remote_cluster_sync_timeouts_total',
    help: 'Remote clusters that were not listed in time, by cluster.',
    labelNames: ['cluster'],
    registers,
  });
  const secrets = new Counter({
    name: 'remote_cluster_secret_events_total',
    help: 'Remote clusters that came, changed and went.',
    labelNames: ['event'],
    registers,
  });
  new Gauge({
    name: 'istiod_managed_clusters',
    help: 'Clusters, local and remote.',
    labelNames: ['cluster_type'],
    registers,
    collect() {
      this.set({ cluster_type: 'local' }, 1);
      this.set({ cluster_type: 'remote' }, set()?.rows().length ?? 0);
    },
  });
  new Gauge({
    name: 'istiod_remote_cluster_sync_status',
    help: '1 for the present status of a remote cluster.',
    labelNames: ['cluster', 'cluster_type', 'status'],
    registers,
    collect() {
      this.reset();
      for (const { id: cluster, syncStatus } of set()?.rows() ?? []) {
        for (const status of STATUSES) {
          this.set({ cluster, cluster_type: 'remote', status }, status === syncStatus ? 1 : 0);
        }
      }
    },
  });
  return event => {
    if (event.kind === 'timeout') timeouts.inc({ cluster: event.cluster });
    else secrets.inc({ event: event.event });
  };
}
