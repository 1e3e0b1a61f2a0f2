// One endpoint, made from its parts. Equal parts give the identical endpoint, so one changed pod leaves the other
// endpoints of its slice as they are.

import type { Endpoint, EndpointHealth } from '../model/service.ts';
import type { Generator } from '../query/memo.ts';
import type { Workload } from './pods.ts';

export interface EndpointParts {
  readonly addresses: readonly string[];
  readonly port: number;
  readonly portName: string;
  /** See Endpoint. */
  readonly servicePort: number;
  readonly workload: Omit<Workload, 'addresses'>;
  readonly weight: number;
  readonly health: EndpointHealth;
}

export const endpointOf: Generator<EndpointParts, Endpoint> = {
  name: 'registry/endpointOf',
  run: ({ addresses, port, portName, servicePort, workload, weight, health }) => ({
    addresses,
    port,
    portName,
    servicePort,
    labels: workload.labels,
    serviceAccount: workload.serviceAccount,
    locality: workload.locality,
    network: workload.network,
    cluster: workload.cluster,
    namespace: workload.namespace,
    workloadName: workload.workloadName,
    nodeName: workload.nodeName,
    hostname: workload.hostname,
    subdomain: workload.subdomain,
    weight,
    tlsMode: workload.tlsMode,
    health,
  }),
};
