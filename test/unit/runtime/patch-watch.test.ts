// What the log says of EnvoyFilters that break proxies.

import { describe, expect, it } from 'vitest';
import { Tracker } from '../../../src/core/query/tracker.ts';
import type { State } from '../../../src/core/state.ts';
import { PatchWatch } from '../../../src/runtime/patch-watch.ts';
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
