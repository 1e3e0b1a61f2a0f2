// The reporter that the rules of a kind use: a rule reports a problem and continues, so an author sees every problem of
// an object at once.

import { type Either, left, right } from 'fp-ts/lib/Either.js';
import type { NonEmptyArray } from 'fp-ts/lib/NonEmptyArray.js';
import { enoughProblems, type Problem, problem, untilEnough } from '../base/problem.ts';
import { PROBLEMS_MAX } from '../schema/decode.ts';

export type Report = (path: string, message: string) => void;

const SHOWN_LENGTH_MAX = 60;

/**
 * The value if the rules found nothing, else all that they found, up to PROBLEMS_MAX: at the next one the reporter ends
 * the rules.
 */
export function checked<T>(value: T, rules: (value: T, report: Report) => void): Either<NonEmptyArray<Problem>, T> {
  const problems: Problem[] = [];
  const report: Report = (path, message) => {
    if (problems.length === PROBLEMS_MAX) throw enoughProblems;
    problems.push(problem(path, message));
  };
  untilEnough(() => rules(value, report));
  const [first, ...rest] = problems;
  return first === undefined ? right(value) : left([first, ...rest]);
}

/** A value as part of a message: quoted, shortened. */
export function quoted(text: string): string {
  const shown = text.length > SHOWN_LENGTH_MAX ? `${text.slice(0, SHOWN_LENGTH_MAX)}…` : text;
  return `${JSON.stringify(shown)}`;
}
