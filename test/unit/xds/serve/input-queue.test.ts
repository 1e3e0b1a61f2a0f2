import { describe, expect, it } from 'vitest';
import { INPUTS_PER_TICK, InputQueue } from '../../../../src/xds/serve/input-queue.ts';

/** A queue whose inputs wait for a promise if there is one under their name. */
function queue(waits: Readonly<Record<string, Promise<void>>> = {}) {
  const log: string[] = [];
  const made: InputQueue<string> = new InputQueue<string>({
    handle: input => {
      log.push(input);
      if (input.startsWith('throws')) throw new Error(input);
      if (input === 'adds') made.add('added');
      return waits[input]?.then(() => void log.push(`${input} done`));
    },
    drained: () => log.push('drained'),
    failed: error => log.push(`failed: ${(error as Error).message}`),
  });
  return { log, made };
}

const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

describe('the inputs of a stream', () => {
  it('are handled at once if none waits', () => {
    const { log, made } = queue();
    made.add('a');
    made.add('b');
    expect(log).toEqual(['a', 'drained', 'b', 'drained']);
  });

  it('wait for the one that is being handled, in order', async () => {
    let release = (): void => undefined;
    const { log, made } = queue({ slow: new Promise(resolve => (release = resolve)) });
    for (const input of ['slow', 'a', 'b']) made.add(input);
    await turn();
    expect(log).toEqual(['slow']);
    expect(made.length).toBe(2);
    release();
    await turn();
    expect(log).toEqual(['slow', 'slow done', 'a', 'b', 'drained']);
    made.add('c');
    expect(log.slice(-2)).toEqual(['c', 'drained']);
  });

  it('are handled after the one that added them', () => {
    const { log, made } = queue();
    made.add('adds');
    expect(log).toEqual(['adds', 'added', 'drained']);
  });

  it('are handled after one that failed, at once or later', async () => {
    const { log, made } = queue({ rejects: Promise.reject(new Error('rejected')), waits: Promise.resolve() });
    made.add('throws');
    for (const input of ['rejects', 'waits', 'throws again', 'last']) made.add(input);
    await turn();
    expect(log).toEqual([
      ...['throws', 'failed: throws', 'drained', 'rejects', 'failed: rejected', 'waits', 'waits done'],
      ...['throws again', 'failed: throws again', 'last', 'drained'],
    ]);
  });

  it('are handled in order some in a tick, so that a thousand requests in one packet do not hold up others', async () => {
    const { log, made } = queue();
    const inputs = Array.from({ length: 2 * INPUTS_PER_TICK + 1 }, (_, i) => `input ${i}`);
    for (const input of inputs) made.add(input);
    const handled = (): readonly string[] => log.filter(line => line !== 'drained');
    expect(handled()).toEqual(inputs.slice(0, INPUTS_PER_TICK));
    await turn();
    expect(handled().length).toBeLessThanOrEqual(2 * INPUTS_PER_TICK);
    for (let i = 0; i < 4; i++) await turn();
    expect(handled()).toEqual(inputs);
    expect(log.at(-1)).toBe('drained');
  });
});
