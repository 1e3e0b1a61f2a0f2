// Compiles src/ to dist/ and copies the data files that the program reads at run time. Runs at `npm install` (prepare).
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
rmSync(join(root, 'dist'), { recursive: true, force: true });
execFileSync(process.execPath, [tsc, '-p', join(root, 'tsconfig.build.json')], { stdio: 'inherit', cwd: root });
for (const file of readdirSync(join(root, 'src'), { recursive: true })) {
  if (String(file).endsWith('.json')) cpSync(join(root, 'src', String(file)), join(root, 'dist', String(file)));
}
const bin = join(root, 'dist/cli/main.js');
if (existsSync(bin)) chmodSync(bin, 0o755);
