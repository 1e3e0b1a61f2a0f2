// Writes small histories as exports, for journal/fixtures: `npx tsx scripts/record-journal-fixture.ts DIRECTORY`. What is committed there is
// never made again (it proves that what an older release wrote still replays); this script is for the first fixture of the next form of a fact.

import { hash as hashOf } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalJson, type JsonObject } from '../src/core/base/json.ts';
import type { ProxySubscribed, Unrecorded } from '../src/core/event.ts';
import { exportJournal } from '../src/journal/export.ts';
import { openJournal } from '../src/journal/open.ts';

const MESH_STARTED = Date.UTC(2025, 0, 15, 9, 0, 0);
const FILES = 'file/Kubernetes';

const service = (name: string, port: number): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'harbour', creationTimestamp: '2025-01-15T08:00:00Z' },
  spec: {
    clusterIP: `10.20.0.${port % 200}`,
    selector: { app: name },
    ports: [{ name: 'http', port, protocol: 'TCP' }],
  },
});

const endpoints = (name: string, port: number, ...addresses: readonly string[]): JsonObject => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: `${name}-a`, namespace: 'harbour', labels: { 'kubernetes.io/service-name': name } },
  addressType: 'IPv4',
  endpoints: addresses.map(address => ({ addresses: [address], conditions: { ready: true } })),
  ports: [{ name: 'http', port, protocol: 'TCP' }],
});

const route = (weight: number): JsonObject => ({
  apiVersion: 'networking.istio.io/v1',
  kind: 'VirtualService',
  metadata: { name: 'pilots', namespace: 'harbour', creationTimestamp: '2025-01-15T08:30:00Z' },
  spec: {
    hosts: ['pilots'],
    http: [
      {
        route: [
          { destination: { host: 'pilots' }, weight },
          { destination: { host: 'tugs' }, weight: 100 - weight },
        ],
      },
    ],
  },
});

const key: JsonObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'Opaque',
  metadata: { name: 'quay', namespace: 'harbour', annotations: { note: 'äöü ☸ \u2028' } },
  data: { token: Buffer.from('not a secret: part of a fixture').toString('base64') },
};

const add = (object: JsonObject, file: string): Unrecorded => ({
  source: FILES,
  kind: 'Add',
  object,
  origin: { file, line: 1, column: 1 },
});

const smallMesh: readonly (readonly Unrecorded[])[] = [
  [{ source: FILES, kind: 'MeshConfig', value: { accessLogFile: '/dev/stdout', trustDomain: 'cluster.local' } }],
  [
    add({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'harbour' } }, 'harbour.yaml'),
    add(service('pilots', 8080), 'pilots.yaml'),
    add(endpoints('pilots', 8080, '10.30.0.1', '10.30.0.2'), 'pilots.yaml'),
    add(service('tugs', 8081), 'tugs.yaml'),
    add(endpoints('tugs', 8081, '10.30.0.3'), 'tugs.yaml'),
    add(key, 'quay.yaml'),
    { source: FILES, kind: 'Synced' },
  ],
  [add(route(100), 'route.yaml')],
  [{ source: FILES, kind: 'Malformed', origin: { file: 'broken.yaml', line: 3, column: 7 }, reasons: ['not YAML'] }],
  [
    {
      source: 'xds',
      kind: 'Interned',
      digest: '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
      value: {},
    },
    {
      source: 'xds',
      kind: 'ProxyConnected',
      connection: 'sidecar~10.30.0.1~pilots-1.harbour~harbour.svc.cluster.local-1',
      node: { id: 'sidecar~10.30.0.1~pilots-1.harbour~harbour.svc.cluster.local', metadata: { NAMESPACE: 'harbour' } },
      protocol: 'delta',
    },
    {
      source: 'xds',
      kind: 'ProxySubscribed',
      connection: 'sidecar~10.30.0.1~pilots-1.harbour~harbour.svc.cluster.local-1',
      typeUrl: 'type.googleapis.com/envoy.config.cluster.v3.Cluster',
      subscribe: ['*'],
      unsubscribe: [],
      wildcard: true,
    },
  ],
  [{ ...add(route(40), 'route.yaml'), kind: 'Update' } as Unrecorded],
  [{ ...add(route(140), 'route.yaml'), kind: 'Update' } as Unrecorded],
  [
    { source: FILES, kind: 'Malformed', origin: { file: 'broken.yaml' }, reasons: [] },
    {
      source: FILES,
      kind: 'Delete',
      ref: { apiVersion: 'v1', kind: 'Secret', namespace: 'harbour', name: 'quay' },
    },
    add(key, 'quay.yaml'),
  ],
];

const berths = Array.from({ length: 18 }, (_, i) => `outbound|${8_000 + i}||berth-${10 + i}.harbour.svc.cluster.local`);
const digest = hashOf('sha256', canonicalJson(berths), 'hex');
const nodeId = (n: number): string => `sidecar~10.30.0.${n}~tug-${n}.harbour~harbour.svc.cluster.local`;

const connected = (n: number): Unrecorded => ({
  source: 'xds',
  kind: 'ProxyConnected',
  connection: `tug-${n}.harbour-1`,
  node: { id: nodeId(n), metadata: { NAMESPACE: 'harbour' } },
  protocol: 'delta',
});

const subscribed = (n: number, more: Partial<ProxySubscribed>): Unrecorded => ({
  source: 'xds',
  kind: 'ProxySubscribed',
  connection: `tug-${n}.harbour-1`,
  typeUrl: 'type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment',
  subscribe: [],
  unsubscribe: [],
  wildcard: false,
  ...more,
});

const gone = (n: number): Unrecorded => ({
  source: 'xds',
  kind: 'ProxyDisconnected',
  connection: `tug-${n}.harbour-1`,
  reason: 'closed by the client',
});

/** Names are listed for two who share them; one then has others, the list goes with the other, and is listed again for a third. */
const listedNames: readonly (readonly Unrecorded[])[] = [
  [connected(1), connected(2), connected(3)],
  [{ source: 'xds', kind: 'Names', digest, names: berths }, subscribed(1, { list: digest })],
  [subscribed(2, { list: digest })],
  [subscribed(1, { subscribe: ['outbound|9000||quay.harbour.svc.cluster.local'], unsubscribe: berths.slice(0, 1) })],
  [gone(2)],
  [{ source: 'xds', kind: 'Names', digest, names: berths }, subscribed(3, { list: digest })],
];

const directory = process.argv[2];
if (directory === undefined) throw new Error('give the directory to write to');
mkdirSync(directory, { recursive: true });
await record(directory, '0001-small-mesh', smallMesh);
await record(directory, '0002-listed-names', listedNames);

async function record(directory: string, name: string, batches: readonly (readonly Unrecorded[])[]): Promise<void> {
  const file = join(directory, `${name}.db`);
  let now = MESH_STARTED;
  const journal = await openJournal(file, {
    clock: () => {
      now += 250;
      return now;
    },
  });
  for (const batch of batches) await journal.append(batch);
  const text: string[] = [];
  for await (const line of exportJournal(journal, { redact: false })) text.push(`${line}\n`);
  const { seq, hash } = journal.head();
  await journal.close();
  writeFileSync(join(directory, `${name}.jsonl`), text.join(''), { flag: 'wx' });
  if (existsSync(`${file}.key`)) copyFileSync(`${file}.key`, join(directory, `${name}.key`));
  process.stdout.write(`${name}: ${seq} events, ${hash}\n`);
}
