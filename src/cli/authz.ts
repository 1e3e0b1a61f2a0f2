// periplus authz: which policies a workload has, and whether a caller may send it a request, with the rule that says so.

import { Command } from 'commander';
import { isObject, type Json } from '../core/base/json.ts';
import { Tracker } from '../core/query/tracker.ts';
import type { State } from '../core/state.ts';
import {
  type AccessAnswer,
  type AccessQuestion,
  askAccess,
  defaultPort,
  type Gate,
  gateOf,
} from '../history/access/ask.ts';
import { type ListedPolicy, listPolicies } from '../history/access/listed.ts';
import { TOKEN } from '../history/access/pools.ts';
import { workloadNamed } from '../history/access/workload.ts';
import { holdingsOf } from '../history/holdings.ts';
import type { Connection, Token } from '../oracle/question.ts';
import { CliError, EXIT, parseFormat, print, printData, printTable } from './output.ts';
import { AT_HELP, DEFAULT_JOURNAL, positionOf, withHistory } from './target.ts';
import { addMeshFlags, connected, type MeshFlags, nodesOfFile, stateOfFiles } from './yaml-files.ts';

/** For scripts: yes, no, misuse, and what an external authorizer or an unknown filter decides. */
export const CAN_EXIT = { yes: 0, no: 1, misuse: 2, unknown: 3 } as const;

interface Flags extends MeshFlags {
  readonly filename?: readonly string[];
  readonly proxies?: string;
  readonly journal: string;
  readonly at?: string;
  readonly output: string;
}

interface CanFlags extends Flags {
  readonly method: string;
  readonly path: string;
  readonly host?: string;
  readonly header: readonly string[];
  readonly jwt?: string;
  readonly port?: string;
  readonly tcp: boolean;
  readonly sourceIp?: string;
  readonly authorizer?: string;
}

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
    .option('-f, --filename <path...>', 'the objects of files or folders instead of a journal')
    .option('--proxies <file>', 'with -f: YAML list of {name, node}; not needed to ask about a service')
    .option('-j, --journal <file>', 'journal to read; a running control plane may be writing it', DEFAULT_JOURNAL)
    .option('--at <position>', 'as it was at an event or a time; default: the end of the journal');
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
      await withGate(target, flags, ({ gate }) => {
        const found = listPolicies(gate.config);
        if (format !== 'table') printData(found as unknown as Json, format);
        else showPolicies(found);
      });
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
    .option('--port <port>', "the workload's port; default: its first one")
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
  periplus authz can shop/web reviews.shop --at 14:03 -o json`,
    )
    .action(async (caller: string, target: string, flags: CanFlags) => {
      const format = parseFormat(flags.output);
      await withGate(target, flags, ({ gate, name, state }) => {
        const question = questionOf(caller, name, gate, flags, state.mesh.effective.trustDomain);
        const answer = askAccess(gate, question);
        if (format === 'table') showAnswer(caller, name, question, answer);
        else printData(plainly(question, answer), format);
        process.exitCode = CAN_EXIT[answer.allowed];
      });
    });
}

const gather = (value: string, before: readonly string[]): readonly string[] => [...before, value];

interface Asked {
  readonly gate: Gate;
  readonly name: string;
  readonly state: State;
}

async function withGate(target: string, flags: Flags, use: (asked: Asked) => void): Promise<void> {
  if (flags.filename !== undefined) {
    if (flags.at !== undefined) throw new CliError('--at is a position of a journal, not of files', EXIT.misuse);
    let state = await stateOfFiles(flags.filename, flags);
    const nodes = flags.proxies === undefined ? [] : await nodesOfFile(flags.proxies);
    for (const node of nodes) state = connected(state, node).state;
    return use(askedOf(new Tracker(), state, target));
  }
  return withHistory(flags.journal, async history => {
    const state = await history.at(await positionOf(history, flags.at));
    use(askedOf(history.tracker, state, target));
  });
}

function askedOf(tracker: Tracker, given: State, target: string): Asked {
  const { state, proxy, name } = workloadNamed(given, target);
  const [address = ''] = proxy.facets.ips;
  const gate = gateOf(holdingsOf(tracker, state, proxy), address, proxy.facets.type !== 'sidecar');
  return { gate, name, state };
}

function questionOf(caller: string, name: string, gate: Gate, flags: CanFlags, trustDomain: string): AccessQuestion {
  const port = flags.port === undefined ? defaultPort(gate) : Number(flags.port);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw misuse(`--port ${flags.port}: expected 1 to 65535`);
  const token = flags.jwt === undefined ? undefined : tokenOf(flags.jwt);
  const bearer: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${TOKEN}` };
  return {
    identity: identityOf(caller, trustDomain),
    port,
    http: flags.tcp
      ? undefined
      : {
          method: flags.method,
          path: flags.path,
          authority: flags.host ?? name,
          headers: { ...Object.fromEntries(flags.header.map(headerOf)), ...bearer },
          ...(token === undefined ? {} : { tokens: { [TOKEN]: token } }),
        },
    ...(flags.sourceIp === undefined ? {} : { source: flags.sourceIp }),
    ...(flags.authorizer === undefined ? {} : { authorizer: authorizerOf(flags.authorizer) }),
  };
}

