// periplus analyze: what the authors of objects should know, from files, a pipe, a cluster, or a journal at any
// position. The messages are those of `istioctl analyze`, and what only an engine can say. For pipelines: the exit code
// says whether there is anything.

import { Command } from 'commander';
import type { Suppression } from '../analysis/analyze.ts';
import type { Analyzer } from '../analysis/analyzer.ts';
import { messageKinds } from '../analysis/catalogue.ts';
import { schemaValidationError } from '../analysis/ist-0001-0145.ts';
import { isAtLeast, LEVELS, type Level, type Message } from '../analysis/message.ts';
import type { Received } from '../analysis/objects.ts';
import { analyzers } from '../analysis/registry.ts';
import { showProblem } from '../core/base/problem.ts';
import type { Effect } from '../core/effect.ts';
import type { State } from '../core/state.ts';
import type { History } from '../history/history.ts';
import { type AnalysisRequest, type AnalysisResult, analyzeFiles, analyzeState } from '../offline/analysis.ts';
import { objectsOfState, objectsOfText } from '../offline/analysis-input.ts';
import { migrationOf } from '../offline/migration/migration.ts';
import { systemClock } from '../runtime/clock.ts';
import { ANALYSIS_FORMATS, analysisFormatOf, type PlacedMessage, printAnalysis } from './analysis-output.ts';
import { type ClusterFlags, type ListedCluster, listCluster, objectsAt } from './cluster-state.ts';
import { FILES_HELP, readInputs } from './inputs.ts';
import { CliError, EXIT, print, tell } from './output.ts';
import { AT_HELP, positionOf, withHistory } from './target.ts';
import { coloured } from './terminal.ts';
import { addMeshFlags, type MeshFlags, Places, stateOf, stateOfFacts } from './yaml-files.ts';

interface Flags extends MeshFlags {
  readonly filename?: readonly string[];
  readonly journal?: string;
  readonly at?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly suppress: readonly string[];
  readonly analyzer: readonly string[];
  readonly listAnalyzers?: boolean;
  readonly migration?: boolean;
  readonly failureThreshold: string;
  readonly failOn?: string;
  readonly outputThreshold: string;
  readonly output: string;
}

/** EnvoyFilters that one line names. */
const FILTERS_NAMED_MAX = 10;

const collect = (value: string, all: readonly string[]): readonly string[] => [...all, value];

export function analyzeCommand(): Command {
  const command = new Command('analyze')
    .description('find mistakes in objects: the messages of istioctl analyze, and what only an engine can say')
    .argument('[path...]', `as -f: ${FILES_HELP}`)
    .option('-f, --filename <path...>', FILES_HELP)
    .option('-j, --journal <file>', 'the objects of a journal instead of files')
    .option('--at <position>', 'with --journal: as they were at an event or a time')
    .option('--kubeconfig <file>', 'the objects of the cluster of this file, listed once')
    .option('--context <name>', 'with --kubeconfig: its context (default: its current one)');
  return addMeshFlags(command)
    .option(
      '-S, --suppress <code=object>',
      'leave out a code for an object: IST0103=Pod *.shop; repeatable',
      collect,
      [],
    )
    .option('--analyzer <name>', 'only this analyzer; repeatable', collect, [])
    .option('-L, --list-analyzers', 'list the analyzers')
    .option('--migration', 'only what would change with Periplus in the place of istiod: what is not supported')
    .option('--failure-threshold <level>', 'exit with 1 from this level on: Error, Warning, Info, or none', 'Error')
    .option('--fail-on <level>', 'as --failure-threshold')
    .option('--output-threshold <level>', 'show messages from this level on: Error, Warning or Info', 'Info')
    .option('-o, --output <format>', ANALYSIS_FORMATS, 'log')
    .addHelpText(
      'after',
      `
${AT_HELP}
The annotation galley.istio.io/analyze-suppress of an object (codes with commas, or *) leaves its messages out.
Analyzers that need a kind of object the input lacks do not run, because their answer would mean nothing; naming one with
--analyzer runs it. docs/analysis.md lists the codes.

Examples:
  periplus analyze -f samples/bookinfo/config
  helm template chart/ | periplus analyze -f -
  periplus analyze -f mesh/ --failure-threshold Warning -o sarif > analysis.sarif
  periplus analyze --kubeconfig ~/.kube/config
  periplus analyze --migration --journal cluster.db
  periplus analyze --journal incident.db --at 14:03`,
    )
    .action(async (paths: readonly string[], flags: Flags) => {
      if (flags.listAnalyzers === true) listAnalyzers();
      else await runAnalysis({ ...flags, ...filenames(paths, flags) });
    });
}

function filenames(paths: readonly string[], { filename }: Flags): Pick<Flags, 'filename'> {
  return paths.length === 0 ? {} : { filename: [...paths, ...(filename ?? [])] };
}

function listAnalyzers(): void {
  const sorted = [...analyzers].sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const { name, description, onRequest } of sorted) {
    print(`* ${name}:\n    ${description}${onRequest === true ? ' (only with --analyzer)' : ''}`);
  }
}

