// Configuration of a proxy made by hand, so that tests of the oracle depend on no generator.

import { type Oracle, oracleOf } from '../../../src/oracle/oracle.ts';
import type { Outcome } from '../../../src/oracle/prediction.ts';
import type { Connection, ProxyConfig } from '../../../src/oracle/question.ts';
import { any } from '../../../src/xds/proto/any.ts';
import type {
  Address,
  Cluster,
  DownstreamTlsContext,
  Filter,
  HttpConnectionManager,
  Route,
  TcpProxy,
  TransportSocket,
} from '../../../src/xds/proto/types.gen.ts';

export const at = (address: string, portValue: number): Address => ({ socketAddress: { address, portValue } });

export function http(hcm: HttpConnectionManager): Filter {
  return {
    name: 'envoy.filters.network.http_connection_manager',
    typedConfig: any('envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager', hcm),
  };
}

/** A connection manager with these routes for every host. */
export function routes(...list: readonly Route[]): Filter {
  return http({ routeConfig: { name: 'inline', virtualHosts: [{ name: 'all', domains: ['*'], routes: list }] } });
}

export function tcp(proxy: TcpProxy): Filter {
  return {
    name: 'envoy.filters.network.tcp_proxy',
    typedConfig: any('envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy', proxy),
  };
}

export function tls(context: DownstreamTlsContext = {}): TransportSocket {
  return {
    name: 'envoy.transport_sockets.tls',
    typedConfig: any('envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext', context),
  };
}

/** A cluster with one static host. */
export function cluster(name: string, address = '10.9.0.1', portValue = 80): Cluster {
  return {
    name,
    loadAssignment: { endpoints: [{ lbEndpoints: [{ endpoint: { address: at(address, portValue) } }] }] },
  };
}

export const ORIGINAL_DST: Cluster = { name: 'passthrough', type: 4 };

export function oracle(config: Partial<ProxyConfig>): Oracle {
  return oracleOf({ listeners: [], routes: [], clusters: [], endpoints: [], ...config });
}

/** The only outcome; throws if there are several. */
export function outcome(asked: Oracle, connection: Connection): Outcome {
  const { branches } = asked.predict(connection);
  if (branches.length !== 1) throw new Error(`${branches.length} outcomes`);
  return branches[0]!.outcome;
}

/** `cluster@address:port` or what became of it, with its percentage. */
export function shown(asked: Oracle, connection: Connection): readonly string[] {
  return asked.predict(connection).branches.map(({ probability, outcome: found }) => {
    const share = `${Math.round(probability * 1_000) / 10}%`;
    if (found.kind === 'forwarded') return `${share} ${found.cluster}@${found.endpoint.address}:${found.endpoint.port}`;
    return found.kind === 'answered' ? `${share} ${found.status}` : `${share} ${found.kind}`;
  });
}
