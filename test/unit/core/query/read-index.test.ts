// Which reads a change affects, and which dependents are notified.

import { describe, expect, it } from 'vitest';
import { ReadIndex } from '../../../../src/core/query/read-index.ts';
import { emptyState, type State } from '../../../../src/core/state.ts';
import { Table } from '../../../../src/core/table.ts';

type AnyObj = State['objects']['Service'] extends Table<infer O> ? O : never;

/** Only its identity matters here. */
function object(name: string): AnyObj {
  return { kind: 'Service', namespace: 'a', name } as unknown as AnyObj;
}

function withServices(state: State, services: Table<AnyObj>): State {
  return { ...state, objects: { ...state.objects, Service: services } };
}

/** The dependents that `moveTo` notifies, sorted. */
function told(index: ReadIndex<string>, state: State): readonly string[] {
  const names: string[] = [];
  index.moveTo(state, name => names.push(name));
  return names.sort();
}

const first = withServices(
  emptyState,
  Table.from([
    ['a/one', object('one')],
    ['a/two', object('two')],
    ['b/one', object('one')],
  ]),
);

function indexAt(state: State): ReadIndex<string> {
  const index = new ReadIndex<string>();
  index.moveTo(state, () => undefined);
  index.object(state, 'Service', 'a/one').add('object a/one');
  index.object(state, 'Service', 'a/three').add('missing a/three');
  index.range(state, 'Service', 'a/').add('range a/');
  index.range(state, 'Service', 'b/').add('range b/');
  index.range(state, 'Service', '').add('all');
  index.mesh(state, 'trustDomain').add('mesh');
  return index;
}

describe('the read index', () => {
  it('notifies the reads of an object and of every range that contains it', () => {
    const index = indexAt(first);
    const changed = withServices(first, first.objects.Service.with('a/one', object('one')));
    expect(told(index, changed)).toEqual(['all', 'object a/one', 'range a/']);
    expect(told(index, changed)).toEqual([]);
  });

  it('notifies reads that missed an object which now exists', () => {
    const index = indexAt(first);
    const more = withServices(first, first.objects.Service.with('a/three', object('three')));
    expect(told(index, more)).toEqual(['all', 'missing a/three', 'range a/']);
  });

  it('notifies of removals, and of all differences when moved to an earlier state', () => {
    const index = indexAt(first);
    const less = withServices(first, first.objects.Service.without('b/one'));
    expect(told(index, less)).toEqual(['all', 'range b/']);
    expect(told(index, first)).toEqual(['all', 'range b/']);
  });

  it('notifies no read whose mesh field is equal in the new mesh', () => {
    const index = indexAt(first);
    const mesh = { ...first.mesh, effective: { ...first.mesh.effective } };
    expect(told(index, { ...first, mesh })).toEqual([]);
    const renamed = { ...mesh, effective: { ...mesh.effective, trustDomain: 'other' } };
    expect(told(index, { ...first, mesh: renamed })).toEqual(['mesh']);
  });

  it('drops reads without dependents', () => {
    const index = indexAt(first);
    expect(index.size).toBe(6);
    index.object(first, 'Service', 'a/one').delete('object a/one');
    index.range(first, 'Service', '').delete('all');
    // What is not in tables is not looked through: there are no more such questions than names.
    expect([...index.sweeping()].length).toBe(5);
    expect(index.size).toBe(4);
    const changed = withServices(first, first.objects.Service.with('a/one', object('one')));
    expect(told(index, changed)).toEqual(['range a/']);
  });
});
