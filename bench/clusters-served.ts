// npm run bench:clusters -- [--endpoints N] [--rounds N] [--flaps N]: a served process (`periplus serve`, dist/) that reads
// three clusters of N/3 endpoints, beside one that reads one cluster of N; each cluster is an etcd and a kube-apiserver of
// its own. Figures of each side: seconds and CPU seconds from the start of the process until `/ready`, resident memory
// then and after the flaps, and the p99 of a flap: from the write to the API server of the last cluster until a sidecar
// that holds every endpoint has the change. The sides run in turn with fresh journals; of each figure the least counts,
// as other programs only add. The aim is at most 1.2 times. Needs what test/e2e/kube needs.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { EDS } from '../src/xds/session/types.ts';
import { kubeOrSkip } from '../test/e2e/kube/binaries.ts';
import { mesh, slice } from '../test/e2e/kube/mesh.ts';
import { readerToken, remoteSecret, type Side, side } from '../test/e2e/kube/side.ts';
import { SidecarClient } from '../test/e2e/kube/sidecar-client.ts';
import { until } from '../test/e2e/kube/until.ts';
import { threeFreePorts } from './kube-server.ts';
import { answers, cpuSeconds, ended, residentMb, startPlane } from './plane.ts';

const PER_SERVICE = 10;
const PERCENTILE = 0.99;
const NAMESPACE = 'ns-0';
const SETTLE_MS_MAX = 300_000;

interface Row {
  readonly readyS: number;
  readonly readyCpuS: number;
  readonly readyMb: number;
  readonly flapMs: number;
  readonly flappedMb: number;
}

const figures: Readonly<Record<keyof Row, string>> = {
  readyS: 'seconds until /ready',
  readyCpuS: 'CPU seconds until /ready',
  readyMb: 'MB resident at /ready',
  flapMs: 'p99 of a flap, ms',
  flappedMb: 'MB resident after the flaps',
};

const { values } = parseArgs({
  options: {
    endpoints: { type: 'string', default: '30000' },
    rounds: { type: 'string', default: '3' },
    flaps: { type: 'string', default: '200' },
  },
});
const services = Number(values.endpoints) / PER_SERVICE;
const flaps = Number(values.flaps);

/** Clusters with the same services, dealt out; the first is the config cluster. */
async function clustersOf(ids: readonly string[]): Promise<readonly Side[]> {
  const binaries = await kubeOrSkip();
  if (binaries === undefined) throw new Error('this bench needs etcd and a kube-apiserver');
  const sides: Side[] = [];
  for (const id of ids) sides.push(await side(binaries, id));
  const objects = mesh(services, PER_SERVICE, 0, 1);
  const [first, ...pairs] = [objects[0]!, ...objects.slice(1)];
  for (const [i, { admin }] of sides.entries()) {
    await admin.put(first);
    await admin.putAll(pairs.filter((_, at) => Math.floor(at / 2) % sides.length === i));
  }
  for (const remote of sides.slice(1)) await sides[0]!.admin.put(await remoteSecret(remote, await readerToken(remote)));
  return sides;
}

async function measure(sides: readonly Side[], round: number): Promise<Row> {
  const folder = await mkdtemp(join(tmpdir(), 'periplus-bench-'));
  const { id, cluster } = sides[0]!;
  const args = ['--kubeconfig', await cluster.kubeconfig('bench'), '--clusterID', id, '--read-only'];
  const port = await threeFreePorts();
  const begin = performance.now();
  const ours = ['--secureGrpcAddr', '', '--journal', join(folder, 'journal.db'), '--log_output_level', 'warn'];
  const plane = startPlane(port, folder, [...args, ...ours]);
  try {
    const readyS = ((await answers(plane, '/ready')) - begin) / 1_000;
    const [readyCpuS, readyMb] = [cpuSeconds(plane), residentMb(plane)];
    const flapMs = await p99OfFlaps(sides, plane.port, round);
    return { readyS, readyCpuS, readyMb, flapMs, flappedMb: residentMb(plane) };
  } finally {
    await ended(plane);
    await rm(folder, { recursive: true, force: true });
  }
}

async function p99OfFlaps(sides: readonly Side[], port: number, round: number): Promise<number> {
  const { admin } = sides.at(-1)!;
  const proxy = new SidecarClient({ port, namespace: NAMESPACE, name: 'web', routes: [], cluster: sides[0]!.id });
  try {
    await until('all endpoints', () => proxy.names(EDS).length >= services, SETTLE_MS_MAX);
    const taken: number[] = [];
    for (let flap = 0; flap < flaps; flap++) {
      // A service of the last cluster, and an address that no other flap has.
      const name = `svc-${((flap * sides.length) % (services - sides.length)) + sides.length - 1}`;
      const address = `192.${100 + round}.${100 + Math.floor(flap / 100)}.${100 + (flap % 100)}`;
      const heard = proxy.hears(address);
      const sent = Date.now();
      await admin.put(slice(NAMESPACE, name, address));
      taken.push((await heard) - sent);
    }
    taken.sort((a, b) => a - b);
    return taken[Math.ceil(flaps * PERCENTILE) - 1]!;
  } finally {
    proxy.close();
  }
}

const all: Side[] = [];
try {
  const one = await clustersOf(['Kubernetes']);
  all.push(...one);
  const three = await clustersOf(['Kubernetes', 'east', 'west']);
  all.push(...three);
  const rows: { readonly one: Row[]; readonly three: Row[] } = { one: [], three: [] };
  for (let round = 0; round < Number(values.rounds); round++) {
    process.stderr.write(`round ${round + 1} …\n`);
    rows.one.push(await measure(one, round));
    rows.three.push(await measure(three, round));
  }
  for (const key of Object.keys(figures) as (keyof Row)[]) {
    const [a, b] = [rows.one, rows.three].map(side => Math.min(...side.map(row => row[key]))) as [number, number];
    process.stdout.write(`${figures[key]}: one ${a.toFixed(2)}, three ${b.toFixed(2)}, ${(b / a).toFixed(2)} times\n`);
  }
} finally {
  for (const { admin, cluster } of all) {
    admin.close();
    await cluster.stop();
  }
}
