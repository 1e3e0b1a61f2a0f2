// A hundred rounds of kill -9 of NATS nodes and replicas: test/e2e/replicas.test.ts has five. A run that was stopped,
// or that failed, is taken up with PERIPLUS_SEED and PERIPLUS_FROM_ROUND, which a failure names.

import { afterAll, beforeAll, describe, it } from 'vitest';
import build from '../e2e/build.ts';
import { compareMirrors, rounds } from '../e2e/nats/chaos.ts';
import { NatsCluster, natsOrSkip } from '../e2e/nats/cluster.ts';
import { Fleet } from '../e2e/nats/fleet.ts';

const program = await natsOrSkip('test/long/replicas.test.ts');
const ROUNDS = Number(process.env.PERIPLUS_ROUNDS ?? 100);
const FROM = Number(process.env.PERIPLUS_FROM_ROUND ?? 1);
const SEED = Number(process.env.PERIPLUS_SEED ?? Date.now() % 1_000_000);
/** Rounds after which mirrors are compared. */
const LAP = 10;
const REPLICAS = 3;
const BEGIN_MS_MAX = 600_000;

const laps = Array.from({ length: Math.ceil((ROUNDS - FROM + 1) / LAP) }, (_, i) => {
  const from = FROM + i * LAP;
  return { from, to: Math.min(ROUNDS, from + LAP - 1), seed: SEED };
});

describe.runIf(program !== undefined)('three replicas on three NATS servers, at length', () => {
  let nats: NatsCluster;
  let fleet: Fleet;
  beforeAll(async () => {
    await build();
    nats = await NatsCluster.begin(program ?? '');
    fleet = new Fleet(nats);
    fleet.change('first.example.com');
    for (let i = 0; i < REPLICAS; i++) await fleet.start(i);
    await fleet.ready();
    await fleet.agree();
  }, BEGIN_MS_MAX);
  afterAll(async () => {
    await fleet?.close();
    await nats?.close();
  });

  it.each(laps)('agree in rounds $from to $to of kill -9 (seed $seed), and record each change once', async lap => {
    await rounds(lap, fleet, nats);
    await compareMirrors(fleet);
  });
});
