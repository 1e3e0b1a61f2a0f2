// What became of the mutants, a line each in `results.jsonl`, so that a run that ends early loses one at most. A line
// `begun` without a result is a mutant that never ended.

import { appendFileSync, existsSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mutant } from './instrument.ts';

/** `uncovered`: no test reaches it. `static`: it acts while modules load, which happens once; it is not counted. */
export type Outcome = 'killed' | 'survived' | 'uncovered' | 'static' | 'endless';

/** In the folder of the work: what the tests do without a mutant, for the trials of one run. */
export const FIRST_PASS = 'first-pass.json';

interface Line {
  readonly id: string;
  readonly outcome: Outcome | 'begun';
  /** The title of the test that killed it. */
  readonly by?: string;
}

export interface Results {
  readonly tried: ReadonlyMap<string, Outcome>;
  readonly killers: ReadonlyMap<string, string>;
}

export function note(work: string, line: Line): void {
  appendFileSync(join(work, 'results.jsonl'), `${JSON.stringify(line)}\n`);
}

/** A test of the mutant under way ended: it is not stuck. */
export function noteProgress(work: string): void {
  const now = new Date();
  utimesSync(join(work, 'results.jsonl'), now, now);
}

export function readResults(work: string): Results {
  const file = join(work, 'results.jsonl');
  const tried = new Map<string, Outcome>();
  const killers = new Map<string, string>();
  if (!existsSync(file)) return { tried, killers };
  for (const text of readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
    const { id, outcome, by } = JSON.parse(text) as Line;
    tried.set(id, outcome === 'begun' ? 'endless' : outcome);
    if (by !== undefined) killers.set(id, by);
  }
  return { tried, killers };
}

/** So that they are tried again, with the tests as they are now. */
export function forgetSurvivors(work: string): void {
  const { tried, killers } = readResults(work);
  const killed = [...tried].filter(([, outcome]) => outcome === 'killed' || outcome === 'endless');
  writeFileSync(join(work, 'results.jsonl'), '');
  for (const [id, outcome] of killed) {
    const by = killers.get(id);
    note(work, { id, outcome, ...(by === undefined ? {} : { by }) });
  }
}

/**
 * Kills of an earlier state of the folder's code count on for the files that have not changed. `kept`: whether a file is
 * one of these.
 */
export function carryKills(from: string, work: string, kept: (fileName: string) => boolean): void {
  const mutantsOf = (folder: string): readonly Mutant[] =>
    JSON.parse(readFileSync(join(folder, 'mutants.json'), 'utf8')) as readonly Mutant[];
  const known = new Map(mutantsOf(work).map(mutant => [keyOf(mutant), mutant.id]));
  const { tried, killers } = readResults(from);
  for (const mutant of mutantsOf(from)) {
    const id = known.get(keyOf(mutant));
    const by = killers.get(mutant.id);
    if (id === undefined || by === undefined || tried.get(mutant.id) !== 'killed' || !kept(mutant.fileName)) continue;
    note(work, { id, outcome: 'killed', by });
  }
}

const keyOf = ({ fileName, mutatorName, replacement, location }: Mutant): string =>
  JSON.stringify([fileName, mutatorName, replacement, location]);

export function summaryOf(work: string): string {
  const mutants = JSON.parse(readFileSync(join(work, 'mutants.json'), 'utf8')) as readonly Mutant[];
  const { tried } = readResults(work);
  const of = (...outcomes: readonly (Outcome | undefined)[]): readonly Mutant[] =>
    mutants.filter(({ id }) => outcomes.includes(tried.get(id)));
  const lines = of('survived', 'uncovered').map(mutant => show(mutant, tried.get(mutant.id) ?? 'survived'));
  const killed = of('killed', 'endless').length;
  const all = killed + lines.length;
  const share = all === 0 ? 0 : (100 * killed) / all;
  const rest = `${of('uncovered').length} without a test, ${of('static').length} not counted, ${tried.size} of ${mutants.length} tried`;
  return `${lines.join('\n')}\n${killed} of ${all} mutants killed (${share.toFixed(1)} %); ${rest}\n`;
}

function show({ fileName, location, mutatorName, replacement }: Mutant, outcome: Outcome): string {
  const { start, end } = location;
  const source = readFileSync(fileName, 'utf8').split('\n');
  const was =
    start.line === end.line
      ? (source[start.line] ?? '').slice(start.column, end.column)
      : `${(source[start.line] ?? '').slice(start.column)} …`;
  const brief = (text: string): string => text.replaceAll(/\s+/g, ' ').slice(0, 100);
  const place = fileName.slice(fileName.indexOf('/src/') + 1);
  return `${place}:${start.line + 1}:${start.column + 1} ${outcome} ${mutatorName}: ${brief(was)} -> ${brief(replacement)}`;
}
