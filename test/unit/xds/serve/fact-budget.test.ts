// What clients may make the journal grow by: of one stream, of one address, and for how long.

import { describe, expect, it } from 'vitest';
import {
  FACT_CHARS_MIN,
  FactBudget,
  PEER_CHARS_PER_MINUTE,
  STREAM_CHARS_PER_MINUTE,
} from '../../../../src/xds/serve/fact-budget.ts';

function budget() {
  let now = 0;
  const told: string[] = [];
  const clock = { now: () => now, after: () => ({ cancel: () => undefined }) };
  const made = new FactBudget(clock, (peer, why) => told.push(`${peer}: ${why}`));
  return { made, told, pass: (ms: number) => (now += ms) };
}

describe('the budget of facts', () => {
  it('ends a stream that goes past its share of a minute, and starts anew with the next', () => {
    const { made, told, pass } = budget();
    const charge = made.stream('10.0.0.1');
    expect(charge(STREAM_CHARS_PER_MINUTE)).toBeUndefined();
    expect(charge(1)).toBe('the stream makes the journal grow by more than 8 MiB a minute');
    expect(made.stream('10.0.0.1')(1)).toBeUndefined();
    pass(60_000);
    expect(charge(STREAM_CHARS_PER_MINUTE)).toBeUndefined();
    expect(told).toHaveLength(1);
    expect(made.stats.refused).toBe(1);
  });

  it('counts all streams of an address together, and tells of it once a minute', () => {
    const { made, told } = budget();
    const share = PEER_CHARS_PER_MINUTE / 32;
    for (let i = 0; i < 32; i++) expect(made.stream('10.0.0.1')(share)).toBeUndefined();
    for (let i = 0; i < 3; i++) expect(made.stream('10.0.0.1')(share)).toMatch(/streams of 10\.0\.0\.1/);
    expect(made.stream('10.0.0.2')(share)).toBeUndefined();
    expect(told).toEqual([expect.stringMatching(/^10\.0\.0\.1: streams of 10\.0\.0\.1 make the journal grow/)]);
  });

  it('lets thousands of proxies behind one address start in a minute', () => {
    const { made } = budget();
    for (let i = 0; i < 5_000; i++) expect(made.stream('10.0.0.1')(40_000)).toBeUndefined();
  });

  it('charges small facts too', () => {
    const { made } = budget();
    const charge = made.stream('a');
    let count = 0;
    while (charge(1) === undefined) count++;
    expect(count).toBe(STREAM_CHARS_PER_MINUTE / FACT_CHARS_MIN);
  });
});
