// `npm run test:mutants -- FOLDER [--files TEXT] [--most N] [--afresh]`: Stryker changes one thing after the other in
// a folder's code; the test files that hold the folder (held-by.ts) must notice. A mutant that no test notices
// survives: it is printed with its place, and the last line says how many were killed. All is kept in
// `.periplus/mutants`, and a second call goes on. When tests changed it tries again what survived; `--afresh` tries the
// killed ones again too. `--most N` ends when N have a result: they lie scattered over the folder, so
// they are a sample of it, and a later call without it goes on.
//
// Stryker 9 makes the mutants (10 needs Node 22). All of them run in one process (trial.ts), a thousand in the time in
// which Stryker's own runner tries ten. A mutant that never ends is noticed here: the process is ended, begun again, and
// goes on after it. The instrumenter is installed beside the project on the first call, outside of `npm install`.

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { folders, type HeldBy, heldBy } from './held-by.ts';
import { instrument } from './instrument.ts';
import { carryKills, FIRST_PASS, forgetSurvivors, type Results, readResults, summaryOf, TEXTS } from './results.ts';

const root = join(import.meta.dirname, '../..');
const home = join(root, '.periplus/mutants');
/** Without a result for this long, the mutant under way counts as one that never ends. */
const STUCK_MS = 120_000;
/** The tests run once without a mutant first. */
const FIRST_PASS_MS = 15 * 60_000;
const LOOK_MS = 2_000;
/** Of a property for each mutant; a survivor may be tried again with more (PERIPLUS_RUNS). */
const RUNS = '25';
const VITEST = join(root, 'node_modules/vitest/vitest.mjs');

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    files: { type: 'string', default: '' },
    most: { type: 'string', default: 'Infinity' },
    afresh: { type: 'boolean', default: false },
  },
});

/** The code of a folder, all folders below it included. */
function sourcesOf(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.ts') && !file.endsWith('.gen.ts') && file.includes(values.files))
    .map(file => join(folder, file))
    .sort();
}

function fingerprint(files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(join(root, file)));
  return hash.digest('hex').slice(0, 12);
}

function config(work: string, tests: readonly string[]): string {
  const file = join(work, 'vitest.mjs');
  const here = JSON.stringify(import.meta.dirname);
  writeFileSync(
    file,
    `import { instrumented } from ${JSON.stringify(join(import.meta.dirname, 'instrumented.ts'))};
export default {
  root: ${JSON.stringify(root)},
  plugins: [instrumented(${JSON.stringify(work)}, ${here}, ${JSON.stringify(tests)})],
  test: { include: ['scripts/mutants/trial.ts'], testTimeout: 0, hookTimeout: 0, isolate: false, pool: 'forks', maxWorkers: 1 },
};
`,
  );
  return file;
}

/** Runs until the process ends by itself, or nothing has come for too long; true: it ended by itself. */
async function trial(work: string, vitest: string, { testsMax, without, goldens }: HeldBy): Promise<boolean> {
  const given = {
    PERIPLUS_MUTANTS: work,
    PERIPLUS_MUTANT_TESTS: `${testsMax}`,
    PERIPLUS_MUTANT_WITHOUT: JSON.stringify(without),
    PERIPLUS_MUTANT_MOST: values.most,
    PERIPLUS_MUTANT_GOLDENS: goldens,
  };
  const env = { ...process.env, ...given, PERIPLUS_RUNS: process.env.PERIPLUS_RUNS ?? RUNS };
  const args = ['--import', 'tsx', VITEST, 'run', '--config', vitest, '--reporter=dot'];
  const child = spawn(process.execPath, args, { cwd: root, stdio: 'inherit', env, detached: true });
  const ended = new Promise<boolean>(resolve => child.once('exit', code => resolve(code === 0)));
  const begun = Date.now();
  let seen = 0;
  const timer = setInterval(() => {
    const changed = statSync(join(work, 'results.jsonl'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (changed > begun) seen = changed;
    const isStuck = Date.now() > (seen === 0 ? begun + FIRST_PASS_MS : seen + STUCK_MS);
    if (isStuck && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  }, LOOK_MS);
  const isWell = await ended;
  clearInterval(timer);
  return isWell;
}

/**
 * Results hold for the code as it is; a change of tests forgets survivors alone, since more tests kill no fewer. When
 * code changes, the kills in its other lines are taken over from the newest run.
 */
async function workFolder(folder: string, sources: readonly string[], tests: readonly string[]): Promise<string> {
  const name = folder.replaceAll('/', '-');
  const earlier = foldersOf(name);
  const work = join(home, `${name}-${fingerprint(sources)}`);
  if (values.afresh) for (const path of earlier.splice(0)) rmSync(path, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  if (!existsSync(join(work, 'mutants.json'))) {
    await instrument(root, work, sources, join(home, 'stryker'));
    const texts = sources.map(source => [join(root, source), readFileSync(join(root, source), 'utf8')] as const);
    writeFileSync(join(work, TEXTS), JSON.stringify(Object.fromEntries(texts)));
    const before = earlier.at(-1);
    if (before !== undefined && existsSync(join(before, TEXTS))) carryKills(before, work);
  }
  const file = join(work, 'tests.txt');
  const now = fingerprint(tests);
  if (existsSync(file) && readFileSync(file, 'utf8') !== now) forgetSurvivors(work);
  writeFileSync(file, now);
  return work;
}

/** With results of this folder, for the code as it is or was, the newest last. */
function foldersOf(name: string): string[] {
  const changed = (path: string): number =>
    statSync(join(path, 'results.jsonl'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return (existsSync(home) ? readdirSync(home) : [])
    .filter(entry => entry.startsWith(`${name}-`) && /^[0-9a-f]{12}$/.test(entry.slice(name.length + 1)))
    .map(entry => join(home, entry))
    .sort((a, b) => changed(a) - changed(b));
}

async function main(): Promise<number> {
  const folder = (positionals[0] ?? '').replace(/\/$/, '');
  const held = heldBy(root, folder);
  if (held === undefined) {
    process.stderr.write(`expected one of these folders, or one below them:\n  ${folders.join('\n  ')}\n`);
    return 2;
  }
  const sources = sourcesOf(folder);
  const work = await workFolder(folder, sources, [...held.tests, ...held.data]);
  rmSync(join(work, FIRST_PASS), { force: true });
  const vitest = config(work, held.tests);
  for (let before = -1, done: Results = readResults(work); done.tried.size > before; done = readResults(work)) {
    before = done.tried.size;
    if (await trial(work, vitest, held)) break;
  }
  process.stdout.write(summaryOf(work));
  if (readResults(work).tried.size > 0) return 0;
  process.stderr.write('no mutant was tried: the tests of the folder did not run to their end without one\n');
  return 1;
}

process.exitCode = await main();
