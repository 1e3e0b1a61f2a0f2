// serviceExportHandler and serviceImportHandler: an export of the multi-cluster services API comes or goes, and with it
// what other clusters see of a service's endpoints; an import says with which addresses a service has a name in the set
// of clusters. Source: Istio pilot/pkg/serviceregistry/kube/controller/service{export,import}cache.go.

import { featureOf } from '../mesh/features.ts';
import { type PushRequest, pushRequest } from '../push-request.ts';
import { untrackedReader } from '../query/untracked.ts';
import { hostsOfService } from '../registry/cluster-set.ts';
import type { State } from '../state.ts';
import { type Change, versionsOf } from './change.ts';
import { compareStates, orNothing, serviceKey } from './comparison.ts';
import { clusterSetRequest } from './service.ts';

/** Only the existence of an export counts, not its content. */
export function serviceExportHandler(after: State, change: Change): PushRequest | undefined {
  if (change.before !== undefined && change.after !== undefined) return undefined;
  if (!featureOf(after.settings, 'ENABLE_MCS_SERVICE_DISCOVERY')) return undefined;
  const [{ namespace, name }] = versionsOf(change);
  const keys = hostsOfService(untrackedReader(after), name, namespace).map(host => serviceKey(namespace, host));
  return pushRequest(change.seq, 'endpoint', keys, { full: false });
}

/** What clusters without an import see of its exports follows from the same. */
export function serviceImportHandler(before: State, after: State, change: Change): PushRequest | undefined {
  const [{ namespace, name }] = versionsOf(change);
  return orNothing(clusterSetRequest(compareStates(change.seq, before, after), `${namespace}/${name}`));
}
