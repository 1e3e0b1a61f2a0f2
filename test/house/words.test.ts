// Words that make text hard to read, and citations of documents that no clone has. What is left of them is counted by
// folder in words.json; a count may only fall. After cleaning up: PERIPLUS_UPDATE_GOLDENS=1 npx vitest run test/house.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const RECORD = join(import.meta.dirname, 'words.json');
const PATTERNS = {
  citations: /spec-[a-z-]+ §|\bRow \d+ of\b|\btrap T\d/g,
  words: /\b(nobody|whoever|so many|is said|are said)\b/gi,
  phrases:
    /\b(what comes of|what came of|as it were|come to the same|says? nothing|is told so|goes without saying|what is wrong with)\b/gi,
} as const;
/** Comments of src: lines of prose that a screen holds. */
const COLUMNS_MAX = 120;
type Counts = Readonly<Record<string, number>>;

/** `src/core/select`: as deep as a newcomer looks for the owner of a text. */
function folderOf(file: string): string {
  return file.split('/').slice(0, -1).slice(0, 3).join('/') || '.';
}

/** Comments, titles and prose; fixtures and recorded output are data. */
function texts(): readonly string[] {
  const below = ['src', 'test', 'docs', 'bench', 'scripts', 'ui'].flatMap(folder =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(file => `${folder}/${file}`),
  );
  return [...below, ...readdirSync(root)]
    .filter(file => /\.(tsx?|mjs|md)$/.test(file) && !/\.gen\.ts$|^test\/house\/|\/golden\//.test(file))
    .sort();
}

function countsOf(text: string): Counts {
  const found: Record<string, number> = {};
  for (const [name, pattern] of Object.entries(PATTERNS)) {
    const count = text.match(pattern)?.length ?? 0;
    if (count > 0) found[name] = count;
  }
  return found;
}

function counted(): Counts {
  const counts: Record<string, number> = {};
  for (const file of texts()) {
    for (const [name, count] of Object.entries(countsOf(readFileSync(join(root, file), 'utf8')))) {
      const key = `${folderOf(file)} ${name}`;
      counts[key] = (counts[key] ?? 0) + count;
    }
  }
  return counts;
}

/** Citations that name a Go file without its folder, or several files in braces. */
function looseCitations(text: string): readonly string[] {
  return text.match(/(?<![\w/.-])[\w-]+\.go \([A-Za-z]|\.go\},?|\{[\w,.]+\}\.go/g) ?? [];
}

/** The prose lines of a source file that are too long, as `line: text`. */
function longComments(text: string): readonly string[] {
  return text.split('\n').flatMap((line, i) => {
    const isProse = /^\s*(\/\/ (?!biome-ignore)|\/?\*)/.test(line);
    return isProse && line.length > COLUMNS_MAX ? [`${i + 1}: ${line.trim().slice(0, 60)}…`] : [];
  });
}

/** The lines of a document that are too long, tables and code apart, as `line: text`. */
function longProse(text: string): readonly string[] {
  let isCode = false;
  return text.split('\n').flatMap((line, i) => {
    if (line.trimStart().startsWith('```')) isCode = !isCode;
    const isProse = !isCode && !line.startsWith('|');
    return isProse && line.length > COLUMNS_MAX ? [`${i + 1}: ${line.trim().slice(0, 60)}…`] : [];
  });
}

describe('words that are hard to read, and citations that no clone can follow', () => {
  it('become fewer in every folder, never more', () => {
    const now = counted();
    if (process.env.PERIPLUS_UPDATE_GOLDENS === '1') writeFileSync(RECORD, `${JSON.stringify(now, undefined, 2)}\n`);
    const recorded = JSON.parse(readFileSync(RECORD, 'utf8')) as Counts;
    const risen = Object.entries(now).filter(([key, count]) => count > (recorded[key] ?? 0));
    expect(risen).toEqual([]);
  });

  it('are found (canary)', () => {
    expect(countsOf('// spec-clusters §3.2, Row 4 of §6.1, trap T3')).toEqual({ citations: 3 });
    expect(countsOf('Nobody knows whoever is said to have so many.')).toEqual({ words: 4 });
  });

  it('leave no citation of a private chapter', () => {
    expect(Object.keys(counted()).filter(key => key.endsWith(' citations'))).toEqual([]);
  });

  it('leave citations that name the path of a Go file in full', () => {
    const loose = texts()
      .filter(file => file.startsWith('src/'))
      .flatMap(file => looseCitations(readFileSync(join(root, file), 'utf8')).map(found => `${file}: ${found}`));
    expect(loose).toEqual([]);
    expect(looseCitations('Istio gateway.go (mergeGateways), model/{model,generator}.go')).toHaveLength(2);
  });

  it(`leave comments of the program within ${COLUMNS_MAX} columns`, () => {
    const long = texts()
      .filter(file => /^src\//.test(file))
      .flatMap(file => longComments(readFileSync(join(root, file), 'utf8')).map(line => `${file}:${line}`));
    expect(long).toEqual([]);
    expect(longComments(`// ${'word '.repeat(30)}`)).toHaveLength(1);
  });

  it(`leave prose of documents within ${COLUMNS_MAX} columns`, () => {
    const long = texts()
      .filter(file => file.endsWith('.md'))
      .flatMap(file => longProse(readFileSync(join(root, file), 'utf8')).map(line => `${file}:${line}`));
    expect(long).toEqual([]);
    expect(longProse(`| ${'cell '.repeat(30)}|\n\`\`\`\n${'code '.repeat(30)}\n\`\`\`\n`)).toEqual([]);
    expect(longProse('word '.repeat(30))).toHaveLength(1);
  });
});
