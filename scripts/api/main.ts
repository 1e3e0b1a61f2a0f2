// `npm run api` writes docs/api/report.txt: read the diff, it is the change that users of the package see. With --check
// (`npm run check:api`, in CI) nothing is written: it fails if the report is not today's, if a public declaration
// mentions a type that no entry exports, if an entry has too many names, or if package.json or docs/api/README.md lack
// one.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { apiReport, ENTRIES } from './report.ts';

const root = join(import.meta.dirname, '../..');
const REPORT = 'docs/api/report.txt';
/** Of an entry: what a reader can survey. A name that another entry exports is not exported twice without need. */
const NAMES_MAX = 60;
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

function entryProblems(): readonly string[] {
  const { exports } = JSON.parse(read('package.json')) as { exports: Record<string, { default?: string }> };
  const pages = read('docs/api/README.md');
  return Object.entries(ENTRIES).flatMap(([name, file]) => {
    const path = name === 'periplus' ? '.' : `.${name.slice('periplus'.length)}`;
    const built = file.replace('src/', './dist/').replace(/\.ts$/, '.js');
    return [
      ...(exports[path]?.default === built ? [] : [`package.json: exports has no ${path} that leads to ${built}`]),
      ...(pages.includes(`\`${name}\``) ? [] : [`docs/api/README.md: no line about ${name}`]),
    ];
  });
}

const { text, leaks } = apiReport();
const crowded = [...text.matchAll(/^# (.*) \((\d+) names\)$/gm)].filter(([, , names]) => Number(names) > NAMES_MAX);
const problems = [
  ...leaks.map(leak => `no entry exports ${leak}`),
  ...crowded.map(([, entry, names]) => `${entry} exports ${names} names, more than ${NAMES_MAX}`),
  ...entryProblems(),
];
if (!process.argv.includes('--check')) writeFileSync(join(root, REPORT), text);
else if (text !== read(REPORT))
  problems.push(`${REPORT} is not the public API of today: npm run api, and read the diff`);
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