const misuse = (text: string): CliError => new CliError(text, EXIT.misuse);

function identityOf(caller: string, trustDomain: string): string | undefined {
  if (caller === 'none') return undefined;
  if (caller.startsWith('spiffe://')) return caller;
  const [namespace, account, more] = caller.split('/');
  if (!namespace || !account || more !== undefined) {
    throw misuse(`${caller}: expected namespace/account, spiffe://…, or none`);
  }
  return `spiffe://${trustDomain}/ns/${namespace}/sa/${account}`;
}

function headerOf(text: string): readonly [string, string] {
  const colon = text.indexOf(':');
  if (colon < 1) throw misuse(`--header ${text}: expected name:value`);
  return [text.slice(0, colon).trim(), text.slice(colon + 1).trim()];
}

function tokenOf(text: string): Token {
  if (!text.startsWith('{')) {
    const slash = text.lastIndexOf('/');
    if (slash < 1) throw misuse(`--jwt ${text}: expected ISSUER/SUBJECT or claims as JSON`);
    return { claims: { iss: text.slice(0, slash), sub: text.slice(slash + 1) } };
  }
  try {
    const claims: unknown = JSON.parse(text);
    if (isObject(claims)) return { claims };
  } catch {
    // The error below covers it.
  }
  throw misuse('--jwt: the claims are no JSON object');
}

function authorizerOf(text: string): Connection['authorizer'] {
  if (text === 'allows' || text === 'denies' || text === 'fails') return text;
  throw misuse(`--authorizer ${text}: expected allows, denies or fails`);
}

function showAnswer(caller: string, name: string, { port, http }: AccessQuestion, answer: AccessAnswer): void {
  const what = http === undefined ? 'connect' : `${http.method} ${http.path}`;
  print(`${answer.allowed}: ${caller} → ${what} of ${name}, port ${port}`);
  print(`  ${answer.why}`);
  if (answer.by !== undefined && answer.by.policy !== '') print(`  by ${answer.by.policy} in ${answer.by.filter}`);
  for (const { why } of answer.shadow) print(`  ${why}`);
  if (answer.unmodelled.length > 0) print(`  not modelled: ${answer.unmodelled.join(', ')}`);
}

function plainly(question: AccessQuestion, { allowed, by, why, shadow, unmodelled, branch }: AccessAnswer): Json {
  const { identity = null, port, http = null } = question;
  const steps = branch.steps.map(({ stage, name, why: reason }) => ({ stage, name, why: reason }));
  const answer = { allowed, why, by: by ?? null, shadow, unmodelled, steps };
  return JSON.parse(JSON.stringify({ ...answer, question: { identity, port, http } })) as Json;
}
