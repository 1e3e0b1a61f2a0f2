// Strategic merge: what a patch does to lists with and without keys, to nulls and to the order of elements.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { strategicMerge } from '../../../../src/admission/template/strategic-merge.ts';
import type { Json, JsonObject } from '../../../../src/core/base/json.ts';

const named = (...names: readonly string[]): readonly JsonObject[] => names.map(name => ({ name }));
const merge = (object: JsonObject, patch: JsonObject): JsonObject => strategicMerge(object, patch, 'Pod');

describe('A strategic merge', () => {
  it('puts elements of the patch first, and lets an element of the object precede one that both have', () => {
    const merged = merge({ volumes: named('x', 'both', 'y') }, { volumes: named('new', 'both') });
    expect(merged.volumes).toEqual(named('new', 'x', 'both', 'y'));
  });

  it('merges elements by their key and replaces lists without one', () => {
    const object = {
      containers: [{ name: 'a', image: 'i', args: ['1', '2'], ports: [{ containerPort: 80, name: 'h' }] }],
    };
    const patch = { containers: [{ name: 'a', args: ['3'], ports: [{ containerPort: 80, protocol: 'TCP' }] }] };
    const ports = [{ containerPort: 80, name: 'h', protocol: 'TCP' }];
    expect(merge(object, patch)).toEqual({ containers: [{ name: 'a', image: 'i', args: ['3'], ports }] });
  });

  it('finds the ports of a Service by their number', () => {
    const merged = strategicMerge(
      { ports: [{ port: 80 }] },
      { ports: [{ port: 80, name: 'a' }, { port: 81 }] },
      'Service',
    );
    expect(merged.ports).toEqual([{ port: 80, name: 'a' }, { port: 81 }]);
  });

  it('deletes with null, and drops nulls of what is new', () => {
    expect(merge({ a: 1, b: { c: 1 } }, { a: null, b: { c: null }, d: { e: null, f: 1 }, g: null })).toEqual({
      b: {},
      d: { f: 1 },
    });
  });

  it('obeys directives', () => {
    const object = {
      env: named('a', 'b'),
      map: { a: 1 },
      volumes: [{ name: 'v', emptyDir: {} }],
      finalizers: ['x', 'y'],
    };
    expect(merge(object, { env: [{ name: 'a', $patch: 'delete' }] }).env).toEqual(named('b'));
    expect(merge(object, { env: [{ $patch: 'replace' }, { name: 'c' }] }).env).toEqual(named('c'));
    expect(merge(object, { map: { $patch: 'replace', b: 2 } }).map).toEqual({ b: 2 });
    expect(merge(object, { volumes: [{ name: 'v', $retainKeys: ['name', 'csi'], csi: {} }] }).volumes).toEqual([
      { name: 'v', csi: {} },
    ]);
    expect(merge(object, { '$deleteFromPrimitiveList/finalizers': ['x'] }).finalizers).toEqual(['y']);
    expect(merge(object, { '$setElementOrder/env': named('b', 'a') }).env).toEqual(named('b', 'a'));
  });

  it('leaves out values with a directive where the object has none, and what is no list or map', () => {
    const patch = {
      new: { kept: 1, gone: { $patch: 'replace', a: 1 }, list: [{ name: 'a', $patch: 'delete' }, { name: 'b' }] },
      whole: { $patch: 'delete' },
      other: { $patch: 'replace', a: 1 },
      text: { a: null, b: { $patch: 'delete' }, c: 1 },
    };
    expect(merge({ other: 'text', text: 'text' }, patch)).toEqual({
      new: { kept: 1, list: [{ name: 'b' }] },
      text: { c: 1 },
    });
    const replaced = { map: { $patch: 'replace', a: { $patch: 'delete', b: 1 } } };
    expect(merge({ map: { x: 1 } }, replaced)).toEqual({ map: { a: { b: 1 } } });
    const args = { args: [{ $patch: 'delete', a: 1 }] };
    expect(merge({ args: ['x'] }, args)).toEqual({ args: [{ a: 1 }] });
  });

  it('changes nothing when it is repeated', () => {
    const element = fc.record({ name: fc.constantFrom('a', 'b', 'c'), value: fc.constantFrom('1', '2') });
    const pod = fc.record({
      env: fc.uniqueArray(element, { selector: ({ name }) => name }),
      args: fc.array(fc.constantFrom('x', 'y')),
      map: fc.dictionary(fc.constantFrom('k', 'l'), fc.constantFrom('1', '2')),
    });
    fc.assert(
      fc.property(pod, pod, (object, patch) => {
        const once = merge(object as Json as JsonObject, patch as Json as JsonObject);
        expect(merge(once, patch as Json as JsonObject)).toEqual(once);
      }),
    );
  });
});
