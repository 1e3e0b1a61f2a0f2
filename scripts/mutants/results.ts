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
  /** The test that killed it. */
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

/** In the folder of the work: the code without mutants, by file. */
export const TEXTS = 'texts.json';

/** Kills of an earlier state of the folder's code count on where the lines of the mutant are as they were. */
export function carryKills(from: string, work: string): void {
  const { tried, killers } = readResults(from);
  const now = mutantsByLines(work);
  for (const [lines, mutants] of mutantsByLines(from)) {
    const same = now.get(lines) ?? [];
    if (same.length !== mutants.length) continue;
    for (const [i, { id }] of mutants.entries()) {
      const by = killers.get(id);
      if (by !== undefined && tried.get(id) === 'killed') note(work, { id: same[i]!.id, outcome: 'killed', by });
    }
  }
}

/** By what the mutant changes in which lines of which file, in their order. */
function mutantsByLines(work: string): ReadonlyMap<string, readonly Mutant[]> {
  const texts = JSON.parse(readFileSync(join(work, TEXTS), 'utf8')) as Readonly<Record<string, string>>;
  const lines = new Map(Object.entries(texts).map(([fileName, text]) => [fileName, text.split('\n')]));
  const mutants = JSON.parse(readFileSync(join(work, 'mutants.json'), 'utf8')) as readonly Mutant[];
  const found = new Map<string, Mutant[]>();
  for (const mutant of mutants) {
    const { fileName, mutatorName, replacement, location } = mutant;
    const { start, end } = location;
    const changed = lines.get(fileName)?.slice(start.line, end.line + 1);
    const key = JSON.stringify([fileName, mutatorName, replacement, start.column, changed]);
    found.set(key, [...(found.get(key) ?? []), mutant]);
  }
  return found;
}

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
