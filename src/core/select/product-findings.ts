// What the limits of products keep out: lists of several objects that multiply, so that a part of what they make is not
// in force (scope/subset-limit.ts, registry/endpoint-limits.ts).

import { ENDPOINTS_OF_OBJECT_MAX } from '../kinds/validate/endpoint-count.ts';
import type { Query, Reader } from '../query/reader.ts';
import { ENDPOINTS_OF_HOST_MAX } from '../registry/endpoint-limits.ts';
import { hostsPastLimit } from '../registry/endpoints.ts';
import { entriesPastLimit } from '../registry/entry-endpoints.ts';
import { servicesPastLimit } from '../registry/kubernetes-endpoints.ts';
import { rulesPastLimit } from './scope/destination-rule-pools.ts';
import { SUBSET_CLUSTERS_MAX } from './scope/subset-limit.ts';

export interface ProductFinding {
  readonly kind: 'DestinationRule' | 'Service' | 'ServiceEntry';
  /** `namespace/name`; of a Service `cluster/namespace/name`. */
  readonly key: string;
  readonly path: string;
  readonly message: string;
}

/** Argument ''. In the order of kinds and objects. */
export const productFindings: Query<'', readonly ProductFinding[]> = {
  name: 'select/productFindings',
  run: reader => [...ofSubsets(reader), ...ofSelected(reader), ...ofHosts(reader)],
};

function* ofSubsets(reader: Reader): IterableIterator<ProductFinding> {
  for (const { from, leftOut } of reader.get(rulesPastLimit, '')) {
    const message = `the last ${leftOut} subsets of the host are not in force: subsets times ports of the services come to more than ${SUBSET_CLUSTERS_MAX} clusters`;
    for (const { namespace, name } of from)
      yield { kind: 'DestinationRule', key: `${namespace}/${name}`, path: 'spec.subsets', message };
  }
}

function* ofSelected(reader: Reader): IterableIterator<ProductFinding> {
  for (const [key, most] of reader.get(servicesPastLimit, '')) {
    yield { kind: 'Service', key, path: 'spec.selector', message: selected(most, 'ports times WorkloadEntries') };
  }
  for (const [key, most] of reader.get(entriesPastLimit, '')) {
    const message = selected(most, 'hosts times addresses times ports times workloads');
    yield { kind: 'ServiceEntry', key, path: 'spec.workloadSelector', message };
  }
}

function selected(most: number, what: string): string {
  return `of what it selects only the first ${most} are endpoints: ${what} come to more than ${ENDPOINTS_OF_OBJECT_MAX}`;
}

function* ofHosts(reader: Reader): IterableIterator<ProductFinding> {
  for (const [key, host] of reader.get(hostsPastLimit, '')) {
    const message = `${host} has endpoints that are not in force: ports with one name times their endpoints come to more than ${ENDPOINTS_OF_HOST_MAX}`;
    yield { kind: 'ServiceEntry', key, path: 'spec.hosts', message };
  }
}
