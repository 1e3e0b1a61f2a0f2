// periplus diff: what a change does to proxies, before it is made or after: for people, for scripts, for pull requests.

import { stat } from 'node:fs/promises';
import { Command } from 'commander';
import { append } from '../core/base/append.ts';
import type { Json } from '../core/base/json.ts';
import type { Unrecorded } from '../core/event.ts';
import { Tracker } from '../core/query/tracker.ts';
import type { ChangedResource, MeshDiff } from '../history/answers.ts';
import { shortType } from '../history/config-dump.ts';
import { type DiffSide, diffMeshes } from '../history/diff.ts';
import { changeLines, closingText, type DiffOutcome, diffMarkdown, proxiesText } from '../history/diff-markdown.ts';
import { objectNamed } from '../history/object-name.ts';
import { isPositionText, POSITION_HELP } from '../history/position.ts';
import { propose } from '../history/proposal.ts';
import { proxiesOrPodsAt, proxyNamed } from '../history/proxies.ts';
import { printAnalysis } from './analysis-output.ts';
import { diffMessages } from './diff-report.ts';
import { STDIN } from './inputs.ts';
import { CliError, EXIT, explainError, print, printData, tell } from './output.ts';
import { AT_HELP, DEFAULT_JOURNAL, positionOf, tellOfPods, withHistory } from './target.ts';
import {
  addMeshFlags,
  connected,
  filesFacts,
  type MeshFlags,
  meshOfFiles,
  meshWithPods,
  nodesOfFile,
} from './yaml-files.ts';

/** As of kubectl diff, and one more: scripts may let changes pass and stop at warnings. */
export const DIFF_EXIT = { same: 0, changes: 1, failed: 2, warnings: 3, access: 4 } as const;

/** Changed fields of one resource that text lists; -o json has all. */
const FIELDS_SHOWN_MAX = 12;

interface Flags extends MeshFlags {
  readonly journal: string;
  readonly at?: string;
  readonly filename?: readonly string[];
  readonly delete?: readonly string[];
  readonly proxies?: string;
  readonly proxy?: string;
  readonly failOn?: string;
  readonly output: string;
}

export function diffCommand(): Command {
  const command = new Command('diff')
    .description(
      'show what changes for proxies: between two positions, by a change that is not applied yet, or between two folders or files',
    )
    .argument('[from]', 'a position of the journal, or a file or folder of YAML, or - for what is piped in')
    .argument('[to]', 'another one; default: the end of the journal')
    .option('-j, --journal <file>', 'journal to read', DEFAULT_JOURNAL)
    .option('-f, --filename <path...>', 'what if these objects were added or changed')
    .option('--delete <object...>', 'what if these were deleted: Kind/namespace/name')
    .option('--at <position>', 'with -f and --delete: on top of this position; default: the end')
    .option('-p, --proxy <proxy>', 'only this proxy')
    .option(
      '--fail-on <what>',
      'exit with 4 if policies open something (opens), close something (closes), or either (access)',
    )
    .option('--proxies <file>', 'for folders: YAML list of {name, node}; default: one for each Pod or workload');
  return addMeshFlags(command, 'for folders: ')
    .option('-o, --output <format>', 'text, json, yaml, markdown, sarif, junit or github', 'text')
    .addHelpText(
      'after',
      `
${AT_HELP}
Proxies with the same changes form one class. Warnings name what the change would break: a route to a cluster that is not there, a cluster
without endpoints, a listener that is replaced only because its parts changed places.
Exit code 0: nothing changes; 1: something does; 3: something does, with warnings or refused objects; 2: could not be compared;
4: with --fail-on, something opens or closes. What opens and closes is asked of the first proxy of each class, with the identities, paths,
methods, ports, hosts, headers, tokens and addresses that the policies of both sides name, and one more of each.

Examples:
  periplus diff 111 112                                       what one event did
  periplus diff 14:00 14:10 --proxy productpage               what ten minutes did to one proxy
  periplus diff -f reviews.yaml                               what this file would do, on top of now
  periplus diff -f policy.yaml --fail-on opens                does this policy open anything
  periplus diff --delete DestinationRule/shop/reviews         and what deleting that would do
  periplus diff main/ branch/ -o markdown                     for a pull request
  helm template chart/ | periplus diff rendered/ -            what the chart would change`,
    )
    .action(async (from: string | undefined, to: string | undefined, flags: Flags) => {
      try {
        await runDiff(from, to, flags);
      } catch (error) {
        if (error instanceof CliError && error.exitCode === EXIT.misuse) throw error;
        throw new CliError(explainError(error).text, DIFF_EXIT.failed);
      }
    });
}

