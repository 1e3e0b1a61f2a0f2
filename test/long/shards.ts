// `npm run test:shards -- law-2|simulator [--minutes N] [--progress FILE]`: runs seeds that no shard has run yet, until
// the time is up or a law breaks, and adds what held to the progress file. Any number of them may run at the same time.
// `npm run test:shards -- show` prints what all runs have reached. A break prints the seed and how to see it again.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import fc from 'fast-check';
import { anyEvents, anyMoments, checked, checkedSilence } from '../property/law-2.ts';
import { simulateReplicas } from '../sim/replicas/simulation.ts';
import { simulate } from '../sim/simulation.ts';
import { addCounts, claimSeeds, readProgress, summary } from './progress.ts';

/** Events of a history of law 2: long, because a check from scratch costs what many events do. */
const HISTORY_MAX = 600;
const HISTORIES = 5;
/** Histories after which no push is requested are short: every silent event is compared from scratch. */
const SILENT_MAX = 60;
const STEPS = 60;
/** Every tenth seed of the simulator has three replicas. */
const REPLICATED = 10;
const REPLICAS = 3;
const CLAIMED = { 'law-2': 1, simulator: 10 } as const;
type Shard = keyof typeof CLAIMED;
type Counts = Readonly<Record<string, number>>;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    minutes: { type: 'string', default: '10' },
    progress: { type: 'string', default: '.periplus/long.json' },
    seed: { type: 'string' },
  },
});

/** The counts of a seed that held. Throws at a break. */
async function run(shard: Shard, seed: number): Promise<Counts> {
  return shard === 'law-2' ? lawTwo(seed) : simulator(seed);
}

function lawTwo(seed: number): Counts {
  let events = 0;
  fc.assert(
    fc.property(anyMoments(HISTORY_MAX), moments => {
      events += moments.length;
      checked(moments);
    }),
    { seed, numRuns: HISTORIES },
  );
  fc.assert(
    fc.property(anyEvents(SILENT_MAX), history => {
      events += history.length;
      checkedSilence(history);
    }),
    { seed, numRuns: 1 },
  );
  return { events, histories: HISTORIES + 1 };
}

async function simulator(seed: number): Promise<Counts> {
  const isReplicated = seed % REPLICATED === 0;
  const { broken, step, trace, counts } = await (isReplicated
    ? simulateReplicas({ seed, steps: STEPS, replicas: REPLICAS })
    : simulate({ seed, steps: STEPS }));
  if (broken === undefined) return { seeds: 1, ...counts };
  const replicas = isReplicated ? ` --replicas ${REPLICAS}` : '';
  throw new Error(
    `${trace.join('\n')}\nstep ${step}: ${broken}\nagain: npm run sim -- --seed ${seed} --steps ${STEPS}${replicas}`,
  );
}

async function main(): Promise<number> {
  const [shard = ''] = positionals;
  const { progress } = values;
  if (shard === 'show') process.stdout.write(summary(readProgress(progress)));
  if (shard === 'show') return 0;
  const minutes = Number(values.minutes);
  if (!(shard in CLAIMED) || !(minutes > 0)) {
    process.stderr.write('expected law-2, simulator or show, and --minutes above 0\n');
    return 2;
  }
  const name = shard as Shard;
  const until = Date.now() + minutes * 60_000;
  const given = values.seed === undefined ? undefined : Number(values.seed);
  while (Date.now() < until) {
    const first = given ?? claimSeeds(progress, name, CLAIMED[name]);
    const last = given ?? first + CLAIMED[name] - 1;
    for (let seed = first; seed <= last; seed++) {
      try {
        const counts = await run(name, seed);
        if (given === undefined) addCounts(progress, name, counts);
        // What a WeakRef gave out stays until the turn of the event loop ends, and promises alone never end it.
        await nextTurn();
      } catch (error) {
        process.stdout.write(`${error instanceof Error ? error.message : error}\nseed ${seed} breaks ${name}; again: `);
        process.stdout.write(`npm run test:shards -- ${name} --seed ${seed}\n`);
        return 1;
      }
    }
    if (given !== undefined) return 0;
  }
  process.stdout.write(summary(readProgress(progress)));
  return 0;
}

process.exitCode = await main();
