// Regular expressions that Envoy will run: RE2's syntax, so that Envoy compiles every accepted expression, and of
// bounded size.
//
// `x{1000}` is seven characters and a thousand instructions; so what is bounded is the length *and* the size with all
// repetitions written out, before anything is compiled: a file full of such expressions must not stall the fold.

import { RE2JS } from 're2js';
import { quoted, type Report } from '../../report.ts';

export const REGEX_LENGTH_MAX = 1024;
/** Instructions, roughly: one a character or class, multiplied by the repetitions around it. */
export const REGEX_SIZE_MAX = 20_000;
/** What repetitions add to the different expressions of one object, in all: some 200 ms of compilation. */
export const REGEX_REPETITIONS_MAX = 200_000;

/** The expressions of an object so far. */
interface Seen {
  /** Why each does not compile; undefined: it does. */
  readonly faults: Map<string, string | undefined>;
  /** By their repetitions. */
  added: number;
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
  const seen = seenBy.get(report) ?? { faults: new Map<string, string | undefined>(), added: 0 };
  seenBy.set(report, seen);
  if (!seen.faults.has(regex)) {
    const added = seen.added + Math.max(0, size - regex.length);
    if (added > REGEX_REPETITIONS_MAX) {
      const most = `at most ${REGEX_REPETITIONS_MAX} is allowed`;
      report(
        path,
        `with ${quoted(regex)} the repetitions of the object's expressions come to a size of ${added}; ${most}`,
      );
      return;
    }
    seen.added = added;
    seen.faults.set(regex, faultOf(regex));
  }
  const fault = seen.faults.get(regex);
  if (fault !== undefined) report(path, `${quoted(regex)} is not an expression of RE2: ${fault}`);
}

function faultOf(regex: string): string | undefined {
  try {
    RE2JS.compile(regex);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : 'it does not compile';
  }
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
