// `npm run build && npm run soak -- --hours N [--folder DIR] [--progress FILE]`: `periplus serve` as a process of its
// own on a folder that changes all the time, with proxies of both protocols that come, go, refuse and acknowledge. A
// lap ends with a rest in which each proxy must hold what a new one gets; some laps begin with a restart, by SIGTERM or
// kill -9.
//
// Folder, journal and progress stay, so a second call goes on where the first was interrupted. A line a lap: memory of
// the server, the longest stall of its loop, the size of its journal. It ends with exit code 1 at the first difference.

import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Plane } from '../../e2e/kube/plane.ts';
import { Random } from '../../sim/random.ts';
import { addCounts, claimSeeds, readProgress, summary } from '../progress.ts';
import { Churn, proxyOf } from './churn.ts';
import { SoakClient } from './client.ts';

const LAP_MS = 60_000;
const CLIENTS = 24;
/** The mean time between changes. */
const CHANGE_MS = 40;
const REST_MS = 1_500;
const REST_MS_MAX = 120_000;
/** Waits for one start, of a few minutes each. */
const STARTS_MAX = 4;
const ROUTES = ['80'];
const MIB = 2 ** 20;
/** One lap of as many begins with a restart; of the restarts half are kill -9. */
const RESTART_EVERY = 4;

const { values } = parseArgs({
  options: {
    hours: { type: 'string', default: '6' },
    folder: { type: 'string', default: '.periplus/soak' },
    progress: { type: 'string', default: '.periplus/long.json' },
  },
});

class Soak {
  readonly #folder: string;
  readonly #churn: Churn;
  #plane: Plane | undefined;
  #clients: SoakClient[] = [];

  constructor(folder: string) {
    this.#folder = folder;
    this.#churn = new Churn(join(folder, 'mesh'));
  }

  async begin(): Promise<void> {
    this.#churn.begin();
    await this.#start();
  }

