// `npm run bench:replicas -- --mesh DIR --xdsload BIN`: proxies on one replica, then on three, each time behind a TCP balancer and with three NATS
// servers that write to the disk; how long an endpoint change takes to reach all of them. Then a new replica folds a log from its beginning.
// Mesh and load tool are those of load.ts; NATS is built from its Go module. Under four minutes on two cores.

import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { createConnection, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, Option } from 'commander';
import { openJournal } from '../src/journal/open.ts';
import { moveIntoLog } from '../src/replicas/move.ts';
import { NatsLink } from '../src/replicas/nats/connection.ts';
import { JetStreamLog } from '../src/replicas/nats/jetstream-log.ts';
import { NatsCluster, natsOrSkip } from '../test/e2e/nats/cluster.ts';
import { endpointChange } from './load-change.ts';
import { changeOf, coldOf, load } from './load-tool.ts';
import { churn, meshFacts } from './mesh.ts';
import { answers, cpuSeconds, ended, local, type Plane, startPlane } from './plane.ts';

/** Ports of a replica. */
const PORTS = 3;
const SERVICES = 500;
const MESH = 'bench';

interface Options {
  readonly mesh: string;
  readonly xdsload: string;
  readonly proxies: string;
  readonly rounds: string;
  readonly port: string;
  readonly events: string;
  readonly durability: string;
  readonly only?: 'proxies' | 'catch-up';
}

async function main(options: Options): Promise<void> {
  const program = await natsOrSkip('bench:replicas');
  if (program === undefined) process.exit(1);
  const print = (figures: object): void => void process.stdout.write(`${JSON.stringify(figures, undefined, 2)}\n`);
  if (options.only !== 'proxies') print({ caughtUp: await catchUp(program, options) });
  if (options.only === 'catch-up') return;
  const [one, three] = [await underLoad(program, options, 1), await underLoad(program, options, 3)];
  print({ one, three, 'p99 of three over one': three.change.p99Ms! / one.change.p99Ms! });
}

async function underLoad(program: string, { mesh, xdsload, proxies, rounds, port }: Options, count: number) {
  process.stderr.write(`${proxies} proxies on ${count} …\n`);
  const folder = mkdtempSync(join(tmpdir(), 'periplus-replicated-'));
  const copy = join(folder, 'mesh');
  cpSync(mesh, copy, { recursive: true });
  const nats = await NatsCluster.begin(program);
  const replicas: Plane[] = [];
  let balancer: Server | undefined;
  try {
    for (let i = 0; i < count; i++)
      replicas.push(replica(folder, nats, Number(port) + i * PORTS, ['--configDir', copy]));
    for (const plane of replicas) await answers(plane, '/ready');
    const at = Number(port) + count * PORTS;
    balancer = await balance(
      at,
      replicas.map(plane => plane.port),
    );
    const before = replicas.map(cpuSeconds);
    const reach = ['-addr', local(at), '-pid', String(replicas[0]?.process.pid)];
    const lines = await load({ xdsload, rounds, reach }, Number(proxies), endpointChange(folder, mesh, copy));
    const cpu = replicas.map((plane, i) => cpuSeconds(plane) - before[i]!);
    return { cold: coldOf(lines), change: changeOf(lines), 'CPU s of each replica': cpu };
  } finally {
    balancer?.close();
    for (const plane of replicas) await ended(plane);
    await nats.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** From the start of the process until it stands at the end of the log. */
async function catchUp(program: string, { port, events, durability }: Options) {
  process.stderr.write(`a new replica and ${events} events …\n`);
  const folder = mkdtempSync(join(tmpdir(), 'periplus-replicated-'));
  const nats = await NatsCluster.begin(program);
  const address = { servers: nats.servers.split(','), isTls: false, mesh: MESH };
  const link = new NatsLink({ address, name: 'bench', say: () => undefined });
  let running: Plane | undefined;
  try {
    const journal = await openJournal(join(folder, 'from.db'), { durability: 'off', keyFile: join(folder, 'key') });
    await journal.append(meshFacts(SERVICES));
    await journal.append(churn(SERVICES, Number(events)));
    const log = new JetStreamLog({ link, mesh: MESH, replicas: 3 });
    while ((await log.prepare().catch(() => undefined)) === undefined) await sleep(200);
    const facts = await moveIntoLog(journal, log, { name: 'bench', now: Date.now });
    await journal.close();
    const end = await log.last();
    const begin = performance.now();
    running = replica(folder, nats, Number(port), ['--journalDurability', durability]);
    const up = await answers(running, '/debug/replicasz');
    const before = cpuSeconds(running);
    await answers(running, '/debug/replicasz', text => positionIn(text) >= end);
    const seconds = (performance.now() - begin) / 1_000;
    const folding = (performance.now() - up) / 1_000;
    const cpu = { start: before, folding: cpuSeconds(running) - before };
    return {
      ...{ facts, seconds, 'seconds after its pages answered': folding, 'CPU s': cpu },
      ...{ 'facts a second': facts / seconds, 'facts a CPU second': facts / cpu.folding },
    };
  } finally {
    if (running !== undefined) await ended(running);
    await link.close();
    await nats.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function positionIn(text: string): number {
  const [own] = JSON.parse(text) as readonly { readonly position: number }[];
  return own?.position ?? 0;
}

function replica(folder: string, nats: NatsCluster, port: number, more: readonly string[]): Plane {
  return startPlane(port, folder, [
    ...['--journal', `nats://${nats.servers}/${MESH}`, '--replica-id', `replica-${port}`],
    ...['--journal-mirror', join(folder, `mirror-${port}.db`), '--journalKey', join(folder, 'key')],
    ...more,
    ...['--secureGrpcAddr', '', '--log_output_level', 'error'],
  ]);
}

/** Each connection goes to the next port. */
async function balance(port: number, to: readonly number[]): Promise<Server> {
  let turn = 0;
  const server = createServer(from => {
    const next = createConnection(to[turn++ % to.length]!, '127.0.0.1');
    for (const [socket, other] of [
      [from, next],
      [next, from],
    ] as const) {
      socket.setNoDelay(true);
      socket.on('error', () => other.destroy());
      socket.on('close', () => other.destroy());
      socket.pipe(other);
    }
  });
  await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve));
  return server;
}

const command = new Command('bench:replicas')
  .requiredOption('--mesh <dir>', 'folder of YAML files to serve')
  .requiredOption('--xdsload <file>', 'load tool')
  .option('--proxies <number>', 'proxies in all', '1000')
  .option('--rounds <number>', 'endpoint changes', '5')
  .option('--events <number>', 'changes in the log that a new replica folds', '200000')
  .option('--durability <setting>', 'of the new replica, see serve --journalDurability', 'full')
  .option('--port <number>', 'first of ten free ports', '26010')
  .addOption(new Option('--only <part>', 'one part of the two').choices(['proxies', 'catch-up']));
await main(command.parse().opts<Options>());
