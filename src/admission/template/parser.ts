// Tokens to a tree. Variables are checked here, as Go does: an unknown one fails the template before it runs.
// Functions are checked against the names that the caller knows. Source: Go text/template/parse/parse.go.

import type { Command, Node, Operand, Pipe, Templates } from './ast.ts';
import { type Token, tokensOf } from './lexer.ts';
import { TEMPLATE_CHARS_MAX, TEMPLATE_NESTING_MAX, TemplateFault } from './limits.ts';

/** Throws TemplateFault; its message has the line. */
export function parseTemplates(text: string, isFunction: (name: string) => boolean): Templates {
  if (text.length > TEMPLATE_CHARS_MAX) throw new TemplateFault(`has more than ${TEMPLATE_CHARS_MAX} characters`);
  return new TemplateParser(tokensOf(text), isFunction).parse();
}

/** What ends a list of nodes. */
interface Ended {
  readonly nodes: readonly Node[];
  readonly by: 'end' | 'else' | 'eof';
}

class TemplateParser {
  readonly #tokens: readonly Token[];
  readonly #isFunction: (name: string) => boolean;
  readonly #templates = new Map<string, readonly Node[]>();
  #at = 0;
  #depth = 0;
  #loops = 0;
  #variables: string[] = [''];

  constructor(tokens: readonly Token[], isFunction: (name: string) => boolean) {
    this.#tokens = tokens;
    this.#isFunction = isFunction;
  }

  parse(): Templates {
    const { nodes, by } = this.#list();
    if (by !== 'eof') this.#fail(`unexpected {{${by}}}`);
    this.#templates.set('', nodes);
    return Object.fromEntries(this.#templates);
  }

  #fail(why: string): never {
    const token = this.#tokens[Math.min(this.#at, this.#tokens.length - 1)];
    throw new TemplateFault(`line ${token?.line ?? 1}: ${why}`);
  }

