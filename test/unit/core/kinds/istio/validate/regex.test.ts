import { expect, test } from 'vitest';
import { checkRegex, REGEX_SIZE_MAX, writtenOut } from '../../../../../../src/core/kinds/istio/validate/regex.ts';

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
