// The Gateways of a router merged into what it listens on: per (port, protocol, bind) a group of servers that share a
// listener or filter chain, and per route name the servers whose hosts make up one route configuration.
//
// Servers are added oldest Gateway first. A server that conflicts with an earlier one is listed in `refused`, never
// silently dropped. Servers, groups and lists keep their identity while their content is equal, so the resources
// generated from them are shared and kept.
// Source: Istio pilot/pkg/model/gateway.go (mergeGateways).

import { joined } from '../../base/groups.ts';
import type { Obj } from '../../model/object.ts';
import { isHttp, protocolOf } from '../../model/protocol.ts';
import { HEAVY_BLOCKS, selectInBlocks } from '../../query/in-blocks.ts';
import { type Generator, interning } from '../../query/memo.ts';
import type { ProxyReader, Query, Selection } from '../../query/reader.ts';
import type { Server } from '../../schema/istio-types.gen.ts';
import { gatewayInForce } from '../../translate/in-force.ts';
import { type GatewayChoice, gatewayChoices } from './gateway-selection.ts';
import {
  gatewayRouteName,
  isHttp3Server,
  isPlainHttp,
  isTlsServer,
  normalHosts,
  serverPort,
  sniHosts,
} from './gateway-servers.ts';

export interface MergedServer {
  /** As written, but with hosts in normal form (`h`, `namespace/h` or `*`). */
  readonly server: Server & { readonly hosts: readonly string[] };
  readonly gateway: Obj<'Gateway'>;
  /** Its place among the servers of the Gateway. */
  readonly index: number;
  /** `namespace/name`, as VirtualServices refer to it. */
  readonly gatewayName: string;
  /** The port of the router that `server.port.number` resolved to. */
  readonly port: number;
  /** '' if the server has no route configuration. */
  readonly routeName: string;
  /** Hosts without their namespaces, sorted. */
  readonly sniHosts: readonly string[];
  /** Neither plain text nor HTTP with httpsRedirect: the servers of its group get a filter chain each. */
  readonly tls: boolean;
  /** Served over QUIC too, which the responses tell. */
  readonly http3: boolean;
}

/**
 * Servers that share a listener port, protocol and bind. Plain HTTP servers of one group are one filter chain, its name
 * is `routeName`.
 */
export interface ServerGroup {
  readonly port: number;
  /** Protocol text of the first server, as written. */
  readonly protocol: string;
  /** '' means the wildcard address. */
  readonly bind: string;
  /** That of the first server; servers of a TLS group have their own. */
  readonly routeName: string;
  /** Never empty; in order of acceptance. */
  readonly servers: readonly MergedServer[];
}

export interface RefusedServer {
  /** `namespace/name` of the Gateway. */
  readonly gateway: string;
  readonly server: number;
  readonly port: number;
  readonly message: string;
}

export interface MergedGateway {
  /** In order of first use. */
  readonly groups: readonly ServerGroup[];
  /** Route name → servers, in order of acceptance. */
  readonly routes: Readonly<Record<string, readonly MergedServer[]>>;
  /** A server leads on by SNI alone, as those of east-west gateways do, even if its port stood in its way. */
  readonly autoPassthrough: boolean;
  readonly refused: readonly RefusedServer[];
}

/** The merged Gateways of the current proxy; empty if none applies. */
export const mergedGateway: Query<'', MergedGateway> = {
  name: 'select/mergedGateway',
  run: reader => {
    const choices = reader.derived(gatewayChoices);
    const merge = new Merge();
    for (const server of serversOf(reader, choices)) merge.add(server);
    return merge.result(reader);
  },
};

/** In order. */
function serversOf(reader: ProxyReader, choices: readonly GatewayChoice[]): readonly MergedServer[] {
  return selectInBlocks(reader, serversOfGateways, choices, HEAVY_BLOCKS, block => ({ choices: block }));
}

const serversOfGateways: Selection<{ readonly choices: readonly GatewayChoice[] }, readonly MergedServer[]> = {
  name: 'select/serversOfGateways',
  run: (reader, { choices }) =>
    joined(
      choices.map(choice => {
        const { length } = gatewayInForce(reader, choice.key)?.spec.servers ?? [];
        const { alone, together } = HEAVY_BLOCKS;
        if (length <= alone) return serversBetween.run(reader, { choice, from: 0, to: length });
        const starts = Array.from({ length: Math.ceil(length / together) }, (_, i) => i * together);
        return joined(starts.map(from => reader.select(serversBetween, { choice, from, to: from + together })));
      }),
    ),
};

