// periplus authz: which policies a workload has, and whether a caller may send it a request, with the rule that says
// so.

import { Command } from 'commander';
import type { Json } from '../core/base/json.ts';
import { Tracker } from '../core/query/tracker.ts';
import type { State } from '../core/state.ts';
import type { ListedPolicy } from '../history/access/listed.ts';
import { type AccessReport, type AccessRequest, accessReport, policyReport } from '../history/access/request.ts';
import { CliError, EXIT, parseFormat, print, printData, printTable } from './output.ts';
import { AT_HELP, askServer, DEFAULT_ADDRESS, positionOf, withHistory } from './target.ts';
import {
  addMeshFlags,
  connected,
  type MeshFlags,
  type MeshOfFiles,
  meshWithPods,
  nodesOfFile,
  stateOfFiles,
} from './yaml-files.ts';

/** For scripts: yes, no, misuse, and what an external authorizer or an unknown filter decides. */
export const CAN_EXIT = { yes: 0, no: 1, misuse: 2, unknown: 3 } as const;

interface Flags extends MeshFlags {
  readonly filename?: readonly string[];
  readonly proxies?: string;
  readonly journal?: string;
  readonly address: string;
  readonly at?: string;
  readonly output: string;
}

type CanFlags = Flags & Omit<AccessRequest, 'caller' | 'target'>;

export function authzCommand(): Command {
  return new Command('authz')
    .description('which security policies a workload has, and who may call it')
    .addCommand(checkCommand())
    .addCommand(canCommand())
    .addHelpText(
      'after',
      `
Examples:
  periplus authz check reviews.shop                           every policy in the filters of a workload
  periplus authz can shop/web reviews.shop --path /reviews/1  may this account send this request, and which rule says so
  periplus authz can none reviews.shop -f mesh/               may a caller without mTLS, by these files`,
    );
}

function withSource(command: Command): Command {
  command
    .option('-f, --filename <path...>', 'ask about the objects of files or folders')
    .option('--proxies <file>', 'with -f: YAML list of {name, node}; default: one for each Pod or workload')
    .option('-j, --journal <file>', 'ask this journal instead of a running control plane')
    .option('--at <position>', 'as it was at an event or a time; default: now')
    .option('--address <host:port>', 'monitoring address of the control plane', DEFAULT_ADDRESS);
  return addMeshFlags(command, 'for files: ').option('-o, --output <format>', 'table, json or yaml', 'table');
}

const TARGET_HELP = 'a connected proxy (pod, pod.namespace, connection), or a service as name.namespace';

function checkCommand(): Command {
  const command = new Command('check')
    .description('list the policies in the filters of a workload, listener by listener')
    .argument('<target>', TARGET_HELP);
  return withSource(command)
    .addHelpText(
      'after',
      `
${AT_HELP}
PORTS are those whose filter chains carry the policy; * stands for every other port. MODE: enforced; dry-run (recorded, without effect);
refuses (a CUSTOM policy whose provider cannot be used: what it matches is refused). RULES are the indexes of the rules in force; a rule
that is missing asks for HTTP on a port that has none.`,
    )
    .action(async (target: string, flags: Flags) => {
      const format = parseFormat(flags.output);
      const page = { path: '/debug/authz/check', query: { target } };
      const found = await answerOf(flags, page, (tracker, state) => policyReport(tracker, state, target));
      if (format !== 'table') printData(found as unknown as Json, format);
      else showPolicies(found);
    });
}

function showPolicies(found: readonly ListedPolicy[]): void {
  if (found.length === 0) {
    print('no policy applies: every request is let pass');
    return;
  }
  const rows = found.map(({ listener, ports, protocol, action, mode, policy, rules }) => [
    listener,
    ports.map(port => (port === 0 ? '*' : String(port))).join(','),
    protocol,
    action,
    policy,
    rules.join(',') || '-',
    mode,
  ]);
  printTable(['LISTENER', 'PORTS', 'PROTOCOL', 'ACTION', 'POLICY', 'RULES', 'MODE'], rows);
}

