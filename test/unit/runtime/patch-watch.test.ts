// What the log says of EnvoyFilters that break proxies.

import { describe, expect, it } from 'vitest';
import { assert } from '../../../src/core/base/assert.ts';
import { SliceGrowth } from '../../../src/core/query/slice-growth.ts';
import { Tracker } from '../../../src/core/query/tracker.ts';
import type { State } from '../../../src/core/state.ts';
import { PatchWatch } from '../../../src/runtime/patch-watch.ts';
import { clusters } from '../../../src/xds/assemble/cluster/resources.ts';
import { patchEffects } from '../../../src/xds/assemble/patch/effects.ts';
import { SLICE_WORK } from '../../../src/xds/serve/view-turns.ts';
import { entry, envoyFilter, luaFilter, patchScene } from '../xds/generate/patch/patch-scene.ts';

const behind = envoyFilter('behind', [entry('HTTP_FILTER', 'ADD', luaFilter('l'), { context: 'SIDECAR_OUTBOUND' })]);
const sound = envoyFilter('sound', [entry('CLUSTER', 'MERGE', { connect_timeout: '1s' })]);

async function linesOver(...states: readonly State[]): Promise<readonly (readonly string[])[]> {
  const lines: string[] = [];
  let now = states[0];
  const log = (level: string, text: string): number => lines.push(`${level} ${text}`);
  const watch = new PatchWatch({ tracker: new Tracker(), state: () => now ?? patchScene([]).state, log });
  const after: (readonly string[])[] = [];
  for (const state of states) {
    now = state;
    await watch.consider();
    after.push(lines.splice(0));
  }
  return after;
}

describe('the log of patches', () => {
  it('names the EnvoyFilter, what Envoy refuses, and the proxies, once', async () => {
    const [first, again] = await linesOver(patchScene([behind]).state, patchScene([behind, sound]).state);
    expect(first).toContain(
      'warn EnvoyFilter/prod/behind with the patches, listener 0.0.0.0_8080 has HTTP filters behind the router: Envoy refuses it on app.prod',
    );
    expect((again ?? []).filter(line => line.includes('EnvoyFilter/prod/behind'))).toEqual([]);
  });

  it('has no line of sound patches, nor without any', async () => {
    expect(await linesOver(patchScene([sound]).state, patchScene([]).state)).toEqual([[], []]);
  });

  it('names a fault again that comes back', async () => {
    const [, none, back] = await linesOver(
      patchScene([behind]).state,
      patchScene([]).state,
      patchScene([behind]).state,
    );
    expect(none).toEqual([]);
    expect(back?.length).toBeGreaterThan(0);
  });
});

describe('the judgement of a patch', () => {
  it('has a slice for each cluster that takes ten thousands of keys, and the result of one run', () => {
    const keys = Array.from({ length: 30_000 }, (_, i) => [`k${i}`, { a: 'b' }] as const);
    const wide = entry('CLUSTER', 'MERGE', { metadata: { filter_metadata: Object.fromEntries(keys) } });
    const { state } = patchScene([envoyFilter('wide', [wide])]);
    const [proxy] = [...state.proxies.values()];
    assert(proxy !== undefined, 'the scene has a proxy');
    const whole = new Tracker().get(state, proxy, patchEffects, '');
    const tracker = new Tracker();
    let slices = 1;
    const growth = new SliceGrowth();
    const slice = () => tracker.within(growth.budget(SLICE_WORK), () => tracker.get(state, proxy, patchEffects, ''));
    let made = slice();
    for (; made.value === undefined; made = slice()) {
      growth.cut(made);
      slices++;
    }
    expect(made.value).toEqual(whole);
    const merged = tracker
      .get(state, proxy, clusters, '')
      .filter(({ message }) => Object.keys(message.metadata?.filterMetadata ?? {}).length > keys.length);
    expect(merged.length).toBeGreaterThan(1);
    expect(slices).toBeGreaterThan(merged.length);
  });

  it('waits while proxies are served', async () => {
    let busy = 3;
    const isBusy = (): boolean => {
      busy--;
      return busy > 0;
    };
    const { state } = patchScene([behind]);
    await new PatchWatch({ tracker: new Tracker(), state: () => state, log: () => undefined, isBusy }).consider();
    expect(busy).toBeLessThanOrEqual(0);
  });
});
