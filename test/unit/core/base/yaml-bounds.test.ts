// Hostile YAML costs what valid YAML of its size costs: processor time is compared within one process, so that a loaded
// machine changes nothing.

import { isLeft } from 'fp-ts/lib/Either.js';
import { describe, expect, it } from 'vitest';
import { readYaml } from '../../../../src/core/base/yaml.ts';
import { YAML_DEPTH_MAX } from '../../../../src/core/base/yaml-value.ts';

const CHARS = 100_000;
const TIMES_MAX = 10;

/** Lines of `line(i)` up to the size that every text here has. */
function filled(line: (i: number) => string, head = '', tail = ''): string {
  const parts = [head];
  for (let i = 0, length = 0; length < CHARS; i++) {
    parts.push(line(i));
    length += parts.at(-1)!.length;
  }
  return parts.join('') + tail;
}

const valid = filled(i => `- name: "svc-${i}"\n  spec: {a: 1, b: x}\n`);

const hostile: readonly (readonly [string, string])[] = [
  ['lists that are never closed', filled(() => '[')],
  ['keys of keys', filled(() => '? ')],
  ['lists in lists on one line', filled(() => '- ')],
  ['a map of many keys', filled(i => `k${i}: 1\n`)],
  ['a map of many keys on one line', filled(i => `k${i}: 1,`, '{', '}')],
  ['the same key again and again', filled(() => 'k: 1\n')],
  [
    'merges of a large map',
    filled(
      i => `m${i}:\n  <<: *a\n`,
      filled(i => `  k${i}: 1\n`, 'a: &a\n'),
    ),
  ],
  ['an alias for each anchor', filled(i => `&a${i} 1, *a${i} ,`, '[', ']')],
  ['anchors without a value', filled(() => '&a ')],
  ['empty lines and comments', filled(() => '   #\n', `a: 1\n${'\n'.repeat(CHARS)}`, 'b: 1')],
  ['commas and nothing else', filled(() => ',', '[', ']')],
  ['brackets that nothing opened', filled(() => ']\n')],
  ['quotes that are never closed', filled(() => 'a: "\n')],
  ['unknown tags', filled(() => '- !x a\n')],
];

function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

describe('reading YAML', () => {
  const [warm, measured] = [cpuMs(() => readYaml(valid)), cpuMs(() => readYaml(valid))];
  const allowed = Math.max(warm, measured, 50) * TIMES_MAX;

  it.each(hostile)(`takes no more than ${TIMES_MAX} times what valid text takes for %s`, (_name, text) => {
    expect(cpuMs(() => readYaml(text))).toBeLessThan(allowed);
  });

  it.each(['[', '? ', '- ', '{a: ', ': ', 'a: b: '])('refuses any depth of %j and does not recurse', part => {
    for (const count of [YAML_DEPTH_MAX + 2, 1_000, 100_000]) {
      expect(readYaml(part.repeat(count))).toMatchObject({ left: expect.stringMatching(/nested more than 64/) });
    }
  });

  it('reads as deep as the limit, and no alias leads deeper', () => {
    const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
    expect(isLeft(readYaml(nested(YAML_DEPTH_MAX)))).toBe(false);
    expect(isLeft(readYaml(nested(YAML_DEPTH_MAX + 1)))).toBe(true);
    const half = YAML_DEPTH_MAX / 2;
    const through = (depth: number): string => `- &a ${nested(half)}\n- ${'['.repeat(depth)}*a${']'.repeat(depth)}`;
    expect(isLeft(readYaml(through(half - 1)))).toBe(false);
    expect(readYaml(through(half))).toMatchObject({ left: expect.stringMatching(/nested more than/) });
  });

  it('reports the first mistake of a text full of mistakes', () => {
    expect(readYaml(filled(() => ',', '[', ']'))).toMatchObject({
      left: 'Unexpected , in flow sequence; more than 200 mistakes follow',
    });
  });

  it('ignores a comment line wherever it occurs', () => {
    const text = '# a\na: # b\n  # c\n  b: |\n    # text\n    x\n# d\n  c: [1,\n# e\n    2]\n  d: "x\n    # text"\n';
    expect(readYaml(text)).toEqual({ _tag: 'Right', right: { a: { b: '# text\nx\n', c: [1, 2], d: 'x # text' } } });
  });
});

describe('anchors, merges and keys', () => {
  const value = (text: string): unknown => {
    const read = readYaml(text);
    return isLeft(read) ? read.left : read.right;
  };

  it('an alias refers to the last anchor of its name before it', () => {
    expect(value('a: &x 1\nb: *x\nc: &x 2\nd: *x\n')).toEqual({ a: 1, b: 1, c: 2, d: 2 });
    expect(value('a: *x\nb: &x 1\n')).toMatch(/^Unresolved alias/);
    expect(value('&x [*x]')).toMatch(/contains itself/);
  });

  it('a merge adds keys that the map does not have, the first source first', () => {
    const bases = 'a: &a {x: 1, u: 1}\nb: &b {u: 2, z: 2}\n';
    expect(value(`${bases}c: {<<: [*a, *b], x: 3}\n`)).toMatchObject({ c: { x: 3, u: 1, z: 2 } });
    expect(value(`${bases}c:\n  z: 9\n  <<: *b\n  <<: *a\n`)).toMatchObject({ c: { x: 1, u: 2, z: 9 } });
    expect(value('a: {<<: 1}')).toBe('Merge sources must be maps or map aliases');
    expect(value('a: {"<<": 1}')).toEqual({ a: { '<<': 1 } });
  });

  it('a key is text and occurs once', () => {
    expect(value('{1: a, true: b, ~: c}')).toEqual({ '1': 'a', true: 'b', '': 'c' });
    expect(value('{a: 1, "a": 2}')).toBe('Map keys must be unique');
    expect(value('{[a]: 1}')).toMatch(/^A key must be text/);
    expect(Object.keys(value('{__proto__: {a: 1}}') as object)).toEqual(['__proto__']);
  });

  it('an expansion stops at its limit of characters', () => {
    const text = `a: &a ${'x'.repeat(100_000)}\nb: [${Array(50).fill('*a').join(', ')}]\n`;
    expect(value(text)).toBe('anchors are expanded to more than 4 MiB');
  });
});
