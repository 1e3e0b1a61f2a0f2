// `npm run test:hunt [-- --minutes N] [--seed N]`: runs the property tests from fresh seeds until the time is up or one
// fails. A failure prints the seed and the command that repeats it; the counterexample then goes into the test as data.
// The files of a round are shuffled by its seed, so that short hunts reach different files. Running out of time is no
// failure: the last line says how many files each seed reached.

import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';

const root = join(import.meta.dirname, '..');
const BATCH = 6;
const SEED_BELOW = 0x7fffffff;
const NOT_HUNTED = ['e2e', 'long'];

const { values } = parseArgs({ options: { minutes: { type: 'string' }, seed: { type: 'string' } } });
const minutes = positive('minutes', values.minutes ?? '10');
const given = values.seed === undefined ? undefined : positive('seed', values.seed);
const deadline = Date.now() + minutes * 60_000;

function positive(name: string, text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0) return value;
  process.stderr.write(`--${name} takes a number above 0, not ${JSON.stringify(text)}\n`);
  return process.exit(2);
}

/** The tests that take their seed from test/property/seed.ts. */
function seededTests(): readonly string[] {
  return readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.test.ts') && !NOT_HUNTED.some(folder => file.startsWith(folder)))
    .map(file => join(root, 'test', file))
    .filter(file => /from '[^']*\/seed\.ts'/.test(readFileSync(file, 'utf8')))
    .map(file => relative(root, file))
    .sort();
}

/** Fisher and Yates, with a linear congruential generator. */
function shuffled(files: readonly string[], seed: number): readonly string[] {
  const out = [...files];
  let state = seed >>> 0;
  for (let i = out.length - 1; i > 0; i--) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const j = state % (i + 1);
    [out[i], out[j]] = [out[j]!, out[i]!];
  }
  return out;
}

type Verdict = 'passed' | 'failed' | 'out of time';

function run(files: readonly string[], seed: number): Promise<Verdict> {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const child = spawn(process.execPath, [vitest, 'run', '--project', 'default', '--reporter=dot', ...files], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, PERIPLUS_SEED: String(seed) },
  });
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    child.kill();
  }, deadline - Date.now());
  return new Promise(resolve => {
    child.on('exit', code => {
      clearTimeout(timer);
      resolve(late ? 'out of time' : code === 0 ? 'passed' : 'failed');
    });
  });
}

const files = seededTests();
while (Date.now() < deadline) {
  const seed = given ?? 1 + Math.floor(Math.random() * (SEED_BELOW - 1));
  const order = shuffled(files, seed);
  for (let at = 0; at < order.length; at += BATCH) {
    const batch = order.slice(at, at + BATCH);
    const verdict = await run(batch, seed);
    if (verdict === 'failed') {
      const again = `PERIPLUS_SEED=${seed} npx vitest run --project default ${batch.join(' ')}`;
      process.stdout.write(`\nseed ${seed} breaks a property; again: ${again}\n`);
      process.exit(1);
    }
    if (verdict === 'out of time' || Date.now() >= deadline) {
      process.stdout.write(`\nseed ${seed}: no failure in ${at} of ${files.length} files, then the time was up\n`);
      process.exit(0);
    }
  }
  process.stdout.write(`\nseed ${seed}: no failure in ${files.length} files\n`);
  if (given !== undefined) break;
}
