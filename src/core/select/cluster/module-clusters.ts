// Inputs of the clusters from which Envoy fetches Wasm modules itself, one for each server. Proxies with an agent have
// none: the agent fetches for them.

import { isIp } from '../../base/ip.ts';
import type { ProxyReader } from '../../query/reader.ts';
import { type ModuleServer, moduleServers } from '../extension/wasm-module.ts';
import type { TimeoutInputs } from './special.ts';

export interface ModuleClusterInputs extends TimeoutInputs, ModuleServer {
  /** The host is an address; nothing is to be resolved. */
  readonly literal: boolean;
  /** The proxy reaches addresses of this family only. */
  readonly family: 'V4_ONLY' | 'V6_ONLY' | 'ALL';
}

export function selectModuleClusters(reader: ProxyReader): readonly ModuleClusterInputs[] {
  const mode = reader.facet('ipMode');
  return reader.get(moduleServers, '').map(server => ({
    ...server,
    connectTimeout: reader.mesh('connectTimeout'),
    literal: isIp(server.host),
    family: mode === 'ipv6' ? 'V6_ONLY' : mode === 'dual' ? 'ALL' : 'V4_ONLY',
  }));
}
