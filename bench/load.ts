// `npm run bench:load -- --mesh DIR --xdsload BIN`: starts `periplus serve` on a copy of a folder of YAML files and drives it with a load tool
// that opens many ADS streams, then prints what it measured beside istiod's figures, as a table and as JSON. Stalls of the event loop are what the
// server's own metrics say, by the clock, so other programs lengthen them; the CPU of its longest turn they do not (`turns.mjs`).
//
// The load tool is any program that takes `-addr -pid -proxies -rounds -settle -marker -trigger` and prints a JSON line a phase
// (`{"phase": "cold", "s", "server_cpu_s", "server_rss_mib", "mib"}`, `{"phase": "change", "p50_ms", "p99_ms", …}`). The folder has one
// object a file, among them `virtualservice-ns-0-svc-0.yaml` and `endpointslice-ns-0-svc-0-x.yaml`. With `--tls` also `-tls -csr -tokens FOLDER`
// (`{"phase": "csr", …}`), and VirtualServices change twice more: while proxies that are connected ask for their certificates again and again, as
// after a change of the trust bundle, and while as many others sign in and connect besides.
//
// The policy is one of the root namespace, so every proxy is sent listeners. `--kubeconfig new --istiod BIN` has the same figure of istiod.

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import Table from 'cli-table3';
import { Command } from 'commander';
import { changeIn, endpointChange, policyOf } from './load-change.ts';
import { type KubeRow, measureKube } from './load-kube.ts';
import { type Served, serve } from './load-server.ts';
import { type Change, changeOf, coldOf, type LoadTarget, load, Renewals, signingOf } from './load-tool.ts';
import { ISTIOD, ISTIOD_TLS, type Measured, type Scenario, scenarios } from './reference.ts';

const VIRTUAL_SERVICE = 'virtualservice-ns-0-svc-0.yaml';
const POLICY = 'authorizationpolicy-bench.yaml';

const machine = { cpu: cpus()[0]?.model, cpus: cpus().length, memoryMib: Math.round(totalmem() / 2 ** 20) };

interface Options {
  readonly mesh: string;
  readonly xdsload: string;
  readonly proxies: string;
  readonly rounds: string;
  readonly port: string;
  readonly tls: boolean;
  readonly kubeconfig?: string;
  readonly istiod?: string;
}

interface Row {
  readonly proxies: number;
  readonly scenario: Scenario;
  readonly measured: Measured;
}

async function main({ kubeconfig, ...options }: Options): Promise<void> {
  if (kubeconfig !== undefined) {
    const proxies = options.proxies.split(',').map(Number);
    const rows = await measureKube({ ...options, kubeconfig, proxies });
    process.stdout.write(`${kubeTable(rows)}\n${JSON.stringify({ machine, node: process.version, rows })}\n`);
    return;
  }
  const rows: Row[] = [];
  for (const proxies of options.proxies.split(',').map(Number)) {
    process.stderr.write(`${proxies} proxies …\n`);
    rows.push(...(await measure(options, proxies)));
  }
  process.stdout.write(`${tableOf(rows, options.tls)}\n`);
  process.stdout.write(`${JSON.stringify({ machine, node: process.version, tls: options.tls, rows })}\n`);
}

