// sprig's functions on texts that give equal results for equal arguments. Source: Masterminds/sprig strings.go,
// regex.go; functions with a clock, randomness, network or keys are not here.

import { RE2JS } from 're2js';
import { ANY_NUMBER, integerArgument, listArgument, ofTexts, taking } from '../arguments.ts';
import type { TemplateFunction } from '../evaluate.ts';
import { TemplateFault } from '../limits.ts';
import { quotedGo } from '../quote.ts';
import { anyText, isList, textArgument, type Value } from '../value.ts';

export const strings: { readonly [name: string]: TemplateFunction } = {
  trim: ofTexts(1, text => text!.trim()),
  trimAll: ofTexts(2, (cut, text) => trimmed(text!, cut!, true, true)),
  trimall: ofTexts(2, (cut, text) => trimmed(text!, cut!, true, true)),
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
  b64enc: ofTexts(1, text => base64(text!)),
  b64dec: ofTexts(1, text => fromBase64(text!)),
  regexMatch: ofTexts(2, (pattern, text) => compiled(pattern!).matcher(text!).find()),
  regexFind: ofTexts(2, (pattern, text) => {
    const matcher = compiled(pattern!).matcher(text!);
    return matcher.find() ? (matcher.group() ?? '') : '';
  }),
  regexReplaceAll: taking(3, 3, ([pattern, text, put], { budget }) => {
    const replaced = compiled(textArgument(pattern, 'regexReplaceAll'))
      .matcher(textArgument(text, 'regexReplaceAll'))
      .replaceAll(textArgument(put, 'regexReplaceAll'));
    budget.make(replaced.length);
    return replaced;
  }),
};

function given(args: readonly Value[]): readonly Value[] {
  return args.filter(arg => arg !== undefined && arg !== null);
}

/** A list as texts, nil left out; any other value as a list of one. */
export function texts(value: Value): readonly string[] {
  if (value === undefined || value === null) return [];
  return isList(value) ? given(listArgument(value)).map(anyText) : [anyText(value)];
}

function trimmed(text: string, cut: string, atStart: boolean, atEnd: boolean): string {
  let [start, end] = [0, text.length];
  while (atStart && start < end && cut.includes(text[start]!)) start++;
  while (atEnd && end > start && cut.includes(text[end - 1]!)) end--;
  return text.slice(start, end);
}

function words(text: string): readonly string[] {
  return text
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .split(/[\s_-]+/)
    .filter(word => word !== '')
    .map(word => word.toLowerCase());
}

/** RE2 takes time linear in the text. */
function compiled(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch {
    throw new TemplateFault(`error parsing regexp: \`${pattern}\``);
  }
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

function base64(text: string): string {
  const bytes = utf8(text);
  let out = '';
  for (let i = 0; i < bytes.length; i += 3) {
    const [a, b, c] = [bytes[i]!, bytes[i + 1], bytes[i + 2]];
    const bits = (a << 16) | ((b ?? 0) << 8) | (c ?? 0);
    out += ALPHABET[bits >> 18]! + ALPHABET[(bits >> 12) & 63]!;
    out += (b === undefined ? '=' : ALPHABET[(bits >> 6) & 63]!) + (c === undefined ? '=' : ALPHABET[bits & 63]!);
  }
  return out;
}

function fromBase64(text: string): string {
  const escaped: string[] = [];
  let [bits, count] = [0, 0];
  for (const character of text.replace(/=+$/, '')) {
    const digit = ALPHABET.indexOf(character);
    if (digit < 0) return 'illegal base64 data';
    bits = ((bits << 6) | digit) & 0xffffff;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    escaped.push(`%${((bits >> count) & 255).toString(16).padStart(2, '0')}`);
  }
  try {
    return decodeURIComponent(escaped.join(''));
  } catch {
    return 'illegal base64 data';
  }
}

function utf8(text: string): readonly number[] {
  const bytes: number[] = [];
  for (const character of text) {
    const code = character.codePointAt(0)!;
    if (code < 0x80) bytes.push(code);
    else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63));
    else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
    else bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
  }
  return bytes;
}
