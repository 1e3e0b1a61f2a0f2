// printf, of Go's verbs those that templates of texts and numbers need: v s q d t x X f g e c b o U % and width,
// precision, flags - + 0 space #. A wrong argument is shown as Go shows it, not an error. Source: Go fmt/print.go.

import type { Budget } from './limits.ts';
import { quotedGo } from './quote.ts';
import { show, showFloat, typeOf, type Value } from './value.ts';

/** Width and precision at most; Go's own limit is a million. */
const WIDTH_MAX = 1_000;
const VERB = /%([-+# 0]*)(\*|[1-9]\d*)?(?:\.(\*|\d+)?)?([a-zA-Z%])/g;

export function formatted(format: string, args: readonly Value[], budget: Budget): string {
  let next = 0;
  const text = format.replace(
    VERB,
    (spec, flags: string, width: string | undefined, precision: string | undefined, verb: string) => {
      if (verb === '%') return '%';
      const numberOf = (given: string | undefined): number | undefined => {
        if (given === undefined) return undefined;
        return Math.min(given === '*' ? Number(args[next++] ?? 0) : Number(given), WIDTH_MAX);
      };
      const [columns, digits] = [numberOf(width), numberOf(precision ?? (/\.[a-zA-Z]$/.test(spec) ? '0' : undefined))];
      if (next >= args.length) return `%!${verb}(MISSING)`;
      const body = verbText(verb, args[next++], flags, digits);
      budget.make(body.length + (columns ?? 0));
      return padded(body, columns ?? 0, flags);
    },
  );
  if (next >= args.length) return text;
  const extra = args.slice(next).map(arg => `${typeOf(arg)}=${show(arg)}`);
  return `${text}%!(EXTRA ${extra.join(', ')})`;
}

function padded(text: string, width: number, flags: string): string {
  const missing = width - [...text].length;
  if (missing <= 0) return text;
  if (flags.includes('-')) return text + ' '.repeat(missing);
  if (!flags.includes('0')) return ' '.repeat(missing) + text;
  const sign = /^[-+]/.exec(text)?.[0] ?? '';
  return sign + '0'.repeat(missing) + text.slice(sign.length);
}

function verbText(verb: string, value: Value, flags: string, precision: number | undefined): string {
  const bad = (): string =>
    `%!${verb}(${value === null || value === undefined ? '<nil>' : `${typeOf(value)}=${show(value)}`})`;
  const plus = (text: string): string => (flags.includes('+') && !text.startsWith('-') ? `+${text}` : text);
  switch (verb) {
    case 'v':
      return show(value);
    case 's':
      if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return bad();
      if (value === null || value === undefined) return '%!s(<nil>)';
      return precision === undefined ? show(value) : [...show(value)].slice(0, precision).join('');
    case 'q':
      return typeof value === 'string' ? quotedGo(value) : bad();
    case 't':
      return typeof value === 'boolean' ? String(value) : bad();
    case 'd':
      return typeof value === 'bigint' ? plus(String(value)) : bad();
    case 'x':
    case 'X':
    case 'b':
    case 'o': {
      if (typeof value !== 'bigint') return bad();
      const text = value.toString({ x: 16, X: 16, b: 2, o: 8 }[verb]);
      return verb === 'X' ? text.toUpperCase() : text;
    }
    case 'c':
      return typeof value === 'bigint' && value >= 0n && value <= 0x10ffffn
        ? String.fromCodePoint(Number(value))
        : bad();
    case 'f':
    case 'F':
      return typeof value === 'number' ? plus(value.toFixed(Math.min(precision ?? 6, 100))) : bad();
    case 'e':
      return typeof value === 'number'
        ? plus(value.toExponential(Math.min(precision ?? 6, 100)).replace(/e([+-])(\d)$/, 'e$10$2'))
        : bad();
    case 'g':
      return typeof value === 'number' ? plus(showFloat(value)) : bad();
    default:
      return bad();
  }
}
