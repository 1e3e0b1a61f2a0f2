// Rounds of kill -9 at random moments while configuration changes: of a node of NATS or of a replica, one at a time, so
// that a quorum stays. After each round every replica agrees; at the end nothing was lost and nothing recorded twice.

import { expect } from 'vitest';
import type { NatsCluster } from './cluster.ts';
import type { Fleet } from './fleet.ts';

const CHANGES = 4;
const MOMENT_MS_MAX = 400;
const ROUNDS_OF_A_SEED = 10_000;

export interface Rounds {
  /** Both included. A round follows from the seed and its number alone, so a run can begin at any. */
  readonly from: number;
  readonly to: number;
  readonly seed: number;
}

/** Rejects with the round in which something was not as it should be. */
export async function rounds({ from, to, seed }: Rounds, fleet: Fleet, nats: NatsCluster): Promise<void> {
  for (let round = from; round <= to; round++) {
    try {
      await oneRound(round, seeded(seed * ROUNDS_OF_A_SEED + round), fleet, nats);
    } catch (error) {
      throw new Error(`round ${round} of seed ${seed} (PERIPLUS_SEED, PERIPLUS_FROM_ROUND): ${String(error)}`, {
        cause: error,
      });
    }
  }
}

async function oneRound(round: number, random: () => number, fleet: Fleet, nats: NatsCluster): Promise<void> {
  const isNode = random() < 0.5;
  const victim = isNode || random() < 0.5 ? Math.floor(random() * nats.size) : await fleet.leader();
  const moment = Math.floor(random() * CHANGES);
  for (let i = 0; i < CHANGES; i++) {
    fleet.change(`round-${round}-${i}.example.com`);
    await new Promise(resolve => setTimeout(resolve, random() * MOMENT_MS_MAX));
    if (i !== moment) continue;
    if (isNode) await nats.kill(victim);
    else await fleet.kill(victim);
  }
  if (isNode) nats.start(victim);
  else await fleet.start(victim);
  await fleet.agree();
}

/**
 * Kills every replica at once, so that none leads after another, compares what each has recorded, and starts them
 * again.
 */
export async function compareMirrors(fleet: Fleet): Promise<void> {
  await Promise.all(Array.from({ length: fleet.size }, (_, i) => fleet.kill(i)));
  const worlds = [];
  for (let i = 0; i < fleet.size; i++) worlds.push(await fleet.world(i));
  const [first] = worlds;
  const once = new Map(fleet.hosts.map(host => [host, 1]));
  for (const world of worlds) {
    expect(world.digest).toBe(first?.digest);
    expect(world.added).toEqual(once);
  }
  for (let i = 0; i < fleet.size; i++) await fleet.start(i);
  await fleet.ready();
  await fleet.agree();
}

/** The same sequence for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
