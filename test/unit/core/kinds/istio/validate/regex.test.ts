import { RE2JS } from 're2js';
import { expect, test, vi } from 'vitest';
import { isPlainRegex } from '../../../../../../src/core/kinds/istio/validate/plain-regex.ts';
import {
  checkRegex,
  REGEX_SIZE_MAX,
  REGEX_WORK_MAX,
  writtenOut,
} from '../../../../../../src/core/kinds/istio/validate/regex.ts';

function problems(regex: string): readonly string[] {
  const found: string[] = [];
  checkRegex(regex, 'p', (_path, message) => found.push(message));
  return found;
}

test.each([
  ['abc', 3],
  ['a{3}', 3],
  ['(ab){2}c', 5],
  ['((a{10}){10}b){5}', 505],
  ['[a-z{9}]{4}', 4],
  ['[[:alpha:]]{2}x', 3],
  ['[]{9}]', 1],
  ['\\{9}', 3],
  ['a{2,}', 2],
  ['a{2,7}', 7],
])('the expanded regex %s has size %d', (regex, size) => {
  expect(writtenOut(regex)).toBe(size);
});

test('a regex of ordinary size is accepted', () => {
  expect(problems('^/v[0-9]{1,3}/(?i:users)/([0-9a-f]{8}-){3}[0-9a-f]{12}$')).toEqual([]);
});

test('a short regex that expands beyond the limit is refused before it is compiled', () => {
  const regex = 'x{1000}'.repeat(100);
  const [problem] = problems(regex);
  expect(problem).toContain(`comes to a size of 100000 by its repetitions; at most ${REGEX_SIZE_MAX} is allowed`);
});

test.each(['[', '(?=x)', '\\1', '((a{1000}){1000}){1000}', `${'('.repeat(2000)}${')'.repeat(2000)}`])(
  'the regex %s is refused without an exception',
  regex => {
    expect(problems(regex)).toHaveLength(1);
  },
);

function problemsOf(expressions: readonly string[]): readonly string[] {
  const found: string[] = [];
  const report = (_path: string, message: string): void => void found.push(message);
  for (const expression of expressions) checkRegex(expression, 'p', report);
  return found;
}

test('compiling the expressions of one object is bounded in all, and those of another are not its own', () => {
  const costly = Array.from({ length: 30 }, (_, i) => `${i}${'x{900}'.repeat(10)}`);
  const fit = costly.slice(0, Math.floor(REGEX_WORK_MAX / 9_012));
  expect(problemsOf(fit)).toEqual([]);
  const found = problemsOf(costly);
  expect(found).toHaveLength(costly.length - fit.length);
  expect(found[0]).toContain(`at most ${REGEX_WORK_MAX} is allowed`);
  expect(problemsOf(fit)).toEqual([]);
});

test('an expression that comes again in an object is compiled once, and refused each time', () => {
  const compile = vi.spyOn(RE2JS, 'compile');
  expect(problemsOf(Array(5_000).fill('x{900}'.repeat(10)))).toEqual([]);
  expect(compile).toHaveBeenCalledTimes(1);
  compile.mockRestore();
  expect(problemsOf(['[', '[', 'a'])).toHaveLength(2);
});

test('plain expressions are not compiled, however many there are', () => {
  const compile = vi.spyOn(RE2JS, 'compile');
  const plain = (i: number): string => `^/v[0-9]+/(?:user|group)s?${i}\\.x/[^/]+(/.*)?$`;
  expect(problemsOf(Array.from({ length: 20_000 }, (_, i) => plain(i)))).toEqual([]);
  expect(compile).not.toHaveBeenCalled();
  compile.mockRestore();
});

test.each([
  ['classes of Unicode', (i: number) => `${i}${'\\pL'.repeat(300)}`, 4],
  ['ranges beyond ASCII in both cases', (i: number) => `(?i)${i}${'[\\x{100}-\\x{10ffff}]'.repeat(10)}`, 3],
  ['the same, as they are written', (i: number) => `(?si)${i}${'[Ā-\u{10ffff}]'.repeat(10)}`, 3],
  ['what is short and not plain', (i: number) => `a{1}${i}`, 6_000],
])('%s: expressions are compiled as far as the limit of an object goes', (_, expression, most) => {
  const compile = vi.spyOn(RE2JS, 'compile');
  const found = problemsOf(Array.from({ length: 8_000 }, (_, i) => expression(i)));
  expect(compile.mock.calls.length).toBeGreaterThan(1);
  expect(compile.mock.calls.length).toBeLessThanOrEqual(most);
  compile.mockRestore();
  expect(found.at(-1)).toContain(`at most ${REGEX_WORK_MAX} is allowed`);
});

test('one expression of wide ranges in both cases is refused uncompiled', () => {
  const compile = vi.spyOn(RE2JS, 'compile');
  expect(problemsOf([`(?i)${'[Ā-\u{10ffff}]'.repeat(120)}`])).toHaveLength(1);
  expect(compile).not.toHaveBeenCalled();
  compile.mockRestore();
});

test('an expression that is called plain compiles', () => {
  const parts = [
    'a',
    '-',
    '.',
    '*',
    '+',
    '?',
    '(',
    ')',
    '|',
    '[',
    ']',
    '^',
    '$',
    '\\d',
    '\\.',
    '(?:',
    '(?i)',
    '{2}',
    'é',
  ];
  const more = ['[a-z]', '[^/]', '[a-', '-]', '[z-a]', '[^]', '\\]', 'z-a', '\\', '{', '\n'];
  const all = [...parts, ...more];
  let plain = 0;
  let seed = 7;
  const next = (n: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
    return seed % n;
  };
  for (let i = 0; i < 40_000; i++) {
    const expression = Array.from({ length: 1 + next(7) }, () => all[next(all.length)]).join('');
    if (!isPlainRegex(expression)) continue;
    plain++;
    expect(() => RE2JS.compile(expression), expression).not.toThrow();
  }
  expect(plain).toBeGreaterThan(1_000);
});
