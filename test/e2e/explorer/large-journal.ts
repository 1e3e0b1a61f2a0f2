// A journal of a mesh of any number of services, some of them with a connected proxy, and one route that leads to a
// subset that is not there: what a large installation looks like to the explorer.

import { meshFacts, namespaceOf } from '../../../bench/mesh.ts';
import type { Unrecorded } from '../../../src/core/event.ts';
import { openJournal } from '../../../src/journal/open.ts';

/** Every n-th service has a proxy. */
const CONNECTED = 20;
export const BROKEN = { namespace: namespaceOf(0), host: 'svc-0', subset: 'gone' };

export async function writeLargeJournal(path: string, services: number): Promise<void> {
  let now = Date.UTC(2026, 0, 1);
  const journal = await openJournal(path, { durability: 'off', clock: () => ++now });
  await journal.append([...meshFacts(services), ...proxies(services), brokenRoute()]);
  await journal.close();
}

function proxies(services: number): readonly Unrecorded[] {
  return Array.from({ length: Math.floor(services / CONNECTED) }, (_, i): Unrecorded => {
    const service = i * CONNECTED;
    const namespace = namespaceOf(service);
    const id = `caller-${service}.${namespace}`;
    return {
      source: 'xds',
      kind: 'ProxyConnected',
      connection: `${id}-1-aa-1`,
      node: {
        id: `sidecar~10.200.${i >> 8}.${i & 255}~${id}~${namespace}.svc.cluster.local`,
        cluster: `caller-${service}`,
        metadata: { NAMESPACE: namespace, LABELS: { app: `caller-${service}` } },
      },
      protocol: 'delta',
      identities: [],
    };
  });
}

/** In place of the first service's own route. */
function brokenRoute(): Unrecorded {
  const { namespace, host, subset } = BROKEN;
  const route = [{ destination: { host, subset } }];
  return {
    source: 'file/Kubernetes',
    kind: 'Update',
    object: {
      apiVersion: 'networking.istio.io/v1',
      kind: 'VirtualService',
      metadata: { name: host, namespace, creationTimestamp: '2026-01-01T00:00:00Z' },
      spec: { hosts: [host], exportTo: ['.'], http: [{ route }] },
    },
  };
}
