// sprig's less usual functions on texts: wrapped lines, initials, case, parts, digests, base 32. Source:
// Masterminds/sprig strings.go, crypto.go; Masterminds/goutils wordutils.go, stringutils.go.

import { textOfUtf8, utf8 } from '../../../core/base/base64.ts';
import { sha256Hex } from '../../../core/base/sha256.ts';
import { trimmedEnd } from '../../../core/base/trim.ts';
import { integerArgument, ofTexts, taking } from '../arguments.ts';
import type { CallContext, TemplateFunction } from '../evaluate.ts';
import { textArgument } from '../value.ts';

export const textForms: { readonly [name: string]: TemplateFunction } = {
  hello: taking(0, 0, () => 'Hello!'),
  abbrevboth: taking(3, 3, ([left, right, text]) =>
    abbreviated(textArgument(text, 'abbrevboth'), integerArgument(left), integerArgument(right)),
  ),
  initials: ofTexts(1, text =>
    text!
      .split(/\s+/)
      .map(word => [...word][0] ?? '')
      .join(''),
  ),
  swapcase: ofTexts(1, text => text!.replace(/\p{Lu}|\p{Ll}/gu, swapped)),
  wrap: taking(2, 2, ([width, text], context) =>
    wrapped(textArgument(text, 'wrap'), integerArgument(width), '\n', false, context),
  ),
  wrapWith: taking(3, 3, ([width, separator, text], context) => {
    const by = textArgument(separator, 'wrapWith') || '\n';
    return wrapped(textArgument(text, 'wrapWith'), integerArgument(width), by, true, context);
  }),
  splitn: taking(3, 3, ([separator, count, text], { budget }) => {
    const [by, whole, most] = [textArgument(separator, 'splitn'), textArgument(text, 'splitn'), integerArgument(count)];
    const parts = most === 0 ? [] : whole.split(by);
    budget.make(parts.length);
    const kept =
      most < 0 || parts.length <= most ? parts : [...parts.slice(0, most - 1), parts.slice(most - 1).join(by)];
    return Object.fromEntries(kept.map((part, i) => [`_${i}`, part]));
  }),
  sha256sum: ofTexts(1, text => sha256Hex(utf8(text!))),
  adler32sum: ofTexts(1, text => String(adler32(utf8(text!)))),
  b32enc: ofTexts(1, text => base32(text!)),
  b32dec: ofTexts(1, text => fromBase32(text!)),
};

function swapped(letter: string): string {
  return /\p{Lu}/u.test(letter) ? letter.toLowerCase() : letter.toUpperCase();
}

/** The first `offset` characters and those past `width` become dots. */
function abbreviated(text: string, offset: number, width: number): string {
  const most = width;
  if (most < 4 || (offset > 0 && most < 7) || text.length <= most) return text;
  const from = Math.min(offset, text.length);
  const start = text.length - from < most - 3 ? text.length - (most - 3) : from;
  if (start <= 4) return `${text.slice(0, most - 3)}...`;
  if (start + most - 3 >= text.length) return `...${text.slice(text.length - (most - 3))}`;
  return `...${text.slice(start, start + most - 6)}...`;
}

/** Lines of at most `width` characters, divided at blanks; a longer word stays whole, or is cut if `cuts`. */
function wrapped(text: string, width: number, by: string, cuts: boolean, { budget }: CallContext): string {
  const most = Math.max(1, width);
  const lines: string[] = [];
  let at = 0;
  while (text.length - at > most) {
    if (text[at] === ' ') {
      at++;
      continue;
    }
    const blank = text.lastIndexOf(' ', at + most);
    const next = blank >= at ? blank : cuts ? at + most : text.indexOf(' ', at + most);
    budget.make(by.length + 1);
    if (next < 0) return [...lines, text.slice(at)].join(by);
    lines.push(text.slice(at, next));
    at = text[next] === ' ' && (blank >= at || !cuts) ? next + 1 : next;
  }
  budget.make(text.length);
  return [...lines, text.slice(at)].join(by);
}

function adler32(bytes: readonly number[]): number {
  let [low, high] = [1, 0];
  for (const byte of bytes) {
    low = (low + byte) % 65_521;
    high = (high + low) % 65_521;
  }
  return high * 65_536 + low;
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

function base32(text: string): string {
  let [out, bits, count] = ['', 0, 0];
  for (const byte of utf8(text)) {
    bits = ((bits << 8) | byte) & 0xffff;
    for (count += 8; count >= 5; count -= 5) out += ALPHABET[(bits >> (count - 5)) & 31]!;
  }
  if (count > 0) out += ALPHABET[(bits << (5 - count)) & 31]!;
  return out.padEnd(Math.ceil(out.length / 8) * 8, '=');
}

function fromBase32(text: string): string {
  const bytes: number[] = [];
  let [bits, count] = [0, 0];
  for (const [at, character] of [...trimmedEnd(text, '=')].entries()) {
    const digit = ALPHABET.indexOf(character);
    if (digit < 0) return `illegal base32 data at input byte ${at}`;
    bits = ((bits << 5) | digit) & 0xfff;
    count += 5;
    if (count < 8) continue;
    count -= 8;
    bytes.push((bits >> count) & 255);
  }
  return textOfUtf8(bytes);
}
