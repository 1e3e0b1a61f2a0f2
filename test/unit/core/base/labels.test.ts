// Maps of labels: what listing the names of a long one costs.

import { describe, expect, it } from 'vitest';
import { hasLabels, type Labels, selects } from '../../../../src/core/base/labels.ts';

/** Labels that count how often their names are listed. */
function counted(count: number): { readonly labels: Labels; readonly listed: () => number } {
  let times = 0;
  const target = Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']));
  const labels = new Proxy(target, {
    ownKeys: of => {
      times++;
      return Reflect.ownKeys(of);
    },
  });
  return { labels, listed: () => times };
}

describe('the names of labels', () => {
  it('are listed once when they are many, however often and for whom they are compared', () => {
    const { labels, listed } = counted(1_000);
    for (let i = 0; i < 10; i++) {
      expect(hasLabels(labels)).toBe(true);
      expect(selects(labels, { k0: 'v' })).toBe(false);
    }
    expect(selects(labels, { ...labels })).toBe(true);
    expect(listed()).toBe(2);
  });

  it('are none of an empty map, or without one', () => {
    expect([hasLabels({}), hasLabels(undefined), hasLabels({ a: '' })]).toEqual([false, false, true]);
    expect(selects({}, {})).toBe(true);
  });
});
