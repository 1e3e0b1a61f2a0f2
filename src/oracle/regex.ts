// Regular expressions as Envoy's RE2 takes them. A pattern that RE2 refuses matches nothing here: Envoy would refuse
// the configuration.

import { RE2JS } from 're2js';
import type { RegexMatchAndSubstitute, RegexMatcher } from '../xds/proto/types.gen.ts';

type Matcher = ReturnType<RE2JS['matcher']>;

/** Compiled patterns are kept, up to this many. */
const PATTERNS_MAX = 1_000;
const compiled = new Map<string, RE2JS | undefined>();

function patternOf(regex: string): RE2JS | undefined {
  if (compiled.has(regex)) return compiled.get(regex);
  if (compiled.size >= PATTERNS_MAX) compiled.clear();
  const pattern = compile(regex);
  compiled.set(regex, pattern);
  return pattern;
}

function compile(regex: string): RE2JS | undefined {
  try {
    return RE2JS.compile(regex);
  } catch {
    return undefined;
  }
}

/** Whether the whole of `text` matches. */
export function matchesRegex(matcher: RegexMatcher | undefined, text: string): boolean {
  return patternOf(matcher?.regex ?? '')?.matches(text) ?? false;
}

/** Every occurrence in `text` replaced; `\0` … `\9` in the substitution stand for the match and its groups. */
export function substitute(rewrite: RegexMatchAndSubstitute, text: string): string {
  const pattern = patternOf(rewrite.pattern?.regex ?? '');
  if (pattern === undefined) return text;
  const matcher = pattern.matcher(text);
  let out = '';
  let from = 0;
  while (matcher.find()) {
    out += text.slice(from, matcher.start());
    out += (rewrite.substitution ?? '').replace(/\\(\\|\d)/g, (_, escaped: string) =>
      escaped === '\\' ? '\\' : groupOf(matcher, Number(escaped)),
    );
    from = matcher.end();
  }
  return out + text.slice(from);
}

/** A group that took no part, or that there is not, is empty. */
function groupOf(matcher: Matcher, group: number): string {
  return group <= matcher.groupCount() ? (matcher.group(group) ?? '') : '';
}