function canCommand(): Command {
  const command = new Command('can')
    .description('say whether a caller may send a request to a workload, and which rule decides')
    .argument('<caller>', 'namespace/account, a SPIFFE URI, or none: a caller without mTLS')
    .argument('<target>', TARGET_HELP)
    .option('--method <method>', 'HTTP method', 'GET')
    .option('--path <path>', 'path of the request, with its query', '/')
    .option('--host <host>', 'Host header; default: the target')
    .option('--header <name:value>', 'a header; may be repeated', gather, [])
    .option('--jwt <claims>', 'a valid token: ISSUER/SUBJECT, or its claims as JSON; it comes as Authorization: Bearer')
    .option('--port <port>', "the workload's port; default: its first one, for HTTP its first one that takes HTTP")
    .option('--tcp', 'bytes that are not HTTP', false)
    .option('--source-ip <address>', 'address that the connection comes from')
    .option('--authorizer <answer>', 'what external authorizers answer: allows, denies or fails');
  return withSource(command)
    .addHelpText(
      'after',
      `
${AT_HELP}
Exit code 0: yes; 1: no; 2: misuse; 3: it depends on an external authorizer or on a filter that is not modelled.
The answer is that of Envoy's filters as they are generated for the workload, and names the policy and the rule.

Examples:
  periplus authz can shop/web reviews.shop --method POST --path /reviews
  periplus authz can none ingress.istio-system --port 8080 --host shop.example.com --jwt https://issuer.example.com/alice
  periplus authz can shop/web reviews.shop --at 14:03 -o json
  periplus authz can shop/web reviews.shop --journal incident.db --at head~10`,
    )
    .action(async (caller: string, target: string, flags: CanFlags) => {
      const format = parseFormat(flags.output);
      const request = requestOf(caller, target, flags);
      const { tcp, ...query } = request;
      const page = { path: '/debug/authz/can', query: { ...query, tcp: String(tcp) } };
      const report = await answerOf(flags, page, (tracker, state) => accessReport(tracker, state, request));
      if (format === 'table') showAnswer(caller, report);
      else printData(report as unknown as Json, format);
      process.exitCode = CAN_EXIT[report.allowed];
    });
}

const gather = (value: string, before: readonly string[]): readonly string[] => [...before, value];

interface Page {
  readonly path: string;
  readonly query: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** Of files, of a journal, or of the running control plane, which has the same answer on a page. */
async function answerOf<T>(flags: Flags, page: Page, answer: (tracker: Tracker, state: State) => T): Promise<T> {
  if (flags.filename !== undefined) {
    if (flags.at !== undefined) throw new CliError('--at is a position of a journal, not of files', EXIT.misuse);
    let { state, nodes } = await meshOf(flags.filename, flags);
    for (const node of nodes) state = connected(state, node).state;
    return answer(new Tracker(), state);
  }
  if (flags.journal === undefined) {
    const otherwise = ', --journal FILE asks a journal, -f FILE files';
    return (await askServer(flags.address, page.path, { ...page.query, at: flags.at }, otherwise)) as T;
  }
  return withHistory(flags.journal, async history => {
    const state = await history.at(await positionOf(history, flags.at));
    return answer(history.tracker, state);
  });
}

/** The proxies are those of `--proxies`, else one for each pod or workload of the files. */
async function meshOf(paths: readonly string[], flags: Flags): Promise<MeshOfFiles> {
  if (flags.proxies === undefined) return meshWithPods(paths, flags);
  return { state: await stateOfFiles(paths, flags), nodes: await nodesOfFile(flags.proxies) };
}

function requestOf(caller: string, target: string, flags: CanFlags): AccessRequest {
  const { method, path, host, header, jwt, port, tcp, sourceIp, authorizer } = flags;
  const given = { method, path, host, jwt, port, sourceIp, authorizer };
  const named = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return { caller, target, header, tcp, ...named };
}

function showAnswer(caller: string, report: AccessReport): void {
  const { target, allowed, why, by, shadow, unmodelled, question } = report;
  const { http, port } = question;
  const what = http === null ? 'connect' : `${String(http.method)} ${String(http.path)}`;
  print(`${allowed}: ${caller} → ${what} of ${target}, port ${port}`);
  print(`  ${why}`);
  if (by !== null && by.policy !== '') print(`  by ${by.policy} in ${by.filter}`);
  for (const one of shadow) print(`  ${one.why}`);
  if (unmodelled.length > 0) print(`  not modelled: ${unmodelled.join(', ')}`);
}
