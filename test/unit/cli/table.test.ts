// Tables on a terminal and in a pipe, the nearest names of a slip of the pen, and objects as people name them.

import { describe, expect, test } from 'vitest';
import { tableText } from '../../../src/cli/table.ts';
import { hasColour } from '../../../src/cli/terminal.ts';
import { nearestNames } from '../../../src/history/nearest.ts';
import { objectNamed } from '../../../src/history/object-name.ts';

const head = ['NAME', 'CLUSTER', 'TYPE'];
const rows = [
  ['a', 'outbound|9080|v1|reviews.shop.svc.cluster.local', 'EDS'],
  ['bb', 'x', 'STATIC'],
];

describe('a table', () => {
  test('is as wide as its text in a pipe', () => {
    expect(tableText(head, rows, undefined).split('\n')).toEqual([
      'NAME  CLUSTER                                          TYPE',
      'a     outbound|9080|v1|reviews.shop.svc.cluster.local  EDS',
      'bb    x                                                STATIC',
    ]);
  });
  test('fits a terminal: the widest column gives way', () => {
    const lines = tableText(head, rows, 40).split('\n');
    expect(lines.every(line => [...line].length <= 40)).toBe(true);
    expect(lines[1]).toBe('a     outbound|9080|v1|reviews.…  EDS');
  });
  test('leaves out columns without a value where cutting does not suffice', () => {
    const wide = ['NAME', 'CDS', 'SDS', 'VERSION'];
    const lines = tableText(wide, [['productpage-v1.shop', 'SENT 48', '-', '1.30.3']], 30).split('\n');
    expect(lines[0]).toMatch(/^NAME +CDS +VERSION$/);
    expect(tableText(wide, [['productpage-v1.shop', 'SENT 48', '-', '1.30.3']], 60)).toContain('SDS');
    expect(tableText(wide, [['productpage-v1.shop', 'SENT 48', 'SENT 9', '1.30.3']], 30)).toContain('SDS');
  });

  test('holds two hundred thousand rows', () => {
    const many = Array.from({ length: 200_000 }, (_, i) => [String(i), 'x', 'y']);
    expect(tableText(head, many, 80).split('\n')).toHaveLength(200_001);
  });
});

describe('a table with a name of a megabyte', () => {
  test('shows it whole in a pipe, and makes no other row as long', () => {
    const name = 'n'.repeat(1_000_000);
    const [, first, second] = tableText(
      ['A', 'B'],
      [
        [name, 'b'],
        ['a', 'b'],
      ],
      undefined,
    ).split('\n');
    expect(first).toBe(`${name}  b`);
    expect(second).toBe(`${'a'.padEnd(1_000)}  b`);
  });
});

describe('colour', () => {
  test.each([
    [{ isTTY: true }, {}, true],
    [{ isTTY: true }, { NO_COLOR: '1' }, false],
    [{ isTTY: true }, { TERM: 'dumb' }, false],
    [{ isTTY: false }, {}, false],
    [{ isTTY: false }, { FORCE_COLOR: '1' }, true],
  ])('of %j with %j is %j', (stream, env, on) => {
    expect(hasColour(stream, env)).toBe(on);
  });
});

describe('nearest names', () => {
  const names = ['outbound|9080||reviews.shop', 'outbound|9080|v1|reviews.shop', 'productpage-v1.shop', 'Update'];
  test.each([
    ['reviews', ['outbound|9080||reviews.shop', 'outbound|9080|v1|reviews.shop']],
    ['productpag-v1.shop', ['productpage-v1.shop']],
    ['Updat', ['Update']],
    ['zebra', []],
    ['', []],
  ])('of %j', (word, found) => {
    expect(nearestNames(word, names)).toEqual(found);
  });
});

describe('an object', () => {
  test.each([
    ['vs/shop/reviews', 'VirtualService/shop/reviews'],
    ['virtualservices/shop/reviews', 'VirtualService/shop/reviews'],
    ['/Service/shop/reviews', 'Service/shop/reviews'],
    ['NS/shop', 'Namespace//shop'],
    ['Namespace//shop', 'Namespace//shop'],
  ])('%s is %s', (text, name) => {
    expect(objectNamed(text)).toBe(name);
  });
  test.each([
    ['VirtualServic/shop/x', 'is no kind that Periplus knows; nearest: VirtualService'],
    ['VirtualService', 'expected Kind/namespace/name'],
  ])('%s is refused', (text, words) => {
    expect(() => objectNamed(text)).toThrow(words);
  });
});
