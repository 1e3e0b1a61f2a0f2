// Words that have no place: impurity in the pure folders, unfinished business anywhere, files too long to read.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const PURE = [
  'src/core/',
  'src/xds/generate/',
  'src/xds/assemble/',
  'src/xds/session/',
  'src/xds/push/',
  'src/oracle/',
  'src/admission/template/',
  'src/analysis/',
  'src/admission/templates/',
  'src/admission/inject/',
  'src/admission/wishes/',
];
const LINES_MAX = 400;

interface Ban {
  readonly why: string;
  readonly words: RegExp;
}

const bannedWhenPure: readonly Ban[] = [
  { why: 'the clock is recorded events', words: /\bDate\.now\b|\bnew Date\(\)|\bperformance\.now\b/ },
  { why: 'randomness', words: /\bMath\.random\b|\bcrypto\b/ },
  { why: 'order must not depend on the locale', words: /\blocaleCompare\b|\bIntl\b|\btoLocale/ },
  { why: 'no waiting', words: /\basync\b|\bawait\b|\bPromise\b|\bsetTimeout\b|\bsetInterval\b|\bsetImmediate\b/ },
  { why: 'no I/O', words: /['"]node:|\bprocess\.|\bconsole\.|\bBuffer\b/ },
  { why: 'use canonicalJson, except to quote in a message', words: /(?<!\$\{)\bJSON\.stringify\(/ },
];
const bannedInAssemble: readonly Ban[] = [
  {
    why: 'what is read is said in src/core/select',
    words: /\breader\.(object|objects|indexed|mesh|networks|setting|feature|facet|metadata|hasExtension|identity)\(/,
  },
];
const bannedEverywhere: readonly Ban[] = [
  {
    why: "fast-check takes ten for the most unless told size: 'max'",
    words: /(?<!minLength: (\d+), )\bmax(Length|Keys): (1[1-9]|[2-9]\d|\d{3,})\b(?!.*\bsize: )/,
  },
  { why: 'finish it or say so in the docs', words: /\b(TODO|FIXME|XXX|HACK)\b/ },
  { why: 'skipped tests look green', words: /\b(it|describe|test)\.(skip|only|todo)\b/ },
  { why: 'say what it is', words: /:\s*any\b(?!\()|\bas any\b|<any>/ },
];

function sources(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => /\.tsx?$/.test(name) && !name.endsWith('.gen.ts') && !name.startsWith('house/'))
    .map(name => join(folder, name))
    .sort();
}

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, match => match.replace(/[^\n]/g, ' ')).replace(/(^|[^:'"`])\/\/.*$/gm, '$1');
}

/** The second runs before modules can be loaded. */
const WRITES_TO_TERMINAL: ReadonlySet<string> = new Set(['src/cli/output.ts', 'src/cli/main.ts']);

/** The one place that makes JSON text to be hashed. */
const CANONICAL = 'src/core/base/json.ts';

function offences(file: string, text: string, bans: readonly Ban[]): readonly string[] {
  const found: string[] = [];
  withoutComments(text)
    .split('\n')
    .forEach((line, i) => {
      for (const ban of bans) {
        if (ban.words.test(line) && file !== CANONICAL) found.push(`${file}:${i + 1}: ${ban.why}: ${line.trim()}`);
      }
    });
  return found;
}

const isPure = (file: string): boolean => PURE.some(folder => file.startsWith(folder));

/** The paths in tables whose head names a folder; a bare file name is in the folder of the path before it. */
function tablePaths(text: string): readonly string[] {
  let folders: readonly (string | undefined)[] = [];
  const paths: string[] = [];
  for (const line of text.split('\n')) {
    const cells = line.startsWith('|') ? line.split(' | ') : [];
    if (cells.length === 0) folders = [];
    else if (folders.length === 0) folders = cells.map(cell => cell.match(/in `([\w/]+\/)`/)?.[1]);
    else {
      for (const [i, cell] of cells.entries()) {
        let folder = folders[i] ?? '';
        for (const [, path] of folder === '' ? [] : cell.matchAll(/`([\w./-]+(?:\.ts|\.txt|\/))`/g)) {
          paths.push(path!.includes('/') ? `${folders[i]}${path}` : `${folder}${path}`);
          folder = paths.at(-1)!.slice(0, paths.at(-1)!.lastIndexOf('/') + 1);
        }
      }
    }
  }
  return paths;
}

describe('the tidy rules:', () => {
  const files = ['src', 'test', 'bench', 'scripts', 'ui'].flatMap(folder => {
    try {
      return sources(folder);
    } catch {
      return [];
    }
  });

  it('keep pure folders pure', () => {
    const found = files
      .filter(isPure)
      .flatMap(file => offences(file, readFileSync(join(root, file), 'utf8'), bannedWhenPure));
    expect(found).toEqual([]);
  });

  it('let assemble read the state through named queries only', () => {
    const found = files
      .filter(file => file.startsWith('src/xds/assemble/'))
      .flatMap(file => offences(file, readFileSync(join(root, file), 'utf8'), bannedInAssemble));
    expect(found).toEqual([]);
  });

  it('give every query a name of its own, since a tracker keeps results by name and key', () => {
    const named = [...sources('src/core'), ...sources('src/xds')].flatMap(file =>
      [...readFileSync(join(root, file), 'utf8').matchAll(/^ {2}name: '([a-z-]+\/[A-Za-z-]+)',$/gm)].map(
        ([, name]) => name,
      ),
    );
    expect(named.length).toBeGreaterThan(100);
    expect(named.filter((name, i) => named.indexOf(name) !== i)).toEqual([]);
  });

  it('let the commands write to the terminal in one place, which escapes', () => {
    const direct = files.filter(
      file =>
        /^src\/(cli|demo)\//.test(file) &&
        !WRITES_TO_TERMINAL.has(file) &&
        /\bstd(out|err)\.write\b|\bconsole\./.test(withoutComments(readFileSync(join(root, file), 'utf8'))),
    );
    expect(direct).toEqual([]);
  });

  it('refuse unfinished work', () => {
    expect(files.flatMap(file => offences(file, readFileSync(join(root, file), 'utf8'), bannedEverywhere))).toEqual([]);
  });

  it(`limit every file to ${LINES_MAX} lines`, () => {
    const long = files.filter(file => readFileSync(join(root, file), 'utf8').split('\n').length > LINES_MAX + 1);
    expect(long).toEqual([]);
  });

  it('require every folder of src and ui in the map of ARCHITECTURE.md', () => {
    const map = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
    const folders = ['src', 'ui'].flatMap(top =>
      readdirSync(join(root, top), { recursive: true, withFileTypes: true })
        .filter(entry => entry.isDirectory())
        .map(entry => relative(root, join(entry.parentPath, entry.name))),
    );
    expect(folders.filter(folder => !map.includes(`\`${folder}/\``))).toEqual([]);
  });

  it('require every path in the tables of ARCHITECTURE.md', () => {
    const paths = tablePaths(readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8'));
    expect(paths.length).toBeGreaterThan(100);
    expect(paths.filter(path => !existsSync(join(root, path)))).toEqual([]);
    expect(tablePaths('| a, in `src/` | b |\n|---|---|\n| `x/y.ts` (`f`), `z.ts` | `c` |\n')).toEqual([
      'src/x/y.ts',
      'src/x/z.ts',
    ]);
  });

  it('require every test that ARCHITECTURE.md names', () => {
    const map = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
    const named = [...map.matchAll(/`(test\/[^`]+\.ts)`/g)].map(match => match[1]!);
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter(path => !existsSync(join(root, path)))).toEqual([]);
  });

  it('detect a file that breaks them (canary)', () => {
    const bad = ['const t = Date.now();', 'async function f() {}', 'xs.sort((a, b) => a.localeCompare(b));'];
    expect(offences('src/core/x.ts', bad.join('\n'), bannedWhenPure)).toHaveLength(3);
    expect(offences('src/x.ts', 'const a: any = 1; // fine\nit.skip("x");', bannedEverywhere)).toHaveLength(2);
    expect(offences('src/xds/assemble/x.ts', "const t = reader.facet('type');", bannedInAssemble)).toHaveLength(1);
    const sizes = ['{ maxLength: 10 }', '{ maxLength: 60 }', "{ maxLength: 60, size: 'max' }"];
    expect(offences('test/x.ts', sizes.join('\n'), bannedEverywhere)).toHaveLength(1);
    expect(offences('src/core/x.ts', '// Date.now() in a comment\n/* async */ const a = 1;', bannedWhenPure)).toEqual(
      [],
    );
  });
});
