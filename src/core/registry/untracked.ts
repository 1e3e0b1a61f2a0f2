// A reader without a memory beyond one use: runs the same derivations on a state as the tracker does, for handlers that compare the
// state before a change with the one after it. There is no proxy in sight: a query that asks about one is out of place here.

import { AssertionFailed } from '../assert.ts';
import { featureOf } from '../features.ts';
import type { Obj } from '../object.ts';
import type { ProxyReader, Query, Reader } from '../reader.ts';
import type { State } from '../state.ts';

/** Values are kept as long as the reader is, so make one for each comparison and let it go. */
export function untrackedReader(state: State): Reader {
  const known = new Map<string, Map<string, unknown>>();
  const noProxy = (): never => {
    throw new AssertionFailed('a query without a proxy asked for one');
  };
  const reader: ProxyReader = {
    object: (kind, key) => state.objects[kind].get(key) as never,
    objects: (kind, prefix = '') => state.objects[kind].range(prefix) as readonly Obj[] as never,
    indexed: (index, key) => state.indexes[index].range(`${key}|`) as readonly Obj[] as never,
    mesh: field => state.mesh.effective[field],
    networks: () => state.networks.effective,
    setting: name => state.settings[name],
    feature: name => featureOf(state.settings, name),
    get: <A extends string, R>(query: Query<A, R>, arg: A): R => {
      let values = known.get(query.name);
      if (values === undefined) {
        values = new Map();
        known.set(query.name, values);
      }
      if (values.has(arg)) return values.get(arg) as R;
      const value = query.run(reader, arg);
      values.set(arg, value);
      return value;
    },
    about: (selection, of) => selection.run(reader, of),
    make: (generator, inputs) => generator.run(inputs),
    facet: noProxy,
    metadata: noProxy,
    hasExtension: noProxy,
    identity: noProxy,
    derived: noProxy,
  };
  return reader;
}
