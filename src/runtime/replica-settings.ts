// How a process is one of several replicas: which log it follows, under which name, and what the servers are shown.

import type { NatsAddress } from '../replicas/nats/address.ts';

export interface ReplicaSettings {
  readonly address: NatsAddress;
  /** Of this process, unique among the replicas. */
  readonly id: string;
  /** Servers that keep the stream. */
  readonly streamReplicas: number;
  readonly caFile?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
  readonly credentialsFile?: string;
}
