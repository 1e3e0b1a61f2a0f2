// `npm run bench:replicas -- --mesh DIR --xdsload BIN`: proxies on one replica, then on three, each time behind a TCP balancer and with three NATS
// servers that write to the disk; how long an endpoint change takes to reach all of them. Then a new replica folds a log from its beginning.
// Mesh and load tool are those of load.ts; NATS is built from its Go module. Under four minutes on two cores.

import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createConnection, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { openJournal } from '../src/journal/open.ts';
import { moveIntoLog } from '../src/replicas/move.ts';
import { NatsLink } from '../src/replicas/nats/connection.ts';
import { JetStreamLog } from '../src/replicas/nats/jetstream-log.ts';
import { NatsCluster, natsOrSkip } from '../test/e2e/nats/cluster.ts';
import { changeIn } from './load-change.ts';
import { changeOf, coldOf, load } from './load-tool.ts';
import { churn, meshFacts } from './mesh.ts';

const ENDPOINT_SLICE = 'endpointslice-ns-0-svc-0-x.yaml';
const CLI = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const READY_MS = 120_000;
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
}

interface Running {
  readonly grpc: number;
  readonly http: number;
  readonly process: ChildProcess;
}

async function main(options: Options): Promise<void> {
  const program = await natsOrSkip('bench:replicas');
  if (program === undefined) process.exit(1);
  const [one, three] = [await underLoad(program, options, 1), await underLoad(program, options, 3)];
  const ratio = three.change.p99Ms! / one.change.p99Ms!;
  const caughtUp = await catchUp(program, options);
  process.stdout.write(`${JSON.stringify({ one, three, 'p99 of three over one': ratio, caughtUp }, undefined, 2)}\n`);
}

async function underLoad(program: string, { mesh, xdsload, proxies, rounds, port }: Options, count: number) {
  process.stderr.write(`${proxies} proxies on ${count} …\n`);
  const folder = mkdtempSync(join(tmpdir(), 'periplus-replicated-'));
  const copy = join(folder, 'mesh');
  cpSync(mesh, copy, { recursive: true });
  const nats = await NatsCluster.begin(program);
  const replicas: Running[] = [];
  let balancer: Server | undefined;
  try {
    for (let i = 0; i < count; i++) replicas.push(replica(folder, nats, Number(port) + i * PORTS, copy));
    for (const { http } of replicas) await answers(http, '/ready', () => true);
    const at = Number(port) + count * PORTS;
    balancer = await balance(
      at,
      replicas.map(({ grpc }) => grpc),
    );
    const text = readFileSync(join(mesh, ENDPOINT_SLICE), 'utf8');
    const file = { file: ENDPOINT_SLICE, text, from: '172.16.0.0', to: '172.31.@ROUND@.77' };
    const reach = ['-addr', `127.0.0.1:${at}`, '-pid', String(replicas[0]?.process.pid)];
    const lines = await load({ xdsload, rounds, reach }, Number(proxies), changeIn(folder, copy, file));
    return { cold: coldOf(lines), change: changeOf(lines) };
  } finally {
    balancer?.close();
    for (const { process: child } of replicas) await ended(child);
    await nats.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** From the start of the process until it stands at the end of the log. */
async function catchUp(program: string, { port, events }: Options) {
  process.stderr.write(`a new replica and ${events} events …\n`);
  const folder = mkdtempSync(join(tmpdir(), 'periplus-replicated-'));
  const nats = await NatsCluster.begin(program);
  const address = { servers: nats.servers.split(','), isTls: false, mesh: MESH };
  const link = new NatsLink({ address, name: 'bench', say: () => undefined });
  let running: Running | undefined;
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
    running = replica(folder, nats, Number(port), undefined);
    const { http } = running;
    const up = await answers(http, '/debug/replicasz', () => true);
    await answers(http, '/debug/replicasz', text => positionIn(text) >= end);
    const seconds = (performance.now() - begin) / 1_000;
    const folding = (performance.now() - up) / 1_000;
    return { facts, seconds, 'seconds after its pages answered': folding, 'facts a second': facts / seconds };
  } finally {
    if (running !== undefined) await ended(running.process);
    await link.close();
    await nats.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function positionIn(text: string): number {
  const [own] = JSON.parse(text) as readonly { readonly position: number }[];
  return own?.position ?? 0;
}

function replica(folder: string, nats: NatsCluster, port: number, configDir: string | undefined): Running {
  const at = (offset: number): string => `127.0.0.1:${port + offset}`;
  const child = spawn(
    process.execPath,
    [
      ...[CLI, 'serve', '--journal', `nats://${nats.servers}/${MESH}`, '--replica-id', `replica-${port}`],
      ...['--journal-mirror', join(folder, `mirror-${port}.db`), '--journalKey', join(folder, 'key')],
      ...(configDir === undefined ? [] : ['--configDir', configDir]),
      ...['--grpcAddr', at(0), '--httpAddr', at(1), '--monitoringAddr', at(2), '--secureGrpcAddr', ''],
      ...['--httpsAddr', '', '--ctrlz_port', '0', '--log_output_level', 'error'],
    ],
    { stdio: ['ignore', 'ignore', 'inherit'], cwd: folder },
  );
  return { grpc: port, http: port + 1, process: child };
}

/** Resolves with the time at which the page is there and as wanted. */
async function answers(port: number, path: string, isWanted: (text: string) => boolean): Promise<number> {
  const end = Date.now() + READY_MS;
  while (Date.now() < end) {
    const text = await fetch(`http://127.0.0.1:${port}${path}`).then(
      answer => (answer.ok ? answer.text() : undefined),
      () => undefined,
    );
    if (text !== undefined && isWanted(text)) return performance.now();
    await sleep(20);
  }
  throw new Error(`${path} of port ${port} did not become what was wanted; is dist/ built (npm run build)?`);
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

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const gone = new Promise(resolve => child.once('exit', resolve));
  child.kill('SIGTERM');
  await gone;
}

const command = new Command('bench:replicas')
  .requiredOption('--mesh <dir>', 'folder of YAML files to serve')
  .requiredOption('--xdsload <file>', 'load tool')
  .option('--proxies <number>', 'proxies in all', '1000')
  .option('--rounds <number>', 'endpoint changes', '5')
  .option('--events <number>', 'changes in the log that a new replica folds', '200000')
  .option('--port <number>', 'first of ten free ports', '26010');
await main(command.parse().opts<Options>());