  async end(): Promise<void> {
    for (const client of this.#clients) client.close();
    this.#clients = [];
    await this.#plane?.end();
  }

  /** Seeded by its number. Throws when a proxy does not hold what a new one gets. */
  async lap(number: number): Promise<Readonly<Record<string, number>>> {
    const random = new Random(number);
    const since = Date.now();
    const before = { changes: this.#churn.changes, responses: 0 };
    const counts = { restarts: 0, kills: 0, refusals: 0, connects: 0 };
    if (number % RESTART_EVERY === 0) {
      const kill = random.chance(0.5);
      counts[kill ? 'kills' : 'restarts'] += 1;
      await this.#restart(kill ? 'SIGKILL' : 'SIGTERM');
    }
    while (Date.now() - since < LAP_MS) {
      this.#churn.change(random);
      if (random.chance(0.02)) counts.connects += this.#replace(random.int(CLIENTS), random);
      if (random.chance(0.01)) random.pick(this.#clients).refuseNext();
      await sleep(random.int(2 * CHANGE_MS));
    }
    for (const [i, client] of this.#clients.entries()) {
      client.refuseNone();
      if (!client.hasRefused) continue;
      counts.refusals += 1;
      counts.connects += this.#replace(i, random);
    }
    await this.#rest(this.#churn.mark(number));
    const compared = await this.#compare();
    const responses = this.#clients.reduce((sum, client) => sum + client.responses, 0);
    const changes = this.#churn.changes - before.changes;
    return { ...counts, changes, compared, responses, laps: 1, seconds: (Date.now() - since) / 1_000 };
  }

  /** Memory of the server, the longest stall of its loop, the size of its journal. */
  async figures(): Promise<string> {
    const pid = this.#plane?.pid ?? 0;
    const rss = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024;
    const metrics = await this.#metrics();
    const stall = Number(/^periplus_loop_lag_max_seconds (\S+)$/m.exec(metrics)?.[1] ?? Number.NaN);
    const journal = ['', '-wal'].reduce((sum, end) => sum + sizeOf(`${this.#journal}${end}`), 0) / MIB;
    return `RSS ${rss.toFixed(0)} MiB, longest stall ${(stall * 1_000).toFixed(0)} ms, journal ${journal.toFixed(1)} MiB`;
  }

  get #journal(): string {
    return join(this.#folder, 'journal.db');
  }

  async #metrics(): Promise<string> {
    return (await this.#plane?.page('/metrics'))?.text ?? '';
  }

  async #start(): Promise<void> {
    const args = ['--configDir', join(this.#folder, 'mesh'), '--journal', this.#journal, '--log_output_level', 'error'];
    this.#plane = await Plane.serve(args);
    await this.#synced(this.#plane);
    const { grpc } = this.#plane;
    this.#clients = Array.from({ length: CLIENTS }, (_, i) => new SoakClient(grpc, protocolOf(i), proxyOf(i), ROUTES));
  }

  /** On a machine that others use as well, a start may take minutes. */
  async #synced(plane: Plane): Promise<void> {
    for (let tries = STARTS_MAX; tries > 1; tries--) {
      const isSynced = await plane.synced().then(
        () => true,
        () => false,
      );
      if (isSynced) return;
    }
    await plane.synced();
  }

  async #restart(signal: NodeJS.Signals): Promise<void> {
    for (const client of this.#clients) client.close();
    await this.#plane?.end(signal);
    await this.#start();
  }

  /** Another proxy in the place of one, or the same again. */
  #replace(i: number, random: Random): number {
    this.#clients[i]?.close();
    this.#clients[i] = new SoakClient(this.#plane?.grpc ?? 0, protocolOf(i), proxyOf(random.int(1_000)), ROUTES);
    return 1;
  }

  /** Until every proxy has the mark, and then none has heard anything for a while. */
  async #rest(host: string): Promise<void> {
    const until = Date.now() + REST_MS_MAX;
    const isAtRest = (client: SoakClient): boolean =>
      client.hasCluster(host) && Date.now() - client.lastHeardMs > REST_MS;
    for (;;) {
      const late = this.#clients.filter(client => !isAtRest(client));
      if (late.length === 0) return;
      if (Date.now() > until) throw new Error(`${late.map(nameOf).join(', ')}: no rest with ${host} in time`);
      await sleep(100);
    }
  }

  /** How many proxies were compared. */
  async #compare(): Promise<number> {
    const fresh = new Map<string, SoakClient>();
    for (const { proxy } of this.#clients) {
      const key = `${proxy.namespace}/${proxy.name}`;
      if (!fresh.has(key)) fresh.set(key, new SoakClient(this.#plane?.grpc ?? 0, 'delta', proxy, ROUTES));
    }
    const until = Date.now() + REST_MS_MAX;
    const isDue = (one: SoakClient): boolean => one.responses < 4 || Date.now() - one.lastHeardMs < REST_MS;
    while ([...fresh.values()].some(isDue) && Date.now() < until) await sleep(100);
    for (const client of this.#clients) {
      const expected = fresh.get(`${client.proxy.namespace}/${client.proxy.name}`)?.all() ?? [];
      const held = client.all();
      const missing = expected.filter(line => !held.includes(line));
      const stale = held.filter(line => !expected.includes(line));
      if (missing.length + stale.length === 0) continue;
      const show = (lines: readonly string[]): string => lines.map(line => line.slice(0, 200)).join('\n  ');
      throw new Error(`${nameOf(client)} lacks\n  ${show(missing)}\nand holds in vain\n  ${show(stale)}`);
    }
    for (const client of fresh.values()) client.close();
    return this.#clients.length;
  }
}

const protocolOf = (i: number): 'sotw' | 'delta' => (i % 2 === 0 ? 'delta' : 'sotw');

function nameOf({ proxy, protocol }: SoakClient): string {
  return `${proxy.name}.${proxy.namespace} (${protocol})`;
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

async function main(): Promise<number> {
  const hours = Number(values.hours);
  if (!(hours > 0)) {
    process.stderr.write(`--hours ${values.hours}: expected a number above 0\n`);
    return 2;
  }
  const folder = resolve(values.folder);
  mkdirSync(folder, { recursive: true });
  const soak = new Soak(folder);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    // What the laps before have reached is in the progress file.
    process.once(signal, () => void soak.end().then(() => process.exit(0)));
  }
  const until = Date.now() + hours * 3_600_000;
  try {
    await soak.begin();
    while (Date.now() < until) {
      const lap = claimSeeds(values.progress, 'serve', 1);
      const counts = await soak.lap(lap).catch((error: unknown) => {
        throw new Error(`lap ${lap}: ${error instanceof Error ? error.message : error}`);
      });
      const { seconds = 0, changes = 0 } = addCounts(values.progress, 'serve', counts).counts;
      const all = `${(seconds / 3_600).toFixed(2)} h and ${changes} changes in all`;
      process.stdout.write(`lap ${lap}: ${counts.changes} changes, ${await soak.figures()}; ${all}\n`);
    }
    process.stdout.write(summary(readProgress(values.progress)));
    return 0;
  } catch (error) {
    process.stdout.write(`${error instanceof Error ? error.message : error}\n`);
    return 1;
  } finally {
    await soak.end();
  }
}

process.exitCode = await main();
