import { RE2JS } from 're2js';
import { expect, test, vi } from 'vitest';
import {
  checkRegex,
  REGEX_REPETITIONS_MAX,
  REGEX_SIZE_MAX,
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

test('the repetitions of the different expressions of one object are bounded in all, and those of another are not its own', () => {
  const costly = Array.from({ length: 30 }, (_, i) => `${i}${'x{900}'.repeat(10)}`);
  const fit = costly.slice(0, Math.floor(REGEX_REPETITIONS_MAX / 9_000));
  expect(problemsOf(fit)).toEqual([]);
  const found = problemsOf(costly);
  expect(found).toHaveLength(costly.length - fit.length);
  expect(found[0]).toContain(`at most ${REGEX_REPETITIONS_MAX} is allowed`);
  expect(problemsOf(fit)).toEqual([]);
});

test('an expression that comes again in an object is compiled once, and refused each time', () => {
  const compile = vi.spyOn(RE2JS, 'compile');
  expect(problemsOf(Array(5_000).fill('x{900}'.repeat(10)))).toEqual([]);
  expect(compile).toHaveBeenCalledTimes(1);
  compile.mockRestore();
  expect(problemsOf(['[', '[', 'a'])).toHaveLength(2);
});