interface ServerRange {
  readonly choice: GatewayChoice;
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

const serversBetween: Selection<ServerRange, readonly MergedServer[]> = {
  name: 'select/serversOfGateway',
  run: (reader, { choice: { key, ports, udp }, from, to }) => {
    const gateway = gatewayInForce(reader, key);
    if (gateway === undefined) return [];
    return (gateway.spec.servers ?? []).slice(from, to).flatMap((server, i) => {
      const { number } = serverPort(server);
      const inputs = { gateway, index: from + i, udp: udp.includes(number) };
      return (ports[number] ?? []).map(port => reader.make(mergedServer, { ...inputs, port }));
    });
  },
};

const mergedServer: Generator<
  { readonly gateway: Obj<'Gateway'>; readonly index: number; readonly port: number; readonly udp: boolean },
  MergedServer
> = {
  name: 'select/mergedServer',
  run: ({ gateway, index, port, udp }) => {
    const written = gateway.spec.servers![index]!;
    const server = { ...written, hosts: normalHosts(written.hosts ?? [], gateway.namespace) };
    return {
      server,
      gateway,
      index,
      gatewayName: `${gateway.namespace}/${gateway.name}`,
      port,
      routeName: gatewayRouteName(server, port, gateway.namespace, gateway.name),
      sniHosts: sniHosts(server.hosts),
      tls: isTlsServer(server),
      http3: udp && isHttp3Server(server),
    };
  },
};

const oneOfEqualGroups = interning<ServerGroup>('select/serverGroup');

interface OpenGroup extends ServerGroup {
  readonly servers: MergedServer[];
}

/** The state of the merge; lives for one run of the query. */
class Merge {
  readonly #groups = new Map<string, OpenGroup>();
  readonly #routes = new Map<string, MergedServer[]>();
  readonly #refused: RefusedServer[] = [];
  #autoPassthrough = false;
  /** port → bind → the first plain-text group there. */
  readonly #plain = new Map<number, Map<string, OpenGroup>>();
  /** port → host → bind of the last TLS server with that host. */
  readonly #tlsHosts = new Map<number, Map<string, string>>();

  add(merged: MergedServer): void {
    let conflict = this.#hostConflict(merged);
    if (conflict === undefined) {
      if (merged.server.tls?.mode === 'AUTO_PASSTHROUGH') this.#autoPassthrough = true;
      conflict = this.#place(merged);
    }
    if (conflict !== undefined) this.#refuse(merged, conflict);
  }

  #refuse({ gatewayName, index, port }: MergedServer, message: string): void {
    this.#refused.push({ gateway: gatewayName, server: index, port, message });
  }

  result(reader: ProxyReader): MergedGateway {
    const groups = [...this.#groups.values()].map(group => reader.make(oneOfEqualGroups, group));
    return {
      groups,
      routes: Object.fromEntries(this.#routes),
      autoPassthrough: this.#autoPassthrough,
      refused: this.#refused,
    };
  }

  /**
   * SNI cannot distinguish two TLS servers with one host on one address. Hosts count even if the server is refused
   * later on.
   */
  #hostConflict({ server, port }: MergedServer): string | undefined {
    if (server.tls === undefined) return undefined;
    const taken = this.#tlsHosts.get(port) ?? new Map<string, string>();
    const bind = server.bind ?? '';
    const twice = server.hosts.filter(host => taken.get(host) === bind);
    if (twice.length > 0) return `another TLS server on port ${port} has the same hosts: ${twice.join(', ')}`;
    for (const host of server.hosts) taken.set(host, bind);
    this.#tlsHosts.set(port, taken);
    return undefined;
  }

  /** What stands in the way, or undefined. */
  #place(merged: MergedServer): string | undefined {
    const plain = this.#plain.get(merged.port);
    if (plain !== undefined) return this.#joinPlain(merged, plain);
    if (!merged.tls) this.#displace(merged);
    const group = this.#append(merged);
    if (!merged.tls) this.#plain.set(merged.port, new Map([[group.bind, group]]));
    return undefined;
  }

  /** A server without TLS takes the place of the TLS servers with its port, protocol and bind, as in istiod. */
  #displace({ gatewayName, server, port }: MergedServer): void {
    const why = `a server of ${gatewayName} without TLS has its port, ${port}, and its protocol`;
    for (const displaced of this.#groups.get(groupKey(server, port))?.servers.splice(0) ?? []) {
      this.#refuse(displaced, why);
    }
  }

  #joinPlain(merged: MergedServer, onPort: Map<string, OpenGroup>): string | undefined {
    const plain = onPort.get(merged.server.bind ?? '');
    if (plain === undefined) {
      const group = this.#append(merged);
      if (!merged.tls) onPort.set(group.bind, group);
      return undefined;
    }
    if (!isPlainHttp(merged.server) || !isHttp(protocolOf(plain.protocol))) {
      return `port ${merged.port} already serves ${plain.protocol}, which cannot be merged with ${serverPort(merged.server).protocol}`;
    }
    plain.servers.push(merged);
    this.#listRoute(merged);
    return undefined;
  }

  #append(merged: MergedServer): OpenGroup {
    const { server, port, routeName } = merged;
    const key = groupKey(server, port);
    const { protocol } = serverPort(server);
    const group = this.#groups.get(key) ?? { port, protocol, bind: server.bind ?? '', routeName, servers: [] };
    this.#groups.set(key, group);
    group.servers.push(merged);
    this.#listRoute(merged);
    return group;
  }

  #listRoute(merged: MergedServer): void {
    if (merged.routeName === '') return;
    const known = this.#routes.get(merged.routeName);
    if (known === undefined) this.#routes.set(merged.routeName, [merged]);
    else known.push(merged);
  }
}

function groupKey(server: Server, port: number): string {
  return `${port}|${serverPort(server).protocol}|${server.bind ?? ''}`;
}
