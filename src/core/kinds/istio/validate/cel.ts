// The syntax of CEL expressions (the language's specification, doc/langdef.md), as cel-go parses them: the grammar, the
// reserved words, and what the standard macros take. Nothing is evaluated and no types are checked: Envoy does that.

import { quoted } from '../../report.ts';

/** Longer and deeper ones are refused: a proxy would not run them either, and the parser recurses. */
const LENGTH_MAX = 16_384;
const DEPTH_MAX = 100;

const SPACE = String.raw`[\s]+|\/\/[^\n]*`;
const NUMBER = String.raw`0x[0-9a-fA-F]+[uU]?|(?:\d+\.\d+|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+[uU]?`;
const ESCAPE = String.raw`\\(?:[abfnrtv"'\\?${'`'}]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})`;
const TEXT = [
  String.raw`[bB]?[rR]"""[\s\S]*?"""`,
  String.raw`[bB]?[rR]'''[\s\S]*?'''`,
  String.raw`[bB]?[rR]"[^"\r\n]*"`,
  String.raw`[bB]?[rR]'[^'\r\n]*'`,
  String.raw`[bB]?"""(?:${ESCAPE}|[^\\])*?"""`,
  String.raw`[bB]?'''(?:${ESCAPE}|[^\\])*?'''`,
  String.raw`[bB]?"(?:${ESCAPE}|[^\\"\r\n])*"`,
  String.raw`[bB]?'(?:${ESCAPE}|[^\\'\r\n])*'`,
].join('|');
const NAME = '[A-Za-z_][A-Za-z0-9_]*';
const OPERATOR = String.raw`[<>=!]=|&&|\|\||[-+*/%<>!?:,.(){}[\]]`;
const TOKEN = new RegExp(`(${SPACE})|(${TEXT})|(${NUMBER})|(${NAME})|(${OPERATOR})`, 'y');

const RESERVED: ReadonlySet<string> = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(' '),
);
const KEYWORDS: ReadonlySet<string> = new Set(['in', 'true', 'false', 'null']);
const BINARY: ReadonlySet<string> = new Set([
  '||',
  '&&',
  '<',
  '<=',
  '>',
  '>=',
  '==',
  '!=',
  'in',
  '+',
  '-',
  '*',
  '/',
  '%',
]);
/** Macros on a receiver: name → numbers of arguments; the first (and for three of `map` too) names a variable. */
const MACROS: ReadonlyMap<string, readonly number[]> = new Map([
  ['all', [2]],
  ['exists', [2]],
  ['exists_one', [2]],
  ['existsOne', [2]],
  ['map', [2, 3]],
  ['filter', [2]],
]);

interface Token {
  readonly kind: 'text' | 'number' | 'name' | 'operator' | 'end';
  readonly text: string;
  readonly at: number;
}
/** The form of an expression, as the macros need it. */
type Shape = 'name' | 'selection' | 'other';

class SyntaxProblem extends Error {}

/** The first problem in the syntax of an expression, if any. */
export function celProblem(expression: string): string | undefined {
  if (expression.length > LENGTH_MAX)
    return `is ${expression.length} characters long; at most ${LENGTH_MAX} are allowed`;
  try {
    const parser = new Parser(tokens(expression));
    parser.whole();
    return undefined;
  } catch (error) {
    if (error instanceof SyntaxProblem) return `is not a CEL expression: ${error.message}`;
    throw error;
  }
}

function tokens(expression: string): readonly Token[] {
  const found: Token[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < expression.length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(expression);
    if (match === null) throw new SyntaxProblem(`nothing begins with ${JSON.stringify(expression[at])} at ${at + 1}`);
    const [text, space, literal, number, name] = match;
    if (space !== undefined) continue;
    const kind =
      literal !== undefined ? 'text' : number !== undefined ? 'number' : name !== undefined ? 'name' : 'operator';
    found.push({ kind, text, at });
  }
  return [...found, { kind: 'end', text: '', at: expression.length }];
}

class Parser {
  readonly #tokens: readonly Token[];
  #next = 0;
  #depth = 0;

  constructor(all: readonly Token[]) {
    this.#tokens = all;
  }

  whole(): void {
    this.expression();
    if (this.peek().kind !== 'end') this.fail('an operator or the end');
  }

