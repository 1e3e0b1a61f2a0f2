// The end-to-end tests run the program as a user does, from dist/: built once before them.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

export default function build(): void {
  execFileSync(process.execPath, [join(import.meta.dirname, '../../scripts/build.mjs')], { stdio: 'inherit' });
}