/** A server of its own for each size; each change after the first is measured by proxies that have connected anew. */
async function measure({ xdsload, rounds, tls, ...options }: Options, proxies: number): Promise<readonly Row[]> {
  const port = Number(options.port);
  const folder = mkdtempSync(join(tmpdir(), 'periplus-load-'));
  const mesh = join(folder, 'mesh');
  cpSync(options.mesh, mesh, { recursive: true });
  const base = JSON.stringify(policyOf('base'));
  writeFileSync(join(mesh, POLICY), base);
  const server = await serve(folder, mesh, port, tls);
  try {
    const target = { xdsload, rounds, reach: server.reach };
    const original = (file: string): string => readFileSync(join(options.mesh, file), 'utf8');
    const change = (file: string, from: string, to: string, text = original(file)): Change =>
      changeIn(folder, mesh, { file, text, from, to });
    const header = change(VIRTUAL_SERVICE, '"base"', '"bench-@ROUND@-header"');
    const renewed = change(VIRTUAL_SERVICE, '"base"', '"while-@ROUND@-header"');
    const again = change(VIRTUAL_SERVICE, '"base"', '"again-@ROUND@-header"');
    const policy = change(POLICY, '/base', '/bench-@ROUND@-policy', base);
    await server.held();
    const first = await load(target, proxies, header);
    const held = await server.held();
    const second = await load(target, proxies, endpointChange(folder, options.mesh, mesh));
    const third = await load(target, proxies, policy);
    const signing = signingOf(first);
    return [
      ...(signing === undefined ? [] : [{ proxies, scenario: 'signing requests', measured: signing } as const]),
      { proxies, scenario: 'cold start', measured: { ...coldOf(first), ...held } },
      { proxies, scenario: 'VirtualService change', measured: changeOf(first) },
      { proxies, scenario: 'endpoint change', measured: changeOf(second) },
      { proxies, scenario: 'policy change', measured: changeOf(third) },
      ...(tls ? await whileRenewing(server, target, proxies, renewed) : []),
      ...(tls ? await whileConnecting(server, target, proxies, again) : []),
    ];
  } finally {
    server.process.kill('SIGTERM');
    await new Promise(resolve => server.process.once('exit', resolve));
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Proxies that are connected ask for certificates. The server's CPU and memory are those of all of it. */
async function whileRenewing(
  server: Served,
  target: LoadTarget,
  proxies: number,
  change: Change,
): Promise<readonly Row[]> {
  let renewals: Renewals | undefined;
  const lines = await load(target, proxies, change, () => {
    void server.held();
    renewals = new Renewals(target, proxies);
  }).finally(() => renewals?.stop());
  const held = await server.held();
  const signed = signingOf((await renewals?.stop()) ?? []);
  return [
    { proxies, scenario: 'VirtualService change while all renew', measured: { ...changeOf(lines), ...held } },
    ...(signed === undefined ? [] : [{ proxies, scenario: 'renewals meanwhile', measured: signed } as const]),
  ];
}

/** As many proxies sign in and connect meanwhile. */
async function whileConnecting(
  server: Served,
  target: LoadTarget,
  proxies: number,
  change: Change,
): Promise<readonly Row[]> {
  await server.held();
  const renewals = new Renewals(target, proxies);
  const lines = await load(target, proxies, change).finally(() => renewals.stop());
  const held = await server.held();
  await renewals.stop();
  return [{ proxies, scenario: '… and as many connect', measured: { ...changeOf(lines), ...held } }];
}

const columns = [
  ['s', 'seconds'],
  ['p50 ms', 'p50Ms'],
  ['p99 ms', 'p99Ms'],
  ['CPU s', 'cpuSeconds'],
  ['a second', 'perSecond'],
  ['RSS MiB', 'rssMib'],
  ['sent MiB', 'mib'],
  ['stall ms', 'stallMs'],
  ['turn, CPU ms', 'turnMs'],
] as const satisfies readonly (readonly [string, keyof Measured])[];

/** In each cell ours, then istiod's, and what part of it ours is. */
function tableOf(rows: readonly Row[], tls: boolean): string {
  const istiod = tls ? ISTIOD_TLS : ISTIOD;
  const table = new Table({
    head: ['proxies', 'scenario', ...columns.map(([name]) => `${name}: ours / istiod`)],
    style: { head: [], border: [] },
  });
  for (const scenario of scenarios) {
    for (const row of rows.filter(one => one.scenario === scenario)) {
      const theirs = istiod[scenario]?.[row.proxies] ?? {};
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

function kubeTable(rows: readonly KubeRow[]): string {
  const parts = ['writeAnswered', 'factRecorded', 'firstReceipt', 'lastReceipt'] as const;
  const head = ['who', 'proxies', 'scenario', ...columns.map(([name]) => name), ...parts.map(part => `${part} ms`)];
  const table = new Table({ head, style: { head: [], border: [] } });
  for (const row of rows) {
    const measured = columns.map(([, field]) => number(row.measured[field]));
    table.push([
      ...[row.who, String(row.proxies), row.scenario],
      ...measured,
      ...parts.map(part => number(row.parts?.[part])),
    ]);
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
  .option('--port <number>', 'first of four free ports', '25010')
  .option('--kubeconfig <file>', 'serve a cluster in place of the folder; `new`: one that is started for this')
  .option('--istiod <file>', 'with --kubeconfig: a program to measure after Periplus')
  .option('--tls', 'the secure port: signing requests, then streams with client certificates', false);
await main(command.parse().opts<Options>());
