// The traits of a TCP chain that decide the filters in front of its terminal ones.

import type { TrafficClass } from '../telemetry/traffic-class.ts';

export interface NetworkChainTraits {
  readonly traffic: TrafficClass;
  /** The proxy is the server of mesh mTLS on this chain, so that peers tell each other who they are. */
  readonly exchange: boolean;
  /**
   * Connections end at a workload here, so policies decide about them; not so where they are passed on unread or
   * dropped.
   */
  readonly authorized: boolean;
  /**
   * The port by which extensions fit, as `extensionPort` gives it; undefined: the chain has none, as its connections go
   * to no service or are dropped.
   */
  readonly extensionPort: number | undefined;
}
