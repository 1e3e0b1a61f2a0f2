// The ports of Gateway servers behind each port of a gateway: patches of routes name the port of the server, not the
// port on which the gateway listens.
// Source: Istio pilot/pkg/model/gateway.go (getTargetPortMap, ParseGatewayRDSRouteName).

import type { Query } from '../../query/reader.ts';
import { serverPort } from '../gateway/gateway-servers.ts';
import { mergedGateway } from '../gateway/gateways.ts';

export interface GatewayRouteName {
  /** 0: the name does not say. */
  readonly port: number;
  readonly portName: string;
  /** `namespace/name`. */
  readonly gateway: string;
}

/**
 * Names of HTTPS servers are `https.<port>.<port name>.<gateway>.<namespace>`, others tell the port alone. A name that
 * ends with the address of the server tells nothing, as in istiod.
 */
export function parseGatewayRouteName(name: string): GatewayRouteName {
  if (name.startsWith(HTTP)) return { port: numberOf(name.slice(HTTP.length)), portName: '', gateway: '' };
  const parts = name.split('.');
  if (parts[0] !== 'https' || parts.length !== 5) return { port: 0, portName: '', gateway: '' };
  const [, port, portName = '', gateway = '', namespace = ''] = parts;
  return { port: numberOf(port), portName, gateway: `${namespace}/${gateway}` };
}

const HTTP = 'http.';

function numberOf(text = ''): number {
  return /^\d{1,9}$/.test(text) ? Number(text) : 0;
}

/** Argument: the name of a gateway's route configuration. The server ports that a match can name. */
export const serverPorts: Query<string, readonly number[]> = {
  name: 'select/serverPorts',
  run: (reader, name) => {
    const { port } = parseGatewayRouteName(name);
    const found = new Set<number>();
    let known = false;
    for (const [route, servers] of Object.entries(reader.get(mergedGateway, '').routes)) {
      if (parseGatewayRouteName(route).port !== port) continue;
      known = true;
      for (const { server } of servers) found.add(serverPort(server).number);
    }
    return known ? [...found].sort((a, b) => a - b) : [port];
  },
};
