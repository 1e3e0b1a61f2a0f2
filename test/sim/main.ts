// npm run sim -- --seed N --steps M [--runs K] [--replicas R]: one run, or K runs from seed N on. Prints the first that
// breaks a law, and how to see it again.

import { parseArgs } from 'node:util';
import { simulateReplicas } from './replicas/simulation.ts';
import { simulate } from './simulation.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    steps: { type: 'string', default: '300' },
    replicas: { type: 'string', default: '1' },
    runs: { type: 'string', default: '1' },
  },
});
const whole = (name: string, text: string): number => {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  process.stderr.write(`--${name} ${text}: expected a whole number\n`);
  process.exit(2);
};
const first = whole('seed', values.seed ?? String(Date.now() % 1_000_000));
const steps = whole('steps', values.steps);
const runs = whole('runs', values.runs);
const replicas = whole('replicas', values.replicas);
const started = Date.now();
const totals: Record<string, number> = {};
for (let seed = first; seed < first + runs; seed++) {
  const outcome = await (replicas > 1 ? simulateReplicas({ seed, steps, replicas }) : simulate({ seed, steps }));
  for (const [what, count] of Object.entries(outcome.counts)) totals[what] = (totals[what] ?? 0) + count;
  if (outcome.broken === undefined) continue;
  process.stdout.write(`${outcome.trace.join('\n')}\n\nseed ${seed}, step ${outcome.step}: ${outcome.broken}\n`);
  process.stdout.write(
    `again: npm run sim -- --seed ${seed} --steps ${steps}${replicas > 1 ? ` --replicas ${replicas}` : ''}\n`,
  );
  process.exit(1);
}
const what = Object.entries(totals).map(([name, count]) => `${count} ${name}`);
process.stdout.write(
  `seeds ${first} to ${first + runs - 1}, ${steps} steps each, ${Date.now() - started} ms: every law held; ${what.join(', ')}\n`,
);
