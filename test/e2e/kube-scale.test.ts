// A mesh of 500 services in a real API server, and 100 proxies: every proxy is served, and a change reaches every
// proxy. Times from the API write to the proxies are printed; the test asserts that changes arrive, and that no proxy
// gets more than the change.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/base/json.ts';
import { CDS, EDS, LDS, RDS } from '../../src/xds/session/types.ts';
import { kubeOrSkip } from './kube/binaries.ts';
import type { KubeClient } from './kube/client.ts';
import { Cluster } from './kube/cluster.ts';
import { installDefinitions } from './kube/custom-resource-definitions.ts';
import { mesh, namespace, route, SYSTEM, slice } from './kube/mesh.ts';
import { Plane } from './kube/plane.ts';
import { SidecarClient } from './kube/sidecar-client.ts';
import { until } from './kube/until.ts';

const binaries = await kubeOrSkip();
const SERVICES = 500;
const PROXIES = 100;
const ROUNDS = 5;
const REACHED_MS_MAX = 30_000;

describe.runIf(binaries !== undefined)(`${SERVICES} services and ${PROXIES} proxies`, () => {
  let cluster: Cluster;
  let admin: KubeClient;
  let folder: string;
  let plane: Plane;
  let proxies: readonly SidecarClient[] = [];

  beforeAll(async () => {
    cluster = await Cluster.start(binaries!);
    admin = cluster.client();
    folder = await mkdtemp(join(tmpdir(), 'periplus-kube-scale-'));
    await installDefinitions(admin);
    const objects = mesh(SERVICES, 5, 100, 10);
    await admin.putAll([namespace(SYSTEM), ...objects.filter(({ kind }) => kind === 'Namespace')]);
    await admin.putAll(objects.filter(({ kind }) => kind !== 'Namespace'));
    const began = Date.now();
    plane = await Plane.serve([
      '--kubeconfig',
      await cluster.kubeconfig('scale'),
      '--journal',
      join(folder, 'journal.db'),
    ]);
    await plane.ready();
    say(`ready ${Date.now() - began} ms after the start of the process`);
  }, 300_000);

  afterAll(async () => {
    for (const proxy of proxies) proxy.close();
    await plane?.end('SIGKILL');
    admin?.close();
    await cluster?.stop();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  it('are all served completely', async () => {
    const began = Date.now();
    proxies = Array.from(
      { length: PROXIES },
      (_, i) => new SidecarClient({ port: plane.grpc, namespace: `ns-${i % 10}`, name: `p-${i}`, routes: ['80'] }),
    );
    const full = (proxy: SidecarClient): boolean =>
      proxy.names(CDS).length >= SERVICES &&
      proxy.names(EDS).length >= SERVICES &&
      proxy.names(LDS).length > 1 &&
      proxy.names(RDS).length === 1;
    await until('all', () => proxies.every(full), 120_000);
    say(`all served in ${Date.now() - began} ms`);
  });

  /** Milliseconds from before the write until each proxy heard of it. */
  const reach = async (write: (round: number) => JsonObject, mark: (round: number) => string): Promise<void> => {
    const all: number[] = [];
    for (let round = 1; round <= ROUNDS; round++) {
      const before = proxies.map(({ responses }) => responses);
      const heard = proxies.map(proxy => proxy.hears(mark(round)));
      const began = Date.now();
      await admin.put(write(round));
      all.push(...(await Promise.all(heard)).map(at => at - began));
      proxies.forEach(({ responses }, i) => {
        expect(responses).toBe(before[i]! + 1);
      });
    }
    all.sort((a, b) => a - b);
    const at = (part: number): number => all[Math.floor((all.length - 1) * part)]!;
    say(`${mark(1)}: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`);
    expect(at(1)).toBeLessThan(REACHED_MS_MAX);
  };

  it('get a changed VirtualService on every proxy, once', async () => {
    await reach(
      round => route('ns-0', 'svc-0', `round-${round}-header`),
      round => `round-${round}-header`,
    );
  });

  it('get a changed endpoint on every proxy, once', async () => {
    await reach(
      round => slice('ns-0', 'svc-0', `172.31.${round}.77`),
      round => `172.31.${round}.77`,
    );
  });
});

function say(text: string): void {
  process.stderr.write(`kube-scale: ${text}\n`);
}
