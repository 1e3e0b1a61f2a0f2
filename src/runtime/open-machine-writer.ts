// The writer of WorkloadEntries of a replica that follows, put together with its API server; none where this process is
// no replica, has no API server or writes nothing.

import { connectKube } from '../adapters/kube/kube-adapter.ts';
import { ClusterWriter } from '../adapters/kube/write/cluster-writer.ts';
import { LiveObjects } from '../adapters/kube/write/live-objects.ts';
import { VERSION } from '../admin/version.ts';
import { registrationWishes, tableOf } from '../core/wishes/table.ts';
import { chanceOf } from './adapters.ts';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';
import { type MachineConnection, MachineWriter } from './machine-writer.ts';
import type { ServeOptions } from './serve-options.ts';

const machineWishes = tableOf('wish-table-of-machines', [registrationWishes]);

export function openMachineWriter(options: ServeOptions, clock: Clock, log: Log): MachineWriter | undefined {
  const { kube, writes, settings, replica } = options;
  if (kube === undefined || writes === undefined || replica === undefined) return undefined;
  const { clusterId: cluster, systemNamespace: namespace, revision } = settings;
  const chance = chanceOf(clock);
  const connect = async (): Promise<MachineConnection> => {
    const { kubeconfig, context, qps, burst } = kube;
    const live = new LiveObjects(registrationWishes.observes, settings);
    const userAgent = `periplus/${VERSION}`;
    const remote = { kinds: new Set(['WorkloadEntry'] as const) };
    const common = { cluster, chance, log, live };
    const connected = await connectKube({ ...common, kubeconfig, context, limit: { qps, burst }, userAgent, remote });
    const { adapter, credentials, connection } = connected;
    const writer = new ClusterWriter({
      ...{ ...common, namespace, revision, table: machineWishes },
      ...{ writes: connection(), locks: connection(), ...writes },
    });
    return { watch: adapter, writer, close: () => credentials.close() };
  };
  return new MachineWriter({ connect, after: clock.after, random: chance.random, log });
}
