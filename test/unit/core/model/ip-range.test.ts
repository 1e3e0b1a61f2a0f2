import { describe, expect, it } from 'vitest';
import { endsOfRange } from '../../../../src/core/model/ip-range.ts';

describe('the ends of a range', () => {
  it.each([
    ['10.1.2.3', ['10.1.2.3']],
    ['10.1.2.3/8', ['10.0.0.0', '10.255.255.255']],
    ['10.1.2.3/31', ['10.1.2.2', '10.1.2.3']],
    ['0.0.0.0/0', ['0.0.0.0', '255.255.255.255']],
    ['2001:db8::1/32', ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff']],
    ['10.0.0.0/33', []],
    ['ten', []],
  ])('of %s are %j', (text, ends) => {
    expect(endsOfRange(text)).toEqual(ends);
  });
});
