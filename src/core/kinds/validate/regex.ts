// Regular expressions that Envoy will run: RE2's syntax, so that what is accepted here compiles there, and of bounded size.

import { RE2JS } from 're2js';
import { quoted, type Report } from '../report.ts';

export const REGEX_LENGTH_MAX = 4096;

export function checkRegex(regex: string, path: string, report: Report): void {
  if (regex.length > REGEX_LENGTH_MAX) {
    report(path, `the expression is ${regex.length} characters long; at most ${REGEX_LENGTH_MAX} are allowed`);
    return;
  }
  try {
    RE2JS.compile(regex);
  } catch (error) {
    const why = error instanceof Error ? error.message : 'it does not compile';
    report(path, `${quoted(regex)} is not an expression of RE2: ${why}`);
  }
}
