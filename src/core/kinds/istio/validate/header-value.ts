// Values of headers that a route sets. Envoy replaces `%VARIABLE%` and `%VARIABLE(ARGUMENTS)%` in them, and refuses a
// configuration whose percent signs do not pair up. Source: Envoy's header formatter, as Istio pkg/config/validation
// (validateHeaderValue) has it.

import { quoted } from '../../report.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused; a tab is not
const CONTROL = /[\0-\x08\x0a-\x1f\x7f]/;
/**
 * What stands between percent signs: a name, then possibly arguments: a list of strings, or one text up to the bracket.
 */
const STRING = String.raw`"(?:\\[\s\S]|[^"\\)])*"`;
const LIST = String.raw`\[ *${STRING} *(?:, *${STRING} *)*\]`;
const TEXT = String.raw`[^[ ](?:\\[\s\S]|[^"\\)])*(?:" *(?:, *${STRING} *)*\])?`;
const VARIABLE = new RegExp(String.raw`%(?:%|[^%(]+%|[^%(]*\( *(?:${LIST} *|${TEXT})\) *%)|[^%]+`, 'y');

/** The problem of a value, if any. */
export function headerValueProblem(value: string): string | undefined {
  if (CONTROL.test(value)) return 'the value has control characters';
  if (!value.includes('%')) return undefined;
  VARIABLE.lastIndex = 0;
  while (VARIABLE.lastIndex < value.length) {
    const at = VARIABLE.lastIndex;
    if (!VARIABLE.test(value)) return `${quoted(value.slice(at))}: expected %VARIABLE%, or %% for a percent sign`;
  }
  return undefined;
}
