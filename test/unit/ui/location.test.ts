// The explorer's address: what is on screen survives being copied, and no address breaks the page.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatHash, numberOf, type Place, parseHash, toView, VIEWS, withParams } from '../../../ui/model/location.ts';

const text = fc.string({ minLength: 1, maxLength: 10 });
const place: fc.Arbitrary<Place> = fc.record({
  view: fc.constantFrom(...VIEWS),
  subject: fc.oneof(fc.constant(''), text),
  params: fc.dictionary(
    text.filter(name => name !== '__proto__'),
    text,
    { noNullPrototype: true },
  ),
});

describe("the explorer's address", () => {
  it('reopens exactly the view that it was made of', () => {
    fc.assert(
      fc.property(place, one => {
        expect(parseHash(formatHash(one))).toEqual(one);
      }),
    );
  });

  it('is read without an error from any text', () => {
    fc.assert(
      fc.property(fc.string(), hash => {
        const read = parseHash(hash);
        expect(parseHash(formatHash(read))).toEqual(read);
      }),
    );
    expect(parseHash('#/proxy/%E0%A4%A?at=%zz').subject).toBe('%E0%A4%A');
    expect(parseHash('').view).toBe('timeline');
  });

  it('keeps the moment and drops the rest when the view changes', () => {
    const there = parseHash('#/timeline?at=112&from=100&q=reviews&zoom=1-200');
    expect(formatHash(toView(there, 'proxy', 'a.shop', { tab: 'raw' }))).toBe(
      '#/proxy/a.shop?at=112&from=100&tab=raw&zoom=1-200',
    );
    expect(formatHash(withParams(there, { q: undefined, zoom: '' }))).toBe('#/timeline?at=112&from=100');
  });

  it('takes only whole numbers for events', () => {
    expect([numberOf('17'), numberOf('10:20'), numberOf('-1'), numberOf(undefined)]).toEqual([
      17,
      undefined,
      undefined,
      undefined,
    ]);
  });
});
