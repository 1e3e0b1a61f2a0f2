// The plugin of the trial: the folder's sources come with their mutants in them, and `vitest`, where a test file imports
// it, is the collector, so that the tests are gathered instead of run. The journal's writer runs without a thread.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const TESTS = 'virtual:tests-of-the-folder';
const THREAD_IMPORT = /import \{ parentPort, workerData \} from 'node:worker_threads';/;
const THREAD_START = 'const port = parentPort;';
/** For the writer thread's module as one function, which is called for each thread. */
const THREAD = '?thread';

/** A value that the module kept from before a mutant was active would hide the mutant. */
const MEMO = '/src/xds/generate/common/last.ts';
const NO_MEMO = 'export const lastOf = run => run;';

/** What the module does when it is loaded, to its end, becomes the function. */
function asFunction(source: string): string {
  return `${source.replace(THREAD_IMPORT, '').replace(THREAD_START, `export function startThread({ parentPort, workerData }) {\n${THREAD_START}`)}\n}\n`;
}

export interface Plugin {
  readonly name: string;
  readonly enforce: 'pre';
  resolveId(source: string, importer: string | undefined): string | undefined;
  load(id: string): string | undefined;
}

export function instrumented(work: string, here: string, tests: readonly string[]): Plugin {
  const sources = JSON.parse(readFileSync(join(work, 'sources.json'), 'utf8')) as Readonly<Record<string, string>>;
  const root = join(here, '../..');
  return {
    name: 'periplus-mutants',
    enforce: 'pre',
    resolveId(source, importer = '') {
      if (source === TESTS) return `\0${TESTS}`;
      if (source === './start-worker.ts' && importer.endsWith('/src/journal/writer-link.ts')) {
        return join(here, 'in-process-worker.ts');
      }
      return source === 'vitest' && !importer.startsWith(here) ? join(here, 'collect.ts') : undefined;
    },
    load(id) {
      if (id === `\0${TESTS}`) return tests.map(file => `import ${JSON.stringify(join(root, file))};`).join('\n');
      if (id.endsWith(MEMO) && sources[id] === undefined) return NO_MEMO;
      if (!id.endsWith(THREAD)) return sources[id];
      const source = sources[id.slice(0, -THREAD.length)];
      return source && asFunction(source);
    },
  };
}
