// Executes a parsed template: the dot, variables, pipelines, blocks. Pure and total but for TemplateFault.
//
// Nil and absent are different: a chain of fields stays absent behind a member that is not there, and fails behind one
// that is null. The value of a pipeline that is nil becomes absent. Source: Go text/template/exec.go.

import type { Command, Node, Operand, Pipe, Templates } from './ast.ts';
import { Budget, TEMPLATE_LIMITS, TemplateFault, type TemplateLimits } from './limits.ts';
import { charge, entriesOf, isList, isMap, isTrue, show, typeOf, type Value, Viewed } from './value.ts';

/** What a function may use beside its arguments. */
export interface CallContext {
  readonly budget: Budget;
  /** Maps that functions of this execution made: the only ones that `set` and `unset` may change. */
  readonly made: WeakSet<object>;
}

export type TemplateFunction = (args: readonly Value[], context: CallContext) => Value;
export type Functions = ReadonlyMap<string, TemplateFunction>;

/** Evaluated here, because they do not evaluate arguments past the one that decides. */
export const SHORT_CIRCUIT: readonly string[] = ['and', 'or'];

/** The output. Throws TemplateFault. */
export function execute(
  templates: Templates,
  data: Value,
  functions: Functions,
  limits: TemplateLimits = TEMPLATE_LIMITS,
): string {
  const execution = new Execution(templates, functions, limits);
  execution.run('', data);
  return execution.output();
}

interface Variable {
  readonly name: string;
  value: Value;
}

type Signal = 'break' | 'continue' | undefined;
/** Sentinel: a command that is the first of its pipeline gets no last argument. */
const NONE = Symbol('no value comes down the pipeline');
type Final = Value | typeof NONE;

class Execution {
  readonly #templates: Templates;
  readonly #functions: Functions;
  readonly #context: CallContext;
  readonly #chunks: string[] = [];
  #variables: Variable[] = [];

  constructor(templates: Templates, functions: Functions, limits: TemplateLimits) {
    this.#templates = templates;
    this.#functions = functions;
    this.#context = { budget: new Budget(limits), made: new WeakSet() };
  }

  output(): string {
    return this.#chunks.join('');
  }

  run(name: string, dot: Value): void {
    const nodes = Object.hasOwn(this.#templates, name) ? this.#templates[name] : undefined;
    if (nodes === undefined) throw new TemplateFault(`template "${name}" not defined`);
    this.#context.budget.enter();
    const outer = this.#variables;
    this.#variables = [{ name: '', value: dot }];
    this.#walkAll(nodes, dot);
    this.#variables = outer;
    this.#context.budget.leave();
  }

  #write(text: string): void {
    this.#context.budget.write(text.length);
    this.#chunks.push(text);
  }

