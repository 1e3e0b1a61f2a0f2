// Law 2: what a client holds through pushes equals what a fresh client gets.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Effect } from '../../src/core/effect.ts';
import type { Resource } from '../../src/core/model/resource.ts';
import type { ProxyReader } from '../../src/core/query/reader.ts';
import { resourceSources } from '../../src/xds/assemble/types.ts';
import { Engine } from '../../src/xds/engine/engine.ts';
import { CDS } from '../../src/xds/session/types.ts';
import { anyEvents, anyMoments, checked, checkedSilence, everyPush } from './law-2.ts';
import { parameters } from './seed.ts';

describe('law 2: incremental = from scratch', () => {
  it('holds for any batches, any reading proxies and any sweeps in between', () => {
    fc.assert(
      fc.property(anyMoments(60), moments => checked(moments)),
      parameters(50),
    );
  });

  it('holds for changes that notify no proxy: they change no response', () => {
    fc.assert(
      fc.property(anyEvents(60), events => checkedSilence(events)),
      parameters(50),
    );
  });

  it('canary: a missing push, and a cluster that depends on untracked state, are detected', () => {
    const found = (property: fc.IProperty<unknown>): boolean =>
      fc.check(property, { numRuns: 50, seed: 1, endOnFailure: true }).failed;
    const deaf = (effect: Effect): boolean => effect.kind === 'Push' && effect.request.reasons.endpoint === undefined;
    expect(found(fc.property(anyEvents(60), events => checkedSilence(events, deaf)))).toBe(true);
    const secretive = (): Engine => new SecretiveEngine();
    expect(found(fc.property(anyMoments(60), moments => checked(moments, everyPush, secretive)))).toBe(true);
  });
});

/** Its clusters have the number of Services in their name, which no query read. */
class SecretiveEngine extends Engine {
  constructor() {
    const sources = resourceSources.map(source => {
      const { all } = source;
      if (source.url !== CDS || all === undefined) return source;
      const run = (reader: ProxyReader): readonly Resource<object>[] =>
        reader.get(all, '').map(made => ({ ...made, name: `${made.name} of ${this.services}` }));
      return { ...source, all: { name: 'canary/clusters', run } };
    });
    super(sources);
  }

  services = 0;

  override resourcesFor(...asked: Parameters<Engine['resourcesFor']>): ReturnType<Engine['resourcesFor']> {
    this.services = asked[0].objects.Service.size;
    return super.resourcesFor(...asked);
  }
}
