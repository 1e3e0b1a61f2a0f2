// `periplus journal stats` on the recorded samples; what it prints is kept in golden/.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JournalStats } from '../../src/history/stats.ts';
import { openSamples, type Samples } from './fixtures.ts';
import { periplus } from './running.ts';

let samples: Samples;
beforeAll(async () => {
  samples = await openSamples('annotation-storm');
});
afterAll(() => samples.remove());

describe('journal stats', () => {
  test('finds who makes the storm, and why', async () => {
    const { code, out, err } = await periplus('journal', 'stats', '-j', samples.path('annotation-storm'));
    expect([code, err]).toEqual([0, '']);
    await expect(out).toMatchFileSnapshot('golden/journal-stats.txt');
  });

  test('the storm of annotations that mean nothing left no trace', async () => {
    const { out } = await periplus('journal', 'stats', '-j', samples.path('annotation-storm'), '-o', 'json');
    const { managers, objects } = JSON.parse(out) as JournalStats;
    expect(managers.map(({ name }) => name)).not.toContain('hpa-controller');
    expect(objects[0]).toMatchObject({
      object: 'Service/shop/reviews',
      managers: expect.arrayContaining(['tenant-operator']),
    });
  });

  test('of a range', async () => {
    const { out } = await periplus(
      'journal',
      'stats',
      '-j',
      samples.path('annotation-storm'),
      '--from',
      '40',
      '--to',
      '7:30',
      '-o',
      'json',
    );
    expect(JSON.parse(out)).toMatchObject({ from: 40 });
  });
});
