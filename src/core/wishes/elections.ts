// The elections of istiod: names of the locks, what they are kept in, and who may take one from its holder. Periplus
// uses the same, so that of two control planes in one cluster one writes (Istio
// pilot/pkg/leaderelection/leaderelection.go).

import type { Query } from '../query/reader.ts';

export interface ElectionRules {
  readonly object: 'ConfigMap' | 'Lease';
  /** One lock for each revision, named after it; it cannot be taken from its holder before it expires. */
  readonly perRevision: boolean;
}

const shared = (object: 'ConfigMap' | 'Lease'): ElectionRules => ({ object, perRevision: false });
const perRevision: ElectionRules = { object: 'Lease', perRevision: true };

export const elections = {
  'istio-analyze-leader': shared('ConfigMap'),
  'istio-gateway-deployment': perRevision,
  'istio-gateway-status-leader': perRevision,
  'istio-ip-autoallocate': shared('ConfigMap'),
  'istio-leader': shared('ConfigMap'),
  'istio-namespace-controller-election': shared('ConfigMap'),
  'istio-node-untaint': shared('ConfigMap'),
  'istio-serviceexport-controller-election': shared('ConfigMap'),
  'istio-status-leader': shared('Lease'),
} as const satisfies Readonly<Record<string, ElectionRules>>;

export type Election = keyof typeof elections;

/** Revision '' takes part in elections under this name. */
export const NO_REVISION = 'default';

/** The name of the lock: with the revision, where each has its own. */
export function lockName(election: Election, revision: string): string {
  return elections[election].perRevision ? `${election}-${revision || NO_REVISION}` : election;
}

/** Whose label istio.io/rev names the default revision. */
const DEFAULT_TAG = 'istio-revision-tag-default';

/**
 * Argument: a cluster. The revision that takes shared locks from others there; '': none does.
 * Source: Istio pkg/revisions/default_watcher.go.
 */
export const defaultRevision: Query<string, string> = {
  name: 'default-revision',
  run: (reader, cluster) => {
    const key = `${cluster}/${DEFAULT_TAG}`;
    return reader.object('MutatingWebhookConfiguration', key)?.labels['istio.io/rev'] ?? '';
  },
};