async function runAnalysis(flags: Flags): Promise<void> {
  const format = analysisFormatOf(flags.output);
  const threshold = flags.failOn ?? flags.failureThreshold;
  const failsFrom = threshold === 'none' ? undefined : levelOf(threshold, flags.failOn === undefined);
  const shownFrom = levelOf(flags.outputThreshold, true);
  const request = requestOf(flags);
  const { result, messages, looked } = await analysisOf(flags, request);
  const shown = messages.filter(({ message }) => isAtLeast(message.level, shownFrom));
  printAnalysis(shown, format);
  summarize(result, messages, looked);
  const fails = failsFrom !== undefined && messages.some(({ message }) => isAtLeast(message.level, failsFrom));
  if (fails) process.exitCode = EXIT.failed;
}

function levelOf(text: string, isThreshold: boolean): Level {
  const found = LEVELS.find(level => level.toLowerCase() === text.toLowerCase());
  if (found !== undefined) return found;
  throw new CliError(
    `${isThreshold ? '--failure-threshold or --output-threshold' : '--fail-on'} ${text}: expected Error, Warning, Info or none`,
    EXIT.misuse,
  );
}

function requestOf({ suppress, analyzer }: Flags): AnalysisRequest {
  const chosen =
    analyzer.length === 0 ? analyzers.filter(({ onRequest }) => onRequest !== true) : analyzer.flatMap(named);
  const isNamed = analyzer.length > 0;
  return {
    analyzers: chosen,
    now: systemClock.now(),
    runAll: isNamed,
    onlyAnalyzers: isNamed,
    suppressions: suppress.map(suppressionOf),
  };
}

function named(text: string): readonly Analyzer[] {
  const found = analyzers.filter(({ name, type }) => name === text || type === text);
  if (found.length > 0) return found;
  throw new CliError(`--analyzer ${text}: there is no such analyzer; -L lists them`, EXIT.misuse);
}

function suppressionOf(text: string): Suppression {
  const [code = '', resource = '', ...rest] = text.split('=');
  if (resource === '' || rest.length > 0) {
    throw new CliError(`--suppress ${text}: expected CODE=KIND NAME.NAMESPACE, e.g. "IST0103=Pod *.shop"`, EXIT.misuse);
  }
  if (!messageKinds.some(kind => kind.code === code)) {
    throw new CliError(`--suppress ${text}: there is no message ${code}; docs/analysis.md lists them`, EXIT.misuse);
  }
  return { code, resource };
}

interface Outcome {
  readonly result: AnalysisResult;
  readonly messages: readonly PlacedMessage[];
  /** e.g. `in 3 files`. */
  readonly looked: string;
}

async function analysisOf(flags: Flags, request: AnalysisRequest): Promise<Outcome> {
  const { filename, journal, at, kubeconfig, context, analyzer, migration = false } = flags;
  if (migration && analyzer.length > 0) {
    throw new CliError('--migration runs no analyzers: leave out --analyzer', EXIT.misuse);
  }
  if ([filename, journal, kubeconfig].filter(given => given !== undefined).length !== 1) {
    throw new CliError('give the objects: one of --filename, --journal and --kubeconfig', EXIT.misuse);
  }
  if (at !== undefined && journal === undefined) {
    throw new CliError('--at is a position of a journal: give --journal', EXIT.misuse);
  }
  if (context !== undefined && kubeconfig === undefined) {
    throw new CliError('--context is one of a kubeconfig: give --kubeconfig', EXIT.misuse);
  }
  if (kubeconfig !== undefined)
    return clusterAnalysis({ kubeconfig, context, cluster: flags.clusterID }, flags, request);
  if (journal === undefined) return filesAnalysis(filename ?? [], flags, request);
  return withHistory(journal, async (history: History): Promise<Outcome> => {
    const position = await positionOf(history, at);
    const result = await judged(await history.at(position), flags, request);
    return { result, messages: result.messages.map(placed), looked: `at event ${position} of ${journal}` };
  });
}

async function clusterAnalysis(cluster: ClusterFlags, flags: Flags, request: AnalysisRequest): Promise<Outcome> {
  const processes: Received[] = [];
  const look = async (found: ListedCluster): Promise<void> => {
    if (flags.migration === true) processes.push(...(await processesOf(found, flags)));
  };
  const { facts, shown, missing } = await listCluster(cluster, look);
  const result = await judged(await stateOfFacts(facts, flags), flags, request, processes);
  for (const what of missing) tell(`not looked at: ${what}`);
  return { result, messages: result.messages.map(placed), looked: `in ${shown}` };
}

/** The objects of a state. */
async function judged(
  state: State,
  { migration }: Flags,
  request: AnalysisRequest,
  further: readonly Received[] = [],
): Promise<AnalysisResult> {
  if (migration !== true) return analyzeState(state, request);
  return migrated(state, [...objectsOfState(state), ...further], request);
}

