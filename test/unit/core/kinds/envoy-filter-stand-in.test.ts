// An EnvoyFilter whose first version is refused: the entries without a problem act, and the author is told.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../../src/core/base/json.ts';
import type { Obj } from '../../../../src/core/model/object.ts';
import { foldFacts } from '../../../../src/offline/generate.ts';
import { entry, envoyFilter } from '../../xds/generate/patch/patch-scene.ts';

const SOURCE = 'file/Kubernetes';
const sound = entry('CLUSTER', 'MERGE', { connect_timeout: '1s' });
const broken = entry('CLUSTER', 'MERGE', { connect_timeout: 5 });

/** `applyTo` of the entries in force; undefined: the object is not in force. */
function inForce(...versions: readonly (readonly JsonObject[])[]): readonly (string | undefined)[] | undefined {
  const facts = versions.map(
    entries => ({ source: SOURCE, kind: 'Add', object: envoyFilter('one', entries) }) as const,
  );
  const found = foldFacts(facts).state.objects.EnvoyFilter.get('prod/one');
  return (found as Obj<'EnvoyFilter'> | undefined)?.spec.configPatches?.map(({ applyTo }) => applyTo);
}

describe('an EnvoyFilter with a patch that cannot be decoded', () => {
  it('leaves out that patch alone, in its place', () => {
    expect(inForce([broken, sound])).toEqual([undefined, 'CLUSTER']);
  });

  it('does not take the place of a version that was accepted', () => {
    expect(inForce([sound, sound], [broken, sound])).toEqual(['CLUSTER', 'CLUSTER']);
  });

  it('is not in force if nothing of it could act', () => {
    expect(inForce([broken])).toBeUndefined();
  });

  it('is refused, with a word on what acts', () => {
    const { effects } = foldFacts([{ source: SOURCE, kind: 'Add', object: envoyFilter('one', [broken, sound]) }]);
    const [verdict] = effects.filter(effect => effect.kind === 'Verdict');
    expect(verdict).toMatchObject({ accepted: false });
    expect(verdict?.kind === 'Verdict' ? verdict.problems.map(({ message }) => message) : []).toEqual([
      expect.stringContaining('expected a duration'),
      'until a version is accepted, the entries without a problem act',
    ]);
  });
});
