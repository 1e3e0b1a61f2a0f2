// sprig's functions on texts that give equal results for equal arguments. Source: Masterminds/sprig strings.go;
// functions with a clock, randomness, network or keys are not here.

import { base64OfText, textOfBase64 } from '../../../core/base/base64.ts';
import { trimmed } from '../../../core/base/trim.ts';
import { ANY_NUMBER, integerArgument, listArgument, ofTexts, taking } from '../arguments.ts';
import type { TemplateFunction } from '../evaluate.ts';
import { quotedGo } from '../quote.ts';
import { anyText, isList, textArgument, type Value } from '../value.ts';

export const strings: { readonly [name: string]: TemplateFunction } = {
  trim: ofTexts(1, text => text!.trim()),
  trimAll: ofTexts(2, (cut, text) => trimmed(text!, cut!)),
  trimall: ofTexts(2, (cut, text) => trimmed(text!, cut!)),
  trimPrefix: ofTexts(2, (cut, text) => (cut !== '' && text!.startsWith(cut!) ? text!.slice(cut!.length) : text)),
  trimSuffix: ofTexts(2, (cut, text) => (cut !== '' && text!.endsWith(cut!) ? text!.slice(0, -cut!.length) : text)),
  upper: ofTexts(1, text => text!.toUpperCase()),
  lower: ofTexts(1, text => text!.toLowerCase()),
  title: ofTexts(1, text =>
    text!.replace(
      /(^|[^\p{L}\p{N}_'])(\p{Ll})/gu,
      (_, before: string, letter: string) => before + letter.toUpperCase(),
    ),
  ),
  untitle: ofTexts(1, text =>
    text!.replace(/(^|\s)(\p{Lu})/gu, (_, before: string, letter: string) => before + letter.toLowerCase()),
  ),
  nospace: ofTexts(1, text => text!.replace(/\s/g, '')),
  hasPrefix: ofTexts(2, (part, text) => text!.startsWith(part!)),
  hasSuffix: ofTexts(2, (part, text) => text!.endsWith(part!)),
  replace: taking(3, 3, ([from, to, text], { budget }) => {
    const [whole, cut, put] = [
      textArgument(text, 'replace'),
      textArgument(from, 'replace'),
      textArgument(to, 'replace'),
    ];
    const pieces = whole.split(cut);
    budget.make(whole.length + pieces.length * put.length);
    return pieces.join(put);
  }),
  repeat: taking(2, 2, ([count, text], { budget }) => {
    const [times, piece] = [Math.max(0, integerArgument(count)), textArgument(text, 'repeat')];
    budget.make(times * piece.length);
    return piece.repeat(times);
  }),
  substr: taking(3, 3, ([from, to, text]) => {
    const [start, end, whole] = [integerArgument(from), integerArgument(to), textArgument(text, 'substr')];
    if (start < 0) return whole.slice(0, Math.max(0, end));
    return end < 0 || end > whole.length ? whole.slice(start) : whole.slice(start, end);
  }),
  trunc: taking(2, 2, ([count, text]) => {
    const [most, whole] = [integerArgument(count), textArgument(text, 'trunc')];
    return most < 0 ? whole.slice(most) : whole.slice(0, most);
  }),
  abbrev: taking(2, 2, ([width, text]) => {
    const [most, whole] = [integerArgument(width), textArgument(text, 'abbrev')];
    return most < 4 || whole.length <= most ? whole : `${whole.slice(0, most - 3)}...`;
  }),
  quote: taking(0, ANY_NUMBER, (args, { budget }) => {
    const text = given(args)
      .map(arg => quotedGo(anyText(arg)))
      .join(' ');
    budget.make(text.length);
    return text;
  }),
  squote: taking(0, ANY_NUMBER, (args, { budget }) => {
    const text = given(args)
      .map(arg => `'${anyText(arg)}'`)
      .join(' ');
    budget.make(text.length);
    return text;
  }),
  cat: taking(0, ANY_NUMBER, (args, { budget }) => {
    const text = given(args).map(anyText).join(' ');
    budget.make(text.length);
    return text;
  }),
  nindent: taking(2, 2, ([count, text], { budget }) => {
    const [spaces, lines] = [integerArgument(count), textArgument(text, 'nindent').split('\n')];
    const pad = ' '.repeat(Math.min(Math.max(0, spaces), 1_000));
    budget.make(lines.length * (pad.length + 1));
    return `\n${lines.map(line => pad + line).join('\n')}`;
  }),
  toString: taking(1, 1, ([value]) => anyText(value)),
  toStrings: taking(1, 1, ([value]) => texts(value)),
  join: taking(2, 2, ([separator, list], { budget }) => {
    const text = texts(list).join(textArgument(separator, 'join'));
    budget.make(text.length);
    return text;
  }),
  sortAlpha: taking(1, 1, ([list]) => [...texts(list)].sort()),
  splitList: taking(2, 2, ([separator, text], { budget }) => {
    const parts = textArgument(text, 'splitList').split(textArgument(separator, 'splitList'));
    budget.make(parts.length);
    return parts;
  }),
  split: taking(2, 2, ([separator, text], { budget }) => {
    const parts = textArgument(text, 'split').split(textArgument(separator, 'split'));
    budget.make(parts.length);
    return Object.fromEntries(parts.map((part, i) => [`_${i}`, part]));
  }),
  snakecase: ofTexts(1, text => words(text!).join('_')),
  kebabcase: ofTexts(1, text => words(text!).join('-')),
  camelcase: ofTexts(1, text =>
    words(text!)
      .map(word => word.slice(0, 1).toUpperCase() + word.slice(1))
      .join(''),
  ),
  plural: taking(3, 3, ([one, many, count]) => (integerArgument(count) === 1 ? one : many)),
  b64enc: ofTexts(1, text => base64OfText(text!)),
  b64dec: ofTexts(1, text => fromBase64(text!)),
};

function given(args: readonly Value[]): readonly Value[] {
  return args.filter(arg => arg !== undefined && arg !== null);
}

/** A list as texts, nil left out; any other value as a list of one. */
export function texts(value: Value): readonly string[] {
  if (value === undefined || value === null) return [];
  return isList(value) ? given(listArgument(value)).map(anyText) : [anyText(value)];
}

function words(text: string): readonly string[] {
  return text
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .split(/[\s_-]+/)
    .filter(word => word !== '')
    .map(word => word.toLowerCase());
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function fromBase64(text: string): string {
  return BASE64.test(text) ? textOfBase64(text) : 'illegal base64 data';
}
