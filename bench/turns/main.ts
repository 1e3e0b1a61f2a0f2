// npm run bench:turns -- [--kind KIND] [--field PATH] [--variant NAME] [--rank N] [--only TEXT] [--size BYTES]
// [--limit N] [--results FILE] [--files FOLDER] [--port N] [--list | --report | --screen] [--json]: what each kind and
// field costs a server with proxies when it grows. `--list` prints the cases, `--report` what FILE has of them;
// `--screen` folds and generates them in process, within seconds each.
//
// Needs dist/ (npm run build) and Linux. Results are appended to FILE, a line of JSON each; cases that are there already
// are skipped, so a run that was stopped goes on. Prints a table sorted by the longest turn; never a test.

import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { allCases, OBJECT_BYTES, type TurnCase } from './cases.ts';
import { judged, LIMITS, PLAIN, screenTable, table } from './report.ts';
import { type Result, Runner } from './run.ts';
import { Screen, type Screened } from './screen.ts';

const { values } = parseArgs({
  options: {
    kind: { type: 'string', multiple: true },
    field: { type: 'string', multiple: true },
    variant: { type: 'string', multiple: true },
    rank: { type: 'string', multiple: true },
    only: { type: 'string', multiple: true },
    size: { type: 'string' },
    limit: { type: 'string' },
    results: { type: 'string', default: 'turns.jsonl' },
    files: { type: 'string' },
    port: { type: 'string', default: '25010' },
    list: { type: 'boolean', default: false },
    report: { type: 'boolean', default: false },
    screen: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});

const size = values.size === undefined ? undefined : Number(values.size);

function isWanted({ id, kind, field, variant, rank }: TurnCase): boolean {
  const has = (wanted: readonly string[] | undefined, value: string): boolean => wanted?.includes(value) ?? true;
  return (
    has(values.kind, kind) &&
    has(values.field, field) &&
    has(values.variant, variant) &&
    has(values.rank, String(rank)) &&
    (values.only?.some(text => id.includes(text)) ?? true)
  );
}

/** By id, the newest of each. */
function known(): Map<string, Result> {
  if (!existsSync(values.results)) return new Map();
  const lines = readFileSync(values.results, 'utf8')
    .split('\n')
    .filter(line => line !== '');
  return new Map(lines.map(line => JSON.parse(line) as Result).map(result => [result.id, result]));
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

function keepFile(id: string, text: string): void {
  if (values.files === undefined) return;
  mkdirSync(values.files, { recursive: true });
  writeFileSync(join(values.files, `${id.replaceAll(/[^\w.+-]+/g, '_')}.yaml`), text);
}

function screenAll(): void {
  const screen = new Screen();
  const screened = cases.map((one, i) => {
    const result = screen.look(one, size);
    const { id, foldMs, sliceMs, cpuMs, growth, error = '' } = result;
    say(`${i + 1}/${cases.length} ${id}: fold ${foldMs}, slice ${sliceMs} ms; CPU ${cpuMs} ms, ×${growth} ${error}`);
    return result;
  });
  const turnMs = ({ foldMs, sliceMs }: Screened): number => Math.max(foldMs, sliceMs);
  const over = screened
    .filter(one => turnMs(one) > LIMITS.turnMs || one.growth > LIMITS.growth || one.error !== undefined)
    .sort((a, b) => turnMs(b) - turnMs(a));
  process.stdout.write(values.json ? `${JSON.stringify(screened, undefined, 2)}\n` : `${screenTable(over)}\n`);
  say(`${screened.length} cases, ${over.length} past a limit`);
}

const ordered = [...allCases().filter(isWanted)].sort((a, b) => a.rank - b.rank);
const cases = ordered.slice(0, Number(values.limit ?? ordered.length));
if (values.list) {
  for (const { id } of cases) process.stdout.write(`${id}\n`);
  process.exit(0);
}

if (values.screen) {
  screenAll();
  process.exit(0);
}

const results = known();
const runner = new Runner(Number(values.port), keepFile);
process.setMaxListeners(0);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void runner.stop().finally(() => process.exit(1)));
}
const sizeText = size === undefined ? '' : `@${size}`;

async function runOne(id: string, run: () => Promise<Result>, at: string): Promise<void> {
  if (results.has(id)) return;
  const result = { ...(await run()), id };
  results.set(id, result);
  appendFileSync(values.results, `${JSON.stringify(result)}\n`);
  const { add, change, remove } = result;
  say(`${at} ${id}: turns ${add.turnMs}, ${change.turnMs}, ${remove.turnMs} ms; CPU ${add.cpuMs} ms`);
}

const FAILURES_MAX = 3;

async function runAll(): Promise<void> {
  let failures = 0;
  try {
    const id = `${PLAIN}${Math.round(OBJECT_BYTES / 1_024)}`;
    await runOne(id, () => runner.baseline(id, OBJECT_BYTES), 'plain');
    for (const [i, one] of cases.entries()) {
      const id = `${one.id}${sizeText}`;
      try {
        await runOne(id, () => runner.run(one, size), `${i + 1}/${cases.length}`);
        failures = 0;
      } catch (error) {
        say(`${id}: ${(error as Error).message}`);
        await runner.stop();
        // The cause lies elsewhere, for instance in a port that is taken.
        if (++failures === FAILURES_MAX) throw error;
      }
    }
  } finally {
    await runner.stop();
  }
}

if (!values.report) await runAll();
const wanted = new Set(cases.map(({ id }) => `${id}${sizeText}`));
const shown = judged([...results.values()].filter(({ id }) => wanted.has(id) || id.startsWith(PLAIN)));
process.stdout.write(values.json ? `${JSON.stringify(shown, undefined, 2)}\n` : `${table(shown)}\n`);
const over = shown.filter(one => one.over.length > 0).length;
say(`${shown.length} of ${cases.length} cases, ${over} past a limit`);
