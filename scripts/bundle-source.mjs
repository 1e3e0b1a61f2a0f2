// Bundles src/ into entries and shared chunks (esbuild), for dist/ (scripts/build.mjs) and for the one-file program
// (scripts/bundle.mjs). Entries lie where `tsc` puts them, so that every path relative to a module stays true.
//
// Why: Node takes about a millisecond to find, read and link a module, and the program has a thousand. Bundled, a command
// or an import starts in half the time.
import { readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const source = join(root, 'src');

/** What is started by a file of its own: the command, and threads. */
export const PROGRAMS = ['cli/main', 'journal/sqlite-writer', 'adapters/file/parse-thread', 'admin/explorer/worker'];

/** `import.meta.url` of a bundled module is that of the file it would be in dist/. */
const keepPlaces = {
  name: 'keep-places',
  setup(builder) {
    builder.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      if (!path.startsWith(source + sep)) return undefined;
      const place = relative(source, path).replaceAll(sep, '/').replace(/\.ts$/, '.js');
      const contents = readFileSync(path, 'utf8').replaceAll('import.meta.url', `__placeOf(${JSON.stringify(place)})`);
      return { contents, loader: 'ts' };
    });
  },
};
const PLACE_OF = `const __placeOf = place => new URL(place, import.meta.url.replace(/\\/dist\\/.*$/, '/dist/')).href;`;

/** `entries`: paths in src/ without their ending; `banner`: what stands before each file; `more`: options of esbuild. */
export async function bundleSource(entries, outdir, banner, more) {
  await build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(entries.map(name => [name, `src/${name}.ts`])),
    outdir,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    banner: { js: `${banner}${PLACE_OF}` },
    legalComments: 'none',
    plugins: [keepPlaces],
    logLevel: 'warning',
    ...more,
  });
}
