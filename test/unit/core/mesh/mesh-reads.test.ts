// How often the value of a source is read.

import { expect, test } from 'vitest';
import type { Json } from '../../../../src/core/base/json.ts';
import { combineMeshConfig, meshConfigOf } from '../../../../src/core/mesh/mesh-config.ts';

test('a value that was judged is not decoded again when it is combined', () => {
  let reads = 0;
  const raw = new Proxy({ trustDomain: 'td' } as Record<string, Json>, {
    get(target, member) {
      reads++;
      return Reflect.get(target, member) as Json;
    },
  });
  expect(meshConfigOf(raw)).toMatchObject({ _tag: 'Right', right: { value: { trustDomain: 'td' } } });
  const judged = reads;
  expect(judged).toBeGreaterThan(0);
  expect(combineMeshConfig({ configMap: raw }).trustDomain).toBe('td');
  expect(combineMeshConfig({ file: raw }).trustDomain).toBe('td');
  expect(reads).toBe(judged);
});