async function runDiff(from: string | undefined, to: string | undefined, flags: Flags): Promise<void> {
  const show = SHOWN[flags.output];
  if (show === undefined)
    throw new CliError(`-o ${flags.output}: expected text, json, yaml, markdown, sarif, junit or github`, EXIT.misuse);
  if (flags.failOn !== undefined && !['opens', 'closes', 'access'].includes(flags.failOn)) {
    throw new CliError(`--fail-on ${flags.failOn}: expected opens, closes or access`, EXIT.misuse);
  }
  const outcome = await outcomeOf(from, to, flags);
  show(outcome);
  const { difference, refused } = outcome;
  if (failsOn(flags.failOn, difference)) {
    process.exitCode = DIFF_EXIT.access;
    return;
  }
  const warned = refused.length > 0 || [difference, ...difference.classes].some(({ warnings }) => warnings.length > 0);
  process.exitCode = warned ? DIFF_EXIT.warnings : difference.classes.length > 0 ? DIFF_EXIT.changes : DIFF_EXIT.same;
}

function failsOn(what: string | undefined, { classes }: MeshDiff): boolean {
  return classes.some(({ access }) => access.changes.some(({ direction }) => direction === what || what === 'access'));
}

async function outcomeOf(from: string | undefined, to: string | undefined, flags: Flags): Promise<DiffOutcome> {
  const isWhatIf = flags.filename !== undefined || flags.delete !== undefined;
  if (isWhatIf && from !== undefined)
    throw new CliError('-f and --delete are compared with one position, which --at names', EXIT.misuse);
  if (isWhatIf) return whatIf(flags);
  if (from === undefined)
    throw new CliError('give two positions, two files or folders, or -f and --delete', EXIT.misuse);
  if (from === STDIN && to === STDIN)
    throw new CliError('- can be one of the two: what is piped in is read once', EXIT.misuse);
  if (to !== undefined && (await arePaths(from, to))) return folders(from, to, flags);
  return withHistory(flags.journal, async history => {
    const [left, right] = [await positionOf(history, from), await positionOf(history, to)];
    const before = { state: await history.at(left) };
    const after = { state: await history.at(right) };
    tellOfPods(after.state);
    const difference = diffMeshes(history.tracker, sideOf(before.state, flags), sideOf(after.state, flags));
    return { title: `event ${left} → event ${right}`, difference, refused: [] };
  });
}

async function whatIf(flags: Flags): Promise<DiffOutcome> {
  const facts: Unrecorded[] = [];
  for (const path of flags.filename ?? []) append(facts, await filesFacts('file/proposed', path));
  return withHistory(flags.journal, async history => {
    const at = await positionOf(history, flags.at);
    const state = await history.at(at);
    tellOfPods(state);
    const deleted = (flags.delete ?? []).map(objectNamed);
    const proposal = propose(state, facts, deleted);
    const changes = [...(flags.filename ?? []), ...deleted.map(object => `without ${object}`)].join(', ');
    // The proxies of now, as they are: what is proposed changes no proxy.
    const before = sideOf(state, flags);
    const difference = diffMeshes(history.tracker, before, { state: proposal.state, proxies: before.proxies });
    return { title: `event ${at} → ${changes}`, difference, refused: proposal.refused };
  });
}

