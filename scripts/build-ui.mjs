// Bundles ui/ (the explorer's page) into a folder: index.html, app.js, app.css, icon.svg. One file of each kind,
// so a browser needs four requests and no CDN; nothing in index.html is inline, since the server's content security policy
// forbids inline scripts and styles. scripts/build.mjs calls it; test/unit/ui/bundle.test.ts measures the result.
import { copyFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** `out`: the folder to fill; it is made if it is absent. */
export function buildUi(out) {
  mkdirSync(out, { recursive: true });
  buildSync({
    absWorkingDir: root,
    entryPoints: { app: 'ui/main.tsx' },
    outdir: out,
    bundle: true,
    minify: true,
    format: 'esm',
    target: ['chrome120', 'firefox121', 'safari17'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    tsconfig: 'ui/tsconfig.json',
    legalComments: 'linked',
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'warning',
  });
  for (const file of ['index.html', 'icon.svg']) copyFileSync(join(root, 'ui', file), join(out, file));
}
