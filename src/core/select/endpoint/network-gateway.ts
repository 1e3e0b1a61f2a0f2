// A gateway of a network, as endpoints behind it are reached: two are one only if all of their members are equal, as
// each counts when weights are shared out. Source: Istio pilot/pkg/model/network.go (NetworkGateway).

export interface NetworkGateway {
  readonly network: string;
  /** The cluster it stands in; empty: it serves its network in every cluster. */
  readonly cluster: string;
  readonly address: string;
  /** 0: it takes HBONE alone. */
  readonly port: number;
  /** 0: it takes no HBONE. */
  readonly hbonePort: number;
  /** `namespace/name`; empty: unknown. */
  readonly serviceAccount: string;
}
