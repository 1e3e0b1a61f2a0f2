// `npm run -s conformance:validation -- DIR [--show N]`: judges the object of every line of DIR/*.jsonl ({name, input,
// valid, errors, …}) as the fold would, and compares the verdict with the expected one. A row a kind; exit 0 when
// nearly all agree.

import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { isObject, type Json, type JsonObject } from '../../src/core/base/json.ts';
import { showProblem } from '../../src/core/base/problem.ts';
import { foldFacts } from '../../src/offline/generate.ts';

const usage = `Usage: npm run -s conformance:validation -- DIR [--show N]

Compares the verdict on every line of DIR/*.jsonl with the expected one.

  --show N   list the first N disagreements of each kind, with our problems and the expected errors
  --help     show this text
`;
const PERCENT_MIN = 98;
const KIND_PERCENT_MIN = 95;
/** Kinds with fewer lines are too few to be held to a percentage. */
const KIND_LINES_MIN = 20;

interface Line {
  readonly name: string;
  readonly input: JsonObject;
  readonly valid: boolean;
  readonly errors: readonly Json[];
}
interface Row {
  readonly kind: string;
  lines: number;
  agree: number;
  tooStrict: number;
  tooLax: number;
}

function main(): number {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { show: { type: 'string', default: '0' }, help: { type: 'boolean' } },
  });
  const [folder] = positionals;
  const shown = Number(values.show);
  if (values.help === true || folder === undefined || !Number.isInteger(shown) || shown < 0) {
    process.stderr.write(usage);
    return values.help === true ? 0 : 2;
  }
  const rows: Row[] = [];
  try {
    const files = readdirSync(folder).filter(file => file.endsWith('.jsonl'));
    if (files.length === 0) throw new Error(`${folder} has no .jsonl file`);
    for (const file of files.sort()) rows.push(judgeFile(join(folder, file), shown));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return 2;
  }
  return summarise(rows);
}

function judgeFile(file: string, shown: number): Row {
  const row: Row = { kind: basename(file, '.jsonl'), lines: 0, agree: 0, tooStrict: 0, tooLax: 0 };
  readFileSync(file, 'utf8')
    .split('\n')
    .forEach((text, i) => {
      if (text.trim() === '') return;
      const line = readLine(text, `${file}:${i + 1}`);
      const problems = judge(line.input);
      row.lines++;
      if ((problems.length === 0) === line.valid) row.agree++;
      else {
        if (line.valid) row.tooStrict++;
        else row.tooLax++;
        if (row.lines - row.agree > shown) return;
        const ours = problems.length === 0 ? 'accepted' : problems.join('\n      ');
        const theirs = line.valid ? 'valid' : line.errors.map(String).join('\n      ');
        process.stdout.write(`${row.kind} ${line.name}\n  ours: ${ours}\n  expected: ${theirs}\n`);
      }
    });
  return row;
}

function readLine(text: string, at: string): Line {
  let line: Json;
  try {
    line = JSON.parse(text) as Json;
  } catch (error) {
    throw new Error(`${at}: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isObject(line) || typeof line.name !== 'string' || !isObject(line.input) || typeof line.valid !== 'boolean') {
    throw new Error(`${at}: expected an object with name, input and valid`);
  }
  const { name, input, valid, errors } = line;
  return { name, input, valid, errors: Array.isArray(errors) ? (errors as readonly Json[]) : [] };
}

/** What the fold would refuse the object for. */
function judge(object: JsonObject): readonly string[] {
  const { effects } = foldFacts([{ source: 'file/Kubernetes', kind: 'Add', object }]);
  return effects.flatMap(effect =>
    effect.kind === 'Verdict' && !effect.accepted ? effect.problems.map(showProblem) : [],
  );
}

function summarise(rows: readonly Row[]): number {
  const cells = rows.map(row => [
    row.kind,
    `${row.lines}`,
    `${row.agree}`,
    percent(row.agree, row.lines).toFixed(1),
    `${row.tooStrict}`,
    `${row.tooLax}`,
  ]);
  const table = [['kind', 'lines', 'agree', '%', 'too strict', 'too lax'], ...cells];
  const widths = table[0]?.map((_, column) => Math.max(...table.map(row => row[column]?.length ?? 0))) ?? [];
  for (const row of table) {
    const padded = row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)));
    process.stdout.write(`${padded.join('  ')}\n`);
  }
  const lines = rows.reduce((sum, row) => sum + row.lines, 0);
  const agree = rows.reduce((sum, row) => sum + row.agree, 0);
  const total = percent(agree, lines);
  process.stdout.write(`verdicts ${agree}/${lines} (${total.toFixed(1)} %)\n`);
  const low = rows.filter(row => row.lines >= KIND_LINES_MIN && percent(row.agree, row.lines) < KIND_PERCENT_MIN);
  return total >= PERCENT_MIN && low.length === 0 ? 0 : 1;
}

function percent(part: number, whole: number): number {
  return whole === 0 ? 0 : (100 * part) / whole;
}

process.exitCode = main();
