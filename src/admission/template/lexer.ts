// Text to tokens: literal text and the inside of {{ }}, with trim markers applied and comments dropped.
// Linear: each character is looked at once or twice. Source: Go text/template/parse/lex.go.

import { trimmedEnd } from '../../core/base/trim.ts';
import { TemplateFault } from './limits.ts';

const BLANKS = ' \t\r\n';

export type TokenKind =
  | 'text'
  | 'open'
  | 'close'
  | 'field'
  | 'variable'
  | 'word'
  | 'string'
  | 'integer'
  | 'float'
  | 'space'
  | 'mark';

export interface Token {
  readonly kind: TokenKind;
  /** Of a field or variable without its dot or dollar; of a string what it means; of a mark: ( ) | , = := and '.'. */
  readonly text: string;
  readonly line: number;
}

const COMMENT = /^\{\{(?:-[ \t\r\n])?\/\*[\s\S]*?\*\/(?:[ \t\r\n]-)?\}\}/;
const PATTERNS: readonly (readonly [RegExp, TokenKind])[] = [
  [/[ \t\r\n]+/y, 'space'],
  [/"(?:[^"\\\n]|\\.)*"/y, 'string'],
  [/`[^`]*`/y, 'string'],
  [/'(?:[^'\\\n]|\\.)+'/y, 'integer'],
  [/\$[\p{L}\p{N}_]*/uy, 'variable'],
  [/\.[\p{L}_][\p{L}\p{N}_]*/uy, 'field'],
  [
    /[-+]?(?:[0-9][0-9_]*)?\.[0-9]+(?:[eE][-+]?[0-9]+)?|[-+]?[0-9][0-9_]*(?:\.[0-9]*(?:[eE][-+]?[0-9]+)?|[eE][-+]?[0-9]+)/y,
    'float',
  ],
  [/[-+]?0[xX][0-9a-fA-F_]+|[-+]?0[bB][01_]+|[-+]?0[oO][0-7_]+|[-+]?[0-9][0-9_]*/y, 'integer'],
  [/[\p{L}_][\p{L}\p{N}_]*/uy, 'word'],
  [/:=|[().|,=]/y, 'mark'],
];

export function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let line = 1;
  let at = 0;
  let trims = false;
  while (at < text.length) {
    const open = text.indexOf('{{', at);
    const end = open < 0 ? text.length : open;
    const trimsBefore = open >= 0 && /^-[ \t\r\n]/.test(text.slice(open + 2, open + 4));
    let literal = text.slice(at, end);
    const lines = newlines(literal);
    if (trims) literal = literal.replace(/^[ \t\r\n]+/, '');
    if (trimsBefore) literal = trimmedEnd(literal, BLANKS);
    if (literal !== '') tokens.push({ kind: 'text', text: literal, line });
    line += lines;
    if (open < 0) break;
    const inside = actionFrom(text, open + (trimsBefore ? 3 : 2), open, line, tokens);
    line = inside.line;
    trims = inside.trims;
    at = inside.end;
  }
  return tokens;
}

function newlines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

interface Action {
  readonly end: number;
  readonly line: number;
  readonly trims: boolean;
}

function actionFrom(text: string, start: number, open: number, firstLine: number, tokens: Token[]): Action {
  let line = firstLine;
  if (text.startsWith('/*', start) || /^[ \t\r\n]\/\*/.test(text.slice(start, start + 3))) {
    const close = text.indexOf('*/', start);
    const end = close < 0 ? -1 : text.indexOf('}}', close);
    const comment = end < 0 ? '' : text.slice(open, end + 2);
    if (!COMMENT.test(comment)) throw new TemplateFault(`line ${line}: a comment must fill its action`);
    return { end: end + 2, line: line + newlines(comment), trims: /[ \t\r\n]-\}\}$/.test(comment.slice(-4)) };
  }
  tokens.push({ kind: 'open', text: '{{', line });
  let at = start;
  for (;;) {
    const trims = /^[ \t\r\n]-\}\}/.test(text.slice(at, at + 4));
    if (trims || text.startsWith('}}', at)) {
      tokens.push({ kind: 'close', text: '}}', line });
      return { end: at + (trims ? 4 : 2), line, trims };
    }
    const token = tokenAt(text, at, line);
    tokens.push(token.token);
    line += newlines(text.slice(at, token.end));
    at = token.end;
    if (token.token.kind === 'space' && text.startsWith('-}}', at)) {
      tokens.push({ kind: 'close', text: '}}', line });
      return { end: at + 3, line, trims: true };
    }
  }
}

function tokenAt(text: string, at: number, line: number): { readonly token: Token; readonly end: number } {
  for (const [pattern, kind] of PATTERNS) {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found !== undefined) return { token: { kind, text: meaning(kind, found, line), line }, end: at + found.length };
  }
  const what = at >= text.length ? 'unclosed action' : `unexpected ${JSON.stringify(text[at])} in an action`;
  throw new TemplateFault(`line ${line}: ${what}`);
}

function meaning(kind: TokenKind, text: string, line: number): string {
  if (kind === 'field' || kind === 'variable') return text.slice(1);
  if (kind === 'integer' && text.startsWith("'")) return String(unquoted(text, line).codePointAt(0) ?? 0);
  if (kind !== 'string') return text;
  return text.startsWith('`') ? text.slice(1, -1).replaceAll('\r', '') : unquoted(text, line);
}

const ESCAPES: { readonly [letter: string]: string } = {
  n: '\n',
  t: '\t',
  r: '\r',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
  '\\': '\\',
  '"': '"',
  "'": "'",
};

function unquoted(text: string, line: number): string {
  return text
    .slice(1, -1)
    .replace(/\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{3}|.)/gsu, (_, escaped: string) => {
      const plain = ESCAPES[escaped];
      if (plain !== undefined) return plain;
      if (/^[xuU]/.test(escaped) && escaped.length > 1) {
        const code = Number.parseInt(escaped.slice(1), 16);
        if (code <= 0x10ffff) return String.fromCodePoint(code);
      }
      if (/^[0-7]{3}$/.test(escaped)) return String.fromCharCode(Number.parseInt(escaped, 8));
      throw new TemplateFault(`line ${line}: unknown escape \\${escaped}`);
    });
}