  expression(): Shape {
    this.#depth++;
    if (this.#depth > DEPTH_MAX) throw new SyntaxProblem(`it is nested more than ${DEPTH_MAX} levels deep`);
    let shape = this.operation();
    if (this.accept('?')) {
      this.operation();
      this.expect(':');
      this.expression();
      shape = 'other';
    }
    this.#depth--;
    return shape;
  }

  /**
   * Precedence affects the meaning of an expression, not its validity: here, operands and operators are a flat list.
   */
  operation(): Shape {
    let shape = this.unary();
    while (BINARY.has(this.peek().text)) {
      this.#next++;
      this.unary();
      shape = 'other';
    }
    return shape;
  }

  unary(): Shape {
    const sign = this.peek().text;
    if (this.peek().kind !== 'operator' || (sign !== '!' && sign !== '-')) return this.member();
    // A row of one sign, not a mixture of both.
    while (this.accept(sign));
    this.member();
    return 'other';
  }

  member(): Shape {
    let shape = this.primary();
    for (;;) {
      if (this.accept('.')) {
        const name = this.name(true);
        shape = this.accept('(') ? this.call(name, true) : 'selection';
      } else if (this.accept('[')) {
        this.expression();
        this.expect(']');
        shape = 'other';
      } else if (shape !== 'other' && this.accept('{')) {
        this.entries(() => {
          this.name(true);
        });
        shape = 'other';
      } else return shape;
    }
  }

  primary(): Shape {
    const { kind, text } = this.peek();
    if (kind === 'text' || kind === 'number' || (kind === 'name' && KEYWORDS.has(text) && text !== 'in')) {
      this.#next++;
      return 'other';
    }
    if (this.accept('(')) {
      // Brackets leave no trace: (a.b) is still a selection.
      const shape = this.expression();
      this.expect(')');
      return shape === 'name' ? 'other' : shape;
    }
    if (this.accept('[')) {
      this.list(']');
      return 'other';
    }
    if (this.accept('{')) {
      this.entries(() => {
        this.expression();
      });
      return 'other';
    }
    this.accept('.');
    const name = this.name(false);
    return this.accept('(') ? this.call(name, false) : 'name';
  }

  call(name: string, onReceiver: boolean): Shape {
    const shapes = this.list(')', false);
    if (!onReceiver && name === 'has') {
      if (shapes.length === 1 && shapes[0] !== 'selection')
        throw new SyntaxProblem('has() takes a selection such as a.b');
    }
    if (onReceiver && MACROS.get(name)?.includes(shapes.length) === true && shapes[0] !== 'name') {
      throw new SyntaxProblem(`the first argument of ${name}() names a variable`);
    }
    return 'other';
  }

  /** Up to and with `end`; a list literal may end in a comma. */
  list(end: string, trailingComma = true): readonly Shape[] {
    const shapes: Shape[] = [];
    while (!this.accept(end)) {
      shapes.push(this.expression());
      if (this.accept(',')) {
        if (!trailingComma && this.peek().text === end) this.fail('an expression');
      } else if (this.peek().text !== end || this.peek().kind !== 'operator') this.fail(`"," or "${end}"`);
    }
    return shapes;
  }

  entries(key: () => void): void {
    while (!this.accept('}')) {
      key();
      this.expect(':');
      this.expression();
      if (!this.accept(',') && this.peek().text !== '}') this.fail('"," or "}"');
    }
  }

  name(afterDot: boolean): string {
    const { kind, text } = this.peek();
    if (kind !== 'name' || KEYWORDS.has(text)) return this.fail(afterDot ? 'a name' : 'an expression');
    if (!afterDot && RESERVED.has(text)) throw new SyntaxProblem(`${JSON.stringify(text)} is a reserved word`);
    this.#next++;
    return text;
  }

  peek(): Token {
    return this.#tokens[this.#next] ?? { kind: 'end', text: '', at: 0 };
  }

  accept(operator: string): boolean {
    const { kind, text } = this.peek();
    if (kind !== 'operator' || text !== operator) return false;
    this.#next++;
    return true;
  }

  expect(operator: string): void {
    if (!this.accept(operator)) this.fail(quoted(operator));
  }

  fail(expected: string): never {
    const { kind, text, at } = this.peek();
    throw new SyntaxProblem(`expected ${expected} at ${at + 1}, found ${kind === 'end' ? 'the end' : quoted(text)}`);
  }
}
