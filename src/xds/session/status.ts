// The sync state of a type on a stream, as `istioctl proxy-status` shows it. The first condition that holds counts, in
// the order of Istio's pilot/pkg/xds/statusgen.go.

import type { Watch } from './session.ts';

export type SyncState = 'ERROR' | 'NOT_SENT' | 'SYNCED' | 'STALE';

export function syncState(watch: Watch): SyncState {
  if (watch.lastError !== '') return 'ERROR';
  if (watch.nonceSent === '') return 'NOT_SENT';
  return watch.nonceAcked === watch.nonceSent ? 'SYNCED' : 'STALE';
}
