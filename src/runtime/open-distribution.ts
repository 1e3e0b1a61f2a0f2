// The counts of what proxies have accepted, put together for a process: its own proxies, and of replicas those of the
// others. Only with an API server that is written to, because the counts become statuses there.

import type { Adapter } from '../adapters/adapter.ts';
import { type Count, type Counted, DistributionSource } from '../adapters/distribution/distribution-source.ts';
import { type AcceptedParts, AcceptedPositions } from '../admin/accepted.ts';
import { isObject, type Json } from '../core/base/json.ts';
import { objectName } from '../core/model/object.ts';
import type { AdapterOptions } from './adapters.ts';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';
import type { OpenedReplica } from './open-replica.ts';

export interface OpenDistribution {
  /** None where nothing is written. A replica that leads again needs a new one: an adapter starts once. */
  newAdapters(): readonly Adapter[];
  /** Once there are streams. */
  begin(parts: AcceptedParts, replicated: Pick<OpenedReplica, 'ask'> | undefined): void;
}

export function openDistribution(
  { kube, writes, settings }: Pick<AdapterOptions, 'kube' | 'settings' | 'writes'>,
  clock: Clock,
  log: Log,
): OpenDistribution {
  let positions: AcceptedPositions | undefined;
  let replicas: Pick<OpenedReplica, 'ask'> | undefined;
  const others = (objects: readonly Counted[]): Promise<readonly Count[] | undefined> => countsOf(replicas, objects);
  const accepted = (): readonly number[] => positions?.look() ?? [];
  const { after } = clock;
  const made = { settings, accepted, others, now: () => clock.now(), after, log };
  return {
    newAdapters: () => (kube === undefined || writes === undefined ? [] : [new DistributionSource(made)]),
    begin: (parts, replicated) => {
      positions = new AcceptedPositions(parts);
      replicas = replicated;
    },
  };
}

/** In the order of the objects. Undefined: a replica does not answer. */
async function countsOf(
  replicas: Pick<OpenedReplica, 'ask'> | undefined,
  objects: readonly Counted[],
): Promise<readonly Count[] | undefined> {
  const sums = objects.map(() => ({ acked: 0, total: 0 }));
  if (replicas === undefined || objects.length === 0) return sums;
  const asked = new URLSearchParams();
  for (const object of objects) {
    asked.append('for', `${objectName(object)}@${object.generation}`);
  }
  for (const answer of await replicas.ask('/debug/distributionz', asked)) {
    if (!Array.isArray(answer) || answer.length !== objects.length) return undefined;
    for (const [i, count] of (answer as readonly Json[]).entries()) {
      const sum = sums[i];
      if (sum === undefined || !isObject(count)) return undefined;
      sum.acked += Number(count.acked);
      sum.total += Number(count.total);
    }
  }
  return sums;
}
