// The plan of a gateway's listeners: one for each address and port that its Gateways serve, with the servers on it and
// what was refused there.
// Source: Istio pilot/pkg/networking/core/gateway.go (buildGatewayListeners).

import { groupsOf } from '../../base/groups.ts';
import { compareText } from '../../model/object.ts';
import type { ProxyReader, Query } from '../../query/reader.ts';
import { mergedGateway, type ServerGroup } from '../gateway/gateways.ts';
import { gatewayTopology } from '../proxy/proxy-config.ts';
import { extraWildcards, isPrivilegedPort, listenerName, wildcards } from './listener-addresses.ts';

export interface GatewayAddress {
  readonly name: string;
  readonly bind: string;
  readonly moreBinds: readonly string[];
  readonly port: number;
}

export interface GatewayListenerPlan extends GatewayAddress {
  /** Never empty; in order of acceptance. */
  readonly groups: readonly ServerGroup[];
  /** Servers of the port that were refused, and why. */
  readonly problems: readonly string[];
}

/** Argument ''. Sorted by name. */
export const gatewayListenerPlans: Query<'', readonly GatewayListenerPlan[]> = {
  name: 'select/gatewayListenerPlans',
  run: reader => {
    const { groups, refused } = reader.get(mergedGateway, '');
    const served = groups.filter(({ port }) => !isPrivilegedPort(reader, port));
    const byName = groupsOf(served, group => listenerName(bindOf(reader, group), group.port));
    const refusedByPort = groupsOf(refused, ({ port }) => port);
    return [...byName]
      .sort((a, b) => compareText(a[0], b[0]))
      .map(([name, sharing]) => {
        const first = sharing[0]!;
        return {
          name,
          bind: bindOf(reader, first),
          moreBinds: first.bind === '' ? extraWildcards(reader) : [],
          port: first.port,
          groups: sharing,
          problems: (refusedByPort.get(first.port) ?? []).map(
            ({ gateway, server, message }) => `Gateway ${gateway}, server ${server}: ${message}`,
          ),
        };
      });
  },
};

function bindOf(reader: ProxyReader, group: ServerGroup): string {
  return group.bind === '' ? wildcards(reader)[0] : group.bind;
}

/** Load balancers in front of the gateway tell the client's address by the PROXY protocol. */
export function takesProxyProtocol(reader: ProxyReader): boolean {
  return reader.derived(gatewayTopology).proxyProtocol !== undefined;
}
