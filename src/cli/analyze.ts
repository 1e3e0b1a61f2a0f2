// periplus analyze: what the authors of objects should know, from files or from a journal at any position. For pipelines: the exit code
// says whether there is anything.

import { Command } from 'commander';
import { showOrigin, showProblem } from '../core/base/problem.ts';
import type { Effect } from '../core/effect.ts';
import type { State } from '../core/state.ts';
import type { History } from '../history/history.ts';
import { type Finding, findingsOf } from '../offline/findings.ts';
import type { OfflineState } from '../offline/generate.ts';
import { CliError, EXIT, parseFormat, print, printData, printTable } from './output.ts';
import { AT_HELP, positionOf, withHistory } from './target.ts';
import { addMeshFlags, type MeshFlags, Places, stateOf } from './yaml-files.ts';

interface Flags extends MeshFlags {
  readonly filename?: readonly string[];
  readonly journal?: string;
  readonly at?: string;
  readonly failOn: string;
  readonly output: string;
}

const SEVERITIES: readonly string[] = ['error', 'warning', 'none'];

export function analyzeCommand(): Command {
  const command = new Command('analyze')
    .description('list objects that are refused, unused or dangling, in files or in a journal')
    .option('-f, --filename <path...>', 'files or folders of Istio and Kubernetes objects')
    .option('-j, --journal <file>', 'the objects of a journal instead of files')
    .option('--at <position>', 'with --journal: as they were at an event or a time');
  return addMeshFlags(command)
    .option('--fail-on <severity>', 'exit with 1 for an error, for a warning too, or for none', 'error')
    .option('-o, --output <format>', 'table, json or yaml', 'table')
    .addHelpText(
      'after',
      `
${AT_HELP}

Examples:
  periplus analyze -f samples/bookinfo/config
  periplus analyze -f mesh/ --fail-on warning -o json
  periplus analyze --journal incident.db --at 14:03`,
    )
    .action(async (flags: Flags) => {
      const format = parseFormat(flags.output);
      if (!SEVERITIES.includes(flags.failOn)) {
        throw new CliError(`--fail-on ${flags.failOn}: expected error, warning or none`, EXIT.misuse);
      }
      const { state, effects } = await stateFor(flags);
      const found = [...unnamed(effects), ...findingsOf(state)];
      const findings = await placed(found, flags.journal === undefined);
      if (format === 'table') printFindings(findings);
      else printData(findings.map(plainly), format);
      const counts = findings.filter(({ severity }) => severity === 'error' || flags.failOn === 'warning').length;
      if (flags.failOn !== 'none' && counts > 0) process.exitCode = EXIT.failed;
    });
}

async function stateFor({ filename, journal, at, ...flags }: Flags): Promise<OfflineState> {
  if ((journal === undefined) === (filename === undefined)) {
    throw new CliError('give the objects: either --filename or --journal', EXIT.misuse);
  }
  if (journal !== undefined) {
    const ask = async (history: History): Promise<State> => history.at(await positionOf(history, at));
    return { state: await withHistory(journal, ask), effects: [] };
  }
  if (at !== undefined) throw new CliError('--at is a position of a journal: give --journal', EXIT.misuse);
  return stateOf(filename ?? [], flags);
}

/** Refused without a name under which the state could keep it: only the verdict tells. */
function unnamed(effects: readonly Effect[]): readonly Finding[] {
  return effects.flatMap(effect => {
    if (effect.kind !== 'Verdict' || effect.accepted || effect.object.includes('/')) return [];
    const { object, origin } = effect;
    const where = origin === undefined ? {} : { origin };
    return effect.problems.map(
      (problem): Finding => ({
        severity: 'error',
        code: 'refused',
        object,
        source: '',
        ...where,
        ...(problem.path === '' ? {} : { path: problem.path }),
        message: showProblem(problem),
      }),
    );
  });
}

interface Placed extends Finding {
  readonly where: string;
}

/** Lines and columns of files are looked up only where the files are those that were read. */
async function placed(findings: readonly Finding[], inFiles: boolean): Promise<readonly Placed[]> {
  const places = new Places();
  const found: Placed[] = [];
  for (const finding of findings) {
    const { origin, path = '' } = finding;
    found.push({ ...finding, where: inFiles ? await places.of(origin, path) : showOrigin(origin) });
  }
  return found;
}

function printFindings(findings: readonly Placed[]): void {
  if (findings.length === 0) {
    print('nothing found');
    return;
  }
  const rows = findings.map(({ severity, object, source, where, message }) => [
    severity,
    object,
    where || source,
    message,
  ]);
  printTable(['SEVERITY', 'OBJECT', 'WHERE', 'MESSAGE'], rows);
}

function plainly({ severity, code, object, source, where, message }: Placed) {
  return { severity, code, object, source, where, message };
}
