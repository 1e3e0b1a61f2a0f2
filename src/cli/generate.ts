// periplus generate: what proxies would be sent: YAML in, xDS out, without a server; or of a journal, at any position.

import { Command } from 'commander';
import type { Json } from '../core/base/json.ts';
import type { ProxyRecord } from '../core/model/proxy.ts';
import { Tracker } from '../core/query/tracker.ts';
import type { State } from '../core/state.ts';
import { proxiesOrPodsAt, proxyNamed } from '../history/proxies.ts';
import { collect } from '../offline/collect.ts';
import { CliError, EXIT, parseFormat, printData, tell } from './output.ts';
import { AT_HELP, positionOf, tellOfPods, withHistory } from './target.ts';
import {
  addMeshFlags,
  connected,
  type MeshFlags,
  meshOfFiles,
  type NamedNode,
  nodesOfFile,
  stateOfFiles,
} from './yaml-files.ts';

interface Flags extends MeshFlags {
  readonly filename?: readonly string[];
  readonly journal?: string;
  readonly at?: string;
  readonly proxies?: string;
  readonly proxy?: string;
  readonly type?: string;
  readonly output: string;
}

interface Target {
  readonly name: string;
  readonly state: State;
  readonly proxy: ProxyRecord;
}

export function generateCommand(): Command {
  const command = new Command('generate')
    .description('generate the xDS resources of proxies, from YAML alone or from a journal at any position')
    .option('-f, --filename <path...>', 'files or folders of Istio and Kubernetes objects')
    .option('-j, --journal <file>', 'the objects of a journal instead of files')
    .option('--at <position>', 'with --journal: as they were at an event or a time')
    .option(
      '--proxies <file>',
      'YAML list of {name, node}; node as Envoy sends it. Default: one for each Pod or workload; with --journal those connected then',
    )
    .option('--proxy <name>', 'only this proxy: its name in the file, or pod, pod.namespace, or connection')
    .option('--type <types>', 'only these of cds, eds, lds, rds, ecds, sds and nds, e.g. cds,lds');
  return addMeshFlags(command)
    .option('-o, --output <format>', 'yaml or json', 'yaml')
    .addHelpText(
      'after',
      `
${AT_HELP}

Examples:
  periplus generate -f samples/bookinfo/config --proxies samples/bookinfo/proxies.yaml --proxy productpage --type rds
  periplus generate --journal incident.db --at 14:03 --proxy productpage-v1.default --type cds`,
    )
    .action(async (flags: Flags) => {
      const format = parseFormat(flags.output);
      typesOf(flags.type);
      const made = generateAll(await targetsOf(flags), flags);
      printData(made, format === 'json' ? 'json' : 'yaml');
    });
}

async function targetsOf(flags: Flags): Promise<readonly Target[]> {
  const { journal, filename, proxies } = flags;
  if ((journal === undefined) === (filename === undefined))
    throw new CliError('give the objects: either --filename or --journal', EXIT.misuse);
  if (journal === undefined) {
    if (flags.at !== undefined) throw new CliError('--at is a position of a journal: give --journal', EXIT.misuse);
    if (proxies === undefined) {
      const mesh = await meshOfFiles(filename ?? [], flags);
      return targets(mesh.state, mesh.nodes, flags.proxy);
    }
    const state = await stateOfFiles(filename ?? [], flags);
    return targets(state, await nodesOfFile(proxies), flags.proxy);
  }
  return withHistory(journal, async history => {
    const state = await history.at(await positionOf(history, flags.at));
    if (proxies !== undefined) return targets(state, await nodesOfFile(proxies), flags.proxy);
    tellOfPods(state);
    const there = flags.proxy === undefined ? proxiesOrPodsAt(state) : [proxyNamed(state, flags.proxy)];
    return there.map(proxy => ({ name: proxy.facets.id, state, proxy }));
  });
}

/** `name`: of the only one that is wanted. */
function targets(state: State, nodes: readonly NamedNode[], name: string | undefined): readonly Target[] {
  const wanted = nodes.filter(node => name === undefined || node.name === name || node.name.split('.')[0] === name);
  if (name !== undefined && wanted.length === 0) {
    const names = nodes.map(node => node.name).join(', ');
    throw new CliError(`there is no proxy ${name}; there are: ${names === '' ? 'none' : names}`, EXIT.failed);
  }
  return wanted.map(node => ({ name: node.name, ...connected(state, node) }));
}

function generateAll(all: readonly Target[], flags: Flags): Json {
  const types = typesOf(flags.type);
  if (all.length === 0) throw new CliError('there is no proxy: none is in the list, or connected', EXIT.failed);
  return Object.fromEntries(all.map(target => [target.name, generateOne(target, types)]));
}

const TYPES = ['cds', 'eds', 'lds', 'rds', 'ecds', 'sds', 'nds'];

function typesOf(text: string | undefined): readonly string[] | undefined {
  const types = text?.split(',').map(type => type.trim().toLowerCase());
  const unknown = types?.find(type => !TYPES.includes(type));
  if (unknown !== undefined)
    throw new CliError(`--type ${unknown}: expected some of ${TYPES.join(', ')}, with commas between`, EXIT.misuse);
  return types;
}

function generateOne({ name, state, proxy }: Target, types: readonly string[] | undefined): Json {
  const failed = (what: string, error: unknown): void => {
    tell(`${name}: ${what} could not be generated: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = EXIT.failed;
  };
  const made = collect({ tracker: new Tracker(), state, proxy, failed }, {});
  return Object.fromEntries(
    Object.entries(made).filter(([type, resources]) =>
      types === undefined ? resources.length > 0 : types.includes(type),
    ),
  );
}