/** The Deployments of istiod as the server has them: of an object only what means something to a mesh is listed. */
async function processesOf(cluster: ListedCluster, { clusterID }: MeshFlags): Promise<readonly Received[]> {
  const found: Received[] = [];
  for await (const item of objectsAt(cluster, '/apis/apps/v1/deployments', { labelSelector: 'app=istiod' })) {
    const object = { apiVersion: 'apps/v1', kind: 'Deployment', ...item };
    found.push({ object, source: `kube/${clusterID}`, cluster: clusterID });
  }
  return found;
}

async function migrated(state: State, objects: readonly Received[], request: AnalysisRequest): Promise<AnalysisResult> {
  const { serveCommand } = await import('./serve.ts');
  const flags = serveCommand().options.flatMap(({ long }) => long ?? []);
  const found = migrationOf(state, objects, { ...request, flags });
  for (const what of found.unseen) tell(`not looked at: ${what}`);
  return found;
}

function placed(message: Message): PlacedMessage {
  return { message, place: message.item?.origin ?? message.origin };
}

async function filesAnalysis(paths: readonly string[], flags: Flags, request: AnalysisRequest): Promise<Outcome> {
  const inputs = await readInputs(paths);
  const { state, effects } = await stateOf(inputs, flags);
  const objects = inputs.flatMap(({ file, bytes }) => objectsOfText(flags.clusterID, file, bytes.toString('utf8')));
  const further = unnamed(effects, flags.clusterID);
  const result =
    flags.migration === true
      ? await migrated(state, objects, request)
      : analyzeFiles(state, objects, { ...request, further });
  if (result.objects === 0 && result.messages.length === 0) {
    const files =
      inputs.length === 0 ? 'no file with .yaml, .yml or .json' : `no object in ${counted(inputs.length, 'file')}`;
    throw new CliError(`nothing to analyze: there is ${files} in ${paths.map(pathText).join(', ')}`);
  }
  const places = new Places(inputs);
  const messages = result.messages.map(message => ({
    message,
    place: places.at(message.item?.origin ?? message.origin, message.path ?? ''),
  }));
  return { result, messages, looked: `in ${counted(inputs.length, 'file')}` };
}

/** The path of an input in messages; `-` is standard input. */
function pathText(path: string): string {
  return path === '-' ? 'standard input' : path;
}

/** Refused without a name under which the state could keep it: only the verdict tells. */
function unnamed(effects: readonly Effect[], cluster: string): readonly Message[] {
  return effects.flatMap(effect => {
    if (effect.kind !== 'Verdict' || effect.accepted || effect.object.includes('/')) return [];
    const { object, origin } = effect;
    const item = { kind: object, namespace: '', name: '', cluster, source: '', annotations: {}, raw: {} };
    const where = origin === undefined ? item : { ...item, origin };
    return effect.problems.map(
      (problem): Message => ({ ...schemaValidationError(showProblem(problem)), item: where, path: problem.path }),
    );
  });
}

function counted(n: number, what: string, several = `${what}s`): string {
  return `${n} ${n === 1 ? what : several}`;
}

/** How much was looked at, and what was not asked; on stderr, so that reports stay whole. */
function summarize(
  { objects, skipped, suppressed, patches }: AnalysisResult,
  all: readonly PlacedMessage[],
  looked: string,
): void {
  const count = (level: Level): number => all.filter(({ message }) => message.level === level).length;
  const counts = LEVELS.map(level => [level, count(level)] as const).filter(([, n]) => n > 0);
  const found = counts.map(([level, n]) => counted(n, level === 'Info' ? 'note' : level.toLowerCase())).join(', ');
  const verdict = found === '' ? coloured('no issues found', 'green') : found;
  const left = suppressed === 0 ? '' : ` (${counted(suppressed, 'message')} suppressed)`;
  tell(`${counted(objects, 'object')} ${looked}: ${verdict}${left}`);
  if (patches !== undefined) sayUntried(patches);
  // An analyzer without a single object of its own kind has missed nothing.
  const missed = skipped.filter(({ analyzer, missing }) => !missing.includes(analyzer.needs[0]!));
  if (missed.length === 0) return;
  const kinds = [...new Set(missed.flatMap(({ missing }) => missing))].join(', ');
  const names = missed.map(({ analyzer }) => analyzer.name).join(', ');
  tell(`not checked, because there is no object of ${kinds}: ${names}`);
}

/** What is unknown of EnvoyFilters, because no proxy has their entries. */
function sayUntried({ proxies, unseen }: NonNullable<AnalysisResult['patches']>): void {
  if (unseen.length === 0) return;
  const named = unseen
    .slice(0, FILTERS_NAMED_MAX)
    .map(({ key, entries, of }) => `${key} (${entries} of ${of} entries)`);
  const more = unseen.length - named.length;
  const filters = `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  const why =
    proxies === 0
      ? 'there is no Pod and no workload to make a proxy of'
      : `no proxy that was looked at has it (${counted(proxies, 'proxy', 'proxies')})`;
  tell(`not tried on a proxy, because ${why}: EnvoyFilter ${filters}`);
}
