// The explorer's API and the commands answer alike: what a command prints with `-o json` is in the answer of the API,
// field for field, so that scripts may ask either.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSamples, type Samples } from '../../../history/fixtures.ts';
import { periplus } from '../../../history/running.ts';
import { type Served, servedFile } from './served.ts';

/** The service that broke: every answer is about it. */
const BROKEN = 'reviews';
/** A command, and the question of the API. */
const ALIKE: readonly (readonly [string, readonly string[], string])[] = [
  ['incident', ['incident', '--from', '100', '--to', '131'], 'incident?from=100&to=131'],
  ['diff', ['diff', '111', '112'], 'diff?from=111&to=112'],
  ['explain push', ['explain', 'push', '157'], 'push?seq=157'],
  [
    'explain cluster',
    ['explain', 'cluster', 'outbound|9080|v3|reviews.shop.svc.cluster.local', '--proxy', 'productpage', '--at', '112'],
    `why?kind=cluster&name=${encodeURIComponent('outbound|9080|v3|reviews.shop.svc.cluster.local')}&proxy=productpage&at=112`,
  ],
];

describe("the explorer's API", () => {
  let samples: Samples;
  let explorer: Served;
  beforeAll(async () => {
    samples = await openSamples('subset-outage');
    explorer = await servedFile(samples.path('subset-outage'));
  });
  afterAll(async () => {
    await explorer.close();
    samples.remove();
  });

  it.each(ALIKE)('has all that `%s` prints', async (_, args, question) => {
    const { out } = await periplus(...args, '-o', 'json', '--journal', samples.path('subset-outage'));
    const printed = JSON.parse(out);
    expect(JSON.stringify(printed)).toContain(BROKEN);
    const { json } = await explorer.ask(`/api/v1/${question}`);
    expect(json).toMatchObject(printed);
  });
});
