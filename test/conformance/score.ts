// `npm run -s conformance`: how many cases of istiod's conformance vectors Periplus generates as istiod does, group by
// group, and the first differences. Exit 1 if a group has fallen below conformance.json, 2 if the vectors are not there
// or the command is misused.

import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type ConformanceRecord, fallen, type GroupScore, RECORD_FILE, raised, readRecord, score } from './scoring.ts';
import { findVectors } from './vectors.ts';

const SHOWN = 20;
const usage = `Usage: npm run -s conformance -- [--group GROUP …] [--show N] [--record]

Generates every case of ../shared/conformance (PERIPLUS_SHARED=FOLDER names another folder than ../shared), compares with what istiod sends,
and with the numbers of passing cases recorded in conformance.json. Cases with a kind that conformance.json lists in skipKinds are left out.

  --group GROUP   only this group; may be repeated
  --show N        the first N differences (${SHOWN})
  --record        write the numbers that have risen to conformance.json; it never lowers one
  --help          show this text
`;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      group: { type: 'string', multiple: true },
      show: { type: 'string' },
      record: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  const show = Number(values.show ?? SHOWN);
  if (values.help === true || !Number.isInteger(show) || show < 0) {
    process.stderr.write(usage);
    return values.help === true ? 0 : 2;
  }
  const vectors = findVectors();
  if ('missing' in vectors) {
    process.stderr.write(`conformance did NOT run: ${vectors.missing}\n`);
    return 2;
  }
  const record = readRecord();
  const result = await score(vectors, { groups: values.group ?? [], skipKinds: record.skipKinds, show });
  for (const line of result.failures) process.stdout.write(`not generated: ${line}\n`);
  for (const line of result.differences) process.stdout.write(`${line}\n`);
  process.stdout.write(table(result.groups, record));
  if (values.record === true) writeFileSync(RECORD_FILE, `${JSON.stringify(raised(result.groups, record), null, 2)}\n`);
  const down = fallen(result.groups, record);
  for (const line of down) process.stdout.write(`fallen: ${line}\n`);
  return down.length === 0 ? 0 : 1;
}

function table(groups: readonly GroupScore[], record: ConformanceRecord): string {
  const sum = (of: (row: GroupScore) => number): number => groups.reduce((total, row) => total + of(row), 0);
  const total: GroupScore = {
    group: 'total',
    cases: sum(row => row.cases),
    passing: sum(row => row.passing),
    files: sum(row => row.files),
    filesPassing: sum(row => row.filesPassing),
    skipped: sum(row => row.skipped),
  };
  const recorded = (row: GroupScore): number =>
    row === total ? sum(one => record.passing[one.group] ?? 0) : (record.passing[row.group] ?? 0);
  const rows = [...groups, total].map(row => [
    row.group,
    `${row.passing}/${row.cases}`,
    String(recorded(row)),
    `${row.filesPassing}/${row.files}`,
    String(row.skipped),
  ]);
  const lines = [['group', 'cases', 'recorded', 'files', 'skipped'], ...rows];
  const widths = [0, 1, 2, 3, 4].map(column => Math.max(...lines.map(line => line[column]?.length ?? 0)));
  const shown = lines.map(line =>
    line.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  '),
  );
  return `${shown.join('\n')}\n`;
}

main().then(
  code => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 2;
  },
);
