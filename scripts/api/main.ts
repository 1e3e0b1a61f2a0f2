// `npm run api` writes docs/api/report.txt: read the diff, it is the change that users of the package see. With --check
// (`npm run check:api`, in CI) nothing is written: it fails if the report is not today's, if a public declaration
// mentions a type that no entry exports, or if package.json or docs/api/README.md lack an entry.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { apiReport, ENTRIES } from './report.ts';

const root = join(import.meta.dirname, '../..');
const REPORT = 'docs/api/report.txt';
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
const problems = [...leaks.map(leak => `no entry exports ${leak}`), ...entryProblems()];
if (!process.argv.includes('--check')) writeFileSync(join(root, REPORT), text);
else if (text !== read(REPORT))
  problems.push(`${REPORT} is not the public API of today: npm run api, and read the diff`);
for (const problem of problems) process.stderr.write(`${problem}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
