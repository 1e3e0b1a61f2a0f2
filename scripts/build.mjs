// Compiles src/ to dist/ (types by tsc, entries by esbuild), bundles ui/ to dist/ui/, copies the data files that the
// program reads, and links the command as node_modules/.bin/periplus. `npm install` runs it (prepare), and so does the
// first `npx periplus` in a clone, which installs the clone into npm's cache: with --if-changed nothing is compiled when
// no input changed since the last build. The note of the last build lies in node_modules/.cache, is removed first and
// written last.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildUi } from './build-ui.mjs';
import { bundleSource, PROGRAMS } from './bundle-source.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const program = join(root, 'dist/cli/main.js');
const modules = join(root, 'node_modules');
/** False where node_modules is a link to another clone's: nothing is written there. */
const hasOwnModules = existsSync(modules) && lstatSync(modules).isDirectory();
const note = join(modules, '.cache/periplus-build');
const filesIn = folder => readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' });
const sources = filesIn('src');
/** Besides src/, what dist/ is made of. */
const others = [
  'tsconfig.json',
  'tsconfig.build.json',
  'scripts/build.mjs',
  'scripts/build-ui.mjs',
  'scripts/bundle-source.mjs',
  'package.json',
  'package-lock.json',
];

/** Changes when a file of src or ui, a locked library, the compiler's settings or a build script changes. */
function fingerprint() {
  const hash = createHash('sha256');
  const files = [...sources.map(file => join('src', file)), ...filesIn('ui').map(file => join('ui', file))];
  for (const file of [...files, ...others].sort()) {
    const { size, mtimeMs } = statSync(join(root, file));
    hash.update(`${file} ${size} ${mtimeMs}\n`);
  }
  return hash.digest('hex');
}

function isBuilt() {
  return existsSync(program) && existsSync(note) && readFileSync(note, 'utf8') === fingerprint();
}

/** The modules of package.json's `exports`, as paths in src/ without their ending. */
function entries() {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return Object.values(exports).flatMap(({ default: file }) =>
    file ? [file.slice('./dist/'.length, -'.js'.length)] : [],
  );
}

/**
 * Kinds add themselves to `KindTypes`. The compiler writes imports to declarations only for names that these use, so a
 * program that has the package would see no kind: the declaration of `KindTypes` imports the registry's modules.
 */
function declareKinds() {
  const registry = readFileSync(join(root, 'src/core/kinds/registry.ts'), 'utf8');
  const imports = [...registry.matchAll(/from '\.\/([\w-]+\/[\w-]+\.ts)'/g)].map(
    ([, file]) => `import '../kinds/${file}';\n`,
  );
  const declaration = join(root, 'dist/core/model/kind.d.ts');
  writeFileSync(declaration, imports.join('') + readFileSync(declaration, 'utf8'));
}

async function build() {
  const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  rmSync(note, { force: true });
  rmSync(join(root, 'dist'), { recursive: true, force: true });
  execFileSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json')], { stdio: 'inherit', cwd: root });
  declareKinds();
  await bundleSource([...PROGRAMS, ...entries()], join(root, 'dist'), { packages: 'external', sourcemap: true });
  for (const file of sources) {
    if (file.endsWith('.json')) cpSync(join(root, 'src', file), join(root, 'dist', file));
  }
  buildUi(join(root, 'dist/ui'));
  chmodSync(program, 0o755);
  if (!hasOwnModules) return;
  mkdirSync(dirname(note), { recursive: true });
  writeFileSync(note, fingerprint());
}

function linkCommand() {
  const link = join(modules, '.bin/periplus');
  mkdirSync(dirname(link), { recursive: true });
  rmSync(link, { force: true });
  symlinkSync('../../dist/cli/main.js', link);
}

if (!process.argv.includes('--if-changed') || !hasOwnModules || !isBuilt()) await build();
if (hasOwnModules) linkCommand();
