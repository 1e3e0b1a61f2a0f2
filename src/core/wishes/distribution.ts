// The condition `Reconciled` in the status of Istio's objects: how many of the connected proxies have accepted the
// version that the status names, as Pilot's status reporter wrote it. Off unless PILOT_ENABLE_STATUS.
//
// A manager of its own, so that another feature may write other members of the same status. Fixed point: a written
// status changes no generation, so nothing is counted anew because of it.
// Source: Istio pilot/pkg/status/distribution/state.go (ReconcileStatuses).

import { definitions, kindNames } from '../kinds/registry.ts';
import { featureOf } from '../mesh/features.ts';
import type { Settings } from '../mesh/settings.ts';
import type { KindName } from '../model/kind.ts';
import type { Query } from '../query/reader.ts';
import { oneOf } from '../translate/derived.ts';
import type { Wish } from './wish.ts';

export const DISTRIBUTION_MANAGER = 'periplus-distribution';
const ELECTION = 'istio-status-leader';

/** Istio's kinds, which all have a status with conditions. Sorted. */
export const distributedKinds: readonly KindName[] = kindNames.filter(kind =>
  definitions[kind].group.endsWith('.istio.io'),
);

/** Argument ''. */
export const distributionWishes: Query<'', readonly Wish[]> = {
  name: 'wishes/distribution',
  run: reader => {
    if (!reader.feature('PILOT_ENABLE_STATUS')) return [];
    const cluster = reader.setting('clusterId');
    return reader.objects('ConfigDistribution', `${cluster}/`).flatMap(({ namespace, spec }) => {
      const { kind, name, generation, acked, total } = spec;
      if (total === 0) return [];
      const status = acked === total ? 'True' : 'False';
      const message = `${acked}/${total} proxies up to date.`;
      const condition = { type: 'Reconciled', status, observedGeneration: generation, message };
      return oneOf<Wish>(reader, {
        ...{ cluster, kind: kind as KindName, namespace, name },
        subresource: 'status',
        manager: DISTRIBUTION_MANAGER,
        fields: { status: { observedGeneration: generation, conditions: [condition] } },
        verb: 'merge',
        gate: ELECTION,
        statusRule: { of: 'conditions' },
        precondition: { generation },
      });
    });
  },
};

/** No status is kept while the feature is off. */
export const distributionObserves = distributedKinds.map(kind => ({
  kind,
  parts: ['status'],
  names: (settings: Settings) => (featureOf(settings, 'PILOT_ENABLE_STATUS') ? undefined : []),
}));
