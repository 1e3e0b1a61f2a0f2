// Which facts of a source are recorded: those that change an object, where it stands, or what a file or a mesh layer
// says, compared with the earlier facts of the same batch.

import { describe, expect, it } from 'vitest';
import type { Fact } from '../../../../src/core/event.ts';
import { newsOf, newsOfKinds, newsOfList } from '../../../../src/core/fold/novelty.ts';
import { emptyState, type State } from '../../../../src/core/state.ts';
import { step } from '../../world.ts';

const SOURCE = 'file/Kubernetes';

const service = (file: string, line = 1): Fact => ({
  kind: 'Update',
  object: {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'reviews', namespace: 'shop' },
    spec: { clusterIP: '10.0.0.1', ports: [{ port: 80 }] },
  },
  origin: { file, line },
});
const malformed = (...reasons: readonly string[]): Fact => ({ kind: 'Malformed', origin: { file: 'a.yaml' }, reasons });
const mesh = (accessLogFile: string | undefined): Fact => ({
  kind: 'MeshConfig',
  value: accessLogFile === undefined ? null : { accessLogFile },
});

function folded(...facts: readonly Fact[]): State {
  return facts.reduce<State>((state, fact) => step(state, { ...fact, source: SOURCE }).state, emptyState);
}

describe('an unchanged object', () => {
  it('is no news at another line of its file', () => {
    expect(newsOf(folded(service('a.yaml')), SOURCE, [service('a.yaml', 7)])).toEqual([]);
  });

  it('is news in another file, and stays if that file cannot be read later', () => {
    const moved = service('b.yaml');
    const state = folded(service('a.yaml'));
    expect(newsOf(state, SOURCE, [moved])).toEqual([moved]);
    const after = folded(service('a.yaml'), moved);
    expect(newsOfList(after, SOURCE, [], ['b.yaml'])).toEqual([]);
    expect(newsOfList(after, SOURCE, [], ['a.yaml'])).toMatchObject([{ kind: 'Delete', ref: { name: 'reviews' } }]);
  });

  it('that moved to another file keeps its identity, so that nothing is generated anew', () => {
    const before = folded(service('a.yaml'));
    const { state, effects } = step(before, { ...service('b.yaml'), source: SOURCE });
    expect(state.objects).toBe(before.objects);
    expect(effects).toEqual([]);
  });
});

describe('a batch that takes a value back', () => {
  it.each<[string, readonly Fact[], readonly Fact[]]>([
    ['of a mesh layer', [mesh('/dev/stdout')], [mesh('/dev/stderr'), mesh('/dev/stdout')]],
    ['of a mesh layer that was absent', [], [mesh('/dev/stderr'), mesh(undefined)]],
    ['of the problems of a file', [malformed('1:1: x')], [malformed(), malformed('1:1: x')]],
  ])('is recorded whole: %s', (_, before, batch) => {
    expect(newsOf(folded(...before), SOURCE, batch)).toEqual(batch);
  });

  it('is recorded with the version behind one that is beyond the limits', () => {
    const sound = service('a.yaml');
    const large = service('a.yaml');
    const { object } = large as Fact & { readonly kind: 'Update' };
    const annotations = { note: 'x'.repeat(2_000_000) };
    const refused = {
      ...large,
      object: { ...object, metadata: { name: 'reviews', namespace: 'shop', annotations } },
    } as Fact;
    expect(newsOf(emptyState, SOURCE, [refused, sound])).toEqual([refused, sound]);
    expect(folded(refused, sound).objects).toEqual(folded(sound).objects);
  });

  it('is recorded without what repeats the fact before it', () => {
    const [first, again] = [mesh('/dev/stderr'), mesh('/dev/stderr')];
    expect(newsOf(emptyState, SOURCE, [first, again])).toEqual([first]);
  });
});

describe('a source that lists nothing of a kind any more', () => {
  it('deletes more objects than a call takes arguments', () => {
    const before = folded(service('a.yaml'));
    const all = Array.from({ length: 200_000 }, () => [...before.records.values()][0]!);
    const records = { range: () => all.values() } as unknown as State['records'];
    expect(newsOfKinds({ ...before, records }, SOURCE, ['Service'], [])).toHaveLength(all.length);
  });
});
