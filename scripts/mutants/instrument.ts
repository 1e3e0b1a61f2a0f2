// Stryker's instrumenter as a library: the sources with all their mutants in them, each behind a switch, and the list of
// the mutants. It is installed into a folder beside the project.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const VERSION = '9.6.1';

export interface Mutant {
  readonly id: string;
  readonly fileName: string;
  readonly mutatorName: string;
  readonly replacement: string;
  /** Lines and columns from 0. */
  readonly location: { readonly start: Place; readonly end: Place };
}
interface Place {
  readonly line: number;
  readonly column: number;
}

interface Instrumented {
  readonly files: readonly { readonly name: string; readonly content: string }[];
  readonly mutants: readonly Mutant[];
}

interface Stryker {
  readonly createInstrumenter: unknown;
}
interface Injector {
  provideValue(token: string, value: unknown): Injector;
  injectFunction(create: unknown): { instrument(files: unknown, options: unknown): Promise<Instrumented> };
}

/** Writes `mutants.json` and the changed sources (`sources.json`) into `work`. */
export async function instrument(root: string, work: string, sources: readonly string[], home: string): Promise<void> {
  install(home);
  const require = createRequire(join(home, 'package.json'));
  const load = async (name: string): Promise<unknown> => import(pathToFileURL(require.resolve(name)).href);
  const { createInstrumenter } = (await load('@stryker-mutator/instrumenter')) as Stryker;
  const { createInjector } = (await load('typed-inject')) as { readonly createInjector: () => Injector };
  const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, isDebugEnabled: () => false };
  const instrumenter = createInjector().provideValue('logger', quiet).injectFunction(createInstrumenter);
  const files = sources.map(file => {
    const name = join(root, file);
    return { name, mutate: true, content: readFileSync(name, 'utf8') };
  });
  const made = await instrumenter.instrument(files, { plugins: null, excludedMutations: [], ignorers: [] });
  writeFileSync(
    join(work, 'sources.json'),
    JSON.stringify(Object.fromEntries(made.files.map(file => [file.name, file.content]))),
  );
  const texts = new Map(files.map(({ name, content }) => [name, content.split('\n')]));
  const sound = made.mutants.filter(mutant => !fillsEmptyArgument(mutant, texts.get(mutant.fileName) ?? []));
  writeFileSync(join(work, 'mutants.json'), JSON.stringify(sound));
}

/** The argument of a query that has none is `''` by its type: another text would not compile. */
function fillsEmptyArgument({ mutatorName, location: { start, end } }: Mutant, lines: readonly string[]): boolean {
  const line = lines[start.line] ?? '';
  const isEmptyText = mutatorName === 'StringLiteral' && line.slice(start.column, end.column) === "''";
  return isEmptyText && /\.get\(\w+, $/.test(line.slice(0, start.column)) && line[end.column] === ')';
}

function install(home: string): void {
  if (existsSync(join(home, 'node_modules/@stryker-mutator/instrumenter/package.json'))) return;
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, 'package.json'), '{ "private": true }\n');
  process.stderr.write(`installing Stryker's instrumenter ${VERSION} into ${home} …\n`);
  const packages = [`@stryker-mutator/instrumenter@${VERSION}`, 'typed-inject@5.0.0'];
  const { status } = spawnSync('npm', ['install', '--no-audit', '--no-fund', ...packages], {
    cwd: home,
    stdio: 'inherit',
  });
  if (status !== 0) throw new Error("Stryker's instrumenter cannot be installed");
}
