// The status of a connection for debug pages and `proxy-status`: the session's watches, and what the stream remembers
// of the last responses.

import type { NodeFacets } from '../../core/model/proxy.ts';
import type { Session, Versions } from '../session/session.ts';
import { type SyncState, syncState } from '../session/status.ts';
import { rulesOf } from '../session/types.ts';

/** The last response and the last NACK of a type. */
export interface TypeRecord {
  /** Digest of everything the client holds after the last response. */
  readonly version?: string;
  readonly stateSeq?: number;
  /** Milliseconds since the epoch. */
  readonly sentAt?: number;
  /** Resources that the message of the last NACK names; empty after an ACK. */
  readonly blamed?: readonly string[];
}

export interface TypeStatus extends TypeRecord {
  readonly typeUrl: string;
  readonly short: string;
  readonly sync: SyncState;
  readonly nonceSent: string;
  readonly nonceAcked: string;
  /** The message of the last NACK; '' after an ACK. */
  readonly lastError: string;
  readonly wildcard: boolean;
  /** Resources the client holds. */
  readonly count: number;
  /** Their versions by name, those included that it had when it connected. */
  readonly clientVersions?: Versions;
}

export interface Served {
  readonly facets: NodeFacets;
  /** Type URL → digest of everything the client holds after the last response. */
  readonly versions: Iterable<readonly [string, string]>;
}

export interface ConnectionStatus {
  readonly connection: string;
  readonly facets: NodeFacets;
  readonly protocol: 'sotw' | 'delta';
  /** Milliseconds since the epoch. */
  readonly connectedAt: number;
  /** Address and port of the client; empty: not known. */
  readonly peer: string;
  /** In push order. */
  readonly types: readonly TypeStatus[];
}

export function statusOf(
  connection: string,
  facets: NodeFacets,
  { connectedAt, peer }: Pick<ConnectionStatus, 'connectedAt' | 'peer'>,
  session: Session,
  records: ReadonlyMap<string, TypeRecord>,
): ConnectionStatus {
  const types = [...session.watches];
  return {
    connection,
    facets,
    protocol: session.protocol,
    connectedAt,
    peer,
    types: types.map(([typeUrl, watch]) => ({
      ...records.get(typeUrl),
      typeUrl,
      short: rulesOf(typeUrl).short,
      sync: syncState(watch),
      nonceSent: watch.nonceSent,
      nonceAcked: watch.nonceAcked,
      lastError: watch.lastError,
      wildcard: watch.wildcard,
      count: watch.clientVersions.size,
      clientVersions: watch.clientVersions,
    })),
  };
}
