// periplus trace: what happens to one request, step by step, and what was passed over: the oracle as a command.

import { Command } from 'commander';
import type { Json } from '../core/base/json.ts';
import { Tracker } from '../core/query/tracker.ts';
import type { State } from '../core/state.ts';
import { type Arrived, type Trace, type TraceQuestion, trace } from '../history/trace.ts';
import { explain } from '../oracle/explain.ts';
import { CliError, EXIT, parseFormat, print, printData } from './output.ts';
import { AT_HELP, DEFAULT_JOURNAL, positionOf, tellOfPods, withHistory } from './target.ts';
import { coloured } from './terminal.ts';
import { addMeshFlags, connected, type MeshFlags, meshWithPods, nodesOfFile } from './yaml-files.ts';

interface Flags extends MeshFlags {
  readonly from: string;
  readonly to: string;
  readonly method: string;
  readonly header: readonly string[];
  readonly tcp: boolean;
  readonly filename?: readonly string[];
  readonly proxies?: string;
  readonly journal: string;
  readonly at?: string;
  readonly output: string;
}

const gather = (value: string, before: readonly string[]): readonly string[] => [...before, value];

export function traceCommand(): Command {
  const command = new Command('trace')
    .description('say what happens to a request: listener, route, cluster, endpoint, and the policies at its end')
    .argument('[path]', 'path of the request, with its query', '/')
    .requiredOption('--from <proxy>', 'who sends it: pod, pod.namespace, workload, connection, or service.namespace')
    .requiredOption('--to <host:port>', 'where to: a service (reviews:9080, reviews.shop), a host, or an address')
    .option('-X, --method <method>', 'HTTP method', 'GET')
    .option('-H, --header <header>', 'a header, "name: value"; repeatable', gather, [])
    .option('--tcp', 'bytes that are not HTTP', false)
    .option('-f, --filename <path...>', 'the objects of files or folders, - for a pipe, instead of a journal')
    .option('--proxies <file>', 'with -f: YAML list of {name, node}; not needed if --from is a service')
    .option('-j, --journal <file>', 'journal to read; a running control plane may be writing it', DEFAULT_JOURNAL)
    .option('--at <position>', 'as it was at an event or a time; default: the end of the journal');
  return addMeshFlags(command, 'for files: ')
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .addHelpText(
      'after',
      `
${AT_HELP}
Made by a model of Envoy from the configuration that Periplus generates; what is not modelled, not enforced or not known is listed.
Exit code 0: every way leads to a workload that takes it; 1: some way does not, or it is not known.

Examples:
  periplus trace --from productpage --to reviews:9080 /reviews/1 -H "end-user: jason"
  periplus trace --from shop/web --to payments.bank:8443 --tcp --at 14:03`,
    )
    .action(async (path: string, flags: Flags) => {
      const format = parseFormat(flags.output);
      const question = questionOf(path, flags);
      await withState(flags, (tracker, state) => {
        const found = trace(tracker, state, question);
        if (format === 'table') show(found);
        else printData(found as unknown as Json, format);
        if (!isFine(found)) process.exitCode = EXIT.failed;
      });
    });
}

function questionOf(path: string, { from, to, method, header, tcp }: Flags): TraceQuestion {
  const headers: Record<string, string> = {};
  for (const line of header) {
    const colon = line.indexOf(':');
    if (colon < 1) throw new CliError(`-H ${line}: expected "name: value"`, EXIT.misuse);
    headers[line.slice(0, colon).trim()] = line.slice(colon + 1).trim();
  }
  return { from, to, method, path: path.startsWith('/') ? path : `/${path}`, headers, tcp };
}

async function withState(flags: Flags, use: (tracker: Tracker, state: State) => void): Promise<void> {
  if (flags.filename === undefined) {
    return withHistory(flags.journal, async history => {
      const state = await history.at(await positionOf(history, flags.at));
      tellOfPods(state);
      use(history.tracker, state);
    });
  }
  if (flags.at !== undefined) throw new CliError('--at is a position of a journal, not of files', EXIT.misuse);
  const mesh = await meshWithPods(flags.filename, flags);
  const nodes = flags.proxies === undefined ? mesh.nodes : await nodesOfFile(flags.proxies);
  let { state } = mesh;
  for (const node of nodes) state = connected(state, node).state;
  return use(new Tracker(), state);
}

function isFine({ prediction, arrived }: Trace): boolean {
  const forwarded = prediction.branches.every(({ outcome }) => outcome.kind === 'forwarded');
  return forwarded && arrived.every(({ allowed }) => allowed === undefined || allowed === 'yes');
}

function show({ from, authority, destination, prediction, arrived, open }: Trace): void {
  print(`${from} to ${authority} (${destination})\n`);
  print(explain(prediction));
  if (arrived.length > 0) print('\nat the workload');
  for (const one of arrived) print(`  ${one.endpoint}  ${verdictOf(one)}`);
  if (open.length > 0) print(`\n${coloured('not settled by this answer', 'yellow')}`);
  for (const sentence of open) print(`  ${sentence}`);
}

function verdictOf({ allowed, proxy, why }: Arrived): string {
  if (allowed === undefined) return why;
  const word = { yes: 'takes it', no: coloured('refuses it', 'red'), unknown: 'may take it' }[allowed];
  return `${proxy} ${word}: ${why}`;
}
