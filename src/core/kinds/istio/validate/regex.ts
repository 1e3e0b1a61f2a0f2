// Regular expressions that Envoy will run: RE2's syntax, so that Envoy compiles every accepted expression, and of
// bounded size.
//
// `x{1000}` is seven characters and a thousand instructions; so what is bounded is the length *and* the size with all
// repetitions written out, before anything is compiled: a file full of such expressions must not stall the fold.

import { RE2JS } from 're2js';
import { quoted, type Report } from '../../report.ts';
import { isPlainRegex } from './plain-regex.ts';

export const REGEX_LENGTH_MAX = 1024;
/** Instructions, roughly: one a character or class, multiplied by the repetitions around it. */
export const REGEX_SIZE_MAX = 20_000;
/**
 * What compiling the different expressions of one object may cost in all, by `workOf`: some 100 ms. Plain expressions
 * cost nothing.
 */
export const REGEX_WORK_MAX = 100_000;
/** Of every expression. */
const EXPRESSION_WORK = 10;
/** Of one class of Unicode, with both cases of its letters: hundreds of ranges. */
const UNICODE_WORK = 75;
/** Of one range that may go through all letters for both of their cases. */
const FOLDED_RANGE_WORK = 3_000;

/** The expressions of an object so far. */
interface Seen {
  /** Why each does not compile; undefined: it does. */
  readonly faults: Map<string, string | undefined>;
  work: number;
}

/** An object has a reporter of its own. */
const seenBy = new WeakMap<Report, Seen>();

/** An expression that comes again is not compiled again. */
export function checkRegex(regex: string, path: string, report: Report): void {
  if (regex.length > REGEX_LENGTH_MAX) {
    report(path, `the expression is ${regex.length} characters long; at most ${REGEX_LENGTH_MAX} are allowed`);
    return;
  }
  const size = writtenOut(regex);
  if (size > REGEX_SIZE_MAX) {
    report(
      path,
      `${quoted(regex)} comes to a size of ${size} by its repetitions; at most ${REGEX_SIZE_MAX} is allowed`,
    );
    return;
  }
  const seen = seenBy.get(report) ?? { faults: new Map<string, string | undefined>(), work: 0 };
  seenBy.set(report, seen);
  if (!seen.faults.has(regex)) {
    const work = seen.work + workOf(regex, size);
    if (work > REGEX_WORK_MAX) {
      const most = `at most ${REGEX_WORK_MAX} is allowed`;
      report(path, `with ${quoted(regex)} the object's expressions come to a size of ${work} in all; ${most}`);
      return;
    }
    seen.work = work;
    seen.faults.set(regex, faultOf(regex));
  }
  const fault = seen.faults.get(regex);
  if (fault !== undefined) report(path, `${quoted(regex)} is not an expression of RE2: ${fault}`);
}

function faultOf(regex: string): string | undefined {
  if (isPlainRegex(regex)) return undefined;
  try {
    RE2JS.compile(regex);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : 'it does not compile';
  }
}

const UNICODE = /\\p/gi;
/** Letters of either case are the same in some part of the expression. */
const FOLDS = /\(\?[a-zA-Z-]*i/;
/** A range in a class that ends beyond ASCII. */
const WIDE_RANGE = /-(?:\\[xpP0-7]|[^\0-\x7f])/g;

/** About microseconds. */
function workOf(regex: string, size: number): number {
  if (isPlainRegex(regex)) return 0;
  const unicode = regex.match(UNICODE)?.length ?? 0;
  const ranges = FOLDS.test(regex) ? (regex.match(WIDE_RANGE)?.length ?? 0) : 0;
  return EXPRESSION_WORK + Math.max(size, regex.length) + unicode * UNICODE_WORK + ranges * FOLDED_RANGE_WORK;
}

const REPETITION = /\{(\d{1,9})(?:,(\d{0,9}))?\}/y;
const CLASS = /\[\^?\]?(?:\\.|\[:\w+:\]|[^\]\\])*\]/sy;

/** The size of an expression with its counted repetitions written out. An estimate for what is not well-formed. */
export function writtenOut(regex: string): number {
  const groups: number[] = [];
  let total = 0;
  /** The size of the repeated part, which the total already includes. */
  let last = 0;
  for (let i = 0; i < regex.length; ) {
    const repetition = matchAt(REPETITION, regex, i);
    if (regex[i] === '(') {
      groups.push(total);
      last = 0;
      i += 1;
    } else if (regex[i] === ')') {
      last = total - (groups.pop() ?? 0);
      i += 1;
    } else if (repetition !== null) {
      const times = Math.max(Number(repetition[1]), Number(repetition[2] ?? 0), 1);
      total += last * (times - 1);
      last *= times;
      i += repetition[0].length;
    } else {
      const set = regex[i] === '[' ? matchAt(CLASS, regex, i) : null;
      // A set without an end does not compile.
      if (regex[i] === '[' && set === null) return total;
      total += 1;
      last = 1;
      i += set?.[0].length ?? (regex[i] === '\\' ? 2 : 1);
    }
  }
  return total;
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
