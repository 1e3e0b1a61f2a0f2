// Hosts whose endpoints stay within their cluster: built-in ones, unless a setting frees them, and those of
// `serviceSettings`. Source: Istio pilot/pkg/model/cluster_local.go (onMeshUpdated, IsClusterLocal).

import { HostIndex } from '../model/host-index.ts';
import type { Query, Reader } from '../query/reader.ts';

/** Argument: a hostname. Of the hosts that settings or built-in rules name the most specific decides. */
export const isClusterLocal: Query<string, boolean> = {
  name: 'select/isClusterLocal',
  run: (reader, hostname) => {
    const { index, settings } = reader.get(clusterLocalIndex, '');
    const decisive = index.mostSpecific(hostname);
    return decisive !== undefined && settings.get(decisive) === true;
  },
};

const clusterLocalIndex: Query<'', { readonly index: HostIndex; readonly settings: ReadonlyMap<string, boolean> }> = {
  name: 'registry/clusterLocalIndex',
  run: reader => {
    const settings = new Map(reader.get(clusterLocalHosts, ''));
    return { index: new HostIndex([...settings.keys()]), settings };
  },
};

/** Host, or wildcard, and whether it is cluster-local. */
const clusterLocalHosts: Query<'', readonly (readonly [string, boolean])[]> = {
  name: 'registry/clusterLocalHosts',
  run: reader => {
    const hosts = new Map<string, boolean>();
    let builtIn = builtInHosts(reader);
    for (const { hosts: named = [], settings } of reader.mesh('serviceSettings') ?? []) {
      const isLocal = settings?.clusterLocal === true;
      for (const host of named) hosts.set(host, isLocal);
      if (!isLocal) builtIn = builtIn.filter(one => !named.some(host => frees(host, one)));
    }
    for (const host of builtIn) hosts.set(host, true);
    return [...hosts];
  },
};

/** A setting frees the built-in host of its name, and a built-in wildcard as a whole if it names any host under it. */
function frees(host: string, builtIn: string): boolean {
  return host === builtIn || (builtIn.startsWith('*') && host.endsWith(builtIn.slice(1)));
}

function builtInHosts(reader: Reader): readonly string[] {
  const domain = reader.setting('domainSuffix');
  const discovery = discoveryHost(reader.mesh('defaultConfig')?.discoveryAddress ?? '');
  return [
    `*.kube-system.svc.${domain}`,
    `kubernetes.default.svc.${domain}`,
    ...(discovery === undefined ? [] : [discovery.endsWith(domain) ? discovery : `${discovery}.${domain}`]),
  ];
}

/** Undefined: the address has no port that is a number. */
function discoveryHost(address: string): string | undefined {
  return /^\[?([^[\]]*?)\]?:[+-]?\d+$/.exec(address)?.[1];
}
