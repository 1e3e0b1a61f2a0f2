// Hosts whose endpoints stay within their cluster. Source: Istio pilot/pkg/model/cluster_local.go.

import { mostSpecific } from '../model/hosts.ts';
import type { Query } from '../query/reader.ts';

/** Argument: a hostname. Of the hosts of `serviceSettings` and of the built-in ones the most specific decides. */
export const isClusterLocal: Query<string, boolean> = {
  name: 'select/isClusterLocal',
  run: (reader, hostname) => {
    const domain = reader.setting('domainSuffix');
    const hosts = new Map<string, boolean>([
      [`*.kube-system.svc.${domain}`, true],
      [`kubernetes.default.svc.${domain}`, true],
      [`istiod.${reader.setting('systemNamespace')}.svc.${domain}`, true],
    ]);
    for (const entry of reader.mesh('serviceSettings') ?? []) {
      for (const host of entry.hosts ?? []) hosts.set(host, entry.settings?.clusterLocal === true);
    }
    const decisive = mostSpecific(hostname, hosts.keys());
    return decisive !== undefined && hosts.get(decisive) === true;
  },
};
