// Which log a fact belongs to. What decides what is sent is the world's: every replica folds it in the same order. What
// concerns one replica's clients and its own journal is local, and never costs a write to a quorum.

import type { FactKind } from '../core/event.ts';

const LOG_OF: Readonly<Record<FactKind, 'world' | 'local'>> = {
  Add: 'world',
  Update: 'world',
  Delete: 'world',
  Synced: 'world',
  Malformed: 'world',
  MeshConfig: 'world',
  MeshNetworks: 'world',
  Engine: 'world',
  TimerFired: 'world',
  // A seq of one replica's journal: each finds the same events that it cannot fold.
  Rejected: 'local',
  Gap: 'local',
  WorldEntry: 'local',
  Interned: 'local',
  Names: 'local',
  ProxyConnected: 'local',
  ProxySubscribed: 'local',
  ProxyNacked: 'local',
  ProxyDisconnected: 'local',
  Receipt: 'local',
  CertificateIssued: 'local',
  CertificateRefused: 'local',
};

export function isWorldFact({ kind }: { readonly kind: FactKind }): boolean {
  return LOG_OF[kind] === 'world';
}

/**
 * Sources that each replica reads for itself: who its own clients are, what they may read and what certifies them, and
 * which of them are machines that registered. A
 * follower cannot wait for the leader to ask about clients that it does not have.
 */
const LOCAL_SOURCES: readonly string[] = ['identity/', 'access/', 'issuers/', 'bundles/', 'registration/'];

export function isLocalSource(source: string): boolean {
  return LOCAL_SOURCES.some(prefix => source.startsWith(prefix));
}
