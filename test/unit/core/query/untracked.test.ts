// Two states side by side: what follows from what they share is derived once, what does not is each one's own.

import { describe, expect, it } from 'vitest';
import type { Query } from '../../../../src/core/query/reader.ts';
import { readersOf } from '../../../../src/core/query/untracked.ts';
import { reduce } from '../../../../src/core/reduce.ts';
import { emptyState, type State } from '../../../../src/core/state.ts';

const put = (state: State, kind: string, name: string, labels: { readonly [key: string]: string }): State =>
  reduce(state, {
    seq: state.seq + 1,
    time: 0,
    source: 'file/Kubernetes',
    kind: 'Add',
    object: { apiVersion: 'v1', kind, metadata: { name, labels } },
  })[0];

describe('readers of two states', () => {
  const before = put(put(emptyState, 'Node', 'n', { zone: 'a' }), 'Namespace', 'ns', { mesh: 'a' });
  const after = put(before, 'Node', 'n', { zone: 'b' });
  const runs: string[] = [];
  const zone: Query<string, string> = {
    name: 'test/zone',
    run: (reader, name) => {
      runs.push(`zone ${name}`);
      return reader.object('Node', `Kubernetes/${name}`)?.labels.zone ?? '';
    },
  };
  const mesh: Query<string, string> = {
    name: 'test/mesh',
    run: (reader, name) => {
      runs.push(`mesh ${name}`);
      return reader.object('Namespace', `Kubernetes/${name}`)?.labels.mesh ?? '';
    },
  };
  const both: Query<string, string> = {
    name: 'test/both',
    run: reader => `${reader.get(zone, 'n')} ${reader.get(mesh, 'ns')}`,
  };

  it('give each its own answer, also after the other was asked through other queries', () => {
    const readers = readersOf(before, after);
    expect([readers.before.get(zone, 'n'), readers.after.get(zone, 'n')]).toEqual(['a', 'b']);
    expect([readers.before.get(both, ''), readers.after.get(both, '')]).toEqual(['a a', 'b a']);
  });
  it('derive shared content once', () => {
    runs.length = 0;
    const readers = readersOf(before, after);
    expect([readers.before.get(both, ''), readers.after.get(both, '')]).toEqual(['a a', 'b a']);
    expect(runs).toEqual(['zone n', 'mesh ns', 'zone n']);
  });
});
