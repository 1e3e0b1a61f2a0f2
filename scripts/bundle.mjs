// Makes periplus.mjs: the command in one file, for pipelines and images that have Node and nothing else. It runs on the
// platform that it was made on: the SQLite addon in it is compiled.
//
// The program's own files and its libraries are bundled (bundle-source.mjs); data files and the addon are packed beside
// them. `npm run build:bundle [FILE]`.
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { buildUi } from './build-ui.mjs';
import { bundleSource, PROGRAMS } from './bundle-source.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const source = join(root, 'src');
const DATA = ['package.json', 'LICENSE', 'journal/schema', 'samples'];
/** Of the eight that version 13 brings, that of this platform. */
const isMusl = process.platform === 'linux' && process.report.getReport().header.glibcVersionRuntime === undefined;
const PREBUILD = `prebuilds/${process.platform}${isMusl ? 'musl' : ''}-${process.arch}.node`;
/** Version 12 for Node 20, version 13 where it is installed; each with what it needs of its own packages. */
const ADDONS = {
  'better-sqlite3': ['package.json', 'LICENSE', 'lib', 'build/Release/better_sqlite3.node'],
  'better-sqlite3-node-api': ['package.json', 'LICENSE', 'lib', 'build/Release/better_sqlite3.node', PREBUILD],
  bindings: ['package.json', 'bindings.js'],
  'file-uri-to-path': ['package.json', 'index.js'],
};

/** @param {string} out the file to write */
export async function bundle(out) {
  const folder = mkdtempSync(join(tmpdir(), 'periplus-bundle-'));
  try {
    await bundleSource(PROGRAMS, join(folder, 'dist'), {
      minifySyntax: true,
      minifyWhitespace: true,
      keepNames: true,
      external: ['better-sqlite3', 'better-sqlite3-node-api', 'fast-check'],
    });
    for (const file of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
      if (file.endsWith('.json')) cpSync(join(source, file), join(folder, 'dist', file));
    }
    buildUi(join(folder, 'dist/ui'));
    for (const path of DATA) cpSync(join(root, path), join(folder, path), { recursive: true });
    copyAddons(join(folder, 'node_modules'));
    writeBundle(folder, out);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function copyAddons(modules) {
  for (const [name, paths] of Object.entries(ADDONS)) {
    const from = join(root, 'node_modules', name);
    for (const path of paths) {
      if (existsSync(join(from, path))) cpSync(join(from, path), join(modules, name, path), { recursive: true });
    }
  }
}

function writeBundle(folder, out) {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const contents = Object.fromEntries(
    files.flatMap(name => {
      const path = join(folder, name);
      return statSync(path).isFile() ? [[name.replaceAll(sep, '/'), readFileSync(path).toString('base64')]] : [];
    }),
  );
  const packed = gzipSync(JSON.stringify(contents), { level: 9 }).toString('base64');
  const digest = createHash('sha256').update(packed).digest('hex').slice(0, 16);
  const launcher = readFileSync(join(root, 'scripts/bundle-launcher.mjs'), 'utf8').replace('__DIGEST__', digest);
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, `${launcher}\n//packed ${packed}\n`);
  chmodSync(out, 0o755);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const out = resolve(process.argv[2] ?? join(root, 'build/periplus.mjs'));
  await bundle(out);
  process.stdout.write(`${out}  ${(statSync(out).size / 2 ** 20).toFixed(1)} MB\n`);
}
