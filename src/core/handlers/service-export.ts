// serviceExportHandler: an export of the multi-cluster services API comes or goes, and with it what other clusters see of a service's endpoints.
// Rules: spec-events-pushes-protocol §2.4 (K16); Istio pilot/pkg/serviceregistry/kube/controller/serviceexportcache.go.

import { featureOf } from '../features.ts';
import { type PushRequest, pushRequest } from '../push-request.ts';
import { kubernetesHost } from '../select/hosts.ts';
import type { State } from '../state.ts';
import { type Change, versionsOf } from './change.ts';
import { serviceKey } from './comparison.ts';

/** What an export says is not read, only that it is there. */
export function serviceExportHandler(after: State, change: Change): PushRequest | undefined {
  if (change.before !== undefined && change.after !== undefined) return undefined;
  if (!featureOf(after.settings, 'ENABLE_MCS_SERVICE_DISCOVERY')) return undefined;
  const [{ namespace, name }] = versionsOf(change);
  const host = kubernetesHost(name, namespace, after.settings.domainSuffix);
  return pushRequest(change.seq, 'endpoint', [serviceKey(namespace, host)], { full: false });
}
