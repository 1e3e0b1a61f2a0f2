// Three clusters of 10,000 endpoints each, beside one of 30,000: the facts of their lists folded, what a sidecar holds
// made of them, the heap that stays, and one endpoint that flaps in a remote cluster. A figure is the time (or memory)
// of three clusters over that of one; the aim is at most 1.2.

import type { JsonObject } from '../src/core/base/json.ts';
import type { Unrecorded } from '../src/core/event.ts';
import type { State } from '../src/core/state.ts';
import { foldFacts, proxyFacts } from '../src/offline/generate.ts';
import { resourceSources } from '../src/xds/assemble/types.ts';
import { Engine } from '../src/xds/engine/engine.ts';
import { EDS } from '../src/xds/session/types.ts';
import { cpuMs, type Figures, heapUsed, times } from './measure.ts';

const ENDPOINTS = Number(process.env.PERIPLUS_BENCH_ENDPOINTS ?? 30_000);
const PER_SERVICE = 10;
const CLUSTERS = ['Kubernetes', 'east', 'west'];
const FLAPS = 200;
const PERCENTILE = 0.99;

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

interface Taken {
  readonly foldMs: number;
  readonly firstMs: number;
  readonly heapMb: number;
  readonly flapMs: number;
}

function taken(clusters: readonly string[]): Taken {
  const facts = factsOf(clusters);
  const heap = heapUsed();
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
  const heapMb = heapUsed() - heap;
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
  return { foldMs, firstMs, heapMb, flapMs: flaps[Math.floor(FLAPS * PERCENTILE)]! };
}

export async function clusterFigures(): Promise<Figures> {
  taken(CLUSTERS);
  const [one, three] = [taken(['Kubernetes']), taken(CLUSTERS)];
  return {
    'clusters, folding 3 × 10,000 endpoints over 1 × 30,000': times(three.foldMs / one.foldMs),
    'clusters, first endpoints of a sidecar, 3 over 1': times(three.firstMs / one.firstMs),
    'clusters, heap, 3 over 1': times(three.heapMb / one.heapMb),
    'clusters, p99 of a flap in a remote cluster, 3 over 1': times(three.flapMs / one.flapMs),
  };
}
