// `periplus journal ls` and `stats` on the recorded samples; what it prints is kept in golden/.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JournalStats } from '../../src/history/stats.ts';
import { openSamples, type Samples } from './fixtures.ts';
import { periplus } from './running.ts';

let samples: Samples;
beforeAll(async () => {
  samples = await openSamples('annotation-storm', 'bookinfo-day');
});
afterAll(() => samples.remove());

describe('journal ls', () => {
  test('lists who changed an object, and when', async () => {
    const journal = samples.path('bookinfo-day');
    const { out } = await periplus('journal', 'ls', '--object', 'VirtualService/shop/reviews', '-j', journal);
    await expect(out).toMatchFileSnapshot('golden/journal-ls-object.txt');
    const day = await periplus('journal', 'ls', '--object', 'Namespace//shop', '-j', journal, '-o', 'json');
    expect(JSON.parse(day.out)).toMatchObject([{ kind: 'Add', object: { kind: 'Namespace' } }]);
  });

  test('lists the events between two times', async () => {
    const range = ['--from', '14:02', '--to', '14:04', '-o', 'json'];
    const { out } = await periplus('journal', 'ls', ...range, '-j', samples.path('bookinfo-day'));
    expect((JSON.parse(out) as { seq: number }[]).map(({ seq }) => seq)).toEqual([77, 78]);
  });
});

describe('journal stats', () => {
  test('finds the object behind a storm, and the reason', async () => {
    const { code, out, err } = await periplus('journal', 'stats', '-j', samples.path('annotation-storm'));
    expect([code, err]).toEqual([0, '']);
    await expect(out).toMatchFileSnapshot('golden/journal-stats.txt');
  });

  test('shows no push for annotations outside the projection', async () => {
    const { out } = await periplus('journal', 'stats', '-j', samples.path('annotation-storm'), '-o', 'json');
    const { managers, objects } = JSON.parse(out) as JournalStats;
    expect(managers.map(({ name }) => name)).not.toContain('hpa-controller');
    expect(objects[0]).toMatchObject({
      object: 'Service/shop/reviews',
      managers: expect.arrayContaining(['tenant-operator']),
    });
  });

  test('counts the events of a range', async () => {
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
