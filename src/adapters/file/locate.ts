// From a path inside an object (`spec.http[0].timeout`) to the line and column where it stands in its file.
//
// Only the document that begins at the given line is composed, and once for all paths that are asked for: a file of
// hundreds of refused objects costs one more reading of it, not one for each problem.

import { type Document, isMap, isScalar, isSeq, LineCounter } from 'yaml';
import type { Origin } from '../../core/base/problem.ts';
import { composedDocuments } from '../../core/base/yaml.ts';

/** Both from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** The line at which a document's first key stands, and a path inside it. */
export interface Place {
  readonly line: number;
  readonly path: string;
}

interface Composed {
  readonly root: unknown;
  readonly lines: LineCounter;
}

/** Documents are separated by these at the start of a line, whatever stands around them. */
const SEPARATOR = /^(?:---|\.\.\.)(?=\s|$)/gm;

export class Locator {
  readonly #text: string;
  /** Offsets, from line 1. */
  readonly #lineStarts: number[] = [0];
  readonly #composed = new Map<number, Composed | undefined>();

  constructor(text: string) {
    this.#text = text;
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) this.#lineStarts.push(at + 1);
  }

  /** The nearest node on the way to the path; undefined if no object begins at that line. */
  at({ line, path }: Place): Position | undefined {
    if (!this.#composed.has(line)) this.#composed.set(line, this.#compose(line));
    const composed = this.#composed.get(line);
    if (composed === undefined) return undefined;
    const found = composed.lines.linePos(offsetOf(composed.root, stepsOf(path)));
    return { line: found.line + line - 1, column: found.col };
  }

  #compose(line: number): Composed | undefined {
    const start = this.#lineStarts[line - 1];
    const second = this.#lineStarts[line];
    if (start === undefined) return undefined;
    SEPARATOR.lastIndex = second ?? this.#text.length;
    const end = SEPARATOR.exec(this.#text)?.index;
    const lines = new LineCounter();
    try {
      const [document] = composedDocuments(this.#text.slice(start, end), lines.addNewLine);
      return beginsAtOnce(document, lines) ? { root: document.contents, lines } : undefined;
    } catch {
      // The text is another one than when the object was read.
      return undefined;
    }
  }
}

function beginsAtOnce(document: Document.Parsed | undefined, lines: LineCounter): document is Document.Parsed {
  return document !== undefined && isMap(document.contents) && lines.linePos(document.contents.range[0]).line === 1;
}

/** As Locator, for one path. */
export function locateInText(origin: Origin, text: string, path: string): Origin | undefined {
  const found = new Locator(text).at({ line: origin.line ?? 1, path });
  return found === undefined ? undefined : { file: origin.file, ...found };
}

function offsetOf(root: unknown, steps: readonly (string | number)[]): number {
  let node = root;
  let offset = startOf(root, 0);
  for (const step of steps) {
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => String(isScalar(key) ? key.value : key) === String(step));
      if (pair === undefined) break;
      offset = startOf(pair.key, offset);
      node = pair.value;
    } else if (isSeq(node) && typeof step === 'number' && step < node.items.length) {
      node = node.items[step];
      offset = startOf(node, offset);
    } else break;
  }
  return offset;
}

function startOf(node: unknown, otherwise: number): number {
  return isMap(node) || isSeq(node) || isScalar(node) ? (node.range?.[0] ?? otherwise) : otherwise;
}

function stepsOf(path: string): readonly (string | number)[] {
  const steps: (string | number)[] = [];
  for (const [, name, index] of path.matchAll(/([^.[\]]+)|\[(\d+)\]/g)) {
    if (name !== undefined) steps.push(name);
    else steps.push(Number(index));
  }
  return steps;
}
