// The documents as a whole: the index names each of them, links lead somewhere, and README repeats figures, makes none.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const INDEX = 'docs/README.md';

const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const top = readdirSync(root).filter(file => file.endsWith('.md'));
const below = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter(file => file.endsWith('.md'))
  .map(file => `docs/${file}`);

/** The files that a document links to, from the root; other sites and anchors of the same page are left out. */
function linksOf(file: string, text: string): readonly string[] {
  const found = [...text.matchAll(/\]\(([^)\s#]+)(?:#[^)\s]*)?\)/g)].map(match => match[1]!);
  return found.filter(link => !/^[a-z]+:/.test(link)).map(link => normalize(join(dirname(file), link)));
}

/** Rows of figures: those of a table whose head names Periplus and istiod. */
function figureRows(text: string): readonly string[] {
  const rows: string[] = [];
  let isFigures = false;
  for (const line of text.split('\n')) {
    if (!line.startsWith('|')) isFigures = false;
    else if (isFigures && !line.startsWith('|---')) rows.push(line);
    else if (line.startsWith('| what | Periplus | istiod |')) isFigures = true;
  }
  return rows;
}

describe('the documents', () => {
  it('are all linked from their index', () => {
    const linked = new Set(linksOf(INDEX, read(INDEX)));
    expect(below.filter(file => file !== INDEX && !linked.has(file))).toEqual([]);
    expect(linksOf('docs/a/b.md', '[x](../c.md#d), [y](https://e.f/g.md), [z](#h)')).toEqual(['docs/c.md']);
  });

  it('link to files that exist', () => {
    const broken = [...top, ...below].flatMap(file =>
      linksOf(file, read(file))
        .filter(link => !existsSync(join(root, link)))
        .map(link => `${file}: ${link}`),
    );
    expect(broken).toEqual([]);
  });

  it('have the figures of README in docs/benchmarks.md, word for word', () => {
    const measured = new Set(figureRows(read('docs/benchmarks.md')));
    const repeated = figureRows(read('README.md'));
    expect(repeated.length).toBeGreaterThan(2);
    expect(repeated.filter(row => !measured.has(row))).toEqual([]);
  });
});