  #peek(): Token | undefined {
    return this.#tokens[this.#at];
  }

  #skipSpace(): boolean {
    const isSpace = this.#peek()?.kind === 'space';
    if (isSpace) this.#at++;
    return isSpace;
  }

  #isMark(text: string): boolean {
    const token = this.#peek();
    return token?.kind === 'mark' && token.text === text;
  }

  #deeper<T>(work: () => T): T {
    if (++this.#depth > TEMPLATE_NESTING_MAX) this.#fail(`is nested more than ${TEMPLATE_NESTING_MAX} levels deep`);
    const result = work();
    this.#depth--;
    return result;
  }

  #list(): Ended {
    const nodes: Node[] = [];
    for (;;) {
      const token = this.#peek();
      if (token === undefined) return { nodes, by: 'eof' };
      this.#at++;
      if (token.kind === 'text') {
        nodes.push({ kind: 'text', text: token.text });
        continue;
      }
      this.#skipSpace();
      const word = this.#peek();
      const name = word?.kind === 'word' ? word.text : '';
      if (name === 'end' || name === 'else') {
        this.#at++;
        if (name === 'end') this.#close();
        return { nodes, by: name };
      }
      const node = this.#action(name, token.line);
      if (node !== undefined) nodes.push(node);
    }
  }

  #close(): void {
    this.#skipSpace();
    if (this.#peek()?.kind !== 'close') this.#fail(`unexpected ${this.#shown()}`);
    this.#at++;
  }

  #shown(): string {
    const token = this.#peek();
    return token === undefined ? 'end of the template' : `"${token.text}" in an action`;
  }

  #action(name: string, line: number): Node | undefined {
    if (name === 'if' || name === 'range' || name === 'with') {
      this.#at++;
      return this.#deeper(() => this.#branch(name, line));
    }
    if (name === 'define' || name === 'block') {
      this.#at++;
      return this.#deeper(() => this.#definition(name, line));
    }
    if (name === 'template') {
      this.#at++;
      this.#skipSpace();
      const called = this.#name();
      this.#skipSpace();
      const pipe = this.#peek()?.kind === 'close' ? undefined : this.#pipe(line, false);
      this.#close();
      return { kind: 'template', line, name: called, pipe };
    }
    if (name === 'break' || name === 'continue') {
      this.#at++;
      if (this.#loops === 0) this.#fail(`{{${name}}} outside {{range}}`);
      this.#close();
      return { kind: name, line };
    }
    const pipe = this.#pipe(line, false);
    this.#close();
    return { kind: 'action', line, pipe };
  }

  #name(): string {
    const token = this.#peek();
    if (token?.kind !== 'string') this.#fail('expected the quoted name of a template');
    this.#at++;
    return token.text;
  }

  #branch(kind: 'if' | 'range' | 'with', line: number): Node {
    const known = this.#variables.length;
    const pipe = this.#pipe(line, kind === 'range');
    this.#close();
    if (kind === 'range') this.#loops++;
    const inner = this.#variables.length;
    const { nodes: then, by } = this.#list();
    if (kind === 'range') this.#loops--;
    this.#variables.length = inner;
    let otherwise: readonly Node[] = [];
    if (by === 'else') otherwise = this.#else(kind, line);
    else if (by === 'eof') this.#fail(`{{${kind}}} of line ${line} has no {{end}}`);
    this.#variables.length = known;
    return { kind, line, pipe, then, otherwise };
  }

  #else(kind: 'if' | 'range' | 'with', line: number): readonly Node[] {
    this.#skipSpace();
    const word = this.#peek();
    if (word?.kind === 'word' && word.text === kind && kind !== 'range') {
      this.#at++;
      return [this.#deeper(() => this.#branch(kind, word.line))];
    }
    this.#close();
    const { nodes, by } = this.#list();
    if (by !== 'end') this.#fail(`{{else}} of the {{${kind}}} of line ${line} has no {{end}}`);
    return nodes;
  }

  /** A block is a definition and its call. Variables of the text around are unknown inside. */
  #definition(kind: 'define' | 'block', line: number): Node | undefined {
    this.#skipSpace();
    const name = this.#name();
    this.#skipSpace();
    const pipe = kind === 'block' ? this.#pipe(line, false) : undefined;
    this.#close();
    const [variables, loops] = [this.#variables, this.#loops];
    this.#variables = [''];
    this.#loops = 0;
    const { nodes, by } = this.#list();
    if (by !== 'end') this.#fail(`{{${kind}}} of line ${line} has no {{end}}`);
    this.#variables = variables;
    this.#loops = loops;
    this.#templates.set(name, nodes);
    return kind === 'block' ? { kind: 'template', line, name, pipe } : undefined;
  }

  #pipe(line: number, isRange: boolean): Pipe {
    this.#skipSpace();
    const { targets, declares } = this.#targets(isRange);
    const commands: Command[] = [];
    for (;;) {
      commands.push(this.#command());
      this.#skipSpace();
      if (!this.#isMark('|')) break;
      this.#at++;
    }
    if (declares) this.#variables.push(...targets);
    return { line, targets, declares, commands };
  }

  #targets(isRange: boolean): Pick<Pipe, 'targets' | 'declares'> {
    const start = this.#at;
    const targets: string[] = [];
    while (this.#peek()?.kind === 'variable') {
      targets.push(this.#peek()!.text);
      this.#at++;
      this.#skipSpace();
      if (this.#isMark(':=') || this.#isMark('=')) {
        const declares = this.#isMark(':=');
        this.#at++;
        if (!declares) for (const name of targets) this.#check(name);
        return { targets, declares };
      }
      if (!isRange || targets.length === 2 || !this.#isMark(',')) break;
      this.#at++;
      this.#skipSpace();
    }
    this.#at = start;
    return { targets: [], declares: false };
  }

  #check(name: string): void {
    if (!this.#variables.includes(name)) this.#fail(`undefined variable "$${name}"`);
  }

  #command(): Command {
    const operands: Operand[] = [];
    for (;;) {
      const isApart = this.#skipSpace() || operands.length === 0;
      const token = this.#peek();
      if (token === undefined || token.kind === 'close' || this.#isMark('|') || this.#isMark(')')) break;
      if (!isApart) this.#fail(`unexpected ${this.#shown()}; expected a space`);
      operands.push(this.#operand(token));
    }
    if (operands.length === 0) this.#fail('missing value for command');
    return { operands };
  }

  #operand(token: Token): Operand {
    if (token.kind === 'mark' && token.text === '(') return this.#deeper(() => this.#group(token.line));
    this.#at++;
    switch (token.kind) {
      case 'string':
        return { kind: 'string', value: token.text };
      case 'integer':
        return { kind: 'integer', value: integerText(token.text) };
      case 'float':
        return { kind: 'float', value: Number(token.text.replaceAll('_', '')) };
      case 'field':
        return { kind: 'field', names: [token.text, ...this.#fields()] };
      case 'variable':
        this.#check(token.text);
        return { kind: 'variable', name: token.text, names: this.#fields() };
      case 'word':
        return this.#word(token.text);
      default:
        if (token.text === '.') return { kind: 'dot' };
        this.#at--;
        return this.#fail(`unexpected ${this.#shown()}`);
    }
  }

  #word(text: string): Operand {
    if (text === 'true' || text === 'false') return { kind: 'boolean', value: text === 'true' };
    if (text === 'nil') return { kind: 'nil' };
    if (!this.#isFunction(text)) this.#fail(`function "${text}" not defined`);
    return { kind: 'function', name: text };
  }

  #group(line: number): Operand {
    this.#at++;
    const pipe = this.#pipe(line, false);
    if (!this.#isMark(')')) this.#fail('unclosed left paren');
    this.#at++;
    return { kind: 'group', pipe, names: this.#fields() };
  }

  #fields(): readonly string[] {
    const names: string[] = [];
    for (let token = this.#peek(); token?.kind === 'field'; token = this.#peek()) {
      names.push(token.text);
      this.#at++;
    }
    return names;
  }
}

/** Go's literals, an old octal one included. */
function integerText(text: string): string {
  const digits = text.replaceAll('_', '').replace(/^[-+]/, '');
  const octal = /^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits;
  return String(text.startsWith('-') ? -BigInt(octal) : BigInt(octal));
}
