// OpenShift gives each namespace a range of users and sets one user on every container; the proxy needs another one
// than the application, or its own traffic would be intercepted too. Only with PLATFORM=openshift.
// Source: Istio pkg/kube/inject/openshift.go, pkg/kube/inject/webhook.go (isSidecarUserMatchingAppUser).

import type { Reader } from '../../core/query/reader.ts';
import {
  changeContainer,
  containersOf,
  findContainer,
  INIT,
  objectAt,
  type Pod,
  PROXY,
  textAt,
  VALIDATION,
} from './pod.ts';
import { DEFAULT_IDS, type ProxyIds } from './template-data.ts';

const UID_RANGE = 'openshift.io/sa.scc.uid-range';
const GROUPS = 'openshift.io/sa.scc.supplemental-groups';
const RANGE = /^(\d{1,18})[/-](\d{1,18})$/;

function isOpenShift(reader: Reader): boolean {
  return reader.feature('PLATFORM') === 'openshift';
}

/** The last of each range of the namespace; without one for groups, that for users counts for both. */
export function proxyIdsOf(reader: Reader, pod: Pod): ProxyIds {
  if (!isOpenShift(reader)) return DEFAULT_IDS;
  const namespace = reader.object(
    'Namespace',
    `${reader.setting('clusterId')}/${textAt(pod, 'metadata', 'namespace')}`,
  );
  const uids = namespace?.annotations[UID_RANGE] ?? '';
  const groups = namespace?.annotations[GROUPS] ?? uids;
  return { uid: lastOf(uids) ?? DEFAULT_IDS.uid, gid: lastOf(groups.split(',')[0] ?? '') ?? DEFAULT_IDS.gid };
}

/** `start/length` or `start-end`. */
function lastOf(range: string): bigint | undefined {
  const found = RANGE.exec(range);
  if (found === null) return undefined;
  const [start, second] = [BigInt(found[1]!), BigInt(found[2]!)];
  return range.includes('/') ? start + second - 1n : second;
}

/** Without the user of the application on a proxy that the user brought. */
export function withoutAppUser(reader: Reader, pod: Pod): Pod {
  const proxy = findContainer(pod, PROXY);
  if (!isOpenShift(reader) || proxy?.securityContext === undefined) return pod;
  const all = [...containersOf(pod, 'containers'), ...containersOf(pod, 'initContainers')];
  const users = all
    .filter(({ name }) => name !== PROXY && name !== INIT && name !== VALIDATION)
    .map(container => objectAt(container, 'securityContext').runAsUser)
    .filter(user => user !== undefined);
  if ((users.at(-1) ?? 0) !== (objectAt(proxy, 'securityContext').runAsUser ?? 0)) return pod;
  return changeContainer(pod, PROXY, container => {
    const { runAsUser: _, runAsGroup: __, ...context } = objectAt(container, 'securityContext');
    return { ...container, securityContext: context };
  });
}
