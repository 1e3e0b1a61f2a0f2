// A journal whose every text that others write is markup with a script: names, annotations, managers, hosts, file
// names, node ids, and what an Envoy says. A page that takes one of them for HTML sets `window.struck`.

import type { JsonObject } from '../../../src/core/base/json.ts';
import type { Unrecorded } from '../../../src/core/event.ts';
import { openJournal } from '../../../src/journal/open.ts';

/** `where` tells which text it was. */
export function hostile(where: string): string {
  return `<img src=x onerror="window.struck='${where}'"><script>window.struck='${where}'</script>`;
}

const source = 'file/Kubernetes';
const CLUSTERS = 'type.googleapis.com/envoy.config.cluster.v3.Cluster';
const connection = 'web.shop-1-aa-1';

export async function writeHostileJournal(path: string): Promise<void> {
  let now = Date.UTC(2026, 0, 1);
  const journal = await openJournal(path, { durability: 'off', clock: () => (now += 250) });
  await journal.append(facts());
  await journal.close();
}

function object(apiVersion: string, kind: string, name: string, more: JsonObject): Unrecorded {
  const metadata: JsonObject = {
    name,
    namespace: 'shop',
    annotations: { note: hostile('annotation'), [hostile('annotation-name')]: 'x' },
    labels: { app: 'web' },
    managedFields: [{ manager: hostile('manager'), operation: 'Apply', time: '2026-01-01T00:00:00Z' }],
  };
  return { source, kind: 'Add', object: { apiVersion, kind, metadata, ...more } };
}

function facts(): readonly Unrecorded[] {
  const route = { destination: { host: 'web' } };
  const match = { uri: { prefix: `/${hostile('path')}` } };
  return [
    { source, kind: 'Add', object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } } },
    object('v1', 'Service', 'web', {
      spec: { clusterIP: '10.96.0.1', selector: { app: 'web' }, ports: [{ name: 'http', port: 80 }] },
    }),
    object('networking.istio.io/v1', 'VirtualService', 'web', {
      spec: { hosts: ['web'], http: [{ name: hostile('route'), match: [match], route: [route] }] },
    }),
    // Refused: its name is none.
    object('networking.istio.io/v1', 'VirtualService', hostile('name'), { spec: { hosts: [hostile('hosts')] } }),
    {
      source: 'xds',
      kind: 'ProxyConnected',
      connection,
      node: {
        id: 'sidecar~10.1.0.1~web.shop~shop.svc.cluster.local',
        cluster: hostile('cluster'),
        metadata: { NAMESPACE: 'shop', ISTIO_VERSION: hostile('version'), LABELS: { app: 'web' } },
      },
      protocol: 'delta',
      identities: [],
    },
    {
      source: 'xds',
      kind: 'ProxySubscribed',
      connection,
      typeUrl: CLUSTERS,
      subscribe: [],
      unsubscribe: [],
      wildcard: true,
    },
    {
      source: 'xds',
      kind: 'Receipt',
      typeUrl: CLUSTERS,
      connections: [connection],
      stateSeq: 6,
      digest: 'x',
      count: 1,
    },
    { source: 'xds', kind: 'ProxyNacked', connection, typeUrl: CLUSTERS, message: hostile('nack') },
    {
      source,
      kind: 'Malformed',
      origin: { file: hostile('file'), line: 1, column: 1 },
      reasons: [`1:1: ${hostile('malformed')}`],
    },
  ];
}
