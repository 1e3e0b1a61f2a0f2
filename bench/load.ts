// `npm run bench:load -- --mesh DIR --xdsload BIN`: starts `periplus serve` on a copy of a folder of YAML files and drives it with a load tool
// that opens many ADS streams, then prints what it measured beside istiod's figures, as a table and as JSON. Stalls of the event loop are what the
// server's own metrics say; while other programs run they are mostly theirs.
//
// The load tool is any program that takes `-addr -pid -proxies -rounds -settle -marker -trigger` and prints a JSON line a phase
// (`{"phase": "cold", "s", "server_cpu_s", "server_rss_mib", "mib"}`, `{"phase": "change", "p50_ms", "p99_ms", …}`). The folder has one
// object a file, among them `virtualservice-ns-0-svc-0.yaml` and `endpointslice-ns-0-svc-0-x.yaml`.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import Table from 'cli-table3';
import { Command } from 'commander';
import { ISTIOD, type Measured, type Scenario, scenarios } from './reference.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const READY_MS = 120_000;
/** The load tool gives up a phase by itself; this is for one that hangs. */
const RUN_MS = 600_000;
const VIRTUAL_SERVICE = 'virtualservice-ns-0-svc-0.yaml';
const ENDPOINT_SLICE = 'endpointslice-ns-0-svc-0-x.yaml';

interface Options {
  readonly mesh: string;
  readonly xdsload: string;
  readonly proxies: string;
  readonly rounds: string;
  readonly port: string;
}

interface Row {
  readonly proxies: number;
  readonly scenario: Scenario;
  readonly measured: Measured;
}

async function main(options: Options): Promise<void> {
  const rows: Row[] = [];
  for (const proxies of options.proxies.split(',').map(Number)) {
    process.stderr.write(`${proxies} proxies …\n`);
    rows.push(...(await measure(options, proxies)));
  }
  process.stdout.write(`${tableOf(rows)}\n`);
  const machine = { cpu: cpus()[0]?.model, cpus: cpus().length, memoryMib: Math.round(totalmem() / 2 ** 20) };
  process.stdout.write(`${JSON.stringify({ machine, node: process.version, rows })}\n`);
}

/** A server of its own for each size; the endpoint change is measured by proxies that have connected anew. */
async function measure(options: Options, proxies: number): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'periplus-load-'));
  const mesh = join(folder, 'mesh');
  cpSync(options.mesh, mesh, { recursive: true });
  const server = await serve(folder, mesh, Number(options.port));
  try {
    const trigger = (file: string, from: string, to: string): string => {
      const template = join(folder, `template-${file}`);
      const text = readFileSync(join(mesh, file), 'utf8');
      const changed = text.replace(from, to);
      if (changed === text) throw new Error(`${file} has no ${from}`);
      writeFileSync(template, changed);
      // Written beside and moved: the server never reads half a file.
      return `sed 's/@ROUND@/%d/' ${template} > ${folder}/next && mv ${folder}/next ${join(mesh, file)}`;
    };
    const drive = (marker: string, command: string): Promise<readonly Line[]> =>
      load(options, server, proxies, marker, command);
    const header = trigger(VIRTUAL_SERVICE, '"base"', '"bench-@ROUND@-header"');
    await stallSeconds(options);
    const first = await drive('bench-%d-header', header);
    const stallMs = (await stallSeconds(options)) * 1_000;
    const address = trigger(ENDPOINT_SLICE, '172.16.0.0', '172.31.@ROUND@.77');
    const second = await drive('172.31.%d.77', address);
    return [
      { proxies, scenario: 'cold start', measured: { ...coldOf(first), stallMs } },
      { proxies, scenario: 'VirtualService change', measured: changeOf(first) },
      { proxies, scenario: 'endpoint change', measured: changeOf(second) },
    ];
  } finally {
    server.kill('SIGTERM');
    await new Promise(resolve => server.once('exit', resolve));
    rmSync(folder, { recursive: true, force: true });
  }
}

async function serve(folder: string, mesh: string, port: number): Promise<ChildProcess> {
  const address = (offset: number): string => `127.0.0.1:${port + offset}`;
  const server = spawn(
    process.execPath,
    [
      join(root, 'dist/cli/main.js'),
      'serve',
      ...['--configDir', mesh, '--journal', join(folder, 'journal.db'), '--log_output_level', 'warn'],
      ...['--grpcAddr', address(0), '--httpAddr', address(1), '--monitoringAddr', address(2), '--secureGrpcAddr', ''],
    ],
    { stdio: ['ignore', 'ignore', 'inherit'], cwd: folder },
  );
  const until = Date.now() + READY_MS;
  while (Date.now() < until && server.exitCode === null) {
    const ready = await fetch(`http://${address(1)}/ready`).then(
      answer => answer.ok,
      () => false,
    );
    if (ready) return server;
    await sleep(50);
  }
  server.kill('SIGKILL');
  throw new Error('periplus serve did not become ready; is dist/ built (npm run build)?');
}

