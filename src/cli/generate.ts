// periplus generate: YAML in, xDS out, for the proxies of a file; no server, no journal.

import { readFile, stat } from 'node:fs/promises';
import { Command } from 'commander';
import { scanFolder } from '../adapters/file/scan.ts';
import type { Unrecorded } from '../core/event.ts';
import { isObject, type Json, type JsonObject } from '../core/json.ts';
import { showOrigin, showProblem } from '../core/problem.ts';
import { defaultSettings, settingsToJson } from '../core/settings.ts';
import type { State } from '../core/state.ts';
import { Tracker } from '../core/track.ts';
import { collect } from '../runtime/collect.ts';
import { foldFacts, objectFacts, proxyFacts, singleDocument } from '../runtime/offline.ts';
import { settingsFrom } from '../runtime/serve-options.ts';
import { CliError, EXIT, parseFormat, printData } from './output.ts';

interface Flags {
  readonly filename: readonly string[];
  readonly proxies: string;
  readonly meshConfig?: string;
  readonly networksConfig?: string;
  readonly domain: string;
  readonly clusterID: string;
  readonly namespace: string;
  readonly proxy?: string;
  readonly type?: string;
  readonly output: string;
}

export function generateCommand(): Command {
  return new Command('generate')
    .description('what the proxies of a file would be sent, from YAML alone')
    .requiredOption('-f, --filename <path...>', 'files or folders of Istio and Kubernetes objects')
    .requiredOption('--proxies <file>', 'YAML list of {name, node}; node as Envoy sends it')
    .option('--proxy <name>', 'only this proxy')
    .option('--type <types>', 'only these, e.g. cds,lds')
    .option('--meshConfig <file>', 'MeshConfig')
    .option('--networksConfig <file>', 'MeshNetworks')
    .option('--domain <suffix>', 'DNS domain suffix', defaultSettings.domainSuffix)
    .option('--clusterID <id>', 'id of the cluster', defaultSettings.clusterId)
    .option('-n, --namespace <ns>', 'namespace of the control plane', defaultSettings.systemNamespace)
    .option('-o, --output <format>', 'yaml or json', 'yaml')
    .addHelpText(
      'after',
      '\nExample:\n  periplus generate -f samples/bookinfo/config --proxies samples/bookinfo/proxies.yaml --proxy productpage --type rds',
    )
    .action(async (flags: Flags) => {
      const format = parseFormat(flags.output);
      const facts = [...configFacts(flags), ...(await meshFacts(flags))];
      for (const path of flags.filename) facts.push(...(await filesFacts(`file/${flags.clusterID}`, path)));
      const { state, effects } = foldFacts(facts);
      for (const effect of effects) {
        if (effect.kind !== 'Verdict' || effect.accepted) continue;
        for (const problem of effect.problems) {
          process.stderr.write(`${showOrigin(effect.origin)}: ${effect.object} is refused: ${showProblem(problem)}\n`);
        }
      }
      for (const { origin, reasons } of state.malformed.values()) {
        for (const reason of reasons) process.stderr.write(`${origin.file}:${reason}\n`);
      }
      printData(await generateAll(state, flags), format === 'json' ? 'json' : 'yaml');
    });
}

function configFacts(flags: Flags): Unrecorded[] {
  const { domain, clusterID, namespace } = flags;
  const settings = settingsFrom(
    { domainSuffix: domain, clusterId: clusterID, systemNamespace: namespace },
    process.env,
  );
  return [{ source: 'runtime', kind: 'Engine', settings: settingsToJson(settings) }];
}

async function meshFacts(flags: Flags): Promise<Unrecorded[]> {
  const facts: Unrecorded[] = [];
  for (const [kind, path] of [
    ['MeshConfig', flags.meshConfig],
    ['MeshNetworks', flags.networksConfig],
  ] as const) {
    if (path === undefined) continue;
    facts.push({ source: `file/${flags.clusterID}`, kind, ...singleDocument(path, await readText(path)) });
  }
  return facts;
}

async function filesFacts(source: string, path: string): Promise<Unrecorded[]> {
  const info = await stat(path).catch(() => undefined);
  if (info === undefined) throw new CliError(`${path}: no such file or folder`);
  if (!info.isDirectory()) return [...objectFacts(source, path, await readFile(path))];
  const { files, problems } = await scanFolder(path);
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  const facts: Unrecorded[] = [];
  for (const file of files) facts.push(...objectFacts(source, file.path, await readFile(file.path)));
  return facts;
}

async function generateAll(state: State, flags: Flags): Promise<Json> {
  const { value: list } = singleDocument(flags.proxies, await readText(flags.proxies));
  if (!Array.isArray(list)) throw new CliError(`${flags.proxies}: expected a list of {name, node}`);
  const types = flags.type?.split(',').map(type => type.trim().toLowerCase());
  const generated: Record<string, Json> = {};
  for (const entry of list) {
    if (!isObject(entry) || typeof entry.name !== 'string' || !isObject(entry.node)) {
      throw new CliError(`${flags.proxies}: every entry needs a name and a node`);
    }
    if (flags.proxy !== undefined && entry.name !== flags.proxy) continue;
    generated[entry.name] = generateOne(state, entry.name, entry.node, types);
  }
  if (Object.keys(generated).length === 0)
    throw new CliError(`${flags.proxies} has no proxy ${flags.proxy ?? ''}`, EXIT.failed);
  return generated;
}

function generateOne(state: State, name: string, node: JsonObject, types: readonly string[] | undefined): Json {
  const { state: connected } = foldFacts(proxyFacts(name, node), state);
  const proxy = connected.proxies.get(name);
  if (proxy === undefined)
    throw new CliError(`${name}: the node is none: its id must be type~ip~id~domain with a valid IP address`);
  const failed = (what: string, error: unknown): void => {
    process.stderr.write(
      `${name}: ${what} could not be generated: ${error instanceof Error ? error.message : String(error)}\n`,
    );
    process.exitCode = EXIT.failed;
  };
  const all = collect({ tracker: new Tracker(), state: connected, proxy, failed }, {});
  return Object.fromEntries(
    Object.entries(all).filter(([type, made]) => (types === undefined ? made.length > 0 : types.includes(type))),
  );
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    throw new CliError(`${path} cannot be read`);
  }
}