async function folders(from: string, to: string, flags: Flags): Promise<DiffOutcome> {
  const side = async (path: string): Promise<DiffSide> => {
    const { state: read, nodes } = await meshOf(path, flags);
    let state = read;
    for (const node of nodes) state = connected(state, node).state;
    return sideOf(state, flags);
  };
  return {
    title: `${from} → ${to}`,
    difference: diffMeshes(new Tracker(), await side(from), await side(to)),
    refused: [],
  };
}

/** Without --proxies each Pod or workload of the folder has one. */
async function meshOf(path: string, flags: Flags): ReturnType<typeof meshOfFiles> {
  if (flags.proxies === undefined) return meshOfFiles([path], flags);
  const { state } = await meshWithPods([path], flags);
  return { nodes: await nodesOfFile(flags.proxies), state };
}

function sideOf(state: DiffSide['state'], { proxy }: Flags): DiffSide {
  return { state, proxies: proxy === undefined ? proxiesOrPodsAt(state) : [proxyNamed(state, proxy)] };
}

/** Whether both are files or folders. Rejects, with its name, an argument that is neither a path nor a position. */
async function arePaths(from: string, to: string): Promise<boolean> {
  const [left, right] = [await isThere(from), await isThere(to)];
  if (left && right) return true;
  for (const [text, there] of [[from, left] as const, [to, right] as const]) {
    if (there || isPositionText(text)) continue;
    throw new CliError(`${text}: no such file or folder, and no position; one is ${POSITION_HELP}`, EXIT.misuse);
  }
  return false;
}

async function isThere(path: string): Promise<boolean> {
  return path === STDIN || (await stat(path).catch(() => undefined)) !== undefined;
}

/** `table` is what other commands call their text. */
const SHOWN: Readonly<Record<string, (outcome: DiffOutcome) => void>> = {
  text: showText,
  table: showText,
  json: outcome => showData(outcome, 'json'),
  yaml: outcome => showData(outcome, 'yaml'),
  markdown: showMarkdown,
  sarif: outcome => showReport(outcome, 'sarif'),
  junit: outcome => showReport(outcome, 'junit'),
  github: outcome => showReport(outcome, 'github'),
};

function showReport({ title, difference, refused }: DiffOutcome, format: 'sarif' | 'junit' | 'github'): void {
  printAnalysis(diffMessages(difference, refused), format, 'diff');
  tell(`${title}: ${closingText(difference)}`);
}

function showData({ title, difference, refused }: DiffOutcome, format: 'json' | 'yaml'): void {
  printData({ title, refused, ...difference } as unknown as Json, format);
}

function showText({ title, difference, refused }: DiffOutcome): void {
  print(title);
  for (const line of refused) print(`REFUSED ${line}`);
  showDifference(difference);
}

/** Also of bisect. */
export function showDifference(difference: MeshDiff): void {
  for (const { message } of difference.warnings) print(`WARNING ${message}`);
  for (const one of difference.classes) {
    print(`\n${proxiesText(one)}`);
    for (const { message } of one.warnings) print(`  WARNING ${message}`);
    for (const line of one.summary) print(`  ${line}`);
    if (one.access.leftOut > 0)
      print(`  (${one.access.asked} questions of access asked, ${one.access.leftOut} left out)`);
    for (const resource of one.resources) showResource(resource);
  }
  print(`\n${closingText(difference)}`);
}

function showResource(resource: ChangedResource): void {
  const { typeUrl, name, change, changes } = resource;
  print(`\n  ${change} ${shortType(typeUrl)} ${name}`);
  if (change !== 'changed') return;
  for (const line of changes.slice(0, FIELDS_SHOWN_MAX).flatMap(changeLines)) print(`    ${line}`);
  if (changes.length > FIELDS_SHOWN_MAX) print(`    … ${changes.length - FIELDS_SHOWN_MAX} more fields (-o json)`);
}

function showMarkdown(outcome: DiffOutcome): void {
  print(diffMarkdown(outcome));
}
