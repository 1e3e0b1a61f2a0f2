import { describe, expect, it } from 'vitest';
import { ViewTurns } from '../../../../src/xds/serve/view-turns.ts';
import { countLoopTurns } from '../../loop-turns.ts';

/** Work of a given number of pieces, done until the allowance is used up. */
function work(pieces: number, log: string[], name: string) {
  let done = 0;
  return (allowance: number) => {
    const now = Math.min(allowance, pieces - done);
    done += now;
    log.push(`${name} ${now}`);
    return { value: done === pieces ? name : undefined, left: allowance - now };
  };
}

describe('sliced evaluations', () => {
  it('run one slice for each tick, and one after the other', async () => {
    const turns = new ViewTurns(10);
    const log: string[] = [];
    const loop = countLoopTurns(() => log.push('-'));
    const names = await Promise.all([
      turns.run(work(25, log, 'long')),
      turns.run(work(3, log, 'short')),
      turns.run(work(4, log, 'other')),
    ]);
    loop.stop();
    expect(names).toEqual(['long', 'short', 'other']);
    expect(log.filter(line => line !== '-')).toEqual(['long 10', 'long 10', 'long 5', 'short 3', 'other 2', 'other 2']);
    expect(loop.turns).toBeGreaterThanOrEqual(2);
    for (const part of log.join(' ').split('-')) {
      const pieces = [...part.matchAll(/\d+/g)].reduce((sum, [n]) => sum + Number(n), 0);
      expect(pieces, log.join(', ')).toBeLessThanOrEqual(10);
    }
    expect(turns.cuts).toBe(3);
  });

  it('continue after one that failed', async () => {
    const turns = new ViewTurns(10);
    const broken = () => {
      throw new Error('broken');
    };
    expect(() => turns.run(broken)).toThrow('broken');
    const long = turns.run(work(11, [], 'long'));
    const failing = turns.run(broken);
    const next = turns.run(work(1, [], 'next'));
    await expect(failing).rejects.toThrow('broken');
    expect([await long, await next]).toEqual(['long', 'next']);
  });

  it('take no tick if one slice is enough', () => {
    expect(new ViewTurns(10).run(work(3, [], 'short'))).toBe('short');
  });
});