  #walkAll(nodes: readonly Node[], dot: Value): Signal {
    for (const node of nodes) {
      const signal = this.#walk(node, dot);
      if (signal !== undefined) return signal;
    }
    return undefined;
  }

  #walk(node: Node, dot: Value): Signal {
    this.#context.budget.step();
    switch (node.kind) {
      case 'text':
        this.#write(node.text);
        return undefined;
      case 'action': {
        const value = this.#pipe(node.pipe, dot);
        if (node.pipe.targets.length === 0) this.#write(value === undefined ? '<no value>' : this.#shown(value));
        return undefined;
      }
      case 'template':
        this.run(node.name, node.pipe === undefined ? undefined : this.#pipe(node.pipe, dot));
        return undefined;
      case 'break':
      case 'continue':
        return node.kind;
      case 'range':
        return this.#scoped(() => this.#range(node, dot));
      default:
        return this.#scoped(() => {
          const value = this.#pipe(node.pipe, dot);
          if (!isTrue(value)) return this.#walkAll(node.otherwise, dot);
          return this.#walkAll(node.then, node.kind === 'with' ? value : dot);
        });
    }
  }

  #shown(value: Value): string {
    charge(value, this.#context.budget);
    const text = show(value);
    this.#context.budget.make(text.length);
    return text;
  }

  #scoped<T>(work: () => T): T {
    const known = this.#variables.length;
    const result = work();
    this.#variables.length = known;
    return result;
  }

  #range({ pipe, then, otherwise }: Extract<Node, { kind: 'range' }>, dot: Value): Signal {
    const value = this.#pipe({ ...pipe, targets: [] }, dot);
    const pairs = rangeOf(value);
    if (pairs.length === 0) return this.#walkAll(otherwise, dot);
    for (const [key, element] of pairs) {
      this.#context.budget.step();
      const signal = this.#scoped(() => {
        const [first, second] = pipe.targets;
        if (second === undefined) this.#bind(pipe, first, element);
        else {
          this.#bind(pipe, first, key);
          this.#bind(pipe, second, element);
        }
        return this.#walkAll(then, element);
      });
      if (signal === 'break') break;
    }
    return undefined;
  }

  #bind({ declares }: Pipe, name: string | undefined, value: Value): void {
    if (name === undefined) return;
    if (declares) this.#variables.push({ name, value });
    else this.#variable(name).value = value;
  }

  #variable(name: string): Variable {
    const found = this.#variables.findLast(variable => variable.name === name);
    if (found === undefined) throw new TemplateFault(`undefined variable "$${name}"`);
    return found;
  }

  #pipe(pipe: Pipe, dot: Value): Value {
    let value: Final = NONE;
    for (const command of pipe.commands) {
      this.#context.budget.step();
      try {
        value = this.#command(command, dot, value) ?? undefined;
      } catch (fault) {
        throw atLine(fault, pipe.line);
      }
    }
    const result = value === NONE ? undefined : value;
    for (const name of pipe.targets) this.#bind(pipe, name, result);
    return result;
  }

  #command({ operands }: Command, dot: Value, final: Final): Value {
    const [first, ...rest] = operands;
    if (first?.kind === 'function') return this.#call(first.name, rest, dot, final);
    if (first === undefined || rest.length > 0 || final !== NONE) {
      throw new TemplateFault('has arguments but cannot be invoked as function');
    }
    if (first.kind === 'nil') throw new TemplateFault('nil is not a command');
    return this.#operand(first, dot);
  }

  #call(name: string, operands: readonly Operand[], dot: Value, final: Final): Value {
    if (SHORT_CIRCUIT.includes(name)) return this.#shortCircuit(name, operands, dot, final);
    const args = operands.map(operand => this.#operand(operand, dot));
    if (final !== NONE) args.push(final);
    for (const arg of args) charge(arg, this.#context.budget);
    const called = this.#functions.get(name);
    if (called === undefined) throw new TemplateFault(`function "${name}" not defined`);
    try {
      return called(args, this.#context);
    } catch (fault) {
      if (!(fault instanceof TemplateFault) || fault.message.startsWith(`${name}: `)) throw fault;
      throw new TemplateFault(`error calling ${name}: ${fault.message}`);
    }
  }

  #shortCircuit(name: string, operands: readonly Operand[], dot: Value, final: Final): Value {
    let value: Final = NONE;
    for (const operand of operands) {
      value = this.#operand(operand, dot);
      if (isTrue(value) === (name === 'or')) return value;
    }
    if (final !== NONE) return final;
    if (value === NONE) throw new TemplateFault(`wrong number of args for ${name}: want at least 1 got 0`);
    return value;
  }

  #operand(operand: Operand, dot: Value): Value {
    switch (operand.kind) {
      case 'dot':
        return dot;
      case 'nil':
        return null;
      case 'integer':
        return BigInt(operand.value);
      case 'field':
        return fieldsOf(dot, operand.names);
      case 'variable':
        return fieldsOf(this.#variable(operand.name).value, operand.names);
      case 'group':
        return fieldsOf(this.#pipe(operand.pipe, dot), operand.names);
      case 'function':
        return this.#call(operand.name, [], dot, NONE);
      default:
        return operand.value;
    }
  }
}

function atLine(fault: unknown, line: number): unknown {
  if (!(fault instanceof TemplateFault) || fault.message.startsWith('line ')) return fault;
  return new TemplateFault(`line ${line}: ${fault.message}`);
}

function fieldsOf(value: Value, names: readonly string[]): Value {
  let found = value;
  for (const name of names) found = fieldOf(found, name);
  return found;
}

function fieldOf(value: Value, name: string): Value {
  if (value === undefined) return undefined;
  if (value === null) throw new TemplateFault(`nil pointer evaluating interface {}.${name}`);
  if (value instanceof Viewed) return value.field(name);
  if (isMap(value)) return Object.hasOwn(value, name) ? value[name] : undefined;
  // A wrapper or an enum of a message is its value here.
  if (!isList(value) && (name === 'GetValue' || name === 'Value')) return value;
  if (typeof value === 'string' && name === 'String') return value;
  throw new TemplateFault(`can't evaluate field ${name} in type ${typeOf(value)}`);
}

function rangeOf(value: Value): readonly (readonly [Value, Value])[] {
  if (value === undefined || value === null) return [];
  if (isList(value)) return value.map((element, index) => [BigInt(index), element] as const);
  if (value instanceof Viewed) {
    const entries = value.entries();
    if (entries !== undefined) return entries;
  } else if (isMap(value)) return entriesOf(value);
  throw new TemplateFault(`range can't iterate over ${typeOf(value)}`);
}