/** The longest stall of the server's event loop since this was asked last, by its own metrics. */
async function stallSeconds({ port }: Options): Promise<number> {
  const page = await fetch(`http://127.0.0.1:${Number(port) + 2}/metrics`).then(answer => answer.text());
  return Number(/^periplus_loop_lag_max_seconds (\S+)$/m.exec(page)?.[1] ?? Number.NaN);
}

interface Line {
  readonly phase: 'cold' | 'change';
  readonly s?: number;
  readonly server_cpu_s: number;
  readonly server_rss_mib: number;
  readonly mib: number;
  readonly p50_ms?: number;
  readonly p99_ms?: number;
  readonly not_ready?: number;
  readonly incomplete?: boolean;
}

async function load(
  { xdsload, rounds, port }: Options,
  server: ChildProcess,
  proxies: number,
  marker: string,
  trigger: string,
): Promise<readonly Line[]> {
  const { stdout } = await promisify(execFile)(
    xdsload,
    [
      ...['-addr', `127.0.0.1:${port}`, '-pid', String(server.pid), '-proxies', String(proxies)],
      ...['-rounds', rounds, '-marker', marker, '-trigger', trigger],
    ],
    { timeout: RUN_MS, maxBuffer: 1 << 26 },
  );
  const lines = stdout
    .split('\n')
    .filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line) as Line);
  const failed = lines.find(({ not_ready, incomplete }) => (not_ready ?? 0) > 0 || incomplete === true);
  if (failed !== undefined) throw new Error(`not every proxy was served: ${JSON.stringify(failed)}`);
  return lines;
}

function coldOf(lines: readonly Line[]): Measured {
  const cold = lines.find(({ phase }) => phase === 'cold');
  if (cold === undefined) throw new Error('the load tool reported no cold start');
  return { seconds: cold.s, cpuSeconds: cold.server_cpu_s, rssMib: cold.server_rss_mib, mib: cold.mib };
}

/** The median of the rounds. */
function changeOf(lines: readonly Line[]): Measured {
  const rounds = lines.filter(({ phase }) => phase === 'change');
  const median = (of: (line: Line) => number): number =>
    rounds.map(of).sort((a, b) => a - b)[Math.floor(rounds.length / 2)] ?? Number.NaN;
  return {
    p50Ms: median(line => line.p50_ms ?? Number.NaN),
    p99Ms: median(line => line.p99_ms ?? Number.NaN),
    cpuSeconds: median(line => line.server_cpu_s),
    rssMib: median(line => line.server_rss_mib),
    mib: median(line => line.mib),
  };
}

const columns = [
  ['s', 'seconds'],
  ['p50 ms', 'p50Ms'],
  ['p99 ms', 'p99Ms'],
  ['CPU s', 'cpuSeconds'],
  ['RSS MiB', 'rssMib'],
  ['sent MiB', 'mib'],
  ['stall ms', 'stallMs'],
] as const satisfies readonly (readonly [string, keyof Measured])[];

/** In each cell ours, then istiod's, and what part of it ours is. */
function tableOf(rows: readonly Row[]): string {
  const table = new Table({
    head: ['proxies', 'scenario', ...columns.map(([name]) => `${name}: ours / istiod`)],
    style: { head: [], border: [] },
  });
  for (const scenario of scenarios) {
    for (const row of rows.filter(one => one.scenario === scenario)) {
      const theirs = ISTIOD[scenario][row.proxies] ?? {};
      const cells = columns.map(([, field]) => {
        const [ours, other] = [row.measured[field], theirs[field]];
        const part = ours === undefined || other === undefined ? '' : ` (${(ours / other).toFixed(2)})`;
        return `${number(ours)} / ${number(other)}${part}`;
      });
      table.push([String(row.proxies), scenario, ...cells]);
    }
  }
  return table.toString();
}

function number(value: number | undefined): string {
  if (value === undefined) return '–';
  return value >= 100 ? value.toFixed(0) : value.toPrecision(2);
}

const command = new Command('bench:load')
  .requiredOption('--mesh <dir>', 'folder of YAML files to serve')
  .requiredOption('--xdsload <file>', 'load tool')
  .option('--proxies <list>', 'numbers of proxies', '100,400,1000')
  .option('--rounds <number>', 'changes of each kind', '5')
  .option('--port <number>', 'first of three free ports', '25010');
await main(command.parse().opts<Options>());
