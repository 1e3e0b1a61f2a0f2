// Bundles src/ into entries and shared chunks (esbuild), for dist/ (scripts/build.mjs) and for the one-file program
// (scripts/bundle.mjs). Entries lie where `tsc` puts them, so that every path relative to a module stays true.
//
// Why: Node takes about a millisecond to find, read and link a module, and the program has a thousand. Bundled, a command
// or an import starts in half the time. Large libraries that a run may never use are loaded at the first use of one of
// their members: sources import them as any other, because the pure part has no way to load a module.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const source = join(root, 'src');

/** What is started by a file of its own: the command, and threads. */
export const PROGRAMS = [
  'cli/main',
  'journal/sqlite-writer',
  'adapters/file/parse-thread',
  'admin/explorer/worker',
  'admission/webhook/review-thread',
];

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

/** Loaded at first use. Their members are functions and classes; anything else cannot be imported from them. */
const LATE = ['re2js', 'yaml'];
/**
 * CommonJS that every entry needs. It is required, because Node reads an imported one twice: first for the names of its
 * members.
 */
const REQUIRED = ['fp-ts/lib/Either.js', 'ipaddr.js', 'sorted-btree', 'sorted-btree/extended/*'];
const REQUIRE = `import { createRequire as __createRequire } from 'node:module';
const require = __createRequire(import.meta.url);
`;

const load = createRequire(import.meta.url);

/**
 * Each member is a stand-in until one of them is called, constructed or read from; then every import becomes the
 * library's own member (an import is bound to the exported variable, not to its first value).
 */
function lateModule(name) {
  const library = load(name);
  const members = Object.keys(library).filter(member => typeof library[member] === 'function');
  return `
let library;
const load = () => {
  if (library === undefined) ({ ${members.join(', ')} } = library = require('${name}'));
  return library;
};
const late = member => new Proxy(function () {}, {
  get: (_, key) => load()[member][key],
  apply: (_, self, args) => Reflect.apply(load()[member], self, args),
  construct: (_, args) => Reflect.construct(load()[member], args),
});
${members.map(member => `export let ${member} = late('${member}');`).join('\n')}
`;
}

/** The members that an import of it has. */
function requiredModule(name) {
  const members = Object.keys(load(name)).filter(member => member !== 'default');
  return `
const library = require('${name}');
export default library;
${members.map((member, i) => `const member${i} = library.${member};\nexport { member${i} as ${member} };`).join('\n')}
`;
}

/** Imports of these libraries get the module that `write` makes of their name. */
function through(namespace, names, write) {
  const patterns = names.map(name => name.replaceAll('.', '\\.').replace('*', '.*'));
  return {
    name: namespace,
    setup(builder) {
      builder.onResolve({ filter: new RegExp(`^(${patterns.join('|')})$`) }, ({ path, kind }) =>
        kind === 'import-statement' ? { path, namespace } : undefined,
      );
      builder.onLoad({ filter: /.*/, namespace }, ({ path }) => ({ contents: write(path), resolveDir: root }));
    },
  };
}

/**
 * Escapes what is not ASCII. esbuild does so in texts; what it leaves are comments and regular expressions, where the
 * escape means the same. V8 keeps the text of a module in memory, with two bytes a character if one of them needs two.
 */
function toAscii(text) {
  return text.replace(/[^\0-\x7f]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** `entries`: paths in src/ without their ending; `more`: options of esbuild. */
export async function bundleSource(entries, outdir, more) {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(entries.map(name => [name, `src/${name}.ts`])),
    outdir,
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    banner: { js: `${REQUIRE}${PLACE_OF}` },
    legalComments: 'none',
    plugins: [keepPlaces, through('late', LATE, lateModule), through('required', REQUIRED, requiredModule)],
    logLevel: 'warning',
    ...more,
    write: false,
  });
  for (const { path, text } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, path.endsWith('.js') ? toAscii(text) : text);
  }
}
