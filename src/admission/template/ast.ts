// The tree of a parsed template: plain data, so that it can be kept as the value of a query.
// Source: Go text/template/parse/node.go.

export type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'action'; readonly line: number; readonly pipe: Pipe }
  | Branch<'if'>
  | Branch<'range'>
  | Branch<'with'>
  | { readonly kind: 'template'; readonly line: number; readonly name: string; readonly pipe: Pipe | undefined }
  | { readonly kind: 'break' | 'continue'; readonly line: number };

interface Branch<K extends string> {
  readonly kind: K;
  readonly line: number;
  readonly pipe: Pipe;
  readonly then: readonly Node[];
  readonly otherwise: readonly Node[];
}

/** Commands, each given the value of the one before as its last argument. */
export interface Pipe {
  readonly line: number;
  /** Variables that take the value; range has up to two. */
  readonly targets: readonly string[];
  readonly declares: boolean;
  readonly commands: readonly Command[];
}

/** The first operand is a function, a field or a value; the rest are arguments. */
export interface Command {
  readonly operands: readonly Operand[];
}

export type Operand =
  | { readonly kind: 'dot' }
  | { readonly kind: 'nil' }
  | { readonly kind: 'boolean'; readonly value: boolean }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'integer'; readonly value: string }
  | { readonly kind: 'float'; readonly value: number }
  /** `.a.b` of the dot. */
  | { readonly kind: 'field'; readonly names: readonly string[] }
  /** `$x.a.b`; the name without its dollar. */
  | { readonly kind: 'variable'; readonly name: string; readonly names: readonly string[] }
  /** `(pipe).a.b` */
  | { readonly kind: 'group'; readonly pipe: Pipe; readonly names: readonly string[] }
  | { readonly kind: 'function'; readonly name: string };

/** The templates of one text; the text itself is the template ''. */
export type Templates = { readonly [name: string]: readonly Node[] };
