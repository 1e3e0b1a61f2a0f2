// The reporter that the rules of a kind use: a rule reports a problem and continues, so an author sees every problem of
// an object at once.

import { type Either, left, right } from 'fp-ts/lib/Either.js';
import type { NonEmptyArray } from 'fp-ts/lib/NonEmptyArray.js';
import { type Problem, problem } from '../base/problem.ts';
import { PROBLEMS_MAX } from '../schema/decode.ts';

export type Report = (path: string, message: string) => void;

const SHOWN_LENGTH_MAX = 60;

/** The value if the rules found nothing, else all that they found (up to PROBLEMS_MAX). */
export function checked<T>(value: T, rules: (value: T, report: Report) => void): Either<NonEmptyArray<Problem>, T> {
  const problems: Problem[] = [];
  rules(value, (path, message) => {
    if (problems.length < PROBLEMS_MAX) problems.push(problem(path, message));
  });
  const [first, ...rest] = problems;
  return first === undefined ? right(value) : left([first, ...rest]);
}

/** A value as part of a message: quoted, shortened. */
export function quoted(text: string): string {
  const shown = text.length > SHOWN_LENGTH_MAX ? `${text.slice(0, SHOWN_LENGTH_MAX)}…` : text;
  return `${JSON.stringify(shown)}`;
}
