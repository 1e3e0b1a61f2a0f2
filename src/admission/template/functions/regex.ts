// sprig's regular expressions: RE2, which takes time linear in the text. The cost of a match is counted by the size of
// the compiled expression too. Source: Masterminds/sprig regex.go, Go regexp.

import { RE2JS } from 're2js';
import { integerArgument, ofTexts, taking } from '../arguments.ts';
import type { CallContext, TemplateFunction } from '../evaluate.ts';
import { TemplateFault } from '../limits.ts';
import { textArgument, type Value } from '../value.ts';

/** Characters of one expression. */
const EXPRESSION_CHARS_MAX = 1_000;
/** A match may look at each instruction for each character; that many cost what one character of a text does. */
const INSTRUCTIONS_A_CHARACTER = 16;

interface Search {
  readonly expression: RE2JS;
  readonly text: string;
}

function searched(pattern: Value, subject: Value, { budget }: CallContext): Search {
  const expression = compiled(textArgument(pattern, 'argument 1'));
  const text = textArgument(subject, 'argument 2');
  budget.make(Math.ceil(((text.length + 1) * expression.programSize()) / INSTRUCTIONS_A_CHARACTER));
  return { expression, text };
}

function compiled(pattern: string): RE2JS {
  if (pattern.length > EXPRESSION_CHARS_MAX) {
    throw new TemplateFault(`a regular expression has more than ${EXPRESSION_CHARS_MAX} characters`);
  }
  try {
    return RE2JS.compile(pattern);
  } catch {
    throw new TemplateFault(`error parsing regexp: \`${pattern}\``);
  }
}

interface Match {
  readonly start: number;
  readonly end: number;
  /** The text of a group, by its number or name. Valid until the next match is asked for. */
  readonly group: (name: string) => string;
}

/** At most `count` matches, all with a negative one. An empty match right behind another one is none. */
function* matchesOf({ expression, text }: Search, count: number, { budget }: CallContext): Iterable<Match> {
  const matcher = expression.matcher(text);
  const names = expression.namedGroups();
  const group = (name: string): string => {
    const number = /^\d+$/.test(name) ? Number(name) : Object.hasOwn(names, name) ? names[name]! : -1;
    return number >= 0 && number <= matcher.groupCount() ? (matcher.group(number) ?? '') : '';
  };
  let last = -1;
  for (let found = 0; found !== count && matcher.find(); ) {
    const [start, end] = [matcher.start(), matcher.end()];
    if (start === end && last === start) continue;
    last = end;
    found++;
    budget.make(1);
    yield { start, end, group };
  }
}

const match: TemplateFunction = taking(2, 2, ([pattern, subject], context) => {
  const { expression, text } = searched(pattern, subject, context);
  return expression.matcher(text).find();
});

/** `$1`, `${1}`, `$name`, `${name}` and `$$` in the text that replaces a match; a group that is not there is empty. */
const REFERENCE = /\$(?:\$|\{(\w+)\}|(\w+))/g;

const replaced = (literal: boolean): TemplateFunction =>
  taking(3, 3, ([pattern, subject, put], context) => {
    const { expression, text } = searched(pattern, subject, context);
    const by = textArgument(put, 'argument 3');
    let [result, at] = ['', 0];
    for (const { start, end, group } of matchesOf({ expression, text }, -1, context)) {
      const now = literal
        ? by
        : by.replace(REFERENCE, (_, braced?: string, plain?: string) =>
            braced === undefined && plain === undefined ? '$' : group((braced ?? plain)!),
          );
      context.budget.make(now.length + start - at);
      result += text.slice(at, start) + now;
      at = end;
    }
    return result + text.slice(at);
  });

export const regex: { readonly [name: string]: TemplateFunction } = {
  // An expression that cannot be read matches nothing.
  regexMatch: taking(2, 2, (args, context) => {
    try {
      compiled(textArgument(args[0], 'argument 1'));
    } catch {
      return false;
    }
    return match(args, context);
  }),
  mustRegexMatch: match,
  regexFind: taking(2, 2, ([pattern, subject], context) => {
    const { expression, text } = searched(pattern, subject, context);
    const matcher = expression.matcher(text);
    return matcher.find() ? (matcher.group() ?? '') : '';
  }),
  regexFindAll: taking(3, 3, ([pattern, subject, count], context) => {
    const search = searched(pattern, subject, context);
    const matches = matchesOf(search, integerArgument(count), context);
    return [...matches].map(({ start, end }) => search.text.slice(start, end));
  }),
  regexSplit: taking(3, 3, ([pattern, subject, count], context) => {
    const search = searched(pattern, subject, context);
    return splitBy(search, integerArgument(count), context);
  }),
  regexReplaceAll: replaced(false),
  regexReplaceAllLiteral: replaced(true),
  regexQuoteMeta: ofTexts(1, text => text!.replace(/[\\.+*?()|[\]{}^$]/g, '\\$&')),
};

/** At most `count` parts, all with a negative one. An empty match at the start or at the end divides nothing. */
function splitBy(search: Search, count: number, context: CallContext): readonly string[] {
  const { text } = search;
  if (count === 0) return [];
  if (text === '') return [''];
  const parts: string[] = [];
  let [begin, end] = [0, 0];
  for (const span of matchesOf(search, count, context)) {
    if (count > 0 && parts.length === count - 1) break;
    ({ start: end } = span);
    if (span.end !== 0) parts.push(text.slice(begin, end));
    begin = span.end;
  }
  if (end !== text.length) parts.push(text.slice(begin));
  return parts;
}
