// From a path inside an object (`spec.http[0].timeout`) to the line and column where it stands in its file.

import { isMap, isSeq, LineCounter, type Node, parseAllDocuments } from 'yaml';
import type { Origin } from '../../core/base/problem.ts';

/** The nearest node on the way to `path` in the document that begins at `origin`; undefined if that document is no longer there. */
export function locateInText(origin: Origin, text: string, path: string): Origin | undefined {
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, { lineCounter: lines, version: '1.1', uniqueKeys: false });
  if ('empty' in documents) return undefined;
  for (const document of documents) {
    const root = document.contents;
    if (!isMap(root) || lines.linePos(root.range[0]).line !== origin.line) continue;
    const { line, col } = lines.linePos(walk(root, stepsOf(path)));
    return { file: origin.file, line, column: col };
  }
  return undefined;
}

function walk(root: Node, steps: readonly (string | number)[]): number {
  let node: unknown = root;
  let offset = root.range?.[0] ?? 0;
  for (const step of steps) {
    if (isMap(node)) {
      const pair = node.items.find(item => String(item.key) === String(step));
      if (pair === undefined) break;
      offset = (pair.key as Node).range?.[0] ?? offset;
      node = pair.value;
    } else if (isSeq(node) && typeof step === 'number') {
      node = node.items[step];
      if (node === undefined) break;
      offset = (node as Node).range?.[0] ?? offset;
    } else break;
  }
  return offset;
}

function stepsOf(path: string): readonly (string | number)[] {
  const steps: (string | number)[] = [];
  for (const [, name, index] of path.matchAll(/([^.[\]]+)|\[(\d+)\]/g)) {
    if (name !== undefined) steps.push(name);
    else steps.push(Number(index));
  }
  return steps;
}
