// The traits of a TCP chain that decide the filters in front of its terminal ones.

import type { TrafficClass } from '../telemetry/traffic-class.ts';

export interface NetworkChainTraits {
  readonly traffic: TrafficClass;
  /** The proxy is the server of mesh mTLS on this chain, so that peers tell each other who they are. */
  readonly exchange: boolean;
  /**
   * Present where policies decide: connections end at a workload here, not so where they are passed on unread or
   * dropped. A namespace whose policies count besides those of the proxy's and the root namespace; '' for none.
   */
  readonly policiesBeside: string | undefined;
  /**
   * The port by which extensions fit, as `extensionPort` gives it; undefined: the chain has none, as its connections go
   * to no service or are dropped.
   */
  readonly extensionPort: number | undefined;
  /** Connections came through a tunnel, which says who the peer is; undefined: no. */
  readonly tunnelled?: boolean;
}
