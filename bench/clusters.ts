// Three clusters of 10,000 endpoints each, beside one of 30,000: the facts of their lists folded and the first endpoints
// of a sidecar made (what stands before readiness), the memory of the process, and one endpoint that flaps in a remote
// cluster. Each side runs several times, in turn with the other, in a process of its own; of each figure the least
// counts, as other programs only add. A figure is that of three clusters over that of one; the aim is at most 1.2.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { JsonObject } from '../src/core/base/json.ts';
import type { Unrecorded } from '../src/core/event.ts';
import type { State } from '../src/core/state.ts';
import { foldFacts, proxyFacts } from '../src/offline/generate.ts';
import { resourceSources } from '../src/xds/assemble/types.ts';
import { Engine } from '../src/xds/engine/engine.ts';
import { EDS } from '../src/xds/session/types.ts';
import { cpuMs, type Figure, type Figures, heapUsed, times } from './measure.ts';

const ENDPOINTS = Number(process.env.PERIPLUS_BENCH_ENDPOINTS ?? 30_000);
const PER_SERVICE = 10;
const CLUSTERS = ['Kubernetes', 'east', 'west'];
const FLAPS = 200;
const PERCENTILE = 0.99;
const ROUNDS = 3;

const node: JsonObject = {
  id: 'sidecar~10.1.1.1~p.shop~shop.svc.cluster.local',
  metadata: { NAMESPACE: 'shop', CLUSTER_ID: 'Kubernetes', ISTIO_VERSION: '1.30.0' },
};

function address(n: number): string {
  return `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
}

function slice(service: number, addresses: readonly string[]): JsonObject {
  const name = `s-${service}`;
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, namespace: 'shop', labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4',
    ports: [{ name: 'http', port: 80 }],
    endpoints: addresses.map(one => ({ addresses: [one], conditions: { ready: true } })),
  };
}

/** The same services with the same endpoints, dealt out to the clusters. */
function factsOf(clusters: readonly string[]): readonly Unrecorded[] {
  const facts: Unrecorded[] = [];
  for (let service = 0; service < ENDPOINTS / PER_SERVICE; service++) {
    const source = sourceOf(service, clusters);
    const metadata = { name: `s-${service}`, namespace: 'shop' };
    const spec = { clusterIP: address(service), ports: [{ name: 'http', port: 80 }] };
    facts.push({ source, kind: 'Add', object: { apiVersion: 'v1', kind: 'Service', metadata, spec } });
    const first = (1 << 20) + service * PER_SERVICE;
    const addresses = Array.from({ length: PER_SERVICE }, (_, i) => address(first + i));
    facts.push({ source, kind: 'Add', object: slice(service, addresses) });
  }
  return facts;
}

function sourceOf(service: number, clusters: readonly string[]): string {
  return `kube/${clusters[service % clusters.length]}`;
}

export interface ClusterRow {
  readonly foldMs: number;
  readonly firstMs: number;
  readonly rssMb: number;
  readonly flapMs: number;
}

/** What one process measures of `count` clusters; see clusters-row.ts. */
export function clusterRow(count: number): ClusterRow {
  const clusters = CLUSTERS.slice(0, count);
  const facts = factsOf(clusters);
  let state: State | undefined;
  const foldMs = cpuMs(() => {
    state = foldFacts([...proxyFacts('p', node), ...facts]).state;
  });
  const engine = new Engine(resourceSources);
  const names = Array.from({ length: 100 }, (_, i) => `outbound|80||s-${i}.shop.svc.cluster.local`).sort();
  const look = (): void => {
    const proxy = state!.proxies.get('p')!;
    engine.resourcesFor(state!, proxy, EDS, { wildcard: false, names });
  };
  const firstMs = cpuMs(look);
  heapUsed();
  const rssMb = process.memoryUsage().rss / 1024 / 1024;
  const flaps: number[] = [];
  for (let i = 0; i < FLAPS; i++) {
    // A service of the last cluster.
    const service = (i * clusters.length + clusters.length - 1) % 99;
    const source = sourceOf(service, clusters);
    const object = slice(service, [address((2 << 20) + i), address(3 << 20)]);
    flaps.push(
      cpuMs(() => {
        state = foldFacts([{ source, kind: 'Update', object }], state).state;
        look();
      }),
    );
  }
  flaps.sort((a, b) => a - b);
  return { foldMs, firstMs, rssMb, flapMs: flaps[Math.floor(FLAPS * PERCENTILE)]! };
}

async function measured(count: number): Promise<ClusterRow> {
  const row = join(import.meta.dirname, 'clusters-row.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [...process.execArgv, row, String(count)]);
  return JSON.parse(stdout) as ClusterRow;
}

export async function clusterFigures(): Promise<Figures> {
  const [one, three]: [ClusterRow[], ClusterRow[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    one.push(await measured(1));
    three.push(await measured(CLUSTERS.length));
  }
  const ratio = (of: (row: ClusterRow) => number): Figure =>
    times(Math.min(...three.map(of)) / Math.min(...one.map(of)));
  return {
    'clusters, 3 × 10,000 endpoints over 1 × 30,000, CPU until a sidecar has its first': ratio(
      ({ foldMs, firstMs }) => foldMs + firstMs,
    ),
    'clusters, RSS, 3 over 1': ratio(({ rssMb }) => rssMb),
    'clusters, p99 of a flap in a remote cluster, 3 over 1': ratio(({ flapMs }) => flapMs),
  };
}
